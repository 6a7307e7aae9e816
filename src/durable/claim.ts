import type { Json } from '../model/json.ts'

/** What a keyed call came to, as it can be told again. */
export type Outcome =
  | { readonly result: Json }
  | { readonly refusal: { readonly kind: string; readonly data?: Json; readonly message?: string } }

interface Claimed {
  /** Digest of the arguments that the key is bound to. */
  readonly arguments: string
  /** The round that runs or ran last, from 0, and the digest of the answers it ran on. */
  readonly round: number
  readonly answers: string
  /** Milliseconds since the epoch at which that round began. */
  readonly since: number
}

/** What is recorded of a key. A token fences: whoever no longer holds it can change nothing. */
export type Claim =
  | (Claimed & { readonly state: 'running'; readonly token: string; readonly leaseUntil: number })
  | (Claimed & { readonly state: 'suspended'; readonly outcome: Outcome })
  | (Claimed & { readonly state: 'completed'; readonly outcome: Outcome })
  | (Claimed & { readonly state: 'unknown' })

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
  | { readonly kind: 'suspend'; readonly token: string; readonly outcome: Outcome }
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
  | { readonly kind: 'replay'; readonly outcome: Outcome }
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

/** The whole life of a claim, as one pure function. */
export function transition(claim: Claim | undefined, event: ClaimEvent): Transition {
  if (event.kind === 'claim') return attempted(claim, event)
  if (claim?.state !== 'running' || claim.token !== event.token) return { next: claim, verdict: { kind: 'stale' } }
  return { next: afterRun(claim, event), verdict: { kind: 'done' } }
}

function attempted(claim: Claim | undefined, event: ClaimEvent & { readonly kind: 'claim' }): Transition {
  const { attempt } = event
  if (claim === undefined) return { next: running(event), verdict: { kind: 'run', again: attempt.round > 0 } }
  const stay = (verdict: Verdict): Transition => ({ next: claim, verdict })
  if (claim.arguments !== attempt.arguments) return stay({ kind: 'conflict' })
  if (attempt.round === claim.round && attempt.answers !== claim.answers) return stay({ kind: 'conflict' })
  switch (claim.state) {
    case 'completed':
      return stay({ kind: 'replay', outcome: claim.outcome })
    case 'suspended':
      if (attempt.round <= claim.round) return stay({ kind: 'replay', outcome: claim.outcome })
      return { next: running(event), verdict: { kind: 'run', again: true } }
    case 'running':
      if (claim.leaseUntil > event.now) return stay({ kind: 'busy' })
      return attempt.rerun ? takenOver(event) : lost(claim)
    case 'unknown':
      return attempt.rerun ? takenOver(event) : stay({ kind: 'unknown', since: claim.since })
  }
}

function running({ attempt, now, leaseUntil }: ClaimEvent & { readonly kind: 'claim' }): Claim {
  const { arguments: bound, round, answers, token } = attempt
  return { state: 'running', arguments: bound, round, answers, token, leaseUntil, since: now }
}

function takenOver(event: ClaimEvent & { readonly kind: 'claim' }): Transition {
  return { next: running(event), verdict: { kind: 'run', again: true } }
}

/** The holder is dead, and the tool may not run twice. */
function lost({ arguments: bound, round, answers, since }: Claim): Transition {
  return { next: { state: 'unknown', arguments: bound, round, answers, since }, verdict: { kind: 'unknown', since } }
}

type Running = Extract<Claim, { readonly state: 'running' }>

function afterRun(claim: Running, event: Exclude<ClaimEvent, { readonly kind: 'claim' }>): Claim | undefined {
  const { arguments: bound, round, answers, since } = claim
  switch (event.kind) {
    case 'renew':
      return { ...claim, leaseUntil: event.leaseUntil }
    case 'suspend':
      return { state: 'suspended', arguments: bound, round, answers, since, outcome: event.outcome }
    case 'complete':
      return { state: 'completed', arguments: bound, round, answers, since, outcome: event.outcome }
    case 'lose':
      return { state: 'unknown', arguments: bound, round, answers, since }
    case 'release':
      return undefined
  }
}
