import { CallFailed, isFailure } from '../model/failure.ts'
import { timerMs } from '../model/timer.ts'
import { cancelledBy } from './lifetimes.ts'
import type { RequestOptions } from './options.ts'

/** How long a call goes on. */
export interface Limits {
  readonly signal: AbortSignal | undefined
  /** When its time in all is over, by `performance.now()`. */
  readonly until: number
}

/** When the time in all is over of a call that begins now. @param maxTimeoutMs what counts for calls that do not say */
export function untilOf(options: RequestOptions, maxTimeoutMs: number = Infinity): number {
  return performance.now() + (options.maxTimeoutMs ?? maxTimeoutMs)
}

/** `options` of what is left of a call that ends at `until`, where they say at all how long that is. */
export function restOf<O extends RequestOptions>(options: O, until: number): O {
  if (options.maxTimeoutMs === undefined) return options
  return { ...options, maxTimeoutMs: Math.max(1, until - performance.now()) }
}

/**
 * What the user's handlers answer while a call waits for them, which is no longer than the call goes on: what comes later is
 * nobody's. `ask` gets a signal that is aborted once its answer is not wanted any more.
 * @throws CallFailed `Cancelled` when the call is given up, or a handler failed; `TimedOut`; and what `ask` throws of that kind
 */
export function answered<T>(ask: (signal: AbortSignal) => Promise<T>, { signal, until }: Limits): Promise<T> {
  const stop = new AbortController()
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const settle = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    const fail = (failure: unknown, reason = failure): void => {
      settle()
      reject(failure)
      stop.abort(reason)
    }
    const onAbort = (): void => fail(cancelledBy(signal, 'unknown'), signal?.reason)
    const ring = (): void => {
      const left = until - performance.now()
      if (left > 0) timer = setTimeout(ring, timerMs(left))
      else
        fail(new CallFailed('TimedOut', { ran: 'unknown', message: 'The time of the call ended before its answers' }))
    }
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort)
    ring()
    if (stop.signal.aborted) return
    // What a handler throws before it makes a promise is a failure like any other.
    Promise.resolve(stop.signal)
      .then(ask)
      .then(
        (answer) => {
          settle()
          resolve(answer)
        },
        (error: unknown) => fail(isFailure(error) ? error : unanswered(error)),
      )
  })
}

/** Without an answer the call cannot go on; it stays where it is. */
function unanswered(error: unknown): CallFailed {
  const why = error instanceof Error ? error.message : 'its handler failed'
  return new CallFailed('Cancelled', { ran: 'unknown', message: `A question was not answered: ${why}`, cause: error })
}
