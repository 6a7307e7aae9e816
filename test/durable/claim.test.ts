import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { transition } from '../../src/durable/claim.ts'
import type { Claim, ClaimEvent } from '../../src/durable/claim.ts'
import { explore } from './claim-explorer.ts'
import { ClaimModel } from './claim-model.ts'

const token = fc.constantFrom('t1', 't2', 't3')
const outcome = fc.constantFrom('a', 'b').map((result) => ({ result }))
const attempt = fc.record({
  arguments: fc.oneof({ arbitrary: fc.constant('x'), weight: 6 }, { arbitrary: fc.constant('y'), weight: 1 }),
  round: fc.nat(2),
  answers: fc.oneof({ arbitrary: fc.constant('p'), weight: 4 }, { arbitrary: fc.constant('q'), weight: 1 }),
  token,
  rerun: fc.boolean(),
})

/** An event, and how much later than the one before it comes. */
const happening = fc.record({
  later: fc.constantFrom(0, 1, 12),
  leaseMs: fc.constantFrom(5, 10),
  event: fc.oneof(
    attempt.map((wanted) => ({ kind: 'claim' as const, attempt: wanted })),
    token.map((by) => ({ kind: 'renew' as const, token: by })),
    fc.record({ kind: fc.constant('suspend' as const), token, outcome }),
    fc.record({ kind: fc.constant('complete' as const), token, outcome }),
    fc.record({ kind: fc.constantFrom('lose' as const, 'release' as const), token }),
  ),
})

function eventOf({ event, leaseMs }: { event: object & { kind: string }; leaseMs: number }, now: number): ClaimEvent {
  const timed = {
    claim: { now, leaseUntil: now + leaseMs },
    renew: { leaseUntil: now + leaseMs },
    suspend: { goodUntil: now + leaseMs },
  }
  return { ...event, ...(timed as Record<string, object>)[event.kind] } as ClaimEvent // made of the parts that its kind needs
}

test('a claim does what its history of runs says, whatever happens to it', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 40 }), (happenings) => {
      const model = new ClaimModel()
      let claim: Claim | undefined
      let now = 100
      for (const each of happenings) {
        now += each.later
        const event = eventOf(each, now)
        const { next, verdict } = transition(claim, event)
        assert.deepEqual(verdict, model.tell(event))
        claim = next
        assert.deepEqual(claim?.state === 'completed' ? claim.outcome : undefined, model.final)
      }
    }),
    { numRuns: 3_000 },
  )
})

test('what is recorded for good never changes', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 20 }), (happenings) => {
      const done: Claim = {
        state: 'completed',
        arguments: 'x',
        round: 0,
        answers: ['p'],
        since: 1,
        outcome: { result: 'r' },
      }
      for (const each of happenings) assert.equal(transition(done, eventOf(each, 200)).next, done)
    }),
  )
})

test('an event that changes nothing gives the same object back, so that nothing is written', () => {
  const running: Claim = {
    state: 'running',
    arguments: 'x',
    round: 0,
    answers: [''],
    since: 1,
    token: 't1',
    leaseUntil: 50,
  }
  const event: ClaimEvent = {
    kind: 'claim',
    attempt: { arguments: 'x', round: 0, answers: '', token: 't2', rerun: true },
    now: 49,
    leaseUntil: 60,
  }
  assert.deepEqual(transition(running, event), { next: running, verdict: { kind: 'busy' } })
  assert.equal(transition(running, event).next, running)
  assert.equal(transition(running, { kind: 'complete', token: 't2', outcome: { result: 1 } }).next, running)
})

test('one that was taken for dead may still tell the truth, unless the run was taken over', () => {
  const dead: Claim = { state: 'unknown', arguments: 'x', round: 0, answers: [''], since: 1, token: 't1' }
  const late = transition(dead, { kind: 'complete', token: 't1', outcome: { result: 7 } })
  assert.equal(late.next?.state, 'completed')
  const attemptAgain = { arguments: 'x', round: 0, answers: '', token: 't2', rerun: true }
  const over = transition(dead, { kind: 'claim', attempt: attemptAgain, now: 5, leaseUntil: 9 }).next
  assert.equal(transition(over, { kind: 'complete', token: 't1', outcome: { result: 7 } }).verdict.kind, 'stale')
})

test('other answers for a round that was answered are a conflict, also rounds later', () => {
  let claim: Claim | undefined
  const at = (round: number, answers: string, by: string): ClaimEvent => ({
    kind: 'claim',
    attempt: { arguments: 'x', round, answers, token: by, rerun: false },
    now: 1,
    leaseUntil: 10,
  })
  for (const round of [0, 1, 2]) {
    const { next, verdict } = transition(claim, at(round, `answers ${round}`, `t${round}`))
    assert.equal(verdict.kind, 'run')
    claim = transition(next, { kind: 'suspend', token: `t${round}`, outcome: { result: round }, goodUntil: 99 }).next
  }
  assert.equal(transition(claim, at(1, 'others', 'tx')).verdict.kind, 'conflict')
  assert.deepEqual(transition(claim, at(1, 'answers 1', 'tx')).verdict, { kind: 'replay', outcome: { result: 2 } })
})

for (const rerun of [false, true]) {
  test(`two holders interleave in every way over a tool that ${rerun ? 'may' : 'may not'} run again`, () => {
    const { arrows, pairs, faults } = explore(rerun, { tries: [2, 1], ticks: 2 })
    assert.deepEqual(faults, [])
    const claimable = rerun ? claimableAgain : claimableOnce
    assert.deepEqual([...arrows].sort(), [...claimable, ...endable(rerun)].sort())
    const ends = (arrow: string): string => arrow.split(' ')[2] ?? ''
    const begins = (arrow: string): string => (arrow.split(' ')[0] ?? '').replace('-late', '')
    const possible = [...arrows].flatMap((one) =>
      [...arrows].filter((two) => begins(two) === ends(one)).map((two) => `${one} > ${two}`),
    )
    // Who has lost its run has settled it, and comes back to it with nothing.
    const never = /^\S+ lose unknown > unknown (renew|suspend|complete|lose|release) /
    assert.deepEqual(
      possible.filter((pair) => !pairs.has(pair)).sort(),
      possible.filter((pair) => never.test(pair)).sort(),
    )
  })
}

const claimableOnce = [
  'absent claim running',
  'suspended claim running',
  'suspended-late claim running',
  'running-late claim unknown',
]
const claimableAgain = [...claimableOnce.slice(0, 3), 'running-late claim running', 'unknown claim running']

/** What a holder can do; to what is unknown only where somebody else can make it so while it lives. */
function endable(rerun: boolean): string[] {
  const ends = { renew: 'running', suspend: 'suspended', complete: 'completed', lose: 'unknown', release: 'absent' }
  const from = ['running', 'running-late', ...(rerun ? [] : ['unknown'])]
  return from.flatMap((state) => Object.entries(ends).map(([event, after]) => `${state} ${event} ${after}`))
}
