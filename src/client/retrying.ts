import { isCallFailed, isFailure, type CallFailed } from '../model/failure.ts'
import { isRefusal } from '../model/refusal.ts'

/** How a client tries again. */
export interface RetryOptions {
  /** Attempts in all. Default 3. */
  readonly attempts?: number
  /** Milliseconds before the second attempt; doubled for each further one, and anything between nothing and that is waited. Default 250. */
  readonly delayMs?: number
  /** Milliseconds that are waited at most, also where the server asks for more: then it is not tried again. Default 30,000. */
  readonly maxDelayMs?: number
}

/** The defaults of {@link RetryOptions}. */
export const defaultRetry: Required<RetryOptions> = { attempts: 3, delayMs: 250, maxDelayMs: 30_000 }

/** What is known when an attempt has failed. */
export interface Attempted {
  /** Attempts so far, this one among them. */
  readonly attempts: number
  /** Whether the call may run twice, or will not because the server knows its key. */
  readonly repeatable: boolean
  /** Whether the server knows the key, so that it may tell of an earlier attempt. */
  readonly keyed: boolean
  /** Between 0 and 1. */
  readonly random: number
}

/** Milliseconds to wait before the next attempt; `undefined` for none. Depends on nothing but its input. */
export function nextAttempt(error: unknown, attempted: Attempted, retry: Required<RetryOptions>): number | undefined {
  const { attempts, keyed, random } = attempted
  const backoff = backoffMs(attempts, retry)
  // An earlier attempt still runs, so that is waited for as long as the caller's patience lasts.
  if (isRefusal(error) && error.kind === 'DuplicateInFlight' && keyed && attempts > 1)
    return Math.max(20, backoff * random)
  if (attempts >= retry.attempts || !isWorthIt(error, attempted)) return undefined
  const asked =
    (isRefusal(error) || isCallFailed(error)) && error.retryAfter !== undefined ? error.retryAfter * 1000 : 0
  if (asked > retry.maxDelayMs) return undefined
  return asked + backoff * random
}

/** Milliseconds that are waited at most after so many attempts. */
export function backoffMs(attempts: number, { delayMs, maxDelayMs }: Required<RetryOptions>): number {
  return Math.min(maxDelayMs, delayMs * 2 ** (attempts - 1))
}

function isWorthIt(error: unknown, { repeatable }: Attempted): boolean {
  return isFailure(error) && isTransient(error) && (error.ran === 'no' || repeatable)
}

/** Whether another attempt may come to something else. */
export function isTransient(error: unknown): boolean {
  if (isRefusal(error)) return error.kind === 'RateLimited' || error.kind === 'Overloaded'
  return isCallFailed(error) && isPassing(error)
}

/** Whether a failure may be another one the next time. */
function isPassing({ kind, status = 0 }: CallFailed): boolean {
  if (kind === 'HttpStatus') return [408, 425, 429, 500, 502, 503, 504].includes(status)
  return kind === 'Unreachable' || kind === 'ConnectionLost' || kind === 'ServerExited'
}

/** Whether a failure says nothing of what was asked about: the server is away, or busy, or cannot look. */
export function saysNothing(error: unknown): boolean {
  if (isRefusal(error)) return ['RateLimited', 'Overloaded', 'IdempotencyUnavailable'].includes(error.kind)
  return isCallFailed(error) && (error.kind === 'CircuitOpen' || isPassing(error) || isBreakdown(error))
}

/** Whether a failure says that the server cannot be used at all just now. */
export function isBreakdown(error: unknown): error is CallFailed {
  if (!isCallFailed(error)) return false
  if (error.kind === 'HttpStatus') return (error.status ?? 0) >= 500
  return error.kind === 'Unreachable' || error.kind === 'ConnectionLost' || error.kind === 'ServerExited'
}
