// What a claim has to do, told in another way than the code under test: by the list of runs that there have been.
import type { ClaimEvent, Outcome, Verdict } from '../../src/durable/claim.ts'

interface Run {
  readonly round: number
  readonly answers: string
  readonly token: string
  readonly since: number
  leaseUntil: number
  end: 'complete' | 'suspend' | 'lose' | undefined
  outcome: Outcome | undefined
  goodUntil: number
}

/** Remembers every run under one key, and judges each event by them. */
export class ClaimModel {
  #bound: string | undefined
  #runs: Run[] = []

  tell(event: ClaimEvent): Verdict {
    return event.kind === 'claim' ? this.#claim(event) : this.#end(event)
  }

  /** The outcome that is recorded for good, if there is one. */
  get final(): Outcome | undefined {
    const last = this.#runs.at(-1)
    return last?.end === 'complete' ? last.outcome : undefined
  }

  #claim(event: Extract<ClaimEvent, { kind: 'claim' }>): Verdict {
    const { attempt, now } = event
    const last = this.#runs.at(-1)
    if (last === undefined) return this.#begin(event, attempt.round > 0)
    if (attempt.arguments !== this.#bound) return { kind: 'conflict' }
    const same = this.#runs.findLast((run) => run.round === attempt.round)
    if (same !== undefined && same.answers !== attempt.answers) return { kind: 'conflict' }
    if (last.end === 'complete' && last.outcome) return { kind: 'replay', outcome: last.outcome }
    if (last.end === 'suspend' && last.outcome) {
      const settled = attempt.round <= last.round && now < last.goodUntil
      return settled ? { kind: 'replay', outcome: last.outcome } : this.#begin(event, true)
    }
    if (last.end === undefined && now < last.leaseUntil) return { kind: 'busy' }
    if (attempt.rerun) return this.#begin(event, true)
    last.end = 'lose'
    return { kind: 'unknown', since: last.since }
  }

  /** A run at an earlier round than others makes those as if they had not been. */
  #begin({ attempt, now, leaseUntil }: Extract<ClaimEvent, { kind: 'claim' }>, again: boolean): Verdict {
    const { round, answers, token } = attempt
    this.#bound = attempt.arguments
    this.#runs = this.#runs.filter((run) => run.round < round)
    this.#runs.push({ round, answers, token, since: now, leaseUntil, end: undefined, outcome: undefined, goodUntil: 0 })
    return { kind: 'run', again }
  }

  #end(event: Exclude<ClaimEvent, { kind: 'claim' }>): Verdict {
    const last = this.#runs.at(-1)
    const settled = last === undefined || last.end === 'complete' || last.end === 'suspend'
    if (settled || last.token !== event.token) return { kind: 'stale' }
    if (event.kind === 'release') this.#runs = []
    else if (event.kind === 'renew') Object.assign(last, { end: undefined, leaseUntil: event.leaseUntil })
    else {
      last.end = event.kind
      if ('outcome' in event) last.outcome = event.outcome
      if ('goodUntil' in event) last.goodUntil = event.goodUntil
    }
    return { kind: 'done' }
  }
}
