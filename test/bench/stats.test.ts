import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { median, medianRatio, rotated } from '../../bench/stats.ts'

test('the median is the middle value, or the mean of the middle two', () => {
  assert.equal(median([3]), 3)
  assert.equal(median([9, 1, 5]), 5)
  assert.equal(median([10, 9, 100, 1]), 9.5)
})

test('one wild value does not move the median past its neighbours', () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { minLength: 2 }), fc.integer(), (values, wild) => {
      const moved = median([...values, wild])
      assert.ok(moved >= Math.min(...values) && moved <= Math.max(...values))
    }),
  )
})

test('nothing has no median', () => {
  assert.throws(() => median([]))
})

test('a ratio compares what was measured in the same round', () => {
  // The machine was three times slower in the second round; the ratio is two in each.
  assert.equal(medianRatio([2, 6, 2], [1, 3, 1]), 2)
  assert.throws(() => medianRatio([1, 2], [1]))
})

test('every round starts with another one and leaves none out', () => {
  assert.deepEqual(rotated(['a', 'b', 'c'], 0), ['a', 'b', 'c'])
  assert.deepEqual(rotated(['a', 'b', 'c'], 1), ['b', 'c', 'a'])
  assert.deepEqual(rotated(['a', 'b', 'c'], 5), ['c', 'a', 'b'])
  assert.deepEqual(rotated([], 3), [])
})
