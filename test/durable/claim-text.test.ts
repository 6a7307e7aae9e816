import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { claimText, readClaim } from '../../src/durable/claim-text.ts'
import type { Claim } from '../../src/durable/claim.ts'
import { isRefusal } from '../../src/model/refusal.ts'

const time = fc.nat()
const outcome = fc.oneof(
  fc.jsonValue().map((result) => ({ result: JSON.parse(JSON.stringify(result)) })),
  fc.constant({ refusal: { kind: 'InternalError', message: 'no' } }),
  fc.constantFrom({ at: null }, { at: 'outcome/k.t' }),
)
/** Answers of some of the rounds up to the latest. */
const claimed = fc
  .array(fc.option(fc.string()), { minLength: 1, maxLength: 4 })
  .map((answers) => ({ round: answers.length - 1, answers }))
const rest = { arguments: fc.string(), since: time }
const claim: fc.Arbitrary<Claim> = fc
  .tuple(
    claimed,
    fc.oneof(
      fc.record({ state: fc.constant('running' as const), ...rest, token: fc.string(), leaseUntil: time }),
      fc.record({ state: fc.constant('suspended' as const), ...rest, outcome, goodUntil: time }),
      fc.record({ state: fc.constant('completed' as const), ...rest, outcome }),
      fc.record({ state: fc.constant('unknown' as const), ...rest, token: fc.string() }),
    ),
  )
  .map(([common, own]) => ({ ...own, ...common }))

test('a claim is read as it was written', () => {
  fc.assert(fc.property(claim, (written) => assert.deepEqual(readClaim(claimText(written)), written)))
})

test('what is not JSON is refused', () => {
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  const outcomes = [cycle, { big: 1n }, () => {}, undefined, { toJSON() {} }] as never[]
  for (const result of outcomes) {
    const completed: Claim = {
      state: 'completed',
      arguments: '',
      round: 0,
      answers: [],
      since: 0,
      outcome: { result },
    }
    assert.throws(
      () => claimText(completed),
      (error) => isRefusal(error) && error.kind === 'Unserializable',
    )
  }
})
