import { isObject, type Json, type JsonObject } from '../model/json.ts'

/**
 * A schema of a peer's, without the regular expressions that could take long: those are run on texts that may be the peer's,
 * too, and one that goes back and forth (`^(a+)+$`) stops everything else for as long as it likes.
 * @returns the schema and the patterns that are left out of it
 * @throws TypeError where leaving one out would refuse what fits
 */
export function withoutSlowPatterns(schema: JsonObject): {
  readonly schema: JsonObject
  readonly left: readonly string[]
} {
  const left: string[] = []
  let depends: string | undefined

  // References lead anywhere in a document, so everything in it may be a schema.
  function copy(value: Json | undefined, isData: boolean): Json | undefined {
    if (Array.isArray(value)) return value.map((entry: Json) => copy(entry, isData) ?? null)
    if (!isObject(value)) return value
    const members = Object.entries(value).flatMap(([key, member]): (readonly [string, Json | undefined])[] => {
      if (dependent.has(key)) depends ??= key
      if (key === 'patternProperties' && isObject(member)) Object.keys(member).forEach(mustBeQuick)
      if (key !== 'pattern' || typeof member !== 'string') return [[key, copy(member, isData || data.has(key))]]
      if (isData) mustBeQuick(member)
      if (isQuick(member)) return [[key, member]]
      left.push(member)
      return []
    })
    return Object.fromEntries(members)
  }

  const quick = copy(schema, false)
  if (left.length > 0 && depends !== undefined) throw slow(left[0], `, on which "${depends}" may depend`)
  return { schema: isObject(quick) ? quick : {}, left }
}

/** Keywords under which a schema that lets more pass makes the whole let less pass. */
const dependent: ReadonlySet<string> = new Set(['not', 'oneOf', 'if', 'contains'])
/** Keywords whose values are compared. */
const data: ReadonlySet<string> = new Set(['const', 'enum'])

function mustBeQuick(pattern: string): void {
  if (!isQuick(pattern)) throw slow(pattern, '')
}

function slow(pattern: string | undefined, why: string): TypeError {
  return new TypeError(`The pattern ${JSON.stringify(pattern?.slice(0, 100))} could take long${why}`)
}

const mostAtoms = 100

/**
 * Whether a pattern is sure to take no longer than a text is long, some hundred times over: it begins at the text's beginning,
 * has no groups and no choices, and one quantifier at most that may stop in more than one place.
 */
export function isQuick(pattern: string): boolean {
  // Escapes other than references back, and classes, stand for one character each.
  const plain = pattern
    .slice(0, 1_000)
    .replaceAll(/\\(?:p\{\w+(?:=\w+)?\}|u[\da-f]{4}|x[\da-f]{2}|[^1-9kpP])/gi, 'c')
    .replaceAll(/\[[^[\]]*\]/g, 'c')
  if (pattern.length > 1_000 || !/^\^[^\\()|^[\]]*$/.test(plain)) return false
  const counts = [...plain.matchAll(/\{(\d+)\}/g)].map(([, count]) => Number(count))
  const rest = plain.replaceAll(/\{\d+\}/g, '')
  const open = rest.match(/(?:[*+?]|\{\d+,\d*\})\??/g) ?? []
  const bounds = open.flatMap((one) => one.match(/\d+/g) ?? []).map(Number)
  const atoms = [...counts, ...bounds].reduce((sum, count) => sum + count, rest.length)
  return open.length <= 1 && atoms <= mostAtoms
}
