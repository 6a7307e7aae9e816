import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/model/json.ts'
import { toDocument } from '../../src/schema/document.ts'
import { issuesText } from '../../src/schema/issues.ts'
import { compileJsonSchema } from '../../src/schema/json-schema.ts'

function textOf(schema: JsonObject, value: unknown): string {
  const checked = compileJsonSchema(toDocument(schema))(value)
  return 'issues' in checked ? issuesText(checked.issues) : 'fits'
}

interface Case {
  readonly name: string
  readonly schema: JsonObject
  readonly good: readonly Json[]
  readonly bad: readonly Json[]
}

const cases: readonly Case[] = [
  {
    name: '$defs and $anchor',
    schema: {
      $defs: { id: { $anchor: 'id', type: 'string' } },
      properties: { a: { $ref: '#id' }, b: { $ref: '#/$defs/id' } },
    },
    good: [{ a: 'x', b: 'y' }, {}],
    bad: [{ a: 1 }, { b: 1 }],
  },
  {
    name: 'a recursive schema',
    schema: { type: 'object', properties: { next: { $ref: '#' }, n: { type: 'integer' } }, required: ['n'] },
    good: [{ n: 1, next: { n: 2, next: { n: 3 } } }],
    bad: [{ n: 1, next: { n: 2, next: {} } }],
  },
  {
    name: 'an embedded resource',
    schema: { $id: 'https://a.example/', $defs: { b: { $id: 'b', type: 'string' } }, properties: { a: { $ref: 'b' } } },
    good: [{ a: 'x' }],
    bad: [{ a: 1 }],
  },
  {
    name: 'if, then and else',
    schema: { if: { required: ['a'] }, then: { required: ['b'] }, else: { required: ['c'] } },
    good: [{ a: 1, b: 1 }, { c: 1 }],
    bad: [{ a: 1 }, {}],
  },
  {
    name: 'dependentRequired and dependentSchemas',
    schema: { dependentRequired: { a: ['b'] }, dependentSchemas: { c: { properties: { d: { type: 'string' } } } } },
    good: [{ a: 1, b: 1 }, { c: 1, d: 'x' }, { d: 1 }],
    bad: [{ a: 1 }, { c: 1, d: 1 }],
  },
  {
    name: 'unevaluatedProperties across allOf',
    schema: { allOf: [{ properties: { a: true } }], properties: { b: true }, unevaluatedProperties: false },
    good: [{ a: 1, b: 1 }],
    bad: [{ c: 1 }],
  },
  {
    name: 'prefixItems and unevaluatedItems',
    schema: { prefixItems: [{ type: 'string' }], unevaluatedItems: { type: 'number' } },
    good: [['a', 1, 2], []],
    bad: [[1], ['a', 'b']],
  },
  {
    name: 'items as a list, of draft-07',
    schema: { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }], additionalItems: false },
    good: [['a']],
    bad: [[1], ['a', 'b']],
  },
  {
    name: 'names that objects inherit',
    schema: {
      required: ['toString'],
      properties: {
        constructor: { type: 'string' },
        valueOf: { type: 'string' },
        list: { items: { required: ['valueOf'] } },
      },
    },
    good: [{ toString: 1 }, { toString: 1, list: [{ valueOf: 1 }] }],
    bad: [{}, { toString: 1, constructor: 1 }, { toString: 1, valueOf: 1 }, { toString: 1, list: [{}] }],
  },
  { name: 'contains', schema: { contains: { const: 1 }, maxContains: 1 }, good: [[1, 2]], bad: [[2], [1, 1]] },
  { name: 'propertyNames', schema: { propertyNames: { pattern: '^a' } }, good: [{ ab: 1 }], bad: [{ b: 1 }] },
  { name: 'lengths by code point', schema: { maxLength: 1 }, good: ['🌍'], bad: ['ab'] },
  { name: 'integers by value', schema: { type: 'integer' }, good: [1, 2 ** 60], bad: [1.5, '1'] },
  { name: 'email', schema: { format: 'email' }, good: ['a@b.example', 5], bad: ['a', 'a@', '@b'] },
  {
    name: 'uri',
    schema: { format: 'uri' },
    good: ['https://a.example/x?y#z', 'urn:x:y'],
    bad: ['x', '//a', 'https://a b'],
  },
  { name: 'date', schema: { format: 'date' }, good: ['2024-02-29'], bad: ['2023-02-29', '2023-2-1', 'now'] },
  {
    name: 'date-time',
    schema: { format: 'date-time' },
    good: ['2024-02-29T12:00:00Z'],
    bad: ['2024-02-29', '2024-02-29T25:00:00Z'],
  },
  { name: 'a format nobody knows', schema: { format: 'colour' }, good: ['x'], bad: [] },
]

for (const { name, schema, good, bad } of cases) {
  test(name, () => {
    for (const value of good) assert.equal(textOf(schema, value), 'fits', JSON.stringify(value))
    for (const value of bad) assert.notEqual(textOf(schema, value), 'fits', JSON.stringify(value))
  })
}

