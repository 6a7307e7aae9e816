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

test('who leaves is let go, and the work ends once all have left; who comes then has it done anew', async () => {
  const flights = createFlights()
  const stops = [new AbortController(), new AbortController()]
  let begun = 0
  const work = (signal: AbortSignal): Promise<boolean> => {
    begun += 1
    return new Promise((resolve, reject) => {
      setTimeout(() => resolve(true), 40)
      signal.addEventListener('abort', () => setTimeout(() => reject(signal.reason as Error), 5))
    })
  }
  const both = stops.map(({ signal }) => flights.join('a', () => true, work, signal))
  stops[0]?.abort(new Error('first'))
  await assert.rejects(both[0] ?? Promise.resolve(), /first/)
  assert.equal(await both[1], true)
  assert.equal(begun, 1)

  const [one, other] = [new AbortController(), new AbortController()]
  const leaving = [one, other].map(({ signal }) => flights.join('a', never, work, signal))
  one.abort(new Error('one'))
  other.abort(new Error('other'))
  const coming = flights.join('a', never, work)
  for (const [at, leave] of leaving.entries()) await assert.rejects(leave, at === 0 ? /one/ : /other/)
  assert.equal(await coming, true)
  assert.equal(begun, 3)
})

test('who comes behind work that nobody waits for any more is let go by a signal of its own', async () => {
  const flights = createFlights()
  const first = new AbortController()
  let end = (_result: boolean): void => {}
  const deaf = (): Promise<boolean> => new Promise((resolve) => (end = resolve))
  const left = flights.join('a', never, deaf, first.signal)
  first.abort(new Error('first'))
  await assert.rejects(left, /first/)

  let begun = 0
  const work = (): Promise<boolean> => later((begun += 1) > 0)
  const second = new AbortController()
  const behind = flights.join('a', never, work, second.signal)
  second.abort(new Error('second'))
  const told = later('still waits')
  await assert.rejects(Promise.race([behind, told]), /second/)
  await assert.rejects(flights.join('a', never, work, AbortSignal.abort(new Error('third'))), /third/)
  assert.equal(begun, 0)

  const staying = flights.join('a', never, work)
  end(true)
  assert.equal(await staying, true)
  assert.equal(begun, 1)
})
