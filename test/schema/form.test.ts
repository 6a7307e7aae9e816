import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import { form } from '../../src/schema/form.ts'
import type { Form } from '../../src/schema/form.ts'

const fieldsOf = (made: Form<unknown>): unknown => made.document.properties

test('zod: every kind of field is put into the grammar', () => {
  const made = form(
    z.object({
      name: z.string().min(2).max(9).describe('Your name').meta({ title: 'Name' }),
      mail: z.email(),
      site: z.url().optional(),
      day: z.iso.date(),
      at: z.iso.datetime(),
      code: z.string().regex(/^x/),
      n: z.number().min(1).max(5),
      i: z.int(),
      age: z.number().int().min(18).default(21),
      sure: z.boolean().default(true),
      size: z.enum(['s', 'm']).default('m'),
      only: z.literal('x'),
      titled: z.union([z.literal('a').meta({ title: 'An A' }), z.literal('b')]),
      many: z
        .array(z.enum(['x', 'y']))
        .min(1)
        .max(2),
    }),
  )
  assert.deepEqual(fieldsOf(made), {
    name: { type: 'string', title: 'Name', description: 'Your name', minLength: 2, maxLength: 9 },
    mail: { type: 'string', format: 'email' },
    site: { type: 'string', format: 'uri' },
    day: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
    code: { type: 'string' },
    n: { type: 'number', minimum: 1, maximum: 5 },
    i: { type: 'integer' },
    age: { type: 'integer', default: 21, minimum: 18 },
    sure: { type: 'boolean', default: true },
    size: { type: 'string', default: 'm', enum: ['s', 'm'] },
    only: { type: 'string', enum: ['x'] },
    titled: {
      type: 'string',
      oneOf: [
        { const: 'a', title: 'An A' },
        { const: 'b', title: 'b' },
      ],
    },
    many: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['x', 'y'] } },
  })
  const required = ['name', 'mail', 'day', 'at', 'code', 'n', 'i', 'only', 'titled', 'many']
  assert.deepEqual(made.document.required, required)
  assert.deepEqual(Object.keys(made.document), ['type', 'properties', 'required'])
  assert.ok(Object.isFrozen(made.document))
})

test('valibot and arktype make the same forms', () => {
  const fields = {
    mail: { type: 'string', format: 'email' },
    size: { type: 'string', enum: ['s', 'm'] },
    many: { type: 'array', items: { type: 'string', enum: ['x', 'y'] } },
    n: { type: 'integer' },
    sure: { type: 'boolean' },
  }
  const valibot = form(
    toStandardJsonSchema(
      v.object({
        mail: v.pipe(v.string(), v.email()),
        size: v.picklist(['s', 'm']),
        many: v.array(v.picklist(['x', 'y'])),
        n: v.pipe(v.number(), v.integer()),
        sure: v.boolean(),
      }),
    ),
  )
  assert.deepEqual(fieldsOf(valibot), fields)
  const ark = form(
    type({ mail: 'string.email', size: "'s' | 'm'", many: "('x' | 'y')[]", n: 'number.integer', sure: 'boolean' }),
  )
  const sorted = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (key, part) => (key === 'enum' ? part.toSorted() : part))
  assert.deepEqual(sorted(fieldsOf(ark)), sorted(fields))
})

test('plain JSON Schema: what the grammar has is kept, the rest left out', () => {
  const made = form({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    title: 'A form',
    additionalProperties: false,
    $defs: { colour: { type: 'string', enum: ['red'], description: 'any' } },
    properties: {
      a: { type: 'string', pattern: '^x', format: 'uuid', default: 'x', examples: ['x'] },
      old: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
      named: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] },
      several: { type: 'array', items: { anyOf: [{ const: 'r', title: 'Red' }] }, uniqueItems: true, default: ['r'] },
      shared: { $ref: '#/$defs/colour', description: 'mine' },
    },
  })
  assert.deepEqual(made.document, {
    type: 'object',
    properties: {
      a: { type: 'string', default: 'x' },
      old: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
      named: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] },
      several: { type: 'array', default: ['r'], items: { anyOf: [{ const: 'r', title: 'Red' }] } },
      shared: { type: 'string', description: 'mine', enum: ['red'] },
    },
  })
})

for (const [name, schema, says] of [
  ['a nested object', z.object({ deep: z.object({}) }), /flat: field "deep"/],
  ['a list of numbers', z.object({ list: z.array(z.number()) }), /field "list"/],
  ['a list of free text', z.object({ list: z.array(z.string()) }), /field "list"/],
  ['null', z.object({ maybe: z.string().nullable() }), /field "maybe"/],
  ['a union of types', z.object({ either: z.union([z.string(), z.number()]) }), /field "either"/],
  ['numbers to choose from', z.object({ n: z.literal([1, 2]) }), /field "n"/],
  ['anything', z.object({ any: z.any() }), /field "any"/],
  ['a record', z.record(z.string(), z.string()), /names every field/],
  [
    'a union of forms',
    z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
    /its root cannot have "anyOf"/,
  ],
  ['no object', z.string(), /root of an input schema/],
] as const) {
  test(`no form: ${name}`, () => assert.throws(() => form(schema), says))
}

test('an answer is checked by the whole schema, and typed', () => {
  const made = form(z.object({ sure: z.boolean(), code: z.string().regex(/^x/), n: z.number().default(1) }))
  const good = made.validate({ sure: true, code: 'xy' })
  assert.deepEqual(good, { value: { sure: true, code: 'xy', n: 1 } })
  if ('value' in good) {
    const sure: boolean = good.value.sure
    const n: number = good.value.n
    assert.deepEqual([sure, n], [true, 1])
  }
  const bad = made.validate({ sure: 'yes', code: 'y' })
  assert.ok('issues' in bad)
  assert.deepEqual(
    bad.issues.map((issue) => issue.path),
    ['sure', 'code'],
  )
  assert.ok('issues' in made.validate(undefined))
  assert.deepEqual(form(z.object({ note: z.string().optional() })).validate(undefined), { value: {} })
})

test('a schema that has to wait cannot check a form', () => {
  for (const field of [
    z.string().refine(async () => true),
    z
      .string()
      .transform(async () => 'x')
      .optional(),
  ]) {
    assert.throws(() => form(z.object({ a: field })), /without waiting/)
  }
  // What cannot be seen is found out.
  const made = form(z.object({ a: z.string().refine(() => Promise.resolve(true)) }))
  assert.throws(() => made.validate({ a: 'x' }), /without waiting/)
})
