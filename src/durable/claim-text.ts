import { Refusal } from '../model/refusal.ts'
import type { Claim, Elsewhere, Outcome } from './claim.ts'

/**
 * A claim as it is recorded: its members in one order, without their names, which would take longer to write than what
 * they name.
 */
type ClaimRecord =
  | readonly ['running', ...Common, token: string, leaseUntil: number]
  | readonly ['suspended', ...Common, goodUntil: number, outcome: Outcome | Elsewhere]
  | readonly ['completed', ...Common, outcome: Outcome | Elsewhere]
  | readonly ['unknown', ...Common, token: string]
type Common = readonly [bound: string, round: number, answers: readonly (string | null)[], since: number]

/**
 * The text of a claim. Written in one piece: one that is put together stays in its parts, and very many are kept.
 * @throws Refusal `Unserializable` if what the call came to is not JSON
 */
export function claimText(claim: Claim): string {
  const { arguments: bound, round, answers, since } = claim
  switch (claim.state) {
    case 'running':
      return JSON.stringify(['running', bound, round, answers, since, claim.token, claim.leaseUntil])
    case 'suspended':
      return textOf(['suspended', bound, round, answers, since, claim.goodUntil, claim.outcome], ',{}]')
    case 'completed':
      return textOf(['completed', bound, round, answers, since, claim.outcome], ',{}]')
    case 'unknown':
      return JSON.stringify(['unknown', bound, round, answers, since, claim.token])
  }
}

/** The text of what a call came to. @throws Refusal `Unserializable` if that is not JSON */
export function outcomeText(outcome: Outcome | Elsewhere): string {
  return textOf(outcome, '{}')
}

/** @param empty how the text ends of an outcome that has none: what has no text is left out without a word */
function textOf(value: unknown, empty: string): string {
  try {
    const text = JSON.stringify(value)
    if (text.endsWith(empty)) throw new TypeError('This has no text in JSON')
    return text
  } catch (cause) {
    throw new Refusal('Unserializable', { cause })
  }
}

/** What {@link outcomeText} wrote of an outcome. */
export function readOutcome(text: string): Outcome {
  return JSON.parse(text) as Outcome // written above
}

/** The claim that {@link claimText} wrote. */
export function readClaim(text: string): Claim {
  const record = JSON.parse(text) as ClaimRecord // written above
  const [, bound, round, answers, since] = record
  const common = { arguments: bound, round, answers, since }
  switch (record[0]) {
    case 'running':
      return { state: 'running', ...common, token: record[5], leaseUntil: record[6] }
    case 'suspended':
      return { state: 'suspended', ...common, goodUntil: record[5], outcome: record[6] }
    case 'completed':
      return { state: 'completed', ...common, outcome: record[5] }
    case 'unknown':
      return { state: 'unknown', ...common, token: record[5] }
  }
}
