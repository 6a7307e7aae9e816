import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createInFlight } from '../../src/peer/in-flight.ts'
import type { Exchange } from '../../src/peer/peer.ts'

test('law: ids in flight are what a map would hold, few or many, numbers apart from their texts', () => {
  const id = fc.oneof(fc.nat(20), fc.nat(20).map(String))
  const step = fc.record({ begins: fc.boolean(), id })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const inFlight = createInFlight()
      const map = new Map<string | number, Exchange>()
      for (const { begins, id: at } of steps) {
        if (!begins) {
          inFlight.delete(at)
          map.delete(at)
        } else if (!map.has(at)) {
          const exchange = {} as Exchange
          inFlight.add(at, exchange)
          map.set(at, exchange)
        }
        assert.equal(inFlight.size, map.size)
        assert.deepEqual(new Set(inFlight.all()), new Set(map.values()))
        for (const [known, exchange] of map) assert.equal(inFlight.get(known), exchange)
        assert.equal(inFlight.get(at), map.get(at))
      }
    }),
  )
})
