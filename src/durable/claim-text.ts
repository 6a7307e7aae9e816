import { Refusal } from '../model/refusal.ts'
import type { Claim, Outcome } from './claim.ts'

/**
 * A claim as it is recorded: its members in one order, without their names, which would take longer to write than what
 * they name. Answers stand in the order of rounds, `null` where they are not known.
 */
type ClaimRecord =
  | readonly ['running', ...Common, token: string, leaseUntil: number]
  | readonly ['suspended', ...Common, outcome: Outcome, goodUntil: number]
  | readonly ['completed', ...Common, outcome: Outcome]
  | readonly ['unknown', ...Common, token: string]
type Common = readonly [bound: string, round: number, answers: readonly (string | null)[], since: number]

/** The text of a claim. @throws Refusal `Unserializable` if what the call came to is not JSON */
export function claimText(claim: Claim): string {
  try {
    return JSON.stringify(toRecord(claim))
  } catch (cause) {
    throw new Refusal('Unserializable', { cause })
  }
}

/** The claim that {@link claimText} wrote. */
export function readClaim(text: string): Claim {
  const record = JSON.parse(text) as ClaimRecord // written above
  const [, bound, round, known, since] = record
  const answers = Object.fromEntries(known.flatMap((one, of) => (one === null ? [] : [[of, one]])))
  const common = { arguments: bound, round, answers, since }
  switch (record[0]) {
    case 'running':
      return { state: 'running', ...common, token: record[5], leaseUntil: record[6] }
    case 'suspended':
      return { state: 'suspended', ...common, outcome: record[5], goodUntil: record[6] }
    case 'completed':
      return { state: 'completed', ...common, outcome: record[5] }
    case 'unknown':
      return { state: 'unknown', ...common, token: record[5] }
  }
}

function toRecord(claim: Claim): ClaimRecord {
  const { arguments: bound, round, since } = claim
  const answers: (string | null)[] = []
  for (let of = 0; of <= round; of++) answers.push(claim.answers[of] ?? null)
  switch (claim.state) {
    case 'running':
      return ['running', bound, round, answers, since, claim.token, claim.leaseUntil]
    case 'suspended':
      return ['suspended', bound, round, answers, since, claim.outcome, claim.goodUntil]
    case 'completed':
      return ['completed', bound, round, answers, since, claim.outcome]
    case 'unknown':
      return ['unknown', bound, round, answers, since, claim.token]
  }
}
