import type { ListenFilter } from '../model/call.ts'
import { CallFailed, isCallFailed } from '../model/failure.ts'
import { isObject, own, type JsonObject } from '../model/json.ts'
import { timerMs } from '../model/timer.ts'
import type { Notification } from '../model/notification.ts'
import type { Features } from '../model/served.ts'
import type { Caller } from '../peer/calling.ts'
import type { Connection } from './connection.ts'
import { deferred } from './deferred.ts'
import { createFeed, type Feed, type ServerChange } from './feed.ts'
import { heeding, type Lifetime } from './lifetimes.ts'
import type { Listeners } from './listeners.ts'
import { isBreakdown, type RetryOptions } from './retrying.ts'
import { pause } from './sending.ts'
import type { HeldUri, Uris } from './uris.ts'

/** What a server tells of its changes, until it is closed; taken up again by itself when the way to the server breaks. */
export interface Subscription extends AsyncIterator<ServerChange, undefined, undefined>, AsyncDisposable {
  [Symbol.asyncIterator](): Subscription
  /** The part of what was asked that the server tells of. */
  readonly honoured: ListenFilter
  close(): Promise<void>
}

/** What subscriptions are made with. */
export interface ListeningOptions {
  readonly connection: Connection
  readonly listeners: Listeners
  readonly uris: Uris
  readonly retry: Required<RetryOptions>
  /** Milliseconds that a server may take to say what it will tell. */
  readonly timeoutMs: number
}

/** Two streams in a row that the server ended sooner are enough. Milliseconds. */
const briefMs = 1_000
const maxWaitMs = 30_000

/**
 * Subscribes to changes in whatever way the server has: a listen stream, or subscriptions in the session. Resolves once
 * the server said what it will tell, and whatever it tells from then on is heard. @throws Refusal, CallFailed
 */
export async function subscribe(
  filter: ListenFilter,
  life: Lifetime,
  options: ListeningOptions,
): Promise<Subscription> {
  const feed = createFeed()
  let honoured: ListenFilter = {}
  let resumes = false
  const first = deferred()
  const listening: Listening = {
    filter,
    feed,
    signal: life.signal,
    acknowledged(told) {
      if (resumes) feed.push({ kind: 'resumed' })
      resumes = true
      honoured = told
      first.resolve()
    },
  }
  const running = keepUp(listening, options).then(
    () => {
      feed.end()
      // Where it ends before it begun, it was stopped.
      first.reject(new CallFailed('Cancelled', { ran: 'no', message: 'The subscription was cancelled' }))
    },
    (error: Error) => {
      // Whoever closed the client knows.
      const isClosed = life.signal.aborted || (isCallFailed(error) && error.kind === 'Cancelled')
      feed.end(isClosed ? undefined : error)
      first.reject(error)
    },
  )
  void running.then(life.done)
  await heeding(first.promise, life.signal)
  const end = async (): Promise<void> => {
    life.end(new Error('The subscription was closed'))
    await running
  }
  const subscription: Subscription = {
    get honoured() {
      return honoured
    },
    next: () => feed.next(),
    async return() {
      await end()
      return { done: true, value: undefined }
    },
    close: end,
    [Symbol.asyncIterator]: () => subscription,
    [Symbol.asyncDispose]: end,
  }
  return subscription
}

interface Listening {
  readonly filter: ListenFilter
  readonly feed: Feed
  readonly signal: AbortSignal
  acknowledged(honoured: ListenFilter): void
}

/** Listens again and again, until it is stopped, the server will not have it, or ends it at once. */
async function keepUp(listening: Listening, options: ListeningOptions): Promise<void> {
  const { signal } = listening
  let begun = false
  const noting: Listening = {
    ...listening,
    acknowledged(honoured) {
      begun = true
      failures = 0
      listening.acknowledged(honoured)
    },
  }
  let failures = 0
  let briefs = 0
  while (!signal.aborted) {
    const since = performance.now()
    try {
      const caller = await heeding(options.connection.caller(), signal)
      const listens = caller.dialect?.features.has('listen') === true
      await (listens ? onStream(caller, noting, options) : inSession(caller, noting, options))
      briefs = listens && performance.now() - since < briefMs ? briefs + 1 : 0
      if (signal.aborted || briefs > 1) return
    } catch (error) {
      if (signal.aborted && begun) return
      failures += 1
      // A server that told before may do so again.
      const isPassing = isBreakdown(error) || (begun && isCallFailed(error) && error.kind === 'TimedOut')
      if (!isPassing || (!begun && failures >= options.retry.attempts)) throw error
    }
    const wait = Math.min(maxWaitMs, options.retry.delayMs * 2 ** failures) * (0.5 + Math.random() / 2)
    await pause(wait, signal).catch(() => {})
  }
}

