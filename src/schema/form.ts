import { isObject, own } from '../model/json.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { formField } from './form-field.ts'
import { findReferences } from './references.ts'
import { compileInput } from './schema.ts'
import type { AnySchema, Checked, CompiledSchema, InferInput } from './schema.ts'
import { surelyWaits } from './waiting.ts'

/** A form made ready, once: what the client is sent, and the check of what the user filled in. */
export interface Form<T> {
  /** The `requestedSchema` of an elicitation, frozen. */
  readonly document: JsonObject
  /** Checks the content of an answer; by the whole schema, also by what the form's grammar cannot say. */
  validate(content: unknown): Checked<T>
}

const waits = 'The schema of a form has to check without waiting'

/**
 * Compiles a form from a schema of any library that follows Standard Schema, or from plain JSON Schema. It has to be
 * flat (specification, Elicitation): an object of strings, numbers, booleans and choices. Titles, descriptions,
 * defaults and whatever else the grammar has are kept, the rest is left out of the document, not of the check.
 * @throws a `TypeError` that names the field which is none, or says that the schema is one that waits
 */
export function form<const S extends AnySchema>(schema: S): Form<InferInput<S>> {
  if (surelyWaits(schema)) throw new TypeError(waits)
  const compiled = compileInput(schema)
  const document = toRequestedSchema(compiled.document)
  return { document, validate: (content) => checkNow(compiled, content) }
}

function toRequestedSchema(schema: JsonObject): JsonObject {
  const references = findReferences(schema)
  const properties = own(schema, 'properties')
  const foreign = ['allOf', 'anyOf', 'oneOf', 'not', 'if', '$ref', 'patternProperties'].find((key) => key in schema)
  if (foreign !== undefined) throw new TypeError(`A form is flat: its root cannot have "${foreign}"`)
  if (isObject(schema.additionalProperties)) throw new TypeError('A form is flat: it names every field')
  const fields = Object.entries(isObject(properties) ? properties : {}).map(([name, field]) => {
    const target = isObject(field) && typeof field.$ref === 'string' ? references.follow(field, field.$ref) : undefined
    const resolved = isObject(target) && isObject(field) ? { ...target, ...field } : field
    return [name, Object.freeze(formField(name, resolved))] as const
  })
  const required = own(schema, 'required')
  return Object.freeze({
    type: 'object',
    properties: Object.freeze(Object.fromEntries(fields)),
    ...(Array.isArray(required) && required.length > 0 && { required: required as Json }),
  })
}

function checkNow<T>(compiled: CompiledSchema<T>, content: unknown): Checked<T> {
  const checked = compiled.validate(content ?? {})
  if (checked instanceof Promise) throw new TypeError(waits)
  return checked
}
