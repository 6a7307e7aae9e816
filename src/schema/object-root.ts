import type { JsonObject } from '../model/json.ts'
import { findReferences } from './references.ts'
import type { References } from './references.ts'

/**
 * Gives a schema of objects the `type: "object"` at its root that an input schema must have (specification, Tool).
 * A union, an intersection or a reference gets it where everything in it is about objects anyway.
 * @throws a `TypeError` for any other
 */
export function withObjectRoot(schema: JsonObject): JsonObject {
  if (schema.type === 'object') return schema
  if (isOfObjects(schema, findReferences(schema), new Set())) return { ...schema, type: 'object' }
  throw new TypeError(
    'The root of an input schema is an object, since arguments have names; ' +
      'a union has to be one of objects, or lie in a property of its own',
  )
}

function isOfObjects(schema: JsonObject | boolean | undefined, references: References, seen: Set<unknown>): boolean {
  if (typeof schema !== 'object' || seen.has(schema)) return false
  seen.add(schema)
  const { type, $ref, allOf, anyOf, oneOf } = schema
  if (type !== undefined) return type === 'object'
  if (typeof $ref === 'string' && isOfObjects(references.follow(schema, $ref), references, seen)) return true
  const each = (list: unknown): boolean[] =>
    Array.isArray(list) ? list.map((part: JsonObject) => isOfObjects(part, references, new Set(seen))) : []
  if (each(allOf).some(Boolean)) return true
  return [anyOf, oneOf].map(each).some((parts) => parts.length > 0 && parts.every(Boolean))
}