/** Where there is a stream for it (2026-07-28, subscriptions). Resolves when the server ends it. */
async function onStream(
  caller: Caller,
  { filter, feed, signal, acknowledged }: Listening,
  { listeners, timeoutMs }: ListeningOptions,
): Promise<void> {
  const silent = new AbortController()
  const timer = setTimeout(() => silent.abort(), timerMs(timeoutMs))
  const call = caller.call({
    method: 'subscriptions/listen',
    params: { notifications: filter },
    signal: AbortSignal.any([signal, silent.signal]),
    onNotification(method, params) {
      if (method === 'notifications/subscriptions/acknowledged') {
        clearTimeout(timer)
        const honoured = own(params, 'notifications')
        return acknowledged(isObject(honoured) ? honoured : {})
      }
      // The table knows the method, and what it carries is the server's word.
      const notification = { method, params } as unknown as Notification
      const change = changeOf(notification)
      if (change) feed.push(change)
      listeners.tell(notification)
    },
  })
  try {
    await call
  } catch (error) {
    const message = 'The server did not say in time what it tells'
    throw silent.signal.aborted ? new CallFailed('TimedOut', { ran: 'unknown', message }) : error
  } finally {
    clearTimeout(timer)
  }
}

/** Where the session has subscriptions. Resolves when the session is gone. */
async function inSession(
  caller: Caller,
  { filter, feed, signal, acknowledged }: Listening,
  { listeners, uris }: ListeningOptions,
): Promise<void> {
  const honoured = honouredIn(filter, caller.dialect?.features ?? new Set())
  const wanted = honoured.resourceSubscriptions ?? []
  const all: HeldUri[] = []
  const over = deferred()
  let begun = false
  const remove = listeners.add({
    notified(notification) {
      const change = changeOf(notification)
      if (change && isWanted(change, honoured)) feed.push(change)
    },
    left: (gone) => void (gone === caller && over.resolve()),
    // What was said while nothing was heard is missed.
    hears: (on, hears) => void (on === caller && hears && begun && acknowledged(honoured)),
  })
  const stop = (): void => over.resolve()
  signal.addEventListener('abort', stop, { once: true })
  try {
    await Promise.race([caller.listening(), over.promise])
    if (signal.aborted) return
    for (const uri of wanted) {
      const held = uris.hold(uri, caller)
      all.push(held)
      await heeding(held.ready, signal)
    }
    acknowledged(honoured)
    begun = true
    await over.promise
  } finally {
    signal.removeEventListener('abort', stop)
    remove()
    await Promise.all(all.map((held) => held.release()))
  }
}

const lists = { toolsListChanged: 'tools', promptsListChanged: 'prompts', resourcesListChanged: 'resources' } as const

function honouredIn(filter: ListenFilter, features: Features): ListenFilter {
  const told = Object.entries(lists).filter(
    ([key, kind]) => filter[key] === true && features.has(`${kind}.listChanged`),
  )
  const { resourceSubscriptions = [], taskIds = [] } = filter
  return {
    ...(Object.fromEntries(told.map(([key]) => [key, true])) satisfies JsonObject),
    ...(resourceSubscriptions.length > 0 && features.has('resources.subscribe') && { resourceSubscriptions }),
    ...(taskIds.length > 0 && features.has('tasks') && { taskIds }),
  }
}

/** Whether a change that the session was told falls under what was asked. A resource may stand for what lies below it. */
function isWanted(
  change: ServerChange,
  { resourceSubscriptions = [], taskIds = [], ...filter }: ListenFilter,
): boolean {
  if (change.kind === 'resource') return resourceSubscriptions.some((uri) => isWithin(change.uri, uri))
  if (change.kind === 'task') return taskIds.includes(change.task.taskId)
  return Object.entries(lists).some(([key, kind]) => kind === change.kind && filter[key] === true)
}

/** Whether `uri` is `whole` or lies below it: a name that only begins the same is another's (specification, subscriptions). */
function isWithin(uri: string, whole: string): boolean {
  if (!uri.startsWith(whole)) return false
  return uri.length === whole.length || /[/?#]$/.test(whole) || /^[/?#]/.test(uri.slice(whole.length))
}

function changeOf(notification: Notification): ServerChange | undefined {
  switch (notification.method) {
    case 'notifications/tools/list_changed':
      return { kind: 'tools' }
    case 'notifications/prompts/list_changed':
      return { kind: 'prompts' }
    case 'notifications/resources/list_changed':
      return { kind: 'resources' }
    case 'notifications/resources/updated':
      return { kind: 'resource', uri: notification.params.uri }
    case 'notifications/tasks':
    case 'notifications/tasks/status':
      return { kind: 'task', task: notification.params }
    default:
      return undefined
  }
}
