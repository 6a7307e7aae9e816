import type { Json } from '../model/json.ts'
import type { Logger, Random } from '../model/ports.ts'
import type { Store } from '../model/store.ts'

/** What one process tells the others of a session; `key` is the session's own. */
export type SessionNews =
  /** What its requests changed is to be read again. */
  | { readonly kind: 'changed'; readonly key: string }
  /** It was ended; nobody may use it before `until`, milliseconds since the epoch, nor after. */
  | { readonly kind: 'ended'; readonly key: string; readonly until: number }
  /** Its own stream is here now. */
  | { readonly kind: 'listening'; readonly key: string }
  /** Somebody here reads a stream that another process writes. */
  | { readonly kind: 'follow'; readonly key: string; readonly stream: string }
  /** A stream that somebody follows has grown, or is alive at least. */
  | { readonly kind: 'grown'; readonly key: string; readonly stream: string }
  | { readonly kind: 'cancel'; readonly key: string; readonly id: string | number; readonly reason: string | undefined }
  /** The client's answer to a question, as the response came. */
  | { readonly kind: 'answer'; readonly key: string; readonly response: Json }

/** Carries news of sessions to all other processes on the same store. */
export interface SessionBus {
  /** Begins to listen. Resolves once it does, also when that failed: it is tried again with the next call. */
  listen(): Promise<void>
  /** Tells all others; best effort. */
  tell(news: SessionNews): Promise<void>
  close(): void
}

/** How a bus is made. */
export interface SessionBusOptions {
  readonly store: Store
  readonly random: Random
  readonly logger: Logger
  /** Called for what other processes tell, never for one's own. */
  onNews(news: SessionNews): void
  /** Called once news may have been lost. */
  onMissed(): void
}

const channel = 'sessions'
/** News longer than this lie in the store, and only their name travels. UTF-16 units. */
const maxLength = 2_000
/** Milliseconds that long news can be fetched. */
const keepMs = 60_000

/** A bus that nobody listens to yet. */
export function createSessionBus({ store, random, logger, onNews, onMissed }: SessionBusOptions): SessionBus {
  const self = Buffer.from(random(9)).toString('base64url')
  let listening: Promise<void> | undefined
  let stop: (() => Promise<void>) | undefined
  let closed = false

  async function subscribe(): Promise<void> {
    try {
      stop = await store.subscribe(channel, (message) => void receive(message), onMissed)
      if (closed) await stop()
    } catch (error) {
      listening = undefined
      logger.warn('what other processes tell of sessions cannot be heard', { error })
    }
  }

  /** The channel is the library's own: whatever comes was written by {@link send}. */
  async function receive(message: string): Promise<void> {
    const [from, news] = JSON.parse(message) as [string, SessionNews | string]
    if (from === self) return
    if (typeof news !== 'string') return onNews(news)
    const kept = await store.get(news).catch(() => undefined)
    if (kept !== undefined) onNews(JSON.parse(kept.value) as SessionNews)
  }

  async function send(news: SessionNews): Promise<void> {
    const text = JSON.stringify(news)
    if (text.length <= maxLength) return store.publish(channel, `[${JSON.stringify(self)},${text}]`)
    const name = `news/${Buffer.from(random(12)).toString('base64url')}`
    await store.put(name, text, { expiresAt: Date.now() + keepMs, maxInGroup: 10_000, evict: 'first' })
    await store.publish(channel, JSON.stringify([self, name]))
  }

  return {
    listen: () => (listening ??= subscribe()),
    async tell(news) {
      try {
        await send(news)
      } catch (error) {
        logger.warn('other processes could not be told of a session', { about: news.kind, error })
      }
    },
    close() {
      closed = true
      void stop?.()
    },
  }
}
