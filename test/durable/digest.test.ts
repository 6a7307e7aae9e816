import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonical, digest, fingerprint } from '../../src/durable/digest.ts'

/** The value with the members of every object the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  )
}

test('the text of a value is JSON that says the same, in one order of members', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonical(value)
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
      assert.equal(canonical(reversed(value)), text)
      assert.equal(fingerprint(reversed(value)), fingerprint(value))
    }),
  )
})

test('what JSON leaves out is left out', () => {
  assert.equal(canonical({ b: undefined, a: [undefined, 1], c: { d: undefined } }), '{"a":[null,1],"c":{}}')
})

test('a number too large for one is not taken for null, nor for its name', () => {
  const [large, small] = JSON.parse('[1e400, -1e400]') as [number, number]
  const names = [large, small, null, 'Infinity', 0].map((a) => [fingerprint({ a }), fingerprint([a]), digest(a)])
  for (const each of [0, 1, 2]) assert.equal(new Set(names.map((name) => name[each])).size, names.length)
})

test('equal values have equal names, others have others, and no short value is named like a long one', () => {
  assert.equal(digest('a', { b: 1, c: 2 }), digest('a', { c: 2, b: 1 }))
  assert.notEqual(digest('a', 'b'), digest('a,b'))
  assert.notEqual(digest(['a'], 'b'), digest('a', ['b']))
  assert.match(digest('a'), /^[\w-]{22}$/)
  assert.match(fingerprint({ long: 'x'.repeat(100) }), /^[\w-]{22}$/)
  assert.equal(fingerprint({ b: 1, a: 2 }), '={"a":2,"b":1}')
})
