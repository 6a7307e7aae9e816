import type { ListenFilter } from '../model/call.ts'
import type { Features } from '../model/served.ts'
import { heeding, type Lifetime } from './lifetimes.ts'
import type { Subscription } from './listening.ts'
import { kinds, type Listed, type ListKind, type Lists } from './lists.ts'
import { pause } from './sending.ts'

/** What lists are watched with. */
export interface WatchingOptions {
  readonly lists: Lists
  readonly debounceMs: number
  readonly now: () => number
  features(): Features
  listen(filter: ListenFilter, signal: AbortSignal): Promise<Subscription>
}

/** A list that says only how long it is good is looked at this often at most. Milliseconds. */
const leastLookMs = 5_000

const filters: Readonly<Record<ListKind, ListenFilter>> = {
  tools: { toolsListChanged: true },
  prompts: { promptsListChanged: true },
  resources: { resourcesListChanged: true },
  resourceTemplates: { resourcesListChanged: true },
}

/**
 * A list as it is now, and each time that it is another. It is read anew when the server tells of a change, once no more
 * follow for a moment; where the server tells none, when the time is over for which it was good.
 */
export function watchList<K extends ListKind>(
  kind: K,
  begin: () => Lifetime,
  options: WatchingOptions,
): AsyncGenerator<readonly Listed[K][], void, undefined> {
  let life: Lifetime | undefined
  const watched = watch(kind, () => (life = begin()), options)
  const leave = watched.return.bind(watched)
  // Of itself a generator is left only when it has something to give, which may never be.
  watched.return = (value) => {
    life?.end(left())
    return leave(value)
  }
  return watched
}

const left = (): Error => new Error('The list is not watched any more')

async function* watch<K extends ListKind>(
  kind: K,
  begin: () => Lifetime,
  options: WatchingOptions,
): AsyncGenerator<readonly Listed[K][], void, undefined> {
  const { signal, end, done } = begin()
  /** Whoever gave it up knows. */
  const orNothing = (error: unknown): undefined => {
    if (!signal.aborted) throw error
  }
  let changes: Subscription | undefined
  let last: string | undefined
  try {
    if (options.features().has(kinds[kind].tells)) changes = await options.listen(filters[kind], signal)
    while (!signal.aborted) {
      const list = await heeding(options.lists.list(kind), signal).catch(orNothing)
      if (!list) return
      const text = JSON.stringify(list)
      if (text !== last) yield list
      last = text
      if (!(await (changes ? nextChange(changes, signal, options) : timeOver(kind, signal, options)))) return
    }
  } finally {
    done()
    end(left())
    await changes?.close()
  }
}

/** Waits for a change and until no more follow it. `false`: none will come. */
async function nextChange(
  changes: Subscription,
  signal: AbortSignal,
  { debounceMs }: WatchingOptions,
): Promise<boolean> {
  const { done } = await changes.next()
  if (done) return false
  // What comes meanwhile waits in the queue as one.
  return waited(debounceMs, signal)
}

/** `false`: the list was never good for any time, so nobody knows when to look. */
async function timeOver(kind: ListKind, signal: AbortSignal, { lists, now }: WatchingOptions): Promise<boolean> {
  const goodUntil = lists.goodUntil(kind)
  if (goodUntil === undefined) return false
  const left = Math.max(leastLookMs, goodUntil - now())
  return waited(left * (1 + Math.random() / 10), signal)
}

async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  await pause(ms, signal).catch(() => {})
  return !signal.aborted
}
