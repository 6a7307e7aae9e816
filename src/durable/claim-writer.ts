import { andThen, isLater, valuesOf, type Awaitable } from '../model/at-once.ts'
import type { Clock, Logger } from '../model/ports.ts'
import { isRefusal } from '../model/refusal.ts'
import type { Eviction, PutOptions, Store } from '../model/store.ts'
import { transition, type Claim, type ClaimEvent } from './claim.ts'
import { claimText, outcomeText, readClaim } from './claim-text.ts'
import { recordPatience, retried } from './retried.ts'

/** Where claims are written, and within what bounds. */
export interface ClaimWriterOptions {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly maxClaims: number
}

/** A claim of this process, as it was last read or written. */
export interface Running {
  readonly key: string
  readonly token: string
  /** Milliseconds that the record is kept. */
  readonly keepMs: number
  /** Whether a claim that waits for answers is wanted no longer than they can come. */
  readonly byStateAlone: boolean
  /** 0: nothing is recorded yet. */
  version: number
  claim: Claim | undefined
}

/** A record on its way to the store: what it will say, unless the run was taken over meanwhile. */
export interface Recording {
  readonly claim: Claim | undefined
  readonly written: Promise<void>
}

/** Writes claims, each only over the version that it was read at. */
export interface ClaimWriter {
  /** Resolves to whether the claim was written; where it was not, somebody else wrote meanwhile. */
  put(running: Running, claim: Claim): Awaitable<boolean>
  /** Takes an event in, for as long as that is `wanted`. Resolves to whether the run is still ours. */
  write(running: Running, event: ClaimEvent, wanted: () => boolean): Promise<boolean>
  /**
   * Takes in what a run came to, with patience: the truth is known here, so it is written until that works, or until it
   * is too late. Never rejects. @param mustBeOurs whether it is worth a warning that somebody else has the run
   * @throws Refusal `Unserializable`, having done nothing, if the outcome is not JSON
   */
  record(running: Running, event: ClaimEvent, mustBeOurs: boolean): Awaitable<void>
  /** Lets go of the oldest long outcomes. Resolves to whether there were any. */
  makeRoom(): Promise<boolean>
  /** The record that is on its way for a key. */
  onItsWay(key: string): Recording | undefined
}

/** What an event makes of a claim, and as text. */
interface Plan {
  readonly next: Claim | undefined
  readonly text: string
  /** An outcome that is too long for the claim, and how the claim reads if there is no room for it. */
  readonly aside?: { readonly key: string; readonly value: string; readonly without: string }
}

/** Longer outcomes get a key of their own, so that letting go of one does not take the claim with it. UTF-16 units. */
const longOutcome = 4 * 1024
const outcomes = 'outcome'
/** So many long outcomes go at once where the store is full. */
const roomStep = 64

