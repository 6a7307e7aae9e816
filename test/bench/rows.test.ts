import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWithin, toTable, type Row } from '../../bench/rows.ts'

const row: Row = { name: 'a', unit: 'µs', measured: 30, baseline: 20, ratio: 1.5 }

test('without a budget every figure will do', () => {
  assert.equal(isWithin(row), true)
})

test('a budget bounds the ratio from above or from below', () => {
  const atMost = (value: number): boolean => isWithin({ ...row, budget: { of: 'ratio', bound: 'at most', value } })
  assert.deepEqual([1.4, 1.5, 1.6].map(atMost), [false, true, true])
  const atLeast = (value: number): boolean => isWithin({ ...row, budget: { of: 'ratio', bound: 'at least', value } })
  assert.deepEqual([1.4, 1.5, 1.6].map(atLeast), [true, true, false])
})

test('a budget of the difference takes the baseline off', () => {
  const within = (value: number): boolean => isWithin({ ...row, budget: { of: 'difference', bound: 'at most', value } })
  assert.deepEqual([9, 10, 11].map(within), [false, true, true])
})

test('slack widens a budget in its own direction', () => {
  assert.equal(isWithin({ ...row, budget: { of: 'ratio', bound: 'at most', value: 1 } }, 1.5), true)
  assert.equal(isWithin({ ...row, budget: { of: 'ratio', bound: 'at most', value: 1 } }, 1.4), false)
  assert.equal(isWithin({ ...row, budget: { of: 'ratio', bound: 'at least', value: 3 } }, 2), true)
  assert.equal(isWithin({ ...row, budget: { of: 'ratio', bound: 'at least', value: 3 } }, 1.9), false)
})

test('the table says what was met and what was missed', () => {
  const table = toTable([
    { ...row, name: 'met', budget: { of: 'ratio', bound: 'at most', value: 2 } },
    {
      ...row,
      name: 'missed',
      budget: { of: 'ratio', bound: 'at most', value: 1 },
      rival: { measured: 1234.5, ratio: 61.7 },
    },
    { ...row, name: 'unjudged' },
  ])
  const [, met = '', missed = '', unjudged = ''] = table.split('\n')
  assert.match(met, /^met +µs +30\.0 +20\.0 +1\.50 +≤ 2 +met$/)
  assert.match(missed, /^missed +µs +30\.0 +20\.0 +1\.50 +≤ 1 +MISSED +1235 +61\.70$/)
  assert.match(unjudged, /^unjudged +µs +30\.0 +20\.0 +1\.50$/)
})
