// Laws of the one function that every change of a task goes through: legal transitions only, ends are final, a worker
// that lost its lease changes nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { advance, isTerminal, type TaskEvent, type TaskRecord } from '../../src/durable/task.ts'
import type { TaskStatus } from '../../src/model/nouns.ts'

const tokens = ['a', 'b', 'c']
const keys = ['k', 'l', '__proto__', 'toString']
const legal: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  working: ['working', 'input_required', 'completed', 'failed', 'cancelled'],
  input_required: ['input_required', 'working', 'completed', 'failed', 'cancelled'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
}

function fresh(again: boolean): TaskRecord {
  const flow = { id: 'f', round: 0, asked: {}, answers: {}, steps: {}, own: undefined }
  const job = { arguments: {}, meta: {}, flow, revision: 'r', features: [], client: undefined, principal: undefined }
  return {
    id: 't',
    status: 'working',
    createdAt: 0,
    updatedAt: 0,
    ttlMs: 1000,
    work: { tool: 'job', ...(again && { again: job }) },
    asks: {},
    replies: {},
    lease: { token: 'a', until: 10 },
  }
}

const request = { method: 'roots/list' } as const
const token = fc.constantFrom(...tokens)
const key = fc.constantFrom(...keys)
const event: fc.Arbitrary<TaskEvent> = fc.oneof(
  fc.record({
    kind: fc.constant('ask' as const),
    token,
    key,
    ask: fc.record({ to: fc.constantFrom('x', 'y'), request: fc.constant(request) }),
  }),
  fc.record({
    kind: fc.constant('answer' as const),
    answers: fc
      .uniqueArray(key)
      .map((given) => Object.fromEntries(given.map((each) => [each, { action: 'accept' }] as const))),
  }),
  fc.record({ kind: fc.constant('refuse' as const), key, message: fc.constant('no') }),
  fc.record({
    kind: fc.constant('complete' as const),
    token,
    outcome: fc.constantFrom({ result: { content: [] } }, { refusal: { kind: 'HandlerFailed' } }),
  }),
  fc.constant({ kind: 'cancel' as const }),
  fc.record({ kind: fc.constant('renew' as const), token, until: fc.nat(40) }),
  fc.record({ kind: fc.constant('take' as const), token, until: fc.nat(40) }),
)
const story = fc.record({
  again: fc.boolean(),
  events: fc.array(fc.tuple(event, fc.nat(30)), { maxLength: 40 }),
})

/** Plays events and hands every step to `see`. */
function play(
  { again, events }: { readonly again: boolean; readonly events: readonly (readonly [TaskEvent, number])[] },
  see: (before: TaskRecord, event: TaskEvent, after: TaskRecord, now: number) => void,
): TaskRecord {
  let task = fresh(again)
  for (const [each, now] of events) {
    const after = advance(task, each, now)
    see(task, each, after, now)
    task = after
  }
  return task
}

test('only legal transitions, and an end is never left', () => {
  fc.assert(
    fc.property(story, (told) => {
      play(told, (before, _, after) => {
        assert.ok(legal[before.status].includes(after.status), `${before.status} to ${after.status}`)
        if (isTerminal(before.status)) assert.equal(after, before)
      })
    }),
  )
})

test('a task is in wait of input exactly while something is asked', () => {
  fc.assert(
    fc.property(story, (told) => {
      play(told, (_, __, after) => {
        const asks = Object.keys(after.asks).length
        if (!isTerminal(after.status)) assert.equal(after.status === 'input_required', asks > 0)
        else assert.equal(asks, 0)
      })
    }),
  )
})

test('an outcome is there exactly at the two ends that have one', () => {
  fc.assert(
    fc.property(story, (told) => {
      const { status, outcome } = play(told, () => {})
      assert.equal(outcome !== undefined && 'result' in outcome, status === 'completed')
      assert.equal(outcome !== undefined && 'refusal' in outcome, status === 'failed')
    }),
  )
})

test('a worker without the lease changes nothing; the lease changes hands only when it has run out', () => {
  fc.assert(
    fc.property(story, (told) => {
      play(told, (before, each, after, now) => {
        if ('token' in each && each.kind !== 'take' && each.token !== before.lease.token) assert.equal(after, before)
        if (each.kind === 'take' && before.lease.until > now) assert.equal(after, before)
        if (after.lease.token !== before.lease.token) assert.ok(each.kind === 'take' && before.work.again)
      })
    }),
  )
})

test('a key is answered once, only when it was asked, and never asked again', () => {
  fc.assert(
    fc.property(story, (told) => {
      play(told, (before, each, after) => {
        for (const known of Object.keys(before.replies)) {
          assert.equal(after.replies[known], before.replies[known])
          assert.ok(!Object.hasOwn(after.asks, known))
        }
        for (const given of Object.keys(after.replies)) {
          assert.ok(Object.hasOwn(before.replies, given) || Object.hasOwn(before.asks, given))
        }
        if (each.kind === 'answer' && after === before) {
          assert.ok(
            isTerminal(before.status) || !Object.keys(each.answers).some((one) => Object.hasOwn(before.asks, one)),
          )
        }
      })
    }),
  )
})

test('an abandoned task runs again where its tool may; elsewhere it fails and says so', () => {
  const take = { kind: 'take', token: 'b', until: 50 } as const
  const again = advance(fresh(true), take, 10)
  assert.deepEqual([again.status, again.lease], ['working', { token: 'b', until: 50 }])
  const over = advance(fresh(false), take, 10)
  assert.equal(over.status, 'failed')
  assert.match(over.statusMessage ?? '', /process that ran this task ended/)
  assert.deepEqual(over.outcome, { refusal: { kind: 'OutcomeUnknown', data: { since: new Date(0).toISOString() } } })
})
