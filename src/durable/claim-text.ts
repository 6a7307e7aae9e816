import { Refusal } from '../model/refusal.ts'
import type { Claim, Elsewhere, Outcome } from './claim.ts'

/**
 * A claim as it is recorded: its members in one order, without their names, which would take longer to write than what
 * they name. Answers stand in the order of rounds, `null` where they are not known.
 */
type ClaimRecord =
  | readonly ['running', ...Common, token: string, leaseUntil: number]
  | readonly ['suspended', ...Common, goodUntil: number, outcome: Outcome | Elsewhere]
  | readonly ['completed', ...Common, outcome: Outcome | Elsewhere]
  | readonly ['unknown', ...Common, token: string]
type Common = readonly [bound: string, round: number, answers: readonly (string | null)[], since: number]

/**
 * The text of a claim. @param outcome the text of what the call came to, where that is known already
 * @throws Refusal `Unserializable` if what the call came to is not JSON
 */
export function claimText(claim: Claim, outcome?: string): string {
  const head = JSON.stringify(headOf(claim))
  return 'outcome' in claim ? `${head.slice(0, -1)},${outcome ?? outcomeText(claim.outcome)}]` : head
}

/** The text of what a call came to. @throws Refusal `Unserializable` if that is not JSON */
export function outcomeText(outcome: Outcome | Elsewhere): string {
  try {
    const text = JSON.stringify(outcome)
    // What has no text is left out without a word.
    if (text === '{}') throw new TypeError('This has no text in JSON')
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
  const [, bound, round, known, since] = record
  const answers = Object.fromEntries(known.flatMap((one, of) => (one === null ? [] : [[of, one]])))
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

/** All but the outcome, which comes last. */
function headOf(claim: Claim): readonly unknown[] {
  const { arguments: bound, round, since } = claim
  const answers: (string | null)[] = []
  for (let of = 0; of <= round; of++) answers.push(claim.answers[of] ?? null)
  switch (claim.state) {
    case 'running':
      return ['running', bound, round, answers, since, claim.token, claim.leaseUntil]
    case 'suspended':
      return ['suspended', bound, round, answers, since, claim.goodUntil]
    case 'completed':
      return ['completed', bound, round, answers, since]
    case 'unknown':
      return ['unknown', bound, round, answers, since, claim.token]
  }
}
