import { Refusal } from '../../model/refusal.ts'
import type { CallContext } from '../../model/served.ts'
import type { Middleware } from '../middleware.ts'

/** Whom a limit counts: by default each principal, and everybody without one together. */
export type CountBy = (context: CallContext) => string

const byPrincipal: CountBy = (context) => (context.principal ? `id ${context.principal.id}` : 'anonymous')

/** How much may run at once. */
export interface ConcurrencyOptions {
  /** Operations of one caller that may run at once. */
  readonly max: number
  readonly by?: CountBy
}

/**
 * Refuses with `Overloaded` what would run beside too much else of the same caller; nothing waits. Streams that stay
 * open (`subscriptions/listen`) do not count.
 */
export function concurrency({ max, by = byPrincipal }: ConcurrencyOptions): Middleware {
  const running = new Map<string, number>()
  return {
    all: async (call, context, next) => {
      if (call.method === 'subscriptions/listen') return next(call, context)
      const who = by(context)
      const now = running.get(who) ?? 0
      if (now >= max) throw new Refusal('Overloaded', { retryAfter: 1 })
      running.set(who, now + 1)
      try {
        return await next(call, context)
      } finally {
        const left = (running.get(who) ?? 1) - 1
        if (left === 0) running.delete(who)
        else running.set(who, left)
      }
    },
  }
}

/** How much may be started in a time. */
export interface RateOptions {
  /** Operations that one caller may start per minute, evenly spread. */
  readonly perMinute: number
  /** Operations that may come at once after a pause. Default: a tenth of `perMinute`, at least 1. */
  readonly burst?: number
  readonly by?: CountBy
  /** Milliseconds since the epoch. */
  readonly clock?: () => number
}

/** Callers that are remembered at most, and half of which are for sure; those longest unheard of are forgotten first. */
const maxCallers = 100_000

/** What a caller has left. */
interface Bucket {
  tokens: number
  /** When it was last counted. */
  at: number
}

/** Refuses with `RateLimited`, saying when to come back, what exceeds a caller's share (a token bucket). */
export function rateLimit({ perMinute, burst, by = byPrincipal, clock = Date.now }: RateOptions): Middleware {
  const size = burst ?? Math.max(1, Math.floor(perMinute / 10))
  const perMs = perMinute / 60_000
  const buckets = createRecent<Bucket>(maxCallers)
  return {
    all: (call, context, next) => {
      const now = clock()
      const bucket = buckets.of(by(context), () => ({ tokens: size, at: now }))
      bucket.tokens = Math.min(size, bucket.tokens + (now - bucket.at) * perMs)
      bucket.at = now
      if (bucket.tokens < 1) {
        const retryAfter = Math.ceil((1 - bucket.tokens) / perMs / 1000)
        return Promise.reject(new Refusal('RateLimited', { retryAfter }))
      }
      bucket.tokens -= 1
      return next(call, context)
    },
  }
}

/**
 * Things by name, made when first asked for, and at most `max` of them: of the others those go that were not asked for
 * while at least half as many were.
 */
function createRecent<T>(max: number): { of(name: string, make: () => T): T } {
  let recent = new Map<string, T>()
  let earlier = new Map<string, T>()
  return {
    of(name, make) {
      const known = recent.get(name)
      if (known !== undefined) return known
      const one = earlier.get(name) ?? make()
      if (recent.size >= max / 2) {
        earlier = recent
        recent = new Map()
      }
      recent.set(name, one)
      return one
    },
  }
}
