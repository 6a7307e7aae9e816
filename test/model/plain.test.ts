import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toPlain } from '../../src/model/plain.ts'

test('what is plain is left as it is', () => {
  fc.assert(
    fc.property(
      fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))),
      (value) => assert.equal(toPlain(value), value),
    ),
  )
})

test('what is not becomes what its reader sees', () => {
  class Point {
    x = 1
    get length(): number {
      return this.x
    }
  }
  const deep = (depth: number): unknown => (depth === 0 ? undefined : [deep(depth - 1)])
  for (const value of [
    new Date(0),
    { a: undefined },
    { a: { b: [1, () => {}] } },
    [Number.NaN, Infinity],
    Object.assign([], { length: 2 }),
    [undefined],
    new Map([[1, 2]]),
    new Point(),
    { toJSON: () => [1, 2] },
    { a: { toJSON: () => 'x' } },
    Object.assign([1], { toJSON: () => 'list' }),
    deep(100),
  ]) {
    assert.deepEqual(toPlain(value), JSON.parse(JSON.stringify(value)))
  }
})

test('what has no text is nothing', () => {
  for (const value of [undefined, () => {}, Symbol('x'), { toJSON: () => undefined }]) {
    assert.equal(toPlain(value), undefined)
  }
})

test('what cannot be written throws what JSON throws', () => {
  const knot: Record<string, unknown> = {}
  knot['self'] = knot
  for (const value of [1n, knot, [knot]]) assert.throws(() => toPlain(value), TypeError)
})
