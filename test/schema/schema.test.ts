import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import type { JsonObject } from '../../src/model/json.ts'
import { form } from '../../src/schema/form.ts'
import { compileInput, compileOutput, issuesText } from '../../src/schema/schema.ts'
import type {
  AnySchema,
  Checked,
  CompiledSchema,
  InferArguments,
  InferInput,
  InferOutput,
  InferStructured,
  StandardSchema,
} from '../../src/schema/schema.ts'

function now<T>(checked: Checked<T> | Promise<Checked<T>>): Checked<T> {
  assert.ok(!(checked instanceof Promise), 'it made a promise')
  return checked
}

function textOf(compiled: CompiledSchema, value: unknown): string {
  const checked = now(compiled.validate(value))
  return 'issues' in checked ? issuesText(checked.issues) : 'fits'
}

const plain = {
  type: 'object',
  properties: { order: { type: 'string' }, cents: { type: 'integer' }, note: { type: 'string', default: 'none' } },
  required: ['order', 'cents'],
} as const

const libraries: readonly (readonly [name: string, schema: AnySchema])[] = [
  ['zod', z.object({ order: z.string(), cents: z.number().int(), note: z.string().default('none') })],
  [
    'valibot',
    toStandardJsonSchema(
      v.object({ order: v.string(), cents: v.pipe(v.number(), v.integer()), note: v.optional(v.string(), 'none') }),
    ),
  ],
  ['arktype', type({ order: 'string', cents: 'number.integer', note: "string = 'none'" })],
  ['plain JSON Schema', plain],
]

for (const [name, schema] of libraries) {
  test(`${name}: an input is described as callers see it, and checked without a promise`, () => {
    const compiled = compileInput(schema)
    assert.equal(compiled.document.type, 'object')
    assert.deepEqual(new Set(compiled.document.required as string[]), new Set(['order', 'cents']))
    const checked = now(compiled.validate({ order: 'A-7', cents: 5 }))
    assert.ok('value' in checked)
    const filled = name === 'plain JSON Schema' ? {} : { note: 'none' }
    assert.deepEqual(checked.value, { order: 'A-7', cents: 5, ...filled })
  })

  test(`${name}: what is wrong is told field by field`, () => {
    const compiled = compileInput(schema)
    const text = textOf(compiled, { order: 7 })
    assert.match(text, /(^|; )order/)
    assert.match(text, /(^|; )cents/)
    assert.equal(text.includes('\n'), false)
    assert.equal(textOf(compiled, { order: 'A-7', cents: 5 }), 'fits')
    for (const value of [undefined, null, 5, 'x', []]) assert.notEqual(textOf(compiled, value), 'fits')
  })

  test(`${name}: an output is checked`, () => {
    const compiled = compileOutput(schema)
    assert.equal(textOf(compiled, { order: 'A-7', cents: 5, note: 'x' }), 'fits')
    assert.notEqual(textOf(compiled, { order: 'A-7' }), 'fits')
  })
}

test('the two sides of a transforming schema are told apart', () => {
  const schema = z.object({ n: z.codec(z.string(), z.number(), { decode: Number, encode: String }) })
  const typeOf = (document: JsonObject): unknown => JSON.parse(JSON.stringify(document)).properties.n.type
  assert.equal(typeOf(compileInput(schema).document), 'string')
  assert.equal(typeOf(compileOutput(schema).document), 'number')
  const checked = now(compileInput(schema).validate({ n: '5' }))
  assert.deepEqual(checked, { value: { n: 5 } })
})

test('a schema that has to wait makes a promise, and only then', async () => {
  const schema = z.object({ a: z.string().refine(async (text) => text === 'yes', 'must be yes') })
  const compiled = compileInput(schema)
  const good = compiled.validate({ a: 'yes' })
  assert.ok(good instanceof Promise)
  assert.deepEqual(await good, { value: { a: 'yes' } })
  assert.deepEqual(await compiled.validate({ a: 'no' }), { issues: [{ path: 'a', message: 'must be yes' }] })
})

test('a document is frozen, keeps every keyword as given, and is a copy', () => {
  const given = {
    $comment: 'kept',
    type: 'object',
    properties: { a: { type: 'string', 'x-mcp-header': 'A', examples: [{ $ref: 'data' }] } },
    'x-vendor': { deep: [1] },
    if: { required: ['a'] },
    then: true,
  }
  const { document } = compileInput(given)
  assert.deepEqual(document, given)
  assert.ok(Object.isFrozen(document) && Object.isFrozen(document.properties) && Object.isFrozen(document['x-vendor']))
  assert.ok(!Object.isFrozen(given))
  assert.equal('$schema' in document, false)
})

