import type { Clock, Logger, Random } from '../model/ports.ts'
import { isRefusal, Refusal } from '../model/refusal.ts'
import type { PutOptions, Store } from '../model/store.ts'
import { isStoreUnavailable } from '../model/store-unavailable.ts'
import { transition, type Attempt, type Claim, type ClaimEvent, type Outcome, type Verdict } from './claim.ts'

/** How claims are kept. */
export interface ClaimsOptions {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Milliseconds that what a call came to is kept. Default 24 hours. */
  readonly keepMs?: number
  /** Milliseconds after which a run whose process is silent counts as dead. Default 15,000. */
  readonly leaseMs?: number
  /** Claims that are kept at most; finished ones give way first, running ones never. Default 100,000. */
  readonly maxClaims?: number
}

/** A call's key, as it is claimed. */
export interface Claiming {
  /** Names the key within its scope: who calls, and what. */
  readonly id: string
  readonly attempt: Omit<Attempt, 'token'>
  /** Milliseconds that the outcome is kept, where that is shorter than usual. */
  readonly keepMs?: number
}

/** A run that is ours, until it is settled. */
export interface Held {
  /** Whether it may have been run before, so that its steps have to be looked up. */
  readonly again: boolean
  /** Records what the run came to. Resolves when that is written, or has been given to the background to retry. */
  settle(
    event: { readonly kind: 'suspend' | 'complete'; readonly outcome: Outcome } | { readonly kind: 'lose' | 'release' },
  ): Promise<void>
}

/** The claims of a server, over its store. */
export interface Claims {
  /**
   * Claims a key. @returns the run, or what is known of it
   * @throws Refusal `IdempotencyUnavailable` when the store is away, `StoreFull` when there is no room; nothing ran
   */
  claim(claiming: Claiming): Promise<Held | Exclude<Verdict, { readonly kind: 'run' | 'done' | 'stale' }>>
  /** Stops renewing leases. What runs on is recorded all the same. */
  close(): void
}

const defaults = { keepMs: 24 * 3600_000, leaseMs: 15_000, maxClaims: 100_000 }
/** A record that could not be written is tried again this often, this far apart. */
const retry = { times: 20, everyMs: 500 }

interface Running {
  readonly key: string
  readonly token: string
  readonly keepMs: number
  version: number
  claim: Claim
}

/** Keeps claims in a store. One timer renews the leases of all runs of this process. */
export function createClaims(options: ClaimsOptions): Claims {
  const { store, clock, random, logger } = options
  const { keepMs, leaseMs, maxClaims } = { ...defaults, ...options }
  const held = new Map<string, Running>()
  /** Records on their way to the store, by key: a call that comes meanwhile waits for them. */
  const writing = new Map<string, Promise<void>>()
  let renewing: NodeJS.Timeout | undefined

  async function claim({ id, attempt, keepMs: shorter }: Claiming): ReturnType<Claims['claim']> {
    const key = `claim/${id}`
    const token = Buffer.from(random(12)).toString('base64url')
    try {
      await writing.get(key)
      // A key is new nearly always, so that is what the first look takes it for: one round trip.
      for (let fresh = true; ; fresh = false) {
        const known = fresh ? undefined : await store.get(key)
        const now = clock()
        const event: ClaimEvent = { kind: 'claim', attempt: { ...attempt, token }, now, leaseUntil: now + leaseMs }
        const before = known && (JSON.parse(known.value) as Claim)
        const { next, verdict } = transition(before, event)
        if (next === before || next === undefined)
          return verdict as Exclude<Verdict, { kind: 'run' | 'done' | 'stale' }>
        const version = await store.put(
          key,
          JSON.stringify(next),
          putting(next, known?.version ?? 0, shorter ?? keepMs),
        )
        if (version === undefined) continue
        if (verdict.kind !== 'run') return verdict as Exclude<Verdict, { kind: 'run' | 'done' | 'stale' }>
        return hold({ key, token, keepMs: shorter ?? keepMs, version, claim: next }, verdict.again)
      }
    } catch (cause) {
      if (isRefusal(cause)) throw cause
      throw new Refusal('IdempotencyUnavailable', { cause })
    }
  }

  function putting(claim: Claim, ifVersion: number, keep: number): PutOptions {
    const evict = claim.state === 'running' ? 'never' : claim.state === 'suspended' ? 'last' : 'first'
    return { ifVersion, expiresAt: clock() + keep, maxInGroup: maxClaims, evict }
  }

  function hold(running: Running, again: boolean): Held {
    held.set(running.key, running)
    renewing ??= setInterval(renew, leaseMs / 3).unref()
    return {
      again,
      settle: (event) => {
        held.delete(running.key)
        const written = record(running, { ...event, token: running.token }).finally(() => writing.delete(running.key))
        writing.set(running.key, written)
        return written
      },
    }
  }

  /** Writes what a run came to. The truth is known here, so it is written until that works, or until it is too late. */
  async function record(running: Running, event: ClaimEvent): Promise<void> {
    for (let left = retry.times; left >= 0; left--) {
      try {
        if (await write(running, event)) return
        logger.warn('a run was taken over by another process before it was recorded', { key: running.key })
        return
      } catch (error) {
        if (!isStoreUnavailable(error) || left === 0)
          return logger.error('what a call came to could not be recorded', { key: running.key, error })
        await new Promise((resolve) => setTimeout(resolve, retry.everyMs))
      }
    }
  }

  /** @returns whether the run is still ours */
  async function write(running: Running, event: ClaimEvent): Promise<boolean> {
    for (;;) {
      const { next, verdict } = transition(running.claim, event)
      if (verdict.kind === 'stale') return false
      const written = next
        ? await store.put(running.key, JSON.stringify(next), putting(next, running.version, running.keepMs))
        : (await store.delete(running.key, running.version)) || undefined
      if (written !== undefined) {
        if (next && typeof written === 'number') Object.assign(running, { version: written, claim: next })
        return true
      }
      const known = await store.get(running.key)
      if (!known) return false
      Object.assign(running, { version: known.version, claim: JSON.parse(known.value) as Claim })
    }
  }

  function renew(): void {
    if (held.size === 0) {
      clearInterval(renewing)
      renewing = undefined
    }
    for (const running of held.values()) {
      const event = { kind: 'renew', token: running.token, leaseUntil: clock() + leaseMs } as const
      write(running, event).catch((error: unknown) =>
        logger.warn('a lease could not be renewed', { key: running.key, error }),
      )
    }
  }

  return { claim, close: () => clearInterval(renewing) }
}
