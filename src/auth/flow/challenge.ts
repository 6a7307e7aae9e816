/** One challenge of a `WWW-Authenticate` header. */
export interface ParsedChallenge {
  /** In lower case. */
  readonly scheme: string
  /** By name in lower case; the first of a name counts. */
  readonly parameters: ReadonlyMap<string, string>
}

/** What the challenges of a response that concern OAuth ask for. */
export interface Demand {
  /** Whether the server wants proofs of possession: it challenges by the scheme `DPoP`, and not by `Bearer`. */
  readonly dpop: boolean
  readonly resourceMetadata: string | undefined
  readonly scope: string | undefined
  readonly error: string | undefined
}

const longest = 16 * 1024
const token = /[!#$%&'*+.^_`|~\w-]+/y
const token68 = /[A-Za-z0-9._~+/-]+=*[ \t]*(?=,|$)/y
const blank = /[ \t,]*/y
const space = /[ \t]*/y
const bare = /[^\s,]*/y

/**
 * The challenges of a `WWW-Authenticate` header, several in one or in several fields joined by commas (RFC 9110 §11.6.1).
 * What is malformed is skipped, so that one odd challenge does not hide the next. Takes time linear in the header.
 */
export function parseChallenges(header: string): readonly ParsedChallenge[] {
  const text = header.slice(0, longest)
  const found: { scheme: string; parameters: Map<string, string> }[] = []
  let at = 0
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const part = pattern.exec(text)?.[0] ?? ''
    at += part.length
    return part
  }
  for (take(blank); at < text.length; take(blank)) {
    const name = take(token).toLowerCase()
    if (name === '') {
      if (text[at] === '"') quoted()
      else at += 1
      continue
    }
    const gap = take(space)
    if (text[at] === '=') {
      at += 1
      take(space)
      const value = text[at] === '"' ? quoted() : take(bare)
      const parameters = found.at(-1)?.parameters
      if (parameters?.has(name) === false) parameters.set(name, value)
    } else {
      found.push({ scheme: name, parameters: new Map() })
      if (gap !== '') take(token68)
    }
  }
  return found

  function quoted(): string {
    let value = ''
    for (at += 1; at < text.length && text[at] !== '"'; at += 1) {
      if (text[at] === '\\') at += 1
      value += text[at] ?? ''
    }
    at += 1
    return value
  }
}

/** What a response asks for, by the challenges `Bearer` and `DPoP` among all that it makes (RFC 6750 §3, RFC 9728 §5.1). */
export function readDemand(header: string | undefined): Demand {
  const ours = parseChallenges(header ?? '').filter(({ scheme }) => scheme === 'bearer' || scheme === 'dpop')
  const first = (name: string): string | undefined =>
    ours.map(({ parameters }) => parameters.get(name)).find((value) => value !== undefined && value !== '')
  return {
    dpop: ours.length > 0 && ours.every(({ scheme }) => scheme === 'dpop'),
    resourceMetadata: first('resource_metadata'),
    scope: first('scope'),
    error: first('error'),
  }
}
