import { isObject, own } from '../model/json.ts'
import type { Report } from './codec.ts'
import type { RequestDefinition, Transform } from './define.ts'
import type { Json, JsonObject } from '../model/json.ts'

/**
 * Writes a form for the revision that has forms of text, numbers, flags and single choices without defaults: a choice
 * by `oneOf` of constants becomes `enum` with `enumNames` (client/elicitation, requested schema).
 */
export const plainForm: Transform = (params, report) => {
  const schema = own(params, 'requestedSchema')
  if (!isObject(schema)) return params
  const properties = own(schema, 'properties')
  if (!isObject(properties)) return params
  const plain = Object.entries(properties).map(([name, field]) => [
    name,
    isObject(field) ? plainField(field, report) : field,
  ])
  const { $schema: _, ...rest } = schema
  return { ...params, requestedSchema: { ...rest, properties: Object.fromEntries(plain) } }
}

function plainField(field: JsonObject, report: Report): JsonObject {
  const plain = withoutTitledChoices(field, report)
  if (own(plain, 'default') === undefined || own(plain, 'type') === 'boolean') return plain
  report('default-dropped', 'ElicitParams.requestedSchema')
  const { default: _, ...rest } = plain
  return rest
}

function withoutTitledChoices(field: JsonObject, report: Report): JsonObject {
  const choices = own(field, 'oneOf')
  if (!Array.isArray(choices)) return field
  report('titles-to-enum-names', 'ElicitParams.requestedSchema')
  const constants = choices.map((choice: Json) => (isObject(choice) ? (own(choice, 'const') ?? null) : null))
  const titles = choices.map(
    (choice: Json, at) => (isObject(choice) ? own(choice, 'title') : undefined) ?? constants[at] ?? null,
  )
  const { oneOf: _, ...rest } = field
  return { type: 'string', ...rest, enum: constants, enumNames: titles }
}

/** Refuses what {@link plainForm} cannot say: a URL to visit, or a field with several answers. */
export const refusesBeyondPlainForm: NonNullable<RequestDefinition['refuses']> = (params) => {
  if (own(params, 'mode') === 'url') return true
  const schema = own(params, 'requestedSchema')
  const properties = isObject(schema) ? own(schema, 'properties') : undefined
  return (
    isObject(properties) && Object.values(properties).some((field) => isObject(field) && own(field, 'type') === 'array')
  )
}

/** Whether params are either a form with its schema or a URL, and not in some other mode. */
export const isFormOrUrl = (params: JsonObject): boolean => {
  const mode = own(params, 'mode') ?? 'form'
  return mode === 'url'
    ? own(params, 'url') !== undefined
    : mode === 'form' && own(params, 'requestedSchema') !== undefined
}
