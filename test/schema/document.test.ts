import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/model/json.ts'
import { toDocument } from '../../src/schema/document.ts'

for (const [name, schema] of [
  ['2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
  [
    'draft-07',
    { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: true }, $ref: '#/definitions/a' },
  ],
  [
    'draft-06 with an anchor',
    { $schema: 'http://json-schema.org/draft-06/schema#', definitions: { a: { $id: '#a' } }, $ref: '#a' },
  ],
  ['the root', { properties: { child: { $ref: '#' } } }],
  ['a list of itself', { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#' } }] }],
  ['one definition in two places', { $defs: { a: {} }, allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] }],
  ['a pointer with escapes', { $defs: { 'a/b~c d': {} }, $ref: '#/$defs/a~1b~0c%20d' }],
  ['a pointer through a list', { allOf: [{ type: 'string' }, { $ref: '#/allOf/0' }] }],
  ['an anchor', { $defs: { a: { $anchor: 'here' } }, $ref: '#here' }],
  ['a dynamic anchor', { $dynamicAnchor: 'node', properties: { child: { $dynamicRef: '#node' } } }],
  [
    'an embedded resource',
    { $id: 'https://a.example/root', $defs: { b: { $id: 'other', $anchor: 'x' } }, $ref: 'other#x' },
  ],
  ['its own name', { $id: 'https://a.example/root', properties: { child: { $ref: 'https://a.example/root' } } }],
  [
    'references that are data',
    { const: { $ref: 'https://b.example' }, enum: [{ $ref: 'x' }], default: { $schema: 'y' } },
  ],
  ['a property called $ref', { properties: { $ref: { type: 'string' }, type: {} } }],
  ['dependencies as lists', { dependencies: { a: ['b'], c: { required: ['d'] } } }],
] as const satisfies readonly (readonly [string, JsonObject])[]) {
  test(`served: ${name}`, () => assert.deepEqual(toDocument(schema), schema))
}

for (const [name, schema, says] of [
  [
    'an unknown dialect',
    { $schema: 'https://example.com/dialect' },
    /at #: the dialect "https:\/\/example.com\/dialect" is not known/,
  ],
  ['2019-09', { $schema: 'https://json-schema.org/draft/2019-09/schema' }, /dialect/],
  ['a dialect within', { properties: { a: { $schema: 'x' } } }, /at #\/properties\/a: the dialect "x"/],
  [
    'a reference to the network',
    { properties: { a: { $ref: 'https://a.example/x' } } },
    /#\/properties\/a: \$ref.*nothing is fetched/,
  ],
  ['a reference to a file', { $ref: 'other.json' }, /leads to nothing/],
  ['a pointer to nothing', { $ref: '#/$defs/a' }, /leads to nothing/],
  ['a pointer to what is inherited', { $ref: '#/constructor' }, /leads to nothing/],
  ['a pointer to what is no schema', { title: 'x', $ref: '#/title' }, /leads to nothing/],
  ['an anchor that is not there', { $ref: '#here' }, /leads to nothing/],
  ['an anchor of another resource', { $defs: { a: { $id: 'other', $anchor: 'x' } }, $ref: '#x' }, /leads to nothing/],
  ['a reference that is no text', { $ref: 5 }, /leads to nothing/],
  ['a dynamic reference to the network', { $dynamicRef: 'https://a.example/x' }, /leads to nothing/],
  ['an allOf to itself', { allOf: [{ $ref: '#' }] }, /back to itself/],
  ['a dynamic reference to itself', { $dynamicAnchor: 'm', $dynamicRef: '#m' }, /back to itself/],
  [
    'a circle among definitions that something else refers to',
    {
      properties: { a: { $ref: '#/$defs/a' } },
      $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { then: { $ref: '#/$defs/a' } } },
    },
    /at #.*back to itself/,
  ],
  ['a reference to itself', { $ref: '#' }, /back to itself/],
  [
    'references in a circle',
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    /back to itself/,
  ],
  ['an unknown type', { properties: { a: { type: 'strin' } } }, /#\/properties\/a: there is no type "strin"/],
  ['an unknown type in a list', { type: ['string', 'date'] }, /no type "date"/],
  ['properties that are no object', { properties: [] }, /"properties" is an object/],
  ['a property that is no schema', { properties: { a: 'string' } }, /#\/properties\/a: this is no schema/],
  ['required as a flag', { properties: { a: { required: true } } }, /"required" is a list/],
] as const satisfies readonly (readonly [string, JsonObject, RegExp])[]) {
  test(`refused, naming the place: ${name}`, () => assert.throws(() => toDocument(schema), says))
}

const bad: readonly (readonly [keyword: string, ...values: Json[]])[] = [
  ['enum', 5, 'a', { a: 1 }],
  ['type', [], 5],
  ['minLength', 'x', -1, 1.5, null],
  ['maxLength', '5'],
  ['minItems', -1],
  ['maxItems', true],
  ['minContains', 'x'],
  ['maxContains', -1],
  ['minProperties', -1],
  ['maxProperties', {}],
  ['multipleOf', 0, -1, 'x'],
  ['minimum', 'x'],
  ['maximum', null],
  ['exclusiveMinimum', true],
  ['exclusiveMaximum', '5'],
  ['uniqueItems', 'yes', 1],
  ['pattern', 5],
  ['format', {}],
  ['required', 'a', [1]],
  ['dependentRequired', 5, { a: 'b' }, { a: [1] }],
  ['dependencies', [], { a: 'b' }],
  ['anyOf', 'x', {}, [], [5]],
  ['allOf', {}],
  ['oneOf', []],
  ['prefixItems', {}, []],
  ['items', 5, [5]],
  ['additionalItems', 'x'],
  ['additionalProperties', 5, 'no', []],
  ['unevaluatedProperties', 5],
  ['unevaluatedItems', 5],
  ['contains', []],
  ['contentSchema', 'x'],
  ['propertyNames', 'x'],
  ['not', []],
  ['if', 5],
  ['then', 5],
  ['else', 5],
  ['properties', 5],
  ['patternProperties', []],
  ['dependentSchemas', 5],
  ['$defs', []],
  ['definitions', 'x'],
  ['$id', 5],
  ['$comment', {}],
  ['$anchor', 5, '', 'a b', '#a'],
  ['$dynamicAnchor', []],
  ['$vocabulary', [], { a: 5 }],
]
for (const [keyword, ...values] of bad) {
  test(`refused, naming the place: ${keyword} that holds what it cannot mean`, () => {
    for (const value of values) {
      const schema = { properties: { a: { [keyword]: value } } }
      assert.throws(() => toDocument(schema), { name: 'TypeError', message: /at #\/properties\/a[:/]/ })
      // What is only data may be anything.
      assert.deepEqual(toDocument({ const: schema, enum: [schema], default: schema }).const, schema)
    }
  })
}

test('every keyword may hold what it is made for', () => {
  toDocument({
    $id: 'a',
    $anchor: 'a.b-c',
    $comment: '',
    $defs: {},
    enum: [],
    multipleOf: 0.5,
    minLength: 0,
    maxLength: 2.0,
    minimum: -1.5,
    uniqueItems: false,
    required: [],
    dependentRequired: { a: [] },
    items: false,
    anyOf: [true],
    additionalProperties: {},
    type: ['string', 'null'],
    unknown: 5,
  })
})

test('what is too deep or too large is refused', () => {
  const nested = (depth: number): JsonObject => (depth === 1 ? {} : { items: nested(depth - 1) })
  toDocument(nested(100))
  assert.throws(() => toDocument(nested(101)), /levels deep/)
  const wide = (count: number): JsonObject => ({
    properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, {}])),
  })
  toDocument(wide(9_999))
  assert.throws(() => toDocument(wide(10_000)), /10000 parts/)
})

test('what applies ever more schemas to one value by way of references is refused, however small it is', () => {
  const doubling = (times: number): JsonObject => {
    const next = (at: number): JsonObject => ({ $ref: `#/$defs/d${at + 1}` })
    const steps = Array.from({ length: times }, (_, at) => [`d${at}`, { allOf: [next(at), next(at)] }])
    return { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(steps), [`d${times}`]: { type: 'object' } } }
  }
  toDocument(doubling(8))
  assert.throws(() => toDocument(doubling(40)), /applies more than 10000 schemas/)
})
