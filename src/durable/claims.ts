import { createBag } from '../model/bag.ts'
import { andThen, isLater, valuesOf, type Awaitable } from '../model/at-once.ts'
import type { Clock, Logger, Random } from '../model/ports.ts'
import { isRefusal, Refusal } from '../model/refusal.ts'
import type { Store, Versioned } from '../model/store.ts'
import { isStoreUnavailable } from '../model/store-unavailable.ts'
import { timerMs } from '../model/timer.ts'
import { readClaim, readOutcome } from './claim-text.ts'
import { createClaimWatch } from './claim-watch.ts'
import { createClaimWriter, type Recording } from './claim-writer.ts'
import { transition, type Attempt, type Claim, type ClaimEvent, type Outcome, type Verdict } from './claim.ts'
import { HeldRun, type Holding } from './held-run.ts'
import type { Hold } from './hold.ts'

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
  /** Claims of all callers that are kept at most; finished ones give way first, running ones never. Default 100,000. */
  readonly maxClaims?: number
}

/** A call's key, as it is claimed. */
export interface Claiming {
  /** Names the key within its scope: who calls, and what. */
  readonly id: string
  readonly attempt: Omit<Attempt, 'token'>
  /** Milliseconds that the outcome is kept, where that is shorter than usual. */
  readonly keepMs?: number
  /** Milliseconds that a state is good which leads here: the claim is kept as long at least. Default 0. */
  readonly stateMs?: number
  /** Whether only such states lead here, so that a claim whose state has expired is wanted no more. Default `false`. */
  readonly byStateAlone?: boolean
}

/** What a run came to. `goodUntil`: milliseconds since the epoch at which the state that it gave out expires. */
export type Settling =
  | { readonly kind: 'complete'; readonly outcome: Outcome }
  | { readonly kind: 'suspend'; readonly outcome: Outcome; readonly goodUntil: number }
  | { readonly kind: 'lose' | 'release' }

/** A run that is ours, until it is settled or lost. */
export interface Held extends Hold {
  /** Whether it may have been run before, so that its steps have to be looked up. */
  readonly again: boolean
  /** Whether nothing was known of the key before. */
  readonly isNew: boolean
  /**
   * Records what the run came to, unless it was lost. Resolves when that is written, or given up; never rejects.
   * @throws Refusal `Unserializable` for an outcome that is not JSON: the run is still held
   */
  settle(event: Settling): Awaitable<void>
  onLost(listener: (reason: Refusal) => void): void
}

/** What is known of a key that is not ours to run. */
export type Known =
  | Exclude<Verdict, { readonly kind: 'run' | 'done' | 'stale' | 'replay' }>
  | { readonly kind: 'replay'; readonly outcome: Outcome }
  /** It ran to its end, but what it came to is not kept any more. */
  | { readonly kind: 'gone'; readonly since: number }

/** The claims of a server, over its store. */
export interface Claims {
  /**
   * Claims a key. Resolves to the run, or to what is known of it; at once where the store allows.
   * @throws Refusal `IdempotencyUnavailable` when the store is away, `StoreFull` when there is no room; nothing ran
   */
  claim(claiming: Claiming): Awaitable<Held | Known>
  /** Stops renewing leases. What runs on is recorded all the same. */
  close(): void
}

const defaults = { keepMs: 24 * 3_600_000, leaseMs: 15_000, maxClaims: 100_000 }

