import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createAccumulator } from '../../src/wire/accumulator.ts'

test('what was added is taken, once', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 8 }), (pieces) => {
      const accumulator = createAccumulator()
      for (const piece of pieces) accumulator.add(piece)
      const all = Buffer.concat(pieces)
      assert.equal(accumulator.length, all.length)
      assert.ok(all.equals(accumulator.take()))
      assert.equal(accumulator.length, 0)
      assert.equal(accumulator.take().length, 0)
    }),
  )
})

test('what was taken is not written over', () => {
  const accumulator = createAccumulator()
  accumulator.add(Uint8Array.of(1, 2))
  const taken = accumulator.take()
  accumulator.add(Uint8Array.of(3, 4))
  assert.deepEqual([...taken], [1, 2])
})
