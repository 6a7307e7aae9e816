import type { Clock, Logger, Random } from '../model/ports.ts'
import { isRefusal, Refusal } from '../model/refusal.ts'
import type { PutOptions, Store, Versioned } from '../model/store.ts'
import { isStoreUnavailable } from '../model/store-unavailable.ts'
import { retried } from './retried.ts'
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

/** What a run came to. `goodUntil`: milliseconds since the epoch at which the state that it gave out expires. */
export type Settling =
  | { readonly kind: 'complete'; readonly outcome: Outcome }
  | { readonly kind: 'suspend'; readonly outcome: Outcome; readonly goodUntil: number }
  | { readonly kind: 'lose' | 'release' }

/** A run that is ours, until it is settled. */
export interface Held {
  /** Whether it may have been run before, so that its steps have to be looked up. */
  readonly again: boolean
  /** Records what the run came to. Resolves when that is written, or given up; never rejects. */
  settle(event: Settling): Promise<void>
}

/** What is known of a key that is not ours to run. */
export type Known = Exclude<Verdict, { readonly kind: 'run' | 'done' | 'stale' }>

/** The claims of a server, over its store. */
export interface Claims {
  /**
   * Claims a key. @returns the run, or what is known of it
   * @throws Refusal `IdempotencyUnavailable` when the store is away, `StoreFull` when there is no room; nothing ran
   */
  claim(claiming: Claiming): Promise<Held | Known>
  /** Stops renewing leases. What runs on is recorded all the same. */
  close(): void
}

const defaults = { keepMs: 24 * 3_600_000, leaseMs: 15_000, maxClaims: 100_000 }
/** A record that could not be written is tried again this often, this far apart: ten minutes in all. */
const patience = { times: 1_200, everyMs: 500 }

interface Running {
  readonly key: string
  readonly token: string
  readonly keepMs: number
  version: number
  claim: Claim
}

/** A record on its way to the store: what it will say, unless the run was taken over meanwhile. */
interface Recording {
  readonly claim: Claim | undefined
  readonly written: Promise<void>
}