/** Keeps claims in a store. One timer renews the leases of all runs of this process. */
export function createClaims(options: ClaimsOptions): Claims {
  const { store, clock, random, logger } = options
  const { keepMs, leaseMs, maxClaims } = { ...defaults, ...options }
  const values = valuesOf(store)
  const writer = createClaimWriter({ store, clock, logger, maxClaims })
  const held = createBag<HeldRun>()
  const watch = createClaimWatch({ store, clock, logger, maxClaims })
  const holding: Holding = { writer, watch, clock, logger, keepMs, leaseMs, held }
  /** Tells this process from all others; what it claims is counted. */
  let holder: string | undefined
  let claimed = 0
  let renewing: NodeJS.Timeout | undefined

  function claim(claiming: Claiming): Awaitable<Held | Known> {
    const key = `claim/${claiming.id}`
    holder ??= Buffer.from(random(12)).toString('base64url')
    const token = `${holder}.${(++claimed).toString(36)}`
    const onItsWay = writer.onItsWay(key)
    if (onItsWay === undefined) return contended(key, claiming, token)
    const early = known(onItsWay, attempt(claiming, token))
    return early ?? onItsWay.written.then(() => contended(key, claiming, token))
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

  function contended(key: string, claiming: Claiming, token: string): Awaitable<Held | Known> {
    try {
      // A key is new nearly always, so that is what the first look takes it for: one round trip.
      const found = contend(key, claiming, token, undefined)
      return isLater(found) ? found.catch((cause: unknown) => withRoom(key, claiming, token, cause)) : found
    } catch (cause) {
      return withRoom(key, claiming, token, cause)
    }
  }

  /** Once more with room made, where that is what it failed for. */
  async function withRoom(key: string, claiming: Claiming, token: string, cause: unknown): Promise<Held | Known> {
    try {
      if (!isRefusal(cause) || cause.kind !== 'StoreFull' || !(await writer.makeRoom())) throw cause
      return await contend(key, claiming, token, undefined)
    } catch (error) {
      throw isRefusal(error) ? error : new Refusal('IdempotencyUnavailable', { cause: error })
    }
  }

  function contend(
    key: string,
    claiming: Claiming,
    token: string,
    found: Versioned | undefined,
  ): Awaitable<Held | Known> {
    const before = found && readClaim(found.value)
    const { next, verdict } = transition(before, attempt(claiming, token))
    if (next === undefined || next === before) return toldOf(verdict, before)
    const running = new HeldRun(holding, key, token, claiming, found?.version ?? 0, before)
    const putting = writer.put(running, next)
    const put = isLater(putting) ? putting.catch((error: unknown) => undone(running, next, error)) : putting
    return andThen(put, (isOurs) => {
      if (!isOurs) return andThen(values.get(key), (newer) => contend(key, claiming, token, newer))
      return verdict.kind === 'run' ? hold(running, verdict.again, before === undefined) : told(verdict)
    })
  }

  /** What is known, with an outcome that lies elsewhere. */
  function toldOf(verdict: Verdict, claim: Claim | undefined): Awaitable<Known> {
    if (verdict.kind !== 'replay' || !('at' in verdict.outcome)) return told(verdict)
    const gone = { kind: 'gone', since: claim?.since ?? 0 } as const
    if (verdict.outcome.at === null) return gone
    const finding = values.get(verdict.outcome.at)
    return andThen(finding, (kept) => (kept ? { kind: 'replay', outcome: readOutcome(kept.value) } : gone))
  }

  /** The key may have become ours without our knowing. The call is refused, so it must not look as if it ran. */
  function undone(running: HeldRun, next: Claim, error: unknown): never {
    if (isStoreUnavailable(error) && error.attempted === 'unknown' && next.state === 'running') {
      running.claim = next
      void writer.record(running, { kind: 'release', token: running.token }, false)
    }
    throw error
  }

  function hold(running: HeldRun, again: boolean, isNew: boolean): Held {
    renewing ??= setInterval(renew, timerMs(leaseMs / 3)).unref()
    return running.begin(again, isNew)
  }

  function renew(): void {
    if (held.size === 0) {
      clearInterval(renewing)
      renewing = undefined
    }
    for (const running of held.all()) void running.renew()
  }

  return { claim, close: () => clearInterval(renewing) }
}

/** What can be told before a record is written: all but that the key is free to run. */
function known({ claim }: Recording, event: ClaimEvent): Known | undefined {
  if (claim === undefined || ('outcome' in claim && 'at' in claim.outcome)) return undefined
  const { next, verdict } = transition(claim, event)
  return next === claim ? told(verdict) : undefined
}

/** The verdict of an attempt that gets nothing to run; others are never asked. */
function told(verdict: Verdict): Known {
  if (verdict.kind === 'run' || verdict.kind === 'done' || verdict.kind === 'stale') throw new TypeError(verdict.kind)
  if (verdict.kind !== 'replay') return verdict
  if ('at' in verdict.outcome) throw new TypeError('This outcome lies elsewhere')
  return { kind: 'replay', outcome: verdict.outcome }
}
