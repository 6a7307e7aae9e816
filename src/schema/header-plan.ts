import type { Json, JsonObject } from '../model/json.ts'
import type { HeaderPlan } from '../model/served.ts'
import { subschemas } from './walk.ts'

type Param = HeaderPlan['params'][number]

const annotation = 'x-mcp-header'
const types = ['string', 'integer', 'boolean'] as const
/** RFC 9110, §5.6.2. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
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
    inputSchema[annotation] === undefined ? visit(inputSchema, [], true, params) : `${annotation} is not on a property`
  if (invalid !== undefined) return { invalid }
  return { plan: params.length > 0 ? { params } : undefined }
}

/** Collects the params below `schema`; returns what is wrong with them, if anything. */
function visit(schema: JsonObject, path: readonly string[], reached: boolean, params: Param[]): string | undefined {
  if (path.length > maxDepth) return 'the schema is nested too deep'
  for (const { keyword, key, schema: inner } of subschemas(schema)) {
    if (typeof inner === 'boolean') continue
    const here = [...path, key ?? keyword]
    const chained = reached && keyword === 'properties'
    const wrong = add(inner, here, chained, params) ?? visit(inner, here, chained, params)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function add(schema: JsonObject, path: readonly string[], reached: boolean, params: Param[]): string | undefined {
  const header = schema[annotation]
  if (header === undefined) return undefined
  const wrong = reached
    ? addReached(schema, header, path, params)
    : `${annotation} is not reached through properties alone`
  return wrong && `${wrong}, at ${JSON.stringify(path)}`
}

function addReached(schema: JsonObject, header: Json, path: readonly string[], params: Param[]): string | undefined {
  if (typeof header !== 'string' || !token.test(header)) return `${annotation} is not a token`
  const type = types.find((allowed) => allowed === schema.type)
  if (!type) return `${annotation} is on neither a string, an integer nor a boolean`
  const name = `mcp-param-${header.toLowerCase()}`
  if (params.some((other) => other.header === name)) return `${annotation} ${header} is there twice`
  params.push({ path, header: name, type })
  return undefined
}
