import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeHeaderValue, encodeHeaderValue } from '../../src/wire/header-value.ts'

test('any text survives, as a header that HTTP can carry', () => {
  const strings = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.string().map((text) => `=?base64?${text}?=`),
  )
  fc.assert(
    fc.property(strings, (value) => {
      const header = encodeHeaderValue(value)
      assert.match(header, /^[ -~]*$/)
      assert.equal(header, header.trim())
      assert.equal(decodeHeaderValue(header), value)
      assert.equal(decodeHeaderValue(` \t${header}\t `), value)
    }),
  )
})

for (const [text, header] of [
  ['us-west1', 'us-west1'],
  ['two words', 'two words'],
  ['', ''],
  ['世界', '=?base64?5LiW55WM?='],
  [' padded ', '=?base64?IHBhZGRlZCA=?='],
  ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
  ['a\tb', '=?base64?YQli?='],
  ['=?base64?x?=', '=?base64?PT9iYXNlNjQ/eD89?='],
] as const) {
  test(`${JSON.stringify(text)} is written ${header}`, () => assert.equal(encodeHeaderValue(text), header))
}

for (const header of ['=?BASE64?ZWNobw==?=', '=?base64?ZWNobw==', 'ZWNobw==?=', '=?base64?=', 'x=?base64?ZWNobw==?=']) {
  test(`${header} is literal`, () => assert.equal(decodeHeaderValue(header), header))
}

for (const [name, header] of [
  ['missing padding', '=?base64?ZWNobw=?='],
  ['no padding', '=?base64?ZWNobw?='],
  ['too much padding', '=?base64?ZWNobw===?='],
  ['stray bits', '=?base64?ZWNobx==?='],
  ['the URL alphabet', '=?base64?_-8=?='],
  ['a blank inside', '=?base64?ZWNo bw==?='],
  ['no alphabet', '=?base64?!!!!?='],
  ['bytes that are no UTF-8', '=?base64?/w==?='],
] as const) {
  test(`undecodable: ${name}`, () => assert.equal(decodeHeaderValue(header), undefined))
}

test('nothing encoded is the empty string', () => assert.equal(decodeHeaderValue('=?base64??='), ''))
