import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFlights } from '../../../src/auth/flow/flights.ts'

const later = <Value>(value: Value): Promise<Value> => new Promise((resolve) => setTimeout(resolve, 5, value))
const never = (): boolean => false

test('work of one kind is done once, whatever it comes to', async () => {
  for (const result of [true, false]) {
    const flights = createFlights()
    let worked = 0
    const join = (): Promise<boolean> =>
      flights.join(
        'a',
        () => result,
        () => later((worked += 1)).then(() => result),
      )
    assert.deepEqual(new Set(await Promise.all([join(), join(), join()])), new Set([result]))
    assert.equal(worked, 1)
  }
})

test('work of another kind waits, and is done unless it is settled', async () => {
  const flights = createFlights()
  const done: string[] = []
  const join = (kind: string, settled: () => boolean): Promise<boolean> =>
    flights.join(kind, settled, async () => {
      done.push(`${kind} begins`)
      await later(undefined)
      done.push(`${kind} ends`)
      return kind !== 'a'
    })
  const results = await Promise.all([join('a', never), join('b', never), join('c', () => done.includes('b ends'))])
  assert.deepEqual(results, [false, true, true])
  assert.deepEqual(done, ['a begins', 'a ends', 'b begins', 'b ends'])
})

test('a failure is everybody’s who waited, and nobody’s who comes later', async () => {
  const flights = createFlights()
  const fail = (): Promise<boolean> => later(undefined).then(() => Promise.reject(new Error('declined')))
  const results = await Promise.allSettled(['a', 'a', 'b'].map((kind) => flights.join(kind, never, fail)))
  assert.ok(results.every(({ status }) => status === 'rejected'))
  assert.equal(await flights.join('a', never, () => later(true)), true)
})
