import type { Principal } from '../model/notification.ts'
import type { Logger, Random } from '../model/ports.ts'
import type { Store } from '../model/store.ts'
import type { Announced } from './changes.ts'
import { isVisible } from './visibility.ts'

/** Carries changes of what is offered to all processes on the same store, so that whoever has a client's ear tells it. */
export interface ChangeBus {
  /** Tells the other processes; best effort. Before anybody ever listened here, the server is still being made. */
  tell(change: Announced): void
  /** Hears of the changes of others from now on, as long as somebody in this process listens. */
  listen(): void
  /** Stops hearing of them. */
  rest(): void
}

/** A change as it travels: names and scopes, and nothing that is big. */
type News =
  | { readonly kind: 'resource'; readonly uri: string }
  | { readonly kind: 'tools' | 'prompts' | 'resources'; readonly scopes?: Announced['scopes'] }

/** How a bus is made. */
export interface ChangeBusOptions {
  readonly store: Store
  readonly random: Random
  readonly logger: Logger
  /** Called for each change of another process, and for every list once news of changes may have been lost. */
  onChange(change: Announced): void
  /** Whether somebody may know that a resource changed. */
  mayKnow(uri: string, principal: Principal | undefined): boolean
}

const channel = 'changes'
const everyList = ['tools', 'prompts', 'resources'] as const
/** Milliseconds between two attempts to listen while the store is away. */
const againMs = 1_000

/** A bus that does not listen yet. */
export function createChangeBus({ store, random, logger, onChange, mayKnow }: ChangeBusOptions): ChangeBus {
  let name: string | undefined
  let wanted = false
  let opened = false
  let stop: Promise<(() => Promise<void>) | undefined> | undefined

  /** Tells this process from all others. */
  function self(): string {
    return (name ??= Buffer.from(random(9)).toString('base64url'))
  }

  /** The channel is the library's own: whatever comes was written by `tell`. */
  function receive(message: string): void {
    const [from, news] = JSON.parse(message) as [string, News]
    if (from === self()) return
    if (news.kind === 'resource') {
      return onChange({ ...news, visibleTo: (principal) => mayKnow(news.uri, principal) })
    }
    const { kind, scopes } = news
    onChange({
      kind,
      visibleTo: (who) => scopes === undefined || scopes.some((each) => isVisible({ scopes: each }, who)),
    })
  }

  function missed(): void {
    for (const kind of everyList) onChange({ kind, visibleTo: () => true })
  }

  async function subscribe(): Promise<(() => Promise<void>) | undefined> {
    try {
      return await store.subscribe(channel, receive, missed)
    } catch (error) {
      logger.warn('changes of other processes cannot be heard of', { error })
      stop = undefined
      setTimeout(listen, againMs).unref()
      return undefined
    }
  }

  function listen(): void {
    if (wanted) stop ??= subscribe()
  }

  return {
    tell({ visibleTo: _, ...news }) {
      if (!opened) return
      store
        .publish(channel, JSON.stringify([self(), news]))
        .catch((error: unknown) => logger.warn('a change could not be told to other processes', { error }))
    },
    listen() {
      opened = wanted = true
      listen()
    },
    rest() {
      wanted = false
      void stop?.then((done) => done?.())
      stop = undefined
    },
  }
}
