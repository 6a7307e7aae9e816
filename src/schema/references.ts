import { isObject } from '../model/json.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { subschemas } from './walk.ts'

/** Where the references of one document lead. */
export interface References {
  /** The schema that `$ref` (or `$dynamicRef`) of `schema`, which is part of the document, leads to. */
  follow(schema: JsonObject, reference: string): JsonObject | boolean | undefined
}

/** The base of a document that does not name itself. Nothing is ever fetched from it. */
const unnamed = 'schema://document/'

/** Finds the names in a document: `$id` of embedded resources, `$anchor` and `$dynamicAnchor`. */
export function findReferences(document: JsonObject): References {
  const resources = new Map<string, JsonObject>([[unnamed, document]])
  const anchors = new Map<string, JsonObject>()
  const bases = new Map<JsonObject, string>()

  function name(schema: JsonObject, outer: string): void {
    const base = baseOf(schema, outer)
    bases.set(schema, base)
    if (base !== outer) resources.set(base, schema)
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = schema[keyword]
      if (typeof anchor === 'string') anchors.set(`${base}#${anchor}`, schema)
    }
    // Before 2019-09 an anchor was an `$id` that is a fragment.
    if (typeof schema.$id === 'string' && schema.$id.startsWith('#')) anchors.set(base + schema.$id, schema)
    for (const inner of subschemas(schema)) if (typeof inner.schema === 'object') name(inner.schema, base)
  }
  name(document, unnamed)

  return {
    follow(schema, reference) {
      const base = bases.get(schema) ?? unnamed
      if (!URL.canParse(reference, base)) return undefined
      const target = new URL(reference, base)
      const fragment = target.hash.slice(1)
      target.hash = ''
      const resource = resources.get(target.href)
      if (resource === undefined || fragment === '') return resource
      return fragment.startsWith('/') ? atPointer(resource, fragment) : anchors.get(`${target.href}#${fragment}`)
    },
  }
}

function baseOf(schema: JsonObject, outer: string): string {
  const id = schema.$id
  if (typeof id !== 'string' || id.startsWith('#') || !URL.canParse(id, outer)) return outer
  const base = new URL(id, outer)
  base.hash = ''
  return base.href
}

/** Follows a JSON Pointer (RFC 6901) in the form of a URI fragment. */
function atPointer(schema: JsonObject, fragment: string): JsonObject | boolean | undefined {
  let at: Json | undefined = schema
  for (const token of decode(fragment).split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = Array.isArray(at) ? at[Number(key)] : Reflect.get(at, key)
  }
  return isObject(at) || typeof at === 'boolean' ? at : undefined
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
