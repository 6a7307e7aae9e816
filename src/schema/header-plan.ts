import { isObject, own } from '../model/json.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { HeaderPlan } from '../model/served.ts'

type Param = HeaderPlan['params'][number]

const annotation = 'x-mcp-header'
const types = ['string', 'integer', 'boolean'] as const
/** RFC 9110, §5.6.2. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Keywords whose value is a schema, a list of schemas, or a map of schemas; but not `properties`. */
const below = {
  one: [
    'items',
    'additionalProperties',
    'additionalItems',
    'contains',
    'propertyNames',
    'not',
    'if',
    'then',
    'else',
    'unevaluatedItems',
    'unevaluatedProperties',
    'contentSchema',
  ],
  list: ['prefixItems', 'items', 'allOf', 'anyOf', 'oneOf'],
  map: ['patternProperties', '$defs', 'definitions', 'dependentSchemas'],
} as const
/** Schemas within schemas; far beyond what anybody writes. */
const maxDepth = 256

/**
 * Which arguments of a tool HTTP requests repeat as headers, by the `x-mcp-header` of its input schema (Streamable HTTP,
 * custom headers): a token, unique whatever its case, on a string, integer or boolean that is reached through
 * `properties` alone. A schema that breaks a rule is `invalid`, with the reason: a server does not register such a tool,
 * and a client leaves it out of what it lists.
 */
export function headerPlan(
  inputSchema: JsonObject,
): { readonly plan: HeaderPlan | undefined } | { readonly invalid: string } {
  const params: Param[] = []
  const invalid =
    own(inputSchema, annotation) === undefined
      ? visit(inputSchema, [], true, params, 0)
      : `${annotation} is not on a property`
  if (invalid !== undefined) return { invalid }
  return { plan: params.length > 0 ? { params } : undefined }
}

/** Collects the params of `schema` and below; returns what is wrong with them, if anything. */
function visit(
  schema: Json | undefined,
  path: readonly string[],
  reached: boolean,
  params: Param[],
  depth: number,
): string | undefined {
  if (!isObject(schema)) return undefined
  if (depth > maxDepth) return 'the schema is nested too deep'
  const header = own(schema, annotation)
  if (header !== undefined && depth > 0) {
    const wrong = reached ? add(schema, header, path, params) : `${annotation} is not reached through properties alone`
    if (wrong !== undefined) return `${wrong}, at ${JSON.stringify(path)}`
  }
  const properties = own(schema, 'properties')
  if (isObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      const wrong = visit(property, [...path, name], reached, params, depth + 1)
      if (wrong !== undefined) return wrong
    }
  }
  for (const other of unreached(schema)) {
    const wrong = visit(other, path, false, params, depth + 1)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function unreached(schema: JsonObject): (Json | undefined)[] {
  const lists = below.list.map((keyword) => own(schema, keyword)).filter((value) => Array.isArray(value))
  const maps = below.map.map((keyword) => own(schema, keyword)).filter(isObject)
  return [
    ...below.one.map((keyword) => own(schema, keyword)),
    ...lists.flat(),
    ...maps.flatMap((map) => Object.values(map)),
  ]
}

function add(schema: JsonObject, header: Json, path: readonly string[], params: Param[]): string | undefined {
  if (typeof header !== 'string' || !token.test(header)) return `${annotation} is not a token`
  const type = types.find((allowed) => allowed === own(schema, 'type'))
  if (!type) return `${annotation} is on neither a string, an integer nor a boolean`
  const name = `mcp-param-${header.toLowerCase()}`
  if (params.some((other) => other.header === name)) return `${annotation} ${header} is there twice`
  params.push({ path, header: name, type })
  return undefined
}
