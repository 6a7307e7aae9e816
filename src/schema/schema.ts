import { isObject } from '../model/json.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { toPlain } from '../model/plain.ts'
import { toDocument } from './document.ts'
import { fromStandardIssue, issuesText, pathText } from './issues.ts'
import type { Checked, Issue } from './issues.ts'
import { compileJsonSchema } from './json-schema.ts'
import { withObjectRoot } from './object-root.ts'
import { isStandardSchema } from './standard.ts'
import { withoutLoose } from './waiting.ts'
import type {
  AnySchema,
  InferArguments,
  InferInput,
  InferOutput,
  InferStructured,
  StandardResult,
  StandardSchema,
} from './standard.ts'

export { issuesText }
export type { AnySchema, Checked, InferArguments, InferInput, InferOutput, InferStructured, Issue, StandardSchema }

/** A schema made ready, once: what peers are told of it, and the check of a value. */
export interface CompiledSchema<T = unknown> {
  /** JSON Schema, frozen; every keyword as the schema has it. */
  readonly document: JsonObject
  /** Checks a value. A promise only where the schema's library needs one. */
  validate(value: unknown): Checked<T> | Promise<Checked<T>>
}

/** The schema of a tool that takes nothing. */
const nothing: JsonObject = { type: 'object', additionalProperties: false }

/**
 * Compiles the schema of what a tool takes: of any library that follows Standard Schema, or plain JSON Schema; left
 * out, the tool takes nothing. @param byHand JSON Schema to show in place of what the schema says of itself
 * @throws a `TypeError` that says what is wrong, also where the document is not one of objects (specification, Tool)
 */
export function compileInput<S>(schema: S, byHand?: JsonObject): CompiledSchema<InferInput<S>> {
  if (schema === undefined && byHand === undefined) return { document: toDocument(nothing), validate: takeNothing }
  return compile<InferInput<S>>(schema, 'input', byHand)
}

/**
 * Compiles the schema of what a tool returns, as {@link compileInput} does; any kind of value will do. What is checked
 * against plain JSON Schema is what will be sent (without members that are `undefined`, after `toJSON`), and what fits is
 * handed on as that; a library's schema is given the value as it is.
 */
export function compileOutput<S>(schema: S, byHand?: JsonObject): CompiledSchema<InferStructured<S>> {
  const compiled = compile<InferStructured<S>>(schema, 'output', byHand)
  return { ...compiled, validate: isStandardSchema(schema) ? thenSent(compiled.validate) : sent(compiled.validate) }
}

function compile<T>(schema: unknown, side: 'input' | 'output', byHand: JsonObject | undefined): CompiledSchema<T> {
  const described = byHand ?? describe(schema, side)
  const document = toDocument(side === 'input' ? withObjectRoot(described) : described)
  if (isStandardSchema(schema)) return { document, validate: validateStandard(schema) }
  const rules = byHand === undefined || schema === undefined ? document : toDocument(describe(schema, side))
  // Plain JSON Schema says no more of a value than `InferInput` and `InferStructured` claim.
  return { document, validate: compileJsonSchema(rules) as (value: unknown) => Checked<T> }
}

function describe(schema: unknown, side: 'input' | 'output'): JsonObject {
  if (!isStandardSchema(schema)) {
    if (isObject(schema)) return withoutSchemas(schema)
    throw new TypeError('This is neither a schema of a library that follows Standard Schema nor JSON Schema')
  }
  const { vendor, jsonSchema } = schema['~standard']
  if (jsonSchema === undefined) {
    const help = vendor === 'valibot' ? 'wrap it in toStandardJsonSchema of @valibot/to-json-schema, or ' : ''
    throw new TypeError(`This schema of ${vendor} cannot say itself as JSON Schema; ${help}give one by hand`)
  }
  try {
    // What the library returns is JSON Schema by its own word; `toDocument` checks it.
    return jsonSchema[side]({ target: 'draft-2020-12' }) as JsonObject
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new TypeError(`This schema of ${vendor} cannot be said in JSON Schema (${reason}); give one by hand`, {
      cause,
    })
  }
}

/** @throws a `TypeError` for an object of a library's schemas, which reads like one and is none */
function withoutSchemas(schema: JsonObject): JsonObject {
  const member: unknown = Object.values(schema).find(isStandardSchema)
  if (!isStandardSchema(member)) return schema
  const { vendor } = member['~standard']
  const wrapping = vendor === 'zod' ? 'z.object(...)' : `the object type of ${vendor}`
  throw new TypeError(`This is an object of schemas, and no schema itself; wrap it in ${wrapping}`)
}

function validateStandard<T>(schema: StandardSchema): CompiledSchema<T>['validate'] {
  const validate = withoutLoose(schema)
  return (value) => {
    const result = validate(value)
    return result instanceof Promise ? result.then(toChecked<T>) : toChecked<T>(result)
  }
}

function toChecked<T>(result: StandardResult<unknown>): Checked<T> {
  // What a library has checked has the type that it infers.
  return result.issues ? { issues: result.issues.map(fromStandardIssue) } : { value: result.value as T }
}

function takeNothing(value: unknown): Checked<never> {
  if (!isObject(value)) return { issues: [{ path: '', message: 'must be object' }] }
  const issues = Object.keys(value).map((key) => ({ path: pathText([key]), message: 'is not known' }))
  // An empty object, which is all that is left, is what `InferInput` makes of a schema that is left out.
  return issues.length > 0 ? { issues } : { value: value as never }
}

const notJson = { issues: [{ path: '', message: 'is not JSON' }] }

function sent<T>(validate: CompiledSchema<T>['validate']): CompiledSchema<T>['validate'] {
  return (value) => {
    const plain = plainOf(value)
    return 'value' in plain ? validate(plain.value) : plain
  }
}

function thenSent<T>(validate: CompiledSchema<T>['validate']): CompiledSchema<T>['validate'] {
  // What JSON makes of a value that a library has checked, types cannot say.
  const plain = (checked: Checked<T>): Checked<T> =>
    'value' in checked ? (plainOf(checked.value) as Checked<T>) : checked
  return (value) => {
    const checked = validate(value)
    return checked instanceof Promise ? checked.then(plain) : plain(checked)
  }
}

function plainOf(value: unknown): Checked<Json> {
  try {
    const plain = toPlain(value)
    return plain === undefined ? notJson : { value: plain }
  } catch {
    return notJson
  }
}
