import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../src/seal/random.ts'

test('every length is served, beyond one pool and beyond its end', () => {
  const random = createRandom()
  for (const length of [0, 1, 12, 4_095, 4_096, 4_097, 100_000]) assert.equal(random(length).length, length)
})

test('no bytes are handed out twice, and none change once they are handed out', () => {
  const random = createRandom()
  const taken = Array.from({ length: 2_000 }, () => random(12))
  const before = taken.map((bytes) => Buffer.from(bytes).toString('hex'))
  for (let time = 0; time < 2_000; time++) random(12)
  const after = taken.map((bytes) => Buffer.from(bytes).toString('hex'))
  assert.deepEqual(after, before)
  assert.equal(new Set(before).size, taken.length)
})

test('two of them share nothing', () => {
  assert.notDeepEqual(createRandom()(32), createRandom()(32))
})
