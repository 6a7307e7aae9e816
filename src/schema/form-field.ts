import { isObject } from '../model/json.ts'
import type { Json, JsonObject } from '../model/json.ts'

const formats: readonly unknown[] = ['email', 'uri', 'date', 'date-time']
const always = ['title', 'description', 'default']

/**
 * One field of a form in the grammar of elicitation (`PrimitiveSchemaDefinition`): the keywords it has are kept,
 * others left out, and a choice is put into the form that the grammar has for it.
 * @throws a `TypeError` that names the field, where it is none of these
 */
export function formField(name: string, schema: Json | undefined): JsonObject {
  const field = isObject(schema) ? (choice(schema) ?? primitive(schema)) : undefined
  if (field !== undefined) return field
  throw new TypeError(
    `A form is flat: field ${JSON.stringify(name)} is neither a string, a number, an integer, a boolean nor a choice of strings`,
  )
}

function primitive(schema: JsonObject): JsonObject | undefined {
  if (['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const'].some((keyword) => keyword in schema)) return undefined
  switch (schema.type) {
    case 'boolean':
      return pick(schema, ['type', ...always])
    case 'string': {
      const field = pick(schema, ['type', ...always, 'minLength', 'maxLength'])
      return formats.includes(schema.format) ? { ...field, format: schema.format } : field
    }
    case 'number':
      return pick(schema, ['type', ...always, 'minimum', 'maximum'])
    case 'integer':
      return withoutSafeBounds(pick(schema, ['type', ...always, 'minimum', 'maximum']))
    default:
      return undefined
  }
}

/** Libraries bound an integer by what a double can hold; that tells the user nothing. */
function withoutSafeBounds({ minimum, maximum, ...field }: JsonObject): JsonObject {
  return {
    ...field,
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
  }
}

function choice(schema: JsonObject): JsonObject | undefined {
  if (schema.type === 'array') return manyOf(schema)
  if (schema.type !== undefined && schema.type !== 'string') return undefined
  const options = optionsOf(schema)
  return options && { type: 'string', ...pick(schema, always), ...options('oneOf') }
}

function manyOf(schema: JsonObject): JsonObject | undefined {
  const { items } = schema
  const options = isObject(items) && (items.type ?? 'string') === 'string' ? optionsOf(items) : undefined
  if (options === undefined) return undefined
  const titled = options('anyOf')
  const written = 'anyOf' in titled ? titled : { type: 'string', ...titled }
  return { type: 'array', ...pick(schema, [...always, 'minItems', 'maxItems']), items: written }
}

/** The options of a choice, to be written under `enum`, or with their titles under `keyword`. */
function optionsOf(schema: JsonObject): ((keyword: 'oneOf' | 'anyOf') => JsonObject) | undefined {
  const { enum: names, const: only, oneOf, anyOf, enumNames } = schema
  if (typeof only === 'string') return () => ({ enum: [only] })
  if (isStrings(names)) return () => ({ enum: names, ...(isStrings(enumNames) && { enumNames }) })
  const list = Array.isArray(oneOf) ? oneOf : anyOf
  if (!Array.isArray(list) || list.length === 0 || !list.every(isOption)) return undefined
  const options = list.map((option: JsonObject) => ({ const: option.const, title: option.title ?? option.const }))
  const titled = list.some((option: JsonObject) => option.title !== undefined)
  return (keyword) => (titled ? { [keyword]: options } : { enum: options.map((option) => option.const ?? null) })
}

function isOption(option: Json): boolean {
  return isObject(option) && typeof option.const === 'string' && ['string', 'undefined'].includes(typeof option.title)
}

function isStrings(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === 'string')
}

function pick(schema: JsonObject, keywords: readonly string[]): JsonObject {
  return Object.fromEntries(keywords.filter((key) => Object.hasOwn(schema, key)).map((key) => [key, schema[key]]))
}
