import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createExpiringMap, nowhere, type Expiring } from '../../src/store/expiring-map.ts'

interface Item extends Expiring {
  readonly key: string
}

const keys = fc.constantFrom(...'abcdefghij')
const times = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(Infinity))

test('law: at any time it holds what a plain map would whose expired entries are taken out one by one', () => {
  const step = fc.oneof(
    fc.record({ does: fc.constant('put' as const), key: keys, inMs: times }),
    fc.record({ does: fc.constant('delete' as const), key: keys }),
    fc.record({ does: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 25 }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      let now = 0
      let gone: string[] = []
      const map = createExpiringMap<Item>(({ key }) => gone.push(key))
      const model = new Map<string, number>()
      for (const one of steps) {
        gone = []
        const expected: string[] = []
        if (one.does === 'wait') {
          now += one.ms
          for (const [key, expiresAt] of model) if (expiresAt <= now && model.delete(key)) expected.push(key)
          map.expire(now)
        } else if (one.does === 'put') {
          const known = map.get(one.key)
          if (known) map.renew(known, now + one.inMs)
          else map.add({ key: one.key, expiresAt: now + one.inMs, place: nowhere })
          model.set(one.key, now + one.inMs)
        } else {
          const known = map.get(one.key)
          if (known) map.delete(known)
          if (model.delete(one.key)) expected.push(one.key)
        }
        assert.deepEqual(gone.sort(), expected.sort())
        assert.equal(map.size, model.size)
        for (const key of 'abcdefghij') assert.equal(map.get(key)?.expiresAt, model.get(key))
      }
    }),
    { numRuns: 500 },
  )
})

test('what was cleared is gone, each told once, and may come again', () => {
  const gone: string[] = []
  const map = createExpiringMap<Item>(({ key }) => gone.push(key))
  const add = (key: string, expiresAt: number): void => map.add({ key, expiresAt, place: nowhere })
  add('a', 1)
  add('b', Infinity)
  map.clear()
  assert.deepEqual([map.size, gone.sort()], [0, ['a', 'b']])
  map.expire(5)
  add('a', 9)
  map.expire(9)
  assert.deepEqual([map.size, gone], [0, ['a', 'b', 'a']])
})
