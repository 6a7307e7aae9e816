import { isObject, own } from '../model/json.ts'
import { decodeHeaderValue, encodeHeaderValue } from '../wire/header-value.ts'
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

/**
 * Whether the headers of a request repeat its arguments. An argument that is absent or null expects no header. Integers
 * are equal when they are the same number; one that a double cannot hold exactly equals nothing.
 * @param readHeader reads a header by its name in lower case
 */
export function checkHeaders(
  plan: HeaderPlan,
  args: JsonObject,
  readHeader: (name: string) => string | undefined,
): boolean {
  return plan.params.every(({ path, header }) => {
    const value = at(args, path)
    if (value === undefined || value === null) return true
    const raw = readHeader(header)
    const told = raw === undefined ? undefined : decodeHeaderValue(raw)
    return told !== undefined && isSame(value, told)
  })
}

function isSame(value: Json, told: string): boolean {
  if (typeof value === 'string') return value === told
  if (typeof value === 'boolean') return String(value) === told
  return (
    typeof value === 'number' && Number.isSafeInteger(value) && /^-?\d+(?:\.0+)?$/.test(told) && Number(told) === value
  )
}

/** The headers, names in lower case, that a request with these arguments has to carry. */
export function writeHeaders(plan: HeaderPlan, args: JsonObject): Readonly<Record<string, string>> {
  const headers = plan.params.flatMap(({ path, header }): [string, string][] => {
    const value = at(args, path)
    const text = textOf(value)
    return text === undefined ? [] : [[header, encodeHeaderValue(text)]]
  })
  return Object.fromEntries(headers)
}

/** How a header tells `value`; `undefined` for what no header tells. */
function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isSafeInteger(value))
    ? String(value)
    : undefined
}

function at(args: JsonObject, path: readonly string[]): Json | undefined {
  let here: Json | undefined = args
  for (const key of path) here = isObject(here) ? own(here, key) : undefined
  return here
}
