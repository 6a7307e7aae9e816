import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { headerPlan } from '../../src/schema/header-plan.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { HeaderPlan } from '../../src/model/served.ts'

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more })
const mirrored = (type: string, header: string): JsonObject => ({ type, 'x-mcp-header': header })

function planOf(schema: JsonObject): HeaderPlan {
  const made = headerPlan(schema)
  assert.ok('plan' in made && made.plan, JSON.stringify(made))
  return made.plan
}

test('annotated properties make a plan, at any depth of properties', () => {
  const schema = object({
    region: mirrored('string', 'Region'),
    n: mirrored('integer', 'N'),
    deep: object({ flag: mirrored('boolean', 'Deep-Flag'), plain: { type: 'string' } }),
    'x-mcp-header': { type: 'string' },
  })
  assert.deepEqual(planOf(schema).params, [
    { path: ['region'], header: 'mcp-param-region', type: 'string' },
    { path: ['n'], header: 'mcp-param-n', type: 'integer' },
    { path: ['deep', 'flag'], header: 'mcp-param-deep-flag', type: 'boolean' },
  ])
  assert.deepEqual(headerPlan(object({ a: { type: 'string' } })), { plan: undefined })
  assert.deepEqual(headerPlan({}), { plan: undefined })
  assert.deepEqual(headerPlan(object({ a: { const: { 'x-mcp-header': 'A' } } })), { plan: undefined })
})

test('a schema that breaks a rule is invalid, with the reason', () => {
  const inside = mirrored('string', 'A')
  const cases: Record<string, readonly [JsonObject, RegExp]> = {
    empty: [object({ a: mirrored('string', '') }), /token.*\["a"\]/],
    'no token': [object({ a: mirrored('string', 'A B') }), /token/],
    'line break': [object({ a: mirrored('string', 'A\r\nB') }), /token/],
    'not text': [object({ a: { type: 'string', 'x-mcp-header': 5 } }), /token/],
    null: [object({ a: { type: 'string', 'x-mcp-header': null } }), /token/],
    'not ASCII': [object({ a: mirrored('string', 'Ä') }), /token/],
    'twice, whatever the case': [object({ a: mirrored('string', 'Same'), b: mirrored('string', 'sAME') }), /twice/],
    number: [object({ a: mirrored('number', 'A') }), /neither/],
    object: [object({ a: mirrored('object', 'A') }), /neither/],
    'no type': [object({ a: { 'x-mcp-header': 'A' } }), /neither/],
    'union of types': [object({ a: { type: ['string', 'null'], 'x-mcp-header': 'A' } }), /neither/],
    'only a reference': [object({ a: { $ref: '#/$defs/a', 'x-mcp-header': 'A' } }), /neither/],
    root: [{ ...inside }, /not on a property/],
    items: [object({ a: { type: 'array', items: inside } }), /not reached/],
    'items of a tuple': [object({ a: { type: 'array', prefixItems: [inside] } }), /not reached/],
    'properties of items': [object({ a: { type: 'array', items: object({ b: inside }) } }), /not reached/],
    oneOf: [object({}, { oneOf: [object({ a: inside })] }), /not reached/],
    anyOf: [object({ a: { anyOf: [inside] } }), /not reached/],
    allOf: [object({}, { allOf: [object({ a: inside })] }), /not reached/],
    not: [object({ a: { not: inside } }), /not reached/],
    then: [object({}, { then: object({ a: inside }) }), /not reached/],
    additionalProperties: [object({}, { additionalProperties: inside }), /not reached/],
    patternProperties: [object({}, { patternProperties: { '^a': inside } }), /not reached/],
    definitions: [object({}, { $defs: { a: inside } }), /not reached/],
  }
  for (const [name, [schema, reason]] of Object.entries(cases)) {
    const made = headerPlan(schema)
    assert.match('invalid' in made ? made.invalid : 'valid', reason, name)
  }
})

test('a schema nested without end is invalid and ends', () => {
  const endless: Record<string, unknown> = { type: 'object' }
  endless['properties'] = { a: endless }
  assert.deepEqual(headerPlan(endless as JsonObject), { invalid: 'the schema is nested too deep' })
})

test('no schema makes it throw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (schema) => {
      const made = headerPlan(object({ a: schema, b: mirrored('string', 'B') }))
      assert.ok('plan' in made || made.invalid)
    }),
  )
})
