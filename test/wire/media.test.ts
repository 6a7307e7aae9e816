import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { accepts, isJsonMediaType } from '../../src/wire/media.ts'

for (const type of [
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'application/json ; charset = utf8',
  'application/json; profile="a;charset=latin1"',
])
  test(`JSON: ${type}`, () => assert.equal(isJsonMediaType(type), true))

for (const type of [
  undefined,
  '',
  'text/plain',
  'application/jsonx',
  'application/json+x',
  'application/json, application/json',
  'application/json; charset=utf-16',
  'application/json; charset=latin1; charset=utf-8',
  'application/json; charset',
])
  test(`not JSON: ${type}`, () => assert.equal(isJsonMediaType(type), false))

for (const [header, json, sse] of [
  [undefined, true, true],
  ['', true, true],
  ['*/*', true, true],
  ['application/json, text/event-stream', true, true],
  ['Application/JSON;q=0.5,\ttext/EVENT-stream;q=0.1', true, true],
  ['application/json', true, false],
  ['text/event-stream', false, true],
  ['application/*', true, false],
  ['text/*', false, true],
  ['text/html', false, false],
  ['application/jsonx,text/event-streamx', false, false],
  ['*/*, application/json;q=0', false, true],
  ['application/json;q=0.0, */*;q=0.1', false, true],
  ['text/*;q=0, */*', true, false],
  ['text/*;q=0, text/event-stream', false, true],
  ['application/json; x="a,text/event-stream"', true, false],
  ['nonsense', false, false],
  [',,', false, false],
] as const) {
  test(`Accept: ${header}`, () => assert.deepEqual(accepts(header), { json, sse }))
}

test('no header throws', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '/', ',', ';', '"', '\\', '=', 'q', '0', '*', ' ') })
  fc.assert(
    fc.property(text, (header) => {
      accepts(header)
      isJsonMediaType(header)
    }),
  )
})