/** Makes the writer of one server. */
export function createClaimWriter({ store, clock, logger, maxClaims }: ClaimWriterOptions): ClaimWriter {
  const values = valuesOf(store)
  const recording = new Map<string, Recording>()

  function goodUntil({ keepMs, byStateAlone }: Running, claim: Claim): number {
    return claim.state === 'suspended' && byStateAlone ? claim.goodUntil : clock() + keepMs
  }

  function put(running: Running, claim: Claim, text: string): Awaitable<boolean> {
    const version = values.put(running.key, text, {
      ifVersion: running.version,
      expiresAt: goodUntil(running, claim),
      evict: evictionOf(claim),
      maxInGroup: maxClaims,
    })
    return andThen(version, (written) => {
      if (written === undefined) return false
      running.version = written
      running.claim = claim
      return true
    })
  }

  function carryOut(running: Running, { next, text, aside }: Plan): Awaitable<boolean> {
    if (next === undefined) return values.delete(running.key, running.version)
    if (aside === undefined) return put(running, next, text)
    const options = { expiresAt: goodUntil(running, next), evict: evictionOf(next), maxInGroup: maxClaims }
    const kept = putAside(aside.key, aside.value, options)
    return andThen(kept, (isKept) => put(running, next, isKept ? text : aside.without))
  }

  /** Resolves to whether there was room. */
  function putAside(key: string, value: string, options: PutOptions): Awaitable<boolean> {
    const failed = (error: unknown): false => {
      mustBeFull(error)
      logger.warn('what a call came to is too long for the store; it cannot be told again', { key })
      return false
    }
    const put = (): Awaitable<unknown> => values.put(key, value, options)
    const again = async (error: unknown): Promise<boolean> => {
      mustBeFull(error)
      if (!(await makeRoom())) return failed(error)
      await put()
      return true
    }
    try {
      const version = put()
      return isLater(version) ? version.then(() => true, again).catch(failed) : true
    } catch (error) {
      // A store that does it at once makes room by itself.
      return failed(error)
    }
  }

  async function makeRoom(): Promise<boolean> {
    const oldest = await store.list(outcomes, { limit: roomStep })
    await Promise.all(oldest.map(({ key }) => store.delete(key)))
    return oldest.length > 0
  }

  /** @param first the plan for the claim as it is known, where there is one already */
  async function write(
    running: Running,
    event: ClaimEvent,
    wanted: () => boolean,
    first: Plan | undefined,
  ): Promise<boolean> {
    for (let plan = first ?? planned(running, event, clock()); wanted(); plan = planned(running, event, clock())) {
      if (plan === undefined) return false
      if (await carryOut(running, plan)) return true
      const found = await values.get(running.key)
      if (found === undefined) return plan.next === undefined
      // An attempt before this one may have come through although it looked as if it had not.
      if (found.value === plan.text || found.value === plan.aside?.without) return true
      running.version = found.version
      running.claim = readClaim(found.value)
    }
    return true
  }

  /** Whether it was written without waiting, as nearly all are where the store can. */
  function atOnce(running: Running, plan: Plan): boolean {
    if (values === store) return false
    try {
      return carryOut(running, plan) === true
    } catch {
      // The patient way meets the same failure, and reports it.
      return false
    }
  }

  async function persist(
    running: Running,
    event: ClaimEvent,
    mustBeOurs: boolean,
    plan: Plan | undefined,
  ): Promise<void> {
    const { key } = running
    let first = plan
    const attempt = (): Promise<boolean> => {
      const known = first
      // What was planned holds for the claim as it was known; after a failure that may be another.
      first = undefined
      return write(running, event, () => true, known)
    }
    const onDelay = (error: unknown): void => logger.warn('what a call came to cannot be recorded yet', { key, error })
    try {
      const ours = await retried(recordPatience, attempt, onDelay)
      if (!ours && mustBeOurs) logger.warn('a run was taken over before it was recorded', { key })
    } catch (error) {
      logger.error('what a call came to could not be recorded', { key, error })
    }
  }

  return {
    put: (running, claim) => put(running, claim, claimText(claim)),
    write: (running, event, wanted) => write(running, event, wanted, undefined),
    record(running, event, mustBeOurs) {
      const { key } = running
      const plan = planned(running, event, clock())
      if (plan !== undefined && atOnce(running, plan)) return undefined
      const written = persist(running, event, mustBeOurs, plan).finally(() => {
        if (recording.get(key)?.written === written) recording.delete(key)
      })
      recording.set(key, { claim: plan === undefined ? running.claim : plan.next, written })
      return written
    },
    makeRoom,
    onItsWay: (key) => recording.get(key),
  }
}

function evictionOf({ state }: Claim): Eviction {
  return state === 'running' ? 'never' : state === 'completed' ? 'first' : 'last'
}

function mustBeFull(error: unknown): void {
  if (!isRefusal(error) || error.kind !== 'StoreFull') throw error
}

/** `undefined`: somebody else has the run. */
function planned({ token, claim }: Running, event: ClaimEvent, now: number): Plan | undefined {
  const { next, verdict } = transition(claim, event)
  if (verdict.kind === 'stale') return undefined
  if (next === undefined) return { next, text: '' }
  const text = claimText(next)
  if (text.length <= longOutcome || !('outcome' in next)) return { next, text }
  const value = outcomeText(next.outcome)
  if (value.length <= longOutcome) return { next, text }
  // Of its run alone: one that was taken over must not write over what its successor tells.
  // The time first, so that the oldest are listed first.
  const at = `${outcomes}/${now.toString(36).padStart(9, '0')}.${token}`
  const reading = (where: string | null): string => claimText({ ...next, outcome: { at: where } })
  return { next, text: reading(at), aside: { key: at, value, without: reading(null) } }
}
