/** What a variable may be given as: text, a list, or (for {@link UriTemplate.expand} alone) names with values. */
export type TemplateInput = string | number | boolean | readonly string[] | Readonly<Record<string, string>>

/** What matching gives back: text, or a list for an exploded variable (`{path*}`). */
export type TemplateMatch = Readonly<Record<string, string | readonly string[]>>

/** A parsed RFC 6570 template, all four levels. */
export interface UriTemplate {
  readonly text: string
  /** The names of its variables, in order, each once. */
  readonly variables: readonly string[]
  /** Literal characters: of several templates that match one URI, the one with most of them is meant. */
  readonly specificity: number
  /** Puts values in; variables without one are left out. @throws URIError for text that is not well-formed Unicode. */
  expand(values: Readonly<Record<string, TemplateInput | undefined>>): string
  /**
   * Takes values out, percent-decoded; `undefined` where the URI is not one of this template. As many expressions as
   * possible are present, then those to the left are as long as possible. Variables of `?`, `&` and `;` come in any
   * order and may be missing; others take at least one character, none of `/ ? #` save with `+` and `#`. Time grows with
   * the length of the URI, whatever is in it; URIs over {@link maxUriLength} match nothing.
   */
  match(uri: string): TemplateMatch | undefined
}

/** Characters of the longest URI that is matched against templates. */
export const maxUriLength = 8_192

interface Variable {
  readonly name: string
  readonly explode: boolean
  /** Characters (code points) that expansion keeps. */
  readonly prefix: number | undefined
}

interface Operator {
  readonly first: string
  readonly separator: string
  /** Whether values are written `name=value`. */
  readonly named: boolean
  /** What follows the name of an empty value. */
  readonly ifEmpty: string
  /** Whether reserved characters stay as they are. */
  readonly reserved: boolean
  /** Characters that never stand in the text of such an expression. */
  readonly stops: string
}

interface Expression {
  readonly operator: Operator
  readonly variables: readonly Variable[]
}

type Part = string | Expression

/** RFC 6570, appendix A. */
const operators: ReadonlyMap<string, Operator> = new Map([
  ['', { first: '', separator: ',', named: false, ifEmpty: '', reserved: false, stops: '/?#' }],
  ['+', { first: '', separator: ',', named: false, ifEmpty: '', reserved: true, stops: '' }],
  ['#', { first: '#', separator: ',', named: false, ifEmpty: '', reserved: true, stops: '' }],
  ['.', { first: '.', separator: '.', named: false, ifEmpty: '', reserved: false, stops: '/?#' }],
  ['/', { first: '/', separator: '/', named: false, ifEmpty: '', reserved: false, stops: '?#' }],
  [';', { first: ';', separator: ';', named: true, ifEmpty: '', reserved: false, stops: '/?#' }],
  ['?', { first: '?', separator: '&', named: true, ifEmpty: '=', reserved: false, stops: '#' }],
  ['&', { first: '&', separator: '&', named: true, ifEmpty: '=', reserved: false, stops: '#' }],
])

/** Parses a template. @throws Error that names what is wrong with it. */
export function parseTemplate(text: string): UriTemplate {
  const parts = toParts(text)
  const names = parts.flatMap((part) => (typeof part === 'string' ? [] : part.variables.map(({ name }) => name)))
  const matched = joinQueries(parts)
  return {
    text,
    variables: [...new Set(names)],
    specificity: parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 0), 0),
    expand: (values) => parts.map((part) => (typeof part === 'string' ? part : expandOne(part, values))).join(''),
    match: (uri) => matchParts(matched, uri),
  }
}

function toParts(text: string): Part[] {
  const parts: Part[] = []
  let at = 0
  while (at < text.length) {
    const open = text.indexOf('{', at)
    const literal = text.slice(at, open < 0 ? undefined : open)
    if (literal.includes('}')) throw new Error(`URI template ${text}: "}" without "{"`)
    if (literal !== '') parts.push(encodeReserved(literal))
    if (open < 0) break
    const close = text.indexOf('}', open)
    if (close < 0) throw new Error(`URI template ${text}: "{" without "}"`)
    parts.push(toExpression(text.slice(open + 1, close), text))
    at = close + 1
  }
  return parts
}