test('what is wrong is told in words that name the field', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      order: { type: 'string', minLength: 1 },
      size: { enum: ['s', 'm'] },
      kind: { const: 'x' },
      lines: { type: 'array', items: { type: 'object', required: ['sku'] } },
    },
    required: ['order', 'cents'],
    additionalProperties: false,
    dependentRequired: { size: ['lines'] },
  }
  assert.match(textOf(schema, { order: 'a' }), /^cents: is required$/)
  assert.match(textOf(schema, { cents: 1, order: 'a', surplus: 1 }), /surplus: is not known/)
  assert.match(textOf(schema, { cents: 1, order: '' }), /order: must not have fewer than 1/)
  assert.match(textOf(schema, { order: 'a', size: 'l' }), /size: must be one of "s", "m"/)
  assert.match(textOf(schema, { order: 'a', size: 's' }), /lines: is required with size/)
  assert.match(textOf(schema, { order: 'a', kind: 'y' }), /kind: must be "x"/)
  assert.match(textOf(schema, { order: 'a', lines: [{ sku: 1 }, {}] }), /lines\[1\]\.sku: is required/)
  assert.match(textOf(schema, 5), /must be object/)
  assert.match(
    textOf({ type: 'object', unevaluatedProperties: false }, { 'odd key': 1 }),
    /^\["odd key"\]: is not known$/,
  )
})

test('the value that fits is handed on as it is', () => {
  const value = { a: 1 }
  const checked = compileJsonSchema({ type: 'object' })(value)
  assert.ok('value' in checked)
  assert.equal(checked.value, value)
})

test('what no validator can be made of is refused', () => {
  assert.throws(() => compileJsonSchema({ type: 'string', pattern: '(' }), /regular expression/)
  assert.throws(() => compileJsonSchema({ allOf: [{ $ref: '#' }] }), /without end/)
})

/** Runs a module in a process of its own, from the repository's root; returns what it prints. */
function runAlone(script: string, ...flags: string[]): string {
  return execFileSync(process.execPath, [...flags, '--import', 'tsx', '--input-type=module', '-e', script], {
    timeout: 20_000,
    encoding: 'utf8',
  })
}

test('the engine is loaded for plain JSON Schema alone', () => {
  const printed = runAlone(`
    import { createRequire } from 'node:module'
    import { z } from 'zod'
    import { compileInput } from './src/schema/schema.ts'
    const { cache } = createRequire(import.meta.url)
    const loaded = () => Object.keys(cache).some((name) => name.includes('typebox'))
    compileInput(z.object({ a: z.string() }))
    compileInput(undefined)
    console.log(loaded())
    compileInput({ type: 'object' })
    console.log(loaded())
  `)
  assert.equal(printed, 'false\ntrue\n')
})

test('where no code may be generated schemas are interpreted', () => {
  const printed = runAlone(
    `
    import { compileInput } from './src/schema/schema.ts'
    const { validate } = compileInput({ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false })
    console.log(JSON.stringify([validate({ a: 'x' }), validate({ a: 1 }), validate({ b: 1 })]))
  `,
    '--disallow-code-generation-from-strings',
  )
  const string = [{ path: 'a', message: 'must be string' }]
  assert.deepEqual(JSON.parse(printed), [
    { value: { a: 'x' } },
    { issues: string },
    { issues: [{ path: 'b', message: 'is not known' }] },
  ])
})

test('hostile names and values in a schema never become code', () => {
  const marks = ['"', "'", '`', '\\', '\n', '\u2028', '*/', '${', ']', '/', ')']
  const attack = (mark: string): string => `${mark}];globalThis.broken=true;//${mark}`
  for (const text of marks.map(attack)) {
    const schemas: JsonObject[] = [
      { properties: { [text]: { type: 'string' } }, required: [text], additionalProperties: false },
      { const: text },
      { enum: [{ [text]: [text] }] },
      { dependentRequired: { [text]: [text] } },
      { format: text },
      { $defs: { [text]: { type: 'string' } }, title: text, description: text, default: text },
      { $id: `https://a.example/${encodeURIComponent(text)}`, $anchor: text, unevaluatedProperties: false },
    ]
    for (const schema of schemas) {
      const validate = compileJsonSchema(schema)
      for (const value of [text, { [text]: text }, [text], 1]) validate(value)
    }
  }
  assert.equal(Reflect.get(globalThis, 'broken'), undefined)
})

test('where code can be generated at first and not any more, as in workers, schemas are interpreted', () => {
  const document: JsonObject = { type: 'object', properties: { n: { type: 'integer', minimum: 2 } }, required: ['n'] }
  const generated = compileJsonSchema(document)
  const original = globalThis.Function
  function refusing(): never {
    throw new EvalError('Code generation from strings disallowed for this context')
  }
  globalThis.Function = refusing as unknown as FunctionConstructor
  try {
    const interpreted = compileJsonSchema({ ...document })
    for (const value of [{ n: 2 }, { n: 1 }, { n: 'x' }, {}, [], null]) {
      assert.deepEqual(interpreted(value), generated(value), JSON.stringify(value))
    }
  } finally {
    globalThis.Function = original
  }
})
