import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkHeaders, writeHeaders } from '../../src/codec/header-plan.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { HeaderPlan } from '../../src/model/served.ts'

const plan: HeaderPlan = {
  params: [
    { path: ['region'], header: 'mcp-param-region', type: 'string' },
    { path: ['n'], header: 'mcp-param-n', type: 'integer' },
    { path: ['in', 'ok'], header: 'mcp-param-ok', type: 'boolean' },
  ],
}
const check = (args: JsonObject, headers: Record<string, string>): boolean =>
  checkHeaders(plan, args, (name) => headers[name])

test('headers have to repeat the arguments', () => {
  const headers = { 'mcp-param-region': 'eu', 'mcp-param-n': '42', 'mcp-param-ok': 'true' }
  assert.equal(check({ region: 'eu', n: 42, in: { ok: true } }, headers), true)
  assert.equal(check({ region: 'us', n: 42, in: { ok: true } }, headers), false)
  assert.equal(check({ region: 'eu', n: 42, in: { ok: false } }, headers), false)
  assert.equal(check({ region: 'eu' }, {}), false)
  assert.equal(
    check({ region: '世界' }, { 'mcp-param-region': `=?base64?${Buffer.from('世界').toString('base64')}?=` }),
    true,
  )
  assert.equal(check({ region: 'a' }, { 'mcp-param-region': '=?base64?YQ?=' }), false)
  assert.equal(check({ region: { x: 1 } }, { 'mcp-param-region': 'x' }), false)
})

test('an absent or null argument expects no header', () => {
  assert.equal(check({}, {}), true)
  assert.equal(check({ region: null, in: null }, {}), true)
  assert.equal(check({ in: 'not an object' }, {}), true)
  assert.equal(check(JSON.parse('{"__proto__":{"region":"eu"}}') as JsonObject, {}), true)
})

test('integers compare as numbers, as far as a double holds them', () => {
  const n = (value: number, told: string): boolean => check({ n: value }, { 'mcp-param-n': told })
  for (const told of ['42', '42.0', '42.000', '042']) assert.equal(n(42, told), true, told)
  for (const told of ['43', '42.5', '4 2', '', 'x', '0x2a', '42.', '+42', 'NaN']) assert.equal(n(42, told), false, told)
  assert.equal(n(-7, '-7'), true)
  assert.equal(n(2 ** 53 - 1, '9007199254740991'), true)
  assert.equal(n(2 ** 53, '9007199254740992'), false)
  assert.equal(n(2 ** 53, '9007199254740993'), false)
  assert.equal(n(1.5, '1.5'), false)
})

test('what is written is what is expected, whatever the strings', () => {
  const args = fc.record(
    {
      region: fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constant(null),
        fc.constantFrom('=?base64?YQ==?=', ' a ', '\ta', 'a\r\nb: c'),
      ),
      n: fc.maxSafeInteger(),
      in: fc.record({ ok: fc.boolean() }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(args, (values) => {
      const written = writeHeaders(plan, values)
      for (const value of Object.values(written)) assert.match(value, /^[!-~]?(?:[ -~]*[!-~])?$/)
      assert.equal(
        checkHeaders(plan, values as JsonObject, (name) => written[name]),
        true,
      )
    }),
  )
})

test('no arguments make it throw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (args) => {
      check({ region: args, in: args }, { 'mcp-param-region': 'x' })
    }),
  )
})
