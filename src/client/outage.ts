import { isFailure } from '../model/failure.ts'
import type { Connection } from './connection.ts'
import type { RequestOptions } from './options.ts'
import { backoffMs, saysNothing, type RetryOptions } from './retrying.ts'
import { pause } from './sending.ts'

/** How long a server that is away is waited for. */
export interface OutageOptions {
  readonly connection: Connection
  readonly retry: Required<RetryOptions>
  /** Milliseconds, for calls that do not say. */
  readonly timeoutMs: number
}

/**
 * Does `attempt`, which may be done any number of times, again for as long as it fails in ways that say nothing of what it
 * asks about: with the pauses of the client, until nothing came for as long as a call may go without a word.
 * @throws what the last attempt did; CallFailed `Cancelled`
 */
export async function throughOutage<T>(
  attempt: () => Promise<T>,
  { signal, timeoutMs, maxTimeoutMs = Infinity }: RequestOptions,
  { connection, retry, timeoutMs: usualMs }: OutageOptions,
): Promise<T> {
  let until: number | undefined
  for (let attempts = 1; ; attempts++) {
    const before = connection.current
    try {
      return await attempt()
    } catch (error) {
      until ??= performance.now() + Math.min(timeoutMs ?? usualMs, maxTimeoutMs)
      // What the end of a session refused, the next one may answer.
      const replaced = before !== undefined && connection.current !== before
      if (!isFailure(error) || signal?.aborted || !(saysNothing(error) || replaced)) throw error
      const pauseMs = Math.min(mostMs, backoffMs(attempts, retry)) * Math.random()
      const wait = (error.retryAfter ?? 0) * 1000 + Math.max(leastMs, pauseMs)
      if (performance.now() + wait > until) throw error
      await pause(wait, signal)
    }
  }
}

/** Milliseconds between two attempts, however short the pauses of the client are, or long: the server may be back soon. */
const leastMs = 20
const mostMs = 5_000
