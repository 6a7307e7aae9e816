import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOptions } from '../../bench/options.ts'

test('nothing fails unless a gate is asked for', () => {
  assert.equal(readOptions([]).gate, undefined)
  assert.equal(readOptions(['--gate']).gate, 2)
  assert.equal(readOptions(['--gate', '--quick']).gate, 2)
  assert.equal(readOptions(['--gate', '1.5']).gate, 1.5)
})

test('options add up, and what is none is refused', () => {
  assert.deepEqual(readOptions(['--quick', '--only', 'http', '--only', 'start', '--json', 'out.json']), {
    quick: true,
    only: ['http', 'start'],
    json: 'out.json',
    gate: undefined,
  })
  assert.throws(() => readOptions(['--fast']))
  assert.throws(() => readOptions(['--gate', '0.5']))
})