function toExpression(body: string, text: string): Expression {
  const sign = /^[+#./;?&=,!@|]/.exec(body)?.[0] ?? ''
  const operator = operators.get(sign)
  if (operator === undefined) throw new Error(`URI template ${text}: the operator "${sign}" is reserved`)
  return {
    operator,
    variables: body
      .slice(sign.length)
      .split(',')
      .map((part) => toVariable(part, text)),
  }
}

function toVariable(spec: string, text: string): Variable {
  const [, name, star, digits] =
    /^((?:\w|%[0-9a-f]{2})(?:\.?(?:\w|%[0-9a-f]{2}))*)(?:(\*)|:([1-9]\d{0,3}))?$/i.exec(spec) ?? []
  if (name === undefined) throw new Error(`URI template ${text}: "${spec}" is no variable`)
  return { name, explode: star !== undefined, prefix: digits === undefined ? undefined : Number(digits) }
}

function expandOne(
  { operator, variables }: Expression,
  values: Readonly<Record<string, TemplateInput | undefined>>,
): string {
  const items = variables.flatMap((variable) => {
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined
    return value === undefined ? [] : toItems(operator, variable, value)
  })
  return items.length === 0 ? '' : operator.first + items.join(operator.separator)
}

/** The texts between separators that one value becomes. */
function toItems(operator: Operator, { name, explode, prefix }: Variable, value: TemplateInput): string[] {
  const encode = operator.reserved ? encodeReserved : encodeUnreserved
  const named = (text: string): string => {
    if (!operator.named) return text
    return text === '' ? name + operator.ifEmpty : `${name}=${text}`
  }
  if (isList(value)) {
    if (explode) return value.map((item) => named(encode(item)))
    return value.length === 0 ? [] : [named(value.map(encode).join(','))]
  }
  if (typeof value === 'object') {
    const pairs = Object.entries(value).map(([key, item]) => [encode(key), encode(item)] as const)
    if (explode) return pairs.map(([key, item]) => `${key}=${item}`)
    return pairs.length === 0 ? [] : [named(pairs.flat().join(','))]
  }
  const text = String(value)
  return [named(encode(prefix === undefined ? text : firstOf(text, prefix)))]
}

function isList(value: TemplateInput): value is readonly string[] {
  return Array.isArray(value)
}

function encodeUnreserved(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

function encodeReserved(text: string): string {
  return text.replace(/%[0-9a-f]{2}|[^\w.~:/?#[\]@!$&'()*+,;=-]/giu, (found) =>
    found.length === 3 && found.startsWith('%') ? found : encodeURIComponent(found),
  )
}

/** `{?a}{&b}` is one query to whoever reads it. */
function joinQueries(parts: readonly Part[]): Part[] {
  return parts.reduce<Part[]>((joined, part) => {
    const last = joined.at(-1)
    if (typeof part === 'string' || last === undefined || typeof last === 'string') return [...joined, part]
    if (part.operator.first !== '&' || last.operator.separator !== '&') return [...joined, part]
    return [...joined.slice(0, -1), { ...last, variables: [...last.variables, ...part.variables] }]
  }, [])
}

function matchParts(parts: readonly Part[], uri: string): TemplateMatch | undefined {
  if (uri.length > maxUriLength) return undefined
  const [head] = parts
  try {
    const text = uri.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
    if (typeof head === 'string' && !text.startsWith(head)) return undefined
    if (!hasLiterals(parts, text)) return undefined
    const spans = split(parts, text)
    return spans && readSpans(parts, spans)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

/** Whether the literals are there, in their order: cheap to ask, and most URIs are of another template. */
function hasLiterals(parts: readonly Part[], text: string): boolean {
  let at = 0
  for (const part of parts) {
    if (typeof part !== 'string') continue
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  const last = parts.at(-1)
  return typeof last !== 'string' || text.endsWith(last)
}

/**
 * The text of each part, or `undefined` where they do not add up to `text`. Goes backwards over the parts: for each
 * position it knows how many expressions the rest can fill from there, and where the part that starts there ends.
 */
function split(parts: readonly Part[], text: string): string[] | undefined {
  const size = text.length + 1
  let rest = new Int32Array(size).fill(-1)
  rest[text.length] = 0
  const ends = parts.toReversed().map((part) => {
    const filled = new Int32Array(size).fill(-1)
    const end = new Int32Array(size)
    if (typeof part === 'string') placeLiteral(part, text, rest, filled, end)
    else placeExpression(part, text, rest, filled, end)
    rest = filled
    return end
  })
  if ((rest[0] ?? -1) < 0) return undefined
  let at = 0
  return ends.toReversed().map((end) => {
    const start = at
    at = end[start] ?? start
    return text.slice(start, at)
  })
}

function placeLiteral(literal: string, text: string, rest: Int32Array, filled: Int32Array, end: Int32Array): void {
  for (let start = text.length - literal.length; start >= 0; start--) {
    const after = start + literal.length
    if ((rest[after] ?? -1) < 0 || !text.startsWith(literal, start)) continue
    filled[start] = rest[after] ?? -1
    end[start] = after
  }
}

function placeExpression(part: Expression, text: string, rest: Int32Array, filled: Int32Array, end: Int32Array): void {
  const { first, stops } = part.operator
  const single = part.variables.length === 1 && part.variables[0]?.explode === false
  const forbidden = first === '/' && single ? `${stops}/` : stops
  /** The best end of a body that starts at the position looked at, and of one that starts just behind it. */
  let best = text.length
  let behind = -1
  for (let start = text.length; start >= 0; start--) {
    const sign = text[start]
    const within = sign !== undefined && !forbidden.includes(sign)
    const body = within && (rest[best] ?? -1) >= 0 ? best : -1
    const stop = first === '' ? body : sign === first ? behind : -1
    const absent = first === '' ? -1 : (rest[start] ?? -1)
    const present = stop < 0 ? -1 : (rest[stop] ?? -1) + 1
    filled[start] = Math.max(present, absent)
    end[start] = present >= absent ? stop : start
    behind = body
    if (!within || (rest[start] ?? -1) > (rest[best] ?? -1)) best = start
  }
}

interface Found {
  /** Own keys alone: it has no prototype. */
  readonly values: Record<string, string | readonly string[]>
  readonly prefixes: (readonly [name: string, length: number, text: string])[]
}

function readSpans(parts: readonly Part[], spans: readonly string[]): TemplateMatch | undefined {
  const found: Found = { values: Object.create(null), prefixes: [] }
  for (const [index, part] of parts.entries()) {
    const span = spans[index] ?? ''
    if (typeof part === 'string' || span === '') continue
    const read = part.operator.named ? readNamed : readPositional
    if (!read(part, span.slice(part.operator.first.length), found)) return undefined
  }
  return found.prefixes.every(([name, length, text]) => {
    const whole = (found.values[name] ??= text)
    return typeof whole === 'string' && firstOf(whole, length) === text
  })
    ? found.values
    : undefined
}

function readPositional({ operator, variables }: Expression, body: string, found: Found): boolean {
  const items = body.split(operator.separator)
  return variables.every((variable, index) => {
    if (items.length === 0) return true
    if (variable.explode) return put(found, variable, items.splice(0).map(decodeURIComponent))
    const taken = items.splice(0, index === variables.length - 1 ? items.length : 1)
    const text = decodeURIComponent(taken.join(operator.separator))
    return text !== '' && put(found, variable, text)
  })
}

function readNamed({ operator, variables }: Expression, body: string, found: Found): boolean {
  const lists = new Map<Variable, string[]>()
  for (const item of body.split(operator.separator)) {
    const [name = '', ...value] = item.split('=')
    const variable = variables.find((each) => each.name === name)
    if (variable === undefined) return false
    const list = lists.get(variable) ?? []
    list.push(decodeURIComponent(value.join('=')))
    lists.set(variable, list)
  }
  return [...lists].every(([variable, list]) => {
    if (variable.explode) return put(found, variable, list)
    return list.length === 1 && put(found, variable, list.join(''))
  })
}

/** Keeps a value; a variable that stands in the template twice has one value, and its prefix is that of the whole. */
function put(found: Found, { name, prefix }: Variable, value: string | readonly string[]): boolean {
  if (prefix !== undefined && typeof value === 'string') {
    found.prefixes.push([name, prefix, value])
    return true
  }
  const known = (found.values[name] ??= value)
  return known === value || JSON.stringify(known) === JSON.stringify(value)
}

function firstOf(text: string, length: number): string {
  return Array.from(text).slice(0, length).join('')
}
