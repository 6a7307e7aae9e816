import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverOf } from './support.ts'

const counts = [
  'pageSize',
  'maxRounds',
  'once.maxClaims',
  'tasks.maxPerOwner',
  'tasks.maxAnonymous',
  'tasks.maxRunning',
]
const spans = ['stateTtlMs', 'once.keepMs', 'once.leaseMs', 'tasks.ttlMs', 'tasks.maxTtlMs', 'tasks.pollIntervalMs']
const ages = ['cache.tools.ttlMs', 'cache.discover.ttlMs']

function withOption(path: string, value: unknown): object {
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object
}

for (const [options, bad] of [
  [counts, [0, -1, 1.5, NaN, Infinity, '5', null]],
  [
    [...spans, 'tasks.leaseMs'],
    [0, -1, NaN, Infinity, '5', null],
  ],
  [ages, [-1, NaN, Infinity, '5', null]],
] as const) {
  for (const option of options) {
    test(`${option} that no server can go by is refused by name`, () => {
      const about = { name: 'RangeError', message: new RegExp(`^${option.replaceAll('.', '\\.')} is `) }
      for (const value of bad) assert.throws(() => serverOf(withOption(option, value)), about, String(value))
      assert.ok(serverOf(withOption(option, 1)))
      assert.ok(serverOf(withOption(option, undefined)))
    })
  }
}
