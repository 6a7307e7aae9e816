import type { Json } from '../model/json.ts'

/** What a keyed call came to, as it can be told again. */
export type Outcome =
  | { readonly result: Json }
  | { readonly refusal: { readonly kind: string; readonly data?: Json; readonly message?: string } }

/** Where an outcome is that is too long to be part of its claim: under a key of its own, or (`null`) nowhere any more. */
export interface Elsewhere {
  readonly at: string | null
}

interface Claimed {
  /** Digest of the arguments that the key is bound to. */
  readonly arguments: string
  /** The round that runs or ran last, from 0. */
  readonly round: number
  /** Digests of the answers that rounds ran on, in the order of rounds; `null` where they are not known. */
  readonly answers: readonly (string | null)[]
  /** Milliseconds since the epoch at which that round began. */
  readonly since: number
}

/**
 * What is recorded of a key. A token fences: whoever no longer holds it can change nothing. What is unknown keeps the
 * token of the last holder, since one that was taken for dead may still come to tell the truth.
 */
export type Claim =
  | (Claimed & { readonly state: 'running'; readonly token: string; readonly leaseUntil: number })
  | (Claimed & { readonly state: 'suspended'; readonly outcome: Outcome | Elsewhere; readonly goodUntil: number })
  | (Claimed & { readonly state: 'completed'; readonly outcome: Outcome | Elsewhere })
  | (Claimed & { readonly state: 'unknown'; readonly token: string })

/** A call that wants to run under a key. */
export interface Attempt {
  readonly arguments: string
  /** 0 for a first call, else the round of the state it brings. */
  readonly round: number
  readonly answers: string
  readonly token: string
  /** Whether the tool may run again when nobody knows how the run before ended. */
  readonly rerun: boolean
}

/** What happens to a claim. Times are milliseconds since the epoch. */
export type ClaimEvent =
  | { readonly kind: 'claim'; readonly attempt: Attempt; readonly now: number; readonly leaseUntil: number }
  | { readonly kind: 'renew'; readonly token: string; readonly leaseUntil: number }
  | { readonly kind: 'suspend'; readonly token: string; readonly outcome: Outcome; readonly goodUntil: number }
  | { readonly kind: 'complete'; readonly token: string; readonly outcome: Outcome }
  | { readonly kind: 'lose'; readonly token: string }
  | { readonly kind: 'release'; readonly token: string }

/** What whoever caused the event is told. */
export type Verdict =
  /** The run is yours; `again`: somebody ran it before, so steps may have been done. */
  | { readonly kind: 'run'; readonly again: boolean }
  /** It runs somewhere else. */
  | { readonly kind: 'busy' }
  /** It ran: this is what it came to. */
  | { readonly kind: 'replay'; readonly outcome: Outcome | Elsewhere }
  /** The key is bound to other arguments, or the round to other answers. */
  | { readonly kind: 'conflict' }
  /** It began and nobody knows how it ended. */
  | { readonly kind: 'unknown'; readonly since: number }
  /** The event was taken in. */
  | { readonly kind: 'done' }
  /** The token is no longer good: somebody else took the run over. */
  | { readonly kind: 'stale' }

/** What is recorded after an event (`undefined`: nothing), and the verdict. The same object: nothing to write. */
export interface Transition {
  readonly next: Claim | undefined
  readonly verdict: Verdict
}

/**
 * The whole life of a claim, as one pure function. A claim whose state went stale before it was answered may be begun
 * again: nobody can go on with it any more, and its steps are still known.
 */
export function transition(claim: Claim | undefined, event: ClaimEvent): Transition {
  if (event.kind === 'claim') return attempted(claim, event)
  if (!isHeld(claim) || claim.token !== event.token) return { next: claim, verdict: { kind: 'stale' } }
  return { next: afterRun(claim, event), verdict: { kind: 'done' } }
}

type ClaimAttempt = Extract<ClaimEvent, { readonly kind: 'claim' }>
type Held = Extract<Claim, { readonly token: string }>

function isHeld(claim: Claim | undefined): claim is Held {
  return claim?.state === 'running' || claim?.state === 'unknown'
}

function attempted(claim: Claim | undefined, event: ClaimAttempt): Transition {
  const { attempt, now } = event
  if (claim === undefined) return begun(undefined, event, attempt.round > 0)
  const stay = (verdict: Verdict): Transition => ({ next: claim, verdict })
  const ranOn = claim.answers[attempt.round] ?? attempt.answers
  if (claim.arguments !== attempt.arguments || ranOn !== attempt.answers) return stay({ kind: 'conflict' })
  switch (claim.state) {
    case 'completed':
      return stay({ kind: 'replay', outcome: claim.outcome })
    case 'suspended':
      if (attempt.round > claim.round || now >= claim.goodUntil) return begun(claim, event, true)
      return stay({ kind: 'replay', outcome: claim.outcome })
    case 'running':
      if (claim.leaseUntil > now) return stay({ kind: 'busy' })
      return attempt.rerun ? begun(claim, event, true) : lost(claim)
    case 'unknown':
      return attempt.rerun ? begun(claim, event, true) : stay({ kind: 'unknown', since: claim.since })
  }
}

function begun(before: Claim | undefined, { attempt, now, leaseUntil }: ClaimAttempt, again: boolean): Transition {
  const { arguments: bound, round, token } = attempt
  const answers = [...ranBefore(before, round), attempt.answers]
  const next = { state: 'running', arguments: bound, round, answers, token, leaseUntil, since: now } as const
  return { next, verdict: { kind: 'run', again } }
}

/** What the rounds before `round` ran on. */
function ranBefore(claim: Claim | undefined, round: number): readonly (string | null)[] {
  return round === 0 ? [] : Array.from({ length: round }, (_, of) => claim?.answers[of] ?? null)
}

/** The holder is taken for dead, and the tool may not run twice. */
function lost(claim: Held): Transition {
  return { next: unknown(claim), verdict: { kind: 'unknown', since: claim.since } }
}

function unknown({ arguments: bound, round, answers, since, token }: Held): Claim {
  return { state: 'unknown', arguments: bound, round, answers, since, token }
}

function afterRun(claim: Held, event: Exclude<ClaimEvent, ClaimAttempt>): Claim | undefined {
  const { arguments: bound, round, answers, since, token } = claim
  switch (event.kind) {
    case 'renew':
      return { state: 'running', arguments: bound, round, answers, since, token, leaseUntil: event.leaseUntil }
    case 'suspend': {
      const { outcome, goodUntil } = event
      return { state: 'suspended', arguments: bound, round, answers, since, outcome, goodUntil }
    }
    case 'complete':
      return { state: 'completed', arguments: bound, round, answers, since, outcome: event.outcome }
    case 'lose':
      return unknown(claim)
    case 'release':
      return undefined
  }
}
