import { isObject, own } from '../model/json.ts'
import type { Json, JsonObject } from '../model/json.ts'

/** A schema within a schema. */
export interface Subschema {
  readonly keyword: string
  /** The member or the index under the keyword, where it holds several. */
  readonly key: string | undefined
  readonly schema: JsonObject | boolean
}

/** Keywords whose value is a schema. `items` may hold a list before 2020-12. */
const single = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]
/** Keywords whose value is a list of schemas. */
const lists = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']
/** Keywords whose value is an object of schemas. `dependencies` may hold lists of names beside them. */
const maps = ['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties']

/**
 * The schemas that lie directly in `schema`, in the places where JSON Schema (draft-06 to 2020-12) looks for them;
 * so never those that only are data, in `const`, `enum`, `default` or `examples`. What is no schema is left out.
 */
export function subschemas(schema: JsonObject): Subschema[] {
  const found: Subschema[] = []
  const add = (keyword: string, key: string | undefined, value: Json | undefined): void => {
    if (isObject(value) || typeof value === 'boolean') found.push({ keyword, key, schema: value })
  }
  for (const keyword of single) add(keyword, undefined, own(schema, keyword))
  for (const keyword of lists) {
    const list = own(schema, keyword)
    if (Array.isArray(list)) list.forEach((value: Json, index) => add(keyword, String(index), value))
  }
  for (const keyword of maps) {
    const map = own(schema, keyword)
    if (isObject(map)) for (const [key, value] of Object.entries(map)) add(keyword, key, value)
  }
  return found
}
