import type { Codec } from '../codec/codec.ts'
import { CallFailed } from '../model/failure.ts'
import type { JsonObject } from '../model/json.ts'
import type { ProgressParams } from '../model/notification.ts'
import { timerMs } from '../model/timer.ts'
import type { RequestId } from '../wire/envelope.ts'

/** How long an answer is waited for. */
export interface Patience {
  /** Milliseconds without the answer, or a word of progress. `undefined`: for ever. */
  readonly timeoutMs?: number | undefined
  /** Milliseconds in all, whatever progress there is. `undefined`: for ever. */
  readonly maxTimeoutMs?: number | undefined
}

/** A request that waits for its answer. */
export interface Waiting {
  readonly method: string
  readonly codec: Codec
  readonly patience: Patience
  readonly signal: AbortSignal | undefined
  readonly onProgress: ((progress: ProgressParams) => void) | undefined
  readonly progressUntil: AbortSignal | undefined
  /** Hears what belongs to the request besides its answer, where that names it. */
  readonly onNotification: ((method: string, params: JsonObject) => void) | undefined
  /** Whether the server has shown that it works on it: then no failure says that it did not run. */
  begun: boolean
  resolve(result: JsonObject): void
  reject(error: unknown): void
  /** Tells the server that nobody waits any more. */
  cancel(reason: string): void
}

/** The requests in flight on one link, each settled once. */
export interface WaitingTable {
  readonly size: number
  add(id: RequestId, waiting: Waiting): void
  get(id: RequestId): Waiting | undefined
  /**
   * The request that an answer is for: the one that it names, else the one whose response carried it (`on`), else the only
   * one there is. `undefined` where that is none, or several.
   */
  answeredBy(named: RequestId | undefined, on: RequestId | undefined): RequestId | undefined
  /** Takes a request out, to be settled by whoever took it; `undefined` where none waits under this id. */
  take(id: RequestId): Waiting | undefined
  /** The server works on a request, or on any of those in flight. */
  begin(id: RequestId | undefined): void
  /** Something was heard of it: its patience begins anew. */
  heard(id: RequestId): void
  /** While a person is waited for, only the time in all counts; after that patience begins anew. */
  suspend(id: RequestId, suspended: boolean): void
  /** Rejects all. */
  fail(error: unknown): void
}

interface Entry {
  readonly waiting: Waiting
  readonly since: number
  heardAt: number
  suspended: boolean
  timer: NodeJS.Timeout | undefined
  readonly onAbort: (() => void) | undefined
}

/** Makes a table. Ids are told apart by type and value, never as numbers: `"1"` answers nothing that `1` asked. */
export function createWaitingTable(now: () => number = () => performance.now()): WaitingTable {
  const entries = new Map<RequestId, Entry>()

  function take(id: RequestId): Waiting | undefined {
    const entry = entries.get(id)
    if (!entry) return undefined
    entries.delete(id)
    clearTimeout(entry.timer)
    if (entry.onAbort) entry.waiting.signal?.removeEventListener('abort', entry.onAbort)
    return entry.waiting
  }

  /** Gives up: the server is told, then whoever waits. */
  function giveUp(id: RequestId, failure: CallFailed, reason: string): void {
    const waiting = take(id)
    if (!waiting) return
    waiting.cancel(reason)
    waiting.reject(failure)
  }

  function arm(id: RequestId, entry: Entry): void {
    const left = leftOf(entry, now())
    if (left !== undefined) entry.timer = setTimeout(() => ring(id, entry), timerMs(left))
  }

  /** Progress since the timer was set moves the end; setting it anew with each word of progress would cost more. */
  function ring(id: RequestId, entry: Entry): void {
    const left = leftOf(entry, now())
    if (left === undefined) return
    if (left > 0) return arm(id, entry)
    giveUp(
      id,
      new CallFailed('TimedOut', { ran: 'unknown', message: `${entry.waiting.method} timed out` }),
      'timed out',
    )
  }

  return {
    get size() {
      return entries.size
    },
    add(id, waiting) {
      const at = now()
      const { signal } = waiting
      const onAbort = signal && ((): void => giveUp(id, aborted(signal, 'unknown'), 'cancelled'))
      const entry: Entry = { waiting, since: at, heardAt: at, suspended: false, timer: undefined, onAbort }
      if (onAbort) signal.addEventListener('abort', onAbort, { once: true })
      entries.set(id, entry)
      arm(id, entry)
    },
    get: (id) => entries.get(id)?.waiting,
    answeredBy: (named, on) => named ?? on ?? (entries.size === 1 ? entries.keys().next().value : undefined),
    take,
    begin(id) {
      const ids = id === undefined ? entries.keys() : [id]
      for (const one of ids) {
        const entry = entries.get(one)
        if (entry) entry.waiting.begun = true
      }
    },
    heard(id) {
      const entry = entries.get(id)
      if (entry) entry.heardAt = now()
    },
    suspend(id, suspended) {
      const entry = entries.get(id)
      if (!entry) return
      entry.suspended = suspended
      entry.heardAt = now()
      clearTimeout(entry.timer)
      arm(id, entry)
    },
    fail(error) {
      for (const id of entries.keys()) take(id)?.reject(error)
    },
  }
}

/** Milliseconds until patience ends. */
function leftOf({ waiting, since, heardAt, suspended }: Entry, now: number): number | undefined {
  const { maxTimeoutMs } = waiting.patience
  const timeoutMs = suspended ? undefined : waiting.patience.timeoutMs
  if (timeoutMs === undefined) return maxTimeoutMs === undefined ? undefined : Math.max(0, since + maxTimeoutMs - now)
  return Math.max(0, Math.min(heardAt + timeoutMs, since + (maxTimeoutMs ?? Infinity)) - now)
}

/** What a call rejects with whose signal was aborted. */
export function aborted(signal: AbortSignal, ran: 'no' | 'unknown'): CallFailed {
  return new CallFailed('Cancelled', { ran, message: 'The call was cancelled', cause: signal.reason })
}