test('a document by hand is shown, and the schema still checks', () => {
  const byHand: JsonObject = { type: 'object', properties: { when: { type: 'string', format: 'date' } } }
  const compiled = compileInput(z.object({ when: z.coerce.date() }), byHand)
  assert.deepEqual(compiled.document, byHand)
  assert.notEqual(textOf(compiled, { when: 'never' }), 'fits')
  const loose = compileInput(plain, byHand)
  assert.deepEqual(loose.document, byHand)
  assert.notEqual(textOf(loose, { when: '2026-01-01' }), 'fits')
  const alone = compileInput(undefined, byHand)
  assert.notEqual(textOf(alone, { when: 'never' }), 'fits')
})

test('without a schema a tool takes nothing', () => {
  const compiled = compileInput(undefined)
  assert.deepEqual(compiled.document, { type: 'object', additionalProperties: false })
  assert.equal(textOf(compiled, {}), 'fits')
  assert.equal(textOf(compiled, { extra: 1 }), 'extra: is not known')
  assert.equal(textOf(compiled, undefined), 'must be object')
})

for (const [name, schema, says] of [
  ['a library that cannot describe itself', v.object({ a: v.string() }), /valibot.*toStandardJsonSchema/],
  ['a type that JSON Schema lacks', z.object({ when: z.date() }), /zod.*Date.*by hand/],
  ['a schema of a string', z.string(), /root of an input schema is an object/],
  ['a union of an object and a string', z.union([z.object({}), z.string()]), /a union has to be one of objects/],
  ['an object of schemas', { a: z.string() }, /object of schemas.*z\.object\(/],
  ['an object of schemas, one under the name of a keyword', { type: z.string() }, /object of schemas.*z\.object\(/],
  ['an object of schemas of another library', { a: v.string() }, /object of schemas.*object type of valibot/],
  ['a list in place of a schema', [], /neither/],
  ['a text in place of a schema', 'object', /neither/],
  ['JSON Schema of an array', { type: 'array' }, /root of an input schema is an object/],
  ['JSON Schema that may be an object', { type: ['object', 'null'] }, /root of an input schema is an object/],
  ['JSON Schema without a type', { properties: {} }, /root of an input schema is an object/],
] as const) {
  test(`refused as an input, with the reason: ${name}`, () => {
    assert.throws(
      () => compileInput(schema),
      (error) => error instanceof TypeError && says.test(error.message),
    )
  })
}

test('an object of schemas is refused as an output, too, and as a form', () => {
  const fields = { n: z.int() } as unknown as JsonObject
  assert.throws(() => compileOutput(fields), /wrap it in z\.object/)
  assert.throws(() => form(fields), /wrap it in z\.object/)
})

test('a union, an intersection or a reference to objects gets its root', () => {
  const a = z.object({ kind: z.literal('a'), x: z.string() })
  const b = z.object({ kind: z.literal('b'), y: z.string() })
  for (const schema of [
    z.union([a, b]),
    z.discriminatedUnion('kind', [a, b]),
    z.intersection(a, z.object({ z: z.string() })),
  ]) {
    assert.equal(compileInput(schema).document.type, 'object')
  }
  const referring: JsonObject = { $ref: '#/$defs/a', $defs: { a: { type: 'object', required: ['x'] } } }
  const compiled = compileInput(referring)
  assert.deepEqual(compiled.document, { ...referring, type: 'object' })
  assert.equal(textOf(compiled, {}), 'x: is required')
})

test('an output may be anything', () => {
  assert.equal(textOf(compileOutput({ type: 'array', items: { type: 'string' } }), ['a']), 'fits')
  assert.equal(textOf(compileOutput(z.string().nullable()), null), 'fits')
})

test('an output that only fits as JSON is handed on as JSON', () => {
  const compiled = compileOutput({
    type: 'object',
    properties: { at: { type: 'string', format: 'date-time' }, note: { type: 'string' } },
    additionalProperties: false,
  })
  const returned = { at: new Date(0), note: undefined }
  assert.deepEqual(now(compiled.validate(returned)), { value: { at: '1970-01-01T00:00:00.000Z' } })
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  for (const value of [cyclic, undefined, { at: 1n }]) assert.equal(textOf(compiled, value), 'is not JSON')
})

test('an output is checked as it will be sent', () => {
  const required = compileOutput({ type: 'object', properties: { a: {} }, required: ['a'] })
  for (const value of [{ a: undefined }, { a: () => {} }, { a: 1, toJSON: () => ({}) }]) {
    assert.match(textOf(required, value), /a: /)
  }
  const object = compileOutput({ type: 'object' })
  for (const value of [new Date(0), { toJSON: () => [1, 2] }]) assert.equal(textOf(object, value), 'must be object')
  const numbers = compileOutput({ type: 'object', additionalProperties: { type: 'number' } })
  assert.match(textOf(numbers, { n: Number.NaN }), /n: /)
  const any = compileOutput(z.object({ a: z.any() }))
  assert.deepEqual(now(any.validate({ a: new Date(0) })), { value: { a: '1970-01-01T00:00:00.000Z' } })
  assert.equal(textOf(any, { a: 1n }), 'is not JSON')
  assert.equal(
    textOf(compileOutput(z.any()), () => {}),
    'is not JSON',
  )
})

test('long lists of issues are cut, and odd keys quoted', () => {
  const issues = Array.from({ length: 14 }, (_, at) => ({ path: `f${at}`, message: 'x\n  y' }))
  assert.match(issuesText(issues), /^f0: x y; .*f9: x y; and 4 more$/)
  assert.ok(issuesText([{ path: 'a', message: 'x'.repeat(10_000) }]).length < 400)
  const nested = z.object({ items: z.array(z.object({ 'odd key': z.string() })) })
  assert.match(textOf(compileInput(nested), { items: [{}] }), /^items\[0\]\["odd key"\]: /)
})

// What follows is checked by the compiler.

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

test('types are read from the schema', () => {
  const zod = z.object({ a: z.string(), n: z.number().default(1) })
  const ark = type({ a: 'string', n: 'number = 1' })
  const valibot = v.object({ a: v.string(), n: v.optional(v.number(), 1) })
  type Before = { a: string; n?: number | undefined }
  type After = { a: string; n: number }
  const proofs: [
    Equal<InferInput<typeof zod>, After>,
    Equal<InferArguments<typeof zod>, Before>,
    Equal<InferStructured<typeof zod>, After>,
    Equal<InferInput<typeof ark>, After>,
    Equal<InferInput<typeof valibot>, After>,
    Equal<InferArguments<typeof valibot>, Before>,
    Equal<InferInput<typeof plain>, JsonObject>,
    Equal<InferArguments<typeof plain>, JsonObject>,
  ] = [true, true, true, true, true, true, true, true]
  const returned: InferOutput<typeof zod> = { a: 'x' }
  // @ts-expect-error a handler may not leave out what the schema requires
  const wrong: InferOutput<typeof zod> = {}
  assert.ok(proofs.every(Boolean) && returned && wrong)
})

test('schemas that follow the published interfaces fit ours', () => {
  const validating = (schema: StandardSchemaV1<string, number>): StandardSchema<string, number> => schema
  const describing = (schema: StandardSchemaV1<string> & StandardJSONSchemaV1<string>): AnySchema => schema
  const schema = z.string()
  assert.equal(describing(schema), schema)
  assert.equal(typeof validating, 'function')
})

test('what a peer called an argument comes back escaped and cut', () => {
  const long = 'x'.repeat(100_000)
  const closed = { type: 'object', additionalProperties: false } as const
  for (const compiled of [compileInput(undefined), compileInput(closed), compileInput(z.strictObject({}))]) {
    for (const name of ['evil\nname', 'evil\u001b[2Jname', long]) {
      const text = textOf(compiled, { [name]: 1 })
      assert.equal(text.includes('\n') || text.includes('\u001b'), false)
      assert.ok(text.length < 500, `${text.length} characters`)
    }
  }
  assert.equal(textOf(compileInput(undefined), { 'a\nb': 1 }), '["a\\nb"]: is not known')
  assert.match(textOf(compileInput(closed), { [long]: 1 }), /^\["x{60}…"\]: /)
  const deep = { type: 'object', additionalProperties: { $ref: '#' } } as const
  let value: unknown = 5
  for (let depth = 0; depth < 60; depth++) value = { ['y'.repeat(50)]: value }
  // Each level is told of, ten at most.
  assert.ok(textOf(compileInput(deep), value).length < 5_000)
})
