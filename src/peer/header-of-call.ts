import type { ReadHeader } from './peer.ts'

/**
 * The headers of a call. An `Idempotency-Key` that is a string of structured fields (RFC 9651, section 3.3.3), as its draft
 * wants, is what the quotes enclose; anything else stands for itself.
 */
export function headerOfCall(header: ReadHeader): ReadHeader {
  return (name) => {
    const value = header(name)
    return value?.startsWith('"') && name === 'idempotency-key' ? unquoted(value) : value
  }
}

function unquoted(value: string): string {
  const [, enclosed] = /^"((?:[ !\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(value) ?? []
  return enclosed?.replaceAll(/\\(.)/g, '$1') ?? value
}
