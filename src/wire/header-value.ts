import { isUtf8 } from 'node:buffer'

const opening = '=?base64?'
const closing = '?='

/**
 * Writes any string as the value of an HTTP header: as it is where it survives the way unchanged, else as
 * `=?base64?…?=` around its UTF-8 (2026-07-28, Streamable HTTP, "Value Encoding").
 */
export function encodeHeaderValue(value: string): string {
  if (/^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(value) && !looksEncoded(value)) return value
  return `${opening}${Buffer.from(value, 'utf8').toString('base64')}${closing}`
}

/**
 * Reads what {@link encodeHeaderValue} wrote. `undefined` where the value claims to be encoded and is not, exactly:
 * another alphabet, wrong or missing padding, stray bits, bytes that are not UTF-8. Blanks around the value do not count.
 */
export function decodeHeaderValue(raw: string): string | undefined {
  const value = trimBlanks(raw)
  if (!looksEncoded(value)) return value
  const base64 = value.slice(opening.length, -closing.length)
  const bytes = Buffer.from(base64, 'base64')
  // Node decodes leniently; only the canonical text comes out again as it went in.
  return bytes.toString('base64') === base64 && isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

/** The markers count only exactly as written; anything else is a value like any other. */
function looksEncoded(value: string): boolean {
  return value.startsWith(opening) && value.endsWith(closing) && value.length >= opening.length + closing.length
}

/** Removes the optional whitespace of RFC 9110, §5.6.3, around a value, in linear time. */
function trimBlanks(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isBlank(value.charCodeAt(start))) start++
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--
  return value.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}
