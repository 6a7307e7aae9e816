import { isObject } from '../model/json.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { isSchema, keywordRules } from './keywords.ts'
import { findReferences } from './references.ts'
import type { References } from './references.ts'
import { subschemas } from './walk.ts'

const dialects = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12|draft-0[67])\/schema#?$/
const types = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']
const mostSchemas = 10_000
const deepest = 100

/**
 * Checks a JSON Schema before it is listed or compiled, and returns a frozen copy with every keyword as given.
 * @throws a `TypeError` that names the place and says what is wrong: a dialect that is none of 2020-12, draft-07 and
 *   draft-06; a reference that leads out of the document, which is never fetched, or nowhere, or in a circle; a type
 *   that does not exist; a keyword that holds what it cannot mean; too many schemas (10,000) or too deep ones (100).
 */
export function toDocument(schema: JsonObject): JsonObject {
  const document = copy(schema)
  checkSchemas(document, findReferences(document))
  return deepFreeze(document)
}

function copy(schema: JsonObject): JsonObject {
  const document: unknown = JSON.parse(JSON.stringify(schema))
  if (!isObject(document)) throw new TypeError('A schema is an object')
  return document
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze)
  return value
}

function checkSchemas(document: JsonObject, references: References): void {
  let count = 0
  const ends = new Map<JsonObject, number>()
  function check(schema: JsonObject | boolean, path: string, depth: number): void {
    if (typeof schema === 'boolean') return
    if (++count > mostSchemas) throw new TypeError(`A schema may have ${mostSchemas} parts at most`)
    if (depth > deepest) throw new TypeError(`A schema may be ${deepest} levels deep at most`)
    checkKeywords(schema, path)
    checkReferences(schema, path, references)
    checkEnds(schema, path, references, ends)
    for (const { keyword, key, schema: inner } of subschemas(schema)) {
      check(inner, `${path}/${keyword}${key === undefined ? '' : `/${key}`}`, depth + 1)
    }
  }
  check(document, '#', 1)
}

function checkKeywords(schema: JsonObject, path: string): void {
  const { $schema, type } = schema
  if ($schema !== undefined && !(typeof $schema === 'string' && dialects.test($schema))) {
    throw wrong(path, `the dialect ${JSON.stringify($schema)} is not known; 2020-12, draft-07 and draft-06 are`)
  }
  const named: readonly Json[] = Array.isArray(type) ? type : type === undefined ? [] : [type]
  const unknown = named.find((name) => typeof name !== 'string' || !types.includes(name))
  if (unknown !== undefined) throw wrong(path, `there is no type ${JSON.stringify(unknown)}`)
  if (type !== undefined && named.length === 0) throw wrong(path, '"type" names a type, or a list of one at least')
  for (const [keyword, value] of Object.entries(schema)) {
    const rule = keywordRules.get(keyword)
    if (rule === undefined || value === undefined || rule.holds(value)) continue
    const odd =
      rule.schemas === true && isObject(value) ? Object.keys(value).find((key) => !isSchema(value[key])) : undefined
    if (odd !== undefined) throw wrong(`${path}/${keyword}/${odd}`, 'this is no schema')
    throw wrong(path, `"${keyword}" is ${rule.says}`)
  }
}

function checkReferences(schema: JsonObject, path: string, references: References): void {
  for (const keyword of ['$ref', '$dynamicRef']) {
    const reference = schema[keyword]
    if (reference === undefined) continue
    if (typeof reference === 'string' && references.follow(schema, reference) !== undefined) continue
    throw wrong(path, `${keyword} ${JSON.stringify(reference)} leads to nothing in this schema; nothing is fetched`)
  }
}

/** Keywords whose schemas are applied to the very value that their own schema is applied to. */
const inPlace = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'])

/**
 * Refuses a schema that applies itself to the value it is applied to, be it by way of others: that never ends.
 * And one that applies more schemas to a value than a document may have: references to references double them at will.
 * @param ends the schemas that are known to come to an end, and how many they apply
 */
function checkEnds(schema: JsonObject, path: string, references: References, ends: Map<JsonObject, number>): void {
  const open = new Set<JsonObject>()
  function visit(at: JsonObject | boolean | undefined): number {
    if (typeof at !== 'object') return 1
    const known = ends.get(at)
    if (known !== undefined) return known
    if (open.has(at)) throw wrong(path, 'this leads back to itself, for one and the same value')
    open.add(at)
    let applied = 1
    for (const inner of subschemas(at)) if (inPlace.has(inner.keyword)) applied += visit(inner.schema)
    for (const reference of [at.$ref, at.$dynamicRef]) {
      if (typeof reference === 'string') applied += visit(references.follow(at, reference))
    }
    if (applied > mostSchemas) throw wrong(path, `this applies more than ${mostSchemas} schemas to one value`)
    open.delete(at)
    ends.set(at, applied)
    return applied
  }
  visit(schema)
}

function wrong(path: string, what: string): TypeError {
  return new TypeError(`JSON Schema, at ${path}: ${what}`)
}
