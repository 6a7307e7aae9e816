import { CallFailed } from '../model/failure.ts'

/** When a client stops trying a server for a while. */
export interface BreakerOptions {
  /** Breakdowns in a row after which nothing is sent. Default 5; 0 never. */
  readonly failures?: number
  /** Milliseconds until one call is let through to see. Default 10,000. */
  readonly coolMs?: number
}

/** Lets calls through to a server that works. */
export interface Breaker {
  /** @throws CallFailed `CircuitOpen`, whose `retryAfter` tells when it is worth another try */
  enter(): void
  succeeded(): void
  failed(): void
  /** The call ended in a way that says nothing of the server. */
  left(): void
}

/** A circuit breaker. A server's answer of any kind counts as success; only breakdowns count against it. */
export function createBreaker({ failures = 5, coolMs = 10_000 }: BreakerOptions, now: () => number): Breaker {
  let inRow = 0
  let openedAt: number | undefined
  let trying = false
  return {
    enter() {
      if (openedAt === undefined) return
      const left = openedAt + coolMs - now()
      if (left > 0 || trying) {
        const retryAfter = Math.ceil(Math.max(left, 0) / 1000)
        throw new CallFailed('CircuitOpen', { ran: 'no', message: 'The server failed too often of late', retryAfter })
      }
      trying = true
    },
    succeeded() {
      inRow = 0
      openedAt = undefined
      trying = false
    },
    left: () => void (trying = false),
    failed() {
      inRow += 1
      trying = false
      if (failures > 0 && inRow >= failures) openedAt = now()
    },
  }
}
