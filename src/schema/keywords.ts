import { isObject } from '../model/json.ts'
import type { Json } from '../model/json.ts'

/** What the value of a keyword has to be. */
export interface KeywordRule {
  readonly holds: (value: Json) => boolean
  /** In words, to be put after "is". */
  readonly says: string
  /** Whether it is an object of nothing but schemas, so that the one that is none can be named. */
  readonly schemas?: true
}

/** Whether a value could be a schema, by its type. */
export function isSchema(value: Json | undefined): boolean {
  return isObject(value) || typeof value === 'boolean'
}

const isName = (value: Json): boolean => typeof value === 'string'
const isMapOf =
  (holds: (value: Json) => boolean) =>
  (value: Json): boolean =>
    isObject(value) && Object.values(value).every((member) => member !== undefined && holds(member))
const isListOf =
  (holds: (value: Json) => boolean, least = 0) =>
  (value: Json): boolean =>
    Array.isArray(value) && value.length >= least && value.every((item: Json) => holds(item))

const schema: KeywordRule = { holds: isSchema, says: 'a schema' }
const schemas: KeywordRule = { holds: isListOf(isSchema, 1), says: 'a list of schemas, of one at least' }
const schemaMap: KeywordRule = { holds: isMapOf(isSchema), says: 'an object of schemas', schemas: true }
const names: KeywordRule = { holds: isListOf(isName), says: 'a list of names' }
const text: KeywordRule = { holds: isName, says: 'a string' }
const anchor: KeywordRule = {
  holds: (value) => typeof value === 'string' && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value),
  says: 'a name of letters, digits, ".", "-" and "_"',
}
const flag: KeywordRule = { holds: (value) => typeof value === 'boolean', says: 'true or false' }
const number: KeywordRule = { holds: (value) => typeof value === 'number', says: 'a number' }
const count: KeywordRule = {
  holds: (value) => Number.isInteger(value) && Number(value) >= 0,
  says: 'a whole number, and not below 0',
}
const rows: readonly (readonly [rule: KeywordRule, ...keywords: string[]])[] = [
  [text, '$id', '$comment', 'pattern', 'format'],
  [anchor, '$anchor', '$dynamicAnchor'],
  [{ holds: isMapOf((value) => typeof value === 'boolean'), says: 'an object of true and false' }, '$vocabulary'],
  [schema, 'additionalItems', 'additionalProperties', 'contains', 'else', 'if', 'not', 'propertyNames', 'then'],
  [schema, 'contentSchema', 'unevaluatedItems', 'unevaluatedProperties'],
  [schemas, 'allOf', 'anyOf', 'oneOf', 'prefixItems'],
  [schemaMap, '$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'],
  // Before 2020-12 there is a list in place of `prefixItems`, and one keyword for both kinds of dependency.
  [{ holds: (value) => isSchema(value) || isListOf(isSchema)(value), says: 'a schema, or a list of them' }, 'items'],
  [
    {
      holds: isMapOf((value) => isSchema(value) || names.holds(value)),
      says: 'an object of schemas and lists of names',
    },
    'dependencies',
  ],
  [names, 'required'],
  [{ holds: isMapOf(names.holds), says: 'an object of lists of names' }, 'dependentRequired'],
  [{ holds: Array.isArray, says: 'a list' }, 'enum'],
  [number, 'maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum'],
  [{ holds: (value) => typeof value === 'number' && value > 0, says: 'a number over 0' }, 'multipleOf'],
  [count, 'maxLength', 'minLength', 'maxItems', 'minItems', 'maxContains', 'minContains'],
  [count, 'maxProperties', 'minProperties'],
  [flag, 'uniqueItems'],
]

/**
 * What the keywords of the vocabularies core, applicator and validation have to hold, as the meta-schema of 2020-12 has
 * it, with what draft-06 and draft-07 allow besides. `type`, `$schema` and references are looked at elsewhere.
 */
export const keywordRules: ReadonlyMap<string, KeywordRule> = new Map(
  rows.flatMap(([rule, ...keywords]) => keywords.map((keyword) => [keyword, rule] as const)),
)
