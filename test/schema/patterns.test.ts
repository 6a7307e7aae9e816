// Defends: no schema of a peer's holds this process up with its regular expressions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isQuick, withoutSlowPatterns } from '../../src/schema/patterns.ts'

const quick = [
  '^abc$',
  '^[a-z]+$',
  '^\\d{4}-\\d{2}-\\d{2}$',
  '^[A-Z]{2,3}$',
  '^[^@\\s]+@$',
  '^v\\d+',
  '^\\p{L}*$',
  '^a\\+b\\(c\\)$',
  '^[()|*+]?$',
  '^.{1,64}$',
]
const slow = [
  '^(a+)+$',
  '^(a|a)*$',
  '^(a|aa)+$',
  'a*b',
  '^a*a*$',
  '^a?a?aa$',
  '^(?:a?){30}a{30}$',
  '(.*)\\1',
  '^(?=a*)',
  '^a|b',
  '^\\1+',
  '^a{1000}',
  '^a*a{99}a{99}$',
  '^[a-z',
  '^[^]a*a*]',
  '^[]a*a*]',
  '^[[a]+b*',
  `^${'a'.repeat(2_000)}$`,
  '^\\[a+]+(b+)+$',
]

test('a pattern is quick where it cannot go back and forth', () => {
  for (const one of quick) assert.equal(isQuick(one), true, one)
  for (const one of slow) assert.equal(isQuick(one), false, one)
})

test('what is quick is quick on long texts, too', () => {
  const since = performance.now()
  for (const one of quick) {
    for (const letter of ['a', 'A', '1', '-', '@']) new RegExp(one, 'u').test(`${letter.repeat(200_000)}!`)
  }
  assert.ok(performance.now() - since < 5_000)
})

test('slow patterns are left out wherever references could lead, and nothing else is', () => {
  const schema = {
    $ref: '#/x/y',
    x: { y: { type: 'string', pattern: '^(a+)+$' } },
    properties: { pattern: { type: 'string', pattern: '^a+$' }, other: { anyOf: [{ pattern: '(b*)*c' }] } },
    enum: [{ pattern: '^a' }],
  } as const
  assert.deepEqual(withoutSlowPatterns(schema), {
    left: ['^(a+)+$', '(b*)*c'],
    schema: {
      ...schema,
      x: { y: { type: 'string' } },
      properties: { pattern: { type: 'string', pattern: '^a+$' }, other: { anyOf: [{}] } },
    },
  })
  assert.deepEqual(withoutSlowPatterns({ type: 'object' }), { schema: { type: 'object' }, left: [] })
})

test('where leaving one out would refuse what fits, the schema is', () => {
  const pattern = '^(a+)+$'
  for (const schema of [
    { not: { pattern } },
    { oneOf: [{ pattern }, {}] },
    { if: { pattern }, else: false },
    { contains: { pattern } },
    { $defs: { a: { pattern } }, not: { $ref: '#/$defs/a' } },
    { patternProperties: { [pattern]: {} }, additionalProperties: false },
    { const: { pattern }, $ref: '#/const' },
  ])
    assert.throws(() => withoutSlowPatterns(schema), TypeError, JSON.stringify(schema))
})
