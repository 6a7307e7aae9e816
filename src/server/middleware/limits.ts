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
  const counts = createCounts()
  return {
    all: async (call, context, next) => {
      if (call.method === 'subscriptions/listen') return next(call, context)
      const count = counts.of(by(context))
      if (count.running >= max) throw new Refusal('Overloaded', { retryAfter: 1 })
      count.running++
      try {
        return await next(call, context)
      } finally {
        count.running--
      }
    },
  }
}

/** How many of a caller run. */
interface Count {
  running: number
}

/** So many callers are counted before any is looked at for having nothing running. */
const fewCallers = 1_000

/** Counts by caller. One that is back at nothing is kept until there are twice as many as there had to be. */
function createCounts(): { of(who: string): Count } {
  const counts = new Map<string, Count>()
  let enough = fewCallers
  return {
    of(who) {
      const known = counts.get(who)
      if (known !== undefined) return known
      if (counts.size >= enough) {
        for (const [one, { running }] of counts) if (running === 0) counts.delete(one)
        enough = Math.max(fewCallers, 2 * counts.size)
      }
      const count = { running: 0 }
      counts.set(who, count)
      return count
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
