import { isObject, own } from '../model/json.ts'
import { decodeHeaderValue, encodeHeaderValue } from '../wire/header-value.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { HeaderPlan } from '../model/served.ts'

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
