/** What a client can take in. */
export interface Accepted {
  readonly json: boolean
  readonly sse: boolean
}

/**
 * Whether a `Content-Type` is `application/json` (RFC 9110, §8.3). Parameters are let pass, but a charset must be
 * UTF-8, since a message is read as nothing else.
 */
export function isJsonMediaType(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  const [type, ...parameters] = parts(contentType ?? '', ';')
  if (type?.toLowerCase() !== 'application/json') return false
  return parameters.every((parameter) => {
    const [name, value] = nameAndValue(parameter)
    return name !== 'charset' || value === 'utf-8' || value === 'utf8'
  })
}

/**
 * Reads an `Accept` header (RFC 9110, §12.5.1): of the ranges that match a type the most specific decides, and `q=0`
 * excludes. A missing or empty header takes everything; an element that is no media range says nothing.
 */
export function accepts(header: string | undefined): Accepted {
  const ranges = new Map<string, boolean>()
  for (const element of parts(header ?? '', ',')) {
    const [range, ...parameters] = parts(element, ';')
    if (range === undefined || !/^[^\s/]+\/[^\s/]+$/.test(range)) continue
    const weight = parameters.map(nameAndValue).find(([name]) => name === 'q')?.[1]
    const wanted = weight === undefined || Number(weight) > 0
    const name = range.toLowerCase()
    ranges.set(name, wanted || ranges.get(name) === true)
  }
  if (header === undefined || header.trim() === '') return { json: true, sse: true }
  return { json: takes(ranges, 'application', 'json'), sse: takes(ranges, 'text', 'event-stream') }
}

function takes(ranges: ReadonlyMap<string, boolean>, type: string, subtype: string): boolean {
  return ranges.get(`${type}/${subtype}`) ?? ranges.get(`${type}/*`) ?? ranges.get('*/*') ?? false
}

/** Splits at `separator` outside quoted strings; the parts are trimmed, empty ones dropped. */
function parts(text: string, separator: string): string[] {
  const found: string[] = []
  let quoted = false
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    const character = text[at]
    if (character === '"') quoted = !quoted
    else if (quoted && character === '\\') at++
    if (character !== undefined && (quoted || character !== separator)) continue
    found.push(text.slice(start, at).trim())
    start = at + 1
  }
  return found.filter((part) => part !== '')
}

function nameAndValue(parameter: string): [name: string, value: string] {
  const equals = parameter.indexOf('=')
  if (equals === -1) return [parameter.toLowerCase(), '']
  const value = parameter
    .slice(equals + 1)
    .trim()
    .toLowerCase()
  return [parameter.slice(0, equals).trim().toLowerCase(), value.replace(/^"(.*)"$/, '$1')]
}