/** Keeps claims in a store. One timer renews the leases of all runs of this process. */
export function createClaims(options: ClaimsOptions): Claims {
  const { store, clock, random, logger } = options
  const { keepMs, leaseMs, maxClaims } = { ...defaults, ...options }
  const held = new Map<string, Running>()
  const recording = new Map<string, Recording>()
  /** Tells this process from all others; what it claims is counted. */
  const holder = Buffer.from(random(12)).toString('base64url')
  let claimed = 0
  let renewing: NodeJS.Timeout | undefined

  async function claim(claiming: Claiming): Promise<Held | Known> {
    const key = `claim/${claiming.id}`
    const token = `${holder}.${(++claimed).toString(36)}`
    const onItsWay = recording.get(key)
    if (onItsWay !== undefined) {
      const early = known(onItsWay, attempt(claiming, token))
      if (early !== undefined) return early
      await onItsWay.written
    }
    try {
      return await contend(key, claiming, token)
    } catch (cause) {
      if (isRefusal(cause)) throw cause
      throw new Refusal('IdempotencyUnavailable', { cause })
    }
  }

  function attempt({ attempt: wanted }: Claiming, token: string): Extract<ClaimEvent, { kind: 'claim' }> {
    const now = clock()
    const { arguments: bound, round, answers, rerun } = wanted
    return {
      kind: 'claim',
      attempt: { arguments: bound, round, answers, token, rerun },
      now,
      leaseUntil: now + leaseMs,
    }
  }

  async function contend(key: string, claiming: Claiming, token: string): Promise<Held | Known> {
    const keep = claiming.keepMs ?? keepMs
    // A key is new nearly always, so that is what the first look takes it for: one round trip.
    for (let found: Versioned | undefined; ; found = await store.get(key)) {
      const before = found && read(found)
      const { next, verdict } = transition(before, attempt(claiming, token))
      if (next === undefined || next === before) return told(verdict)
      const running: Running = { key, token, keepMs: keep, version: found?.version ?? 0, claim: next }
      const version = await put(running, next).catch((error: unknown) => {
        if (isStoreUnavailable(error) && error.attempted === 'unknown') undo(running)
        throw error
      })
      if (version === undefined) continue
      running.version = version
      return verdict.kind === 'run' ? hold(running, verdict.again) : told(verdict)
    }
  }

  function put({ key, version, keepMs: keep }: Running, claim: Claim): Promise<number | undefined> {
    const options: PutOptions = {
      ifVersion: version,
      expiresAt: clock() + keep,
      maxInGroup: maxClaims,
      evict: claim.state === 'running' ? 'never' : claim.state === 'completed' ? 'first' : 'last',
    }
    return store.put(key, JSON.stringify(claim), options)
  }

  /** The key may have become ours without our knowing. The call is refused, so it must not look as if it ran. */
  function undo(running: Running): void {
    if (running.claim.state === 'running') void record(running, { kind: 'release', token: running.token }, false)
  }

  function hold(running: Running, again: boolean): Held {
    held.set(running.key, running)
    renewing ??= setInterval(renew, leaseMs / 3).unref()
    return {
      again,
      settle: (event) => {
        held.delete(running.key)
        return record(running, { ...event, token: running.token }, true)
      },
    }
  }

  /** @param mustBeOurs whether it is worth a warning that somebody else has the run */
  function record(running: Running, event: ClaimEvent, mustBeOurs: boolean): Promise<void> {
    const { key } = running
    const { next } = transition(running.claim, event)
    const written = persist(running, event, mustBeOurs).finally(() => {
      if (recording.get(key)?.written === written) recording.delete(key)
    })
    recording.set(key, { claim: next, written })
    return written
  }

  /** The truth is known here, so it is written until that works, or until it is too late. */
  async function persist(running: Running, event: ClaimEvent, mustBeOurs: boolean): Promise<void> {
    const { key } = running
    try {
      const ours = await retried(
        patience,
        () => write(running, event, () => true),
        (error) => logger.warn('what a call came to cannot be recorded yet', { key, error }),
      )
      if (!ours && mustBeOurs) logger.warn('a run was taken over before it was recorded', { key })
    } catch (error) {
      logger.error('what a call came to could not be recorded', { key, error })
    }
  }

  /** @returns whether the run is still ours */
  async function write(running: Running, event: ClaimEvent, wanted: () => boolean): Promise<boolean> {
    while (wanted()) {
      const { next, verdict } = transition(running.claim, event)
      if (verdict.kind === 'stale') return false
      if (next === undefined) {
        if (await store.delete(running.key, running.version)) return true
      } else {
        const version = await put(running, next)
        if (version !== undefined) {
          Object.assign(running, { version, claim: next })
          return true
        }
      }
      const found = await store.get(running.key)
      if (found === undefined) return next === undefined
      // An attempt before this one may have come through although it looked as if it had not.
      if (found.value === JSON.stringify(next)) return true
      Object.assign(running, { version: found.version, claim: read(found) })
    }
    return true
  }

  function renew(): void {
    if (held.size === 0) {
      clearInterval(renewing)
      renewing = undefined
    }
    for (const running of held.values()) void renewLease(running)
  }

  async function renewLease(running: Running): Promise<void> {
    const { key, token } = running
    const isHeld = (): boolean => held.get(key) === running
    try {
      const ours = await write(running, { kind: 'renew', token, leaseUntil: clock() + leaseMs }, isHeld)
      if (!ours && isHeld()) logger.warn('a run was taken over while it was running', { key })
    } catch (error) {
      logger.warn('a lease could not be renewed', { key, error })
    }
  }

  return { claim, close: () => clearInterval(renewing) }
}

/** Written by this module, so it is one. */
function read({ value }: Versioned): Claim {
  return JSON.parse(value) as Claim
}

/** What can be told before a record is written: all but that the key is free to run. */
function known(recording: Recording, event: ClaimEvent): Known | undefined {
  if (recording.claim === undefined) return undefined
  const { next, verdict } = transition(recording.claim, event)
  return next === recording.claim ? told(verdict) : undefined
}

/** The verdict of an attempt that gets nothing to run; others are never asked. */
function told(verdict: Verdict): Known {
  if (verdict.kind === 'run' || verdict.kind === 'done' || verdict.kind === 'stale') throw new TypeError(verdict.kind)
  return verdict
}
