import { isUtf8 } from 'node:buffer'
import { Refusal } from '../model/refusal.ts'
import type { RefusalKind } from '../model/refusal.ts'
import type { Caps } from './caps.ts'

/** A value that was read, or why it was not. */
export type ParsedJson =
  | { readonly value: unknown; readonly refusal?: undefined; readonly isOverCap?: undefined }
  | { readonly value?: undefined; readonly refusal: Refusal; readonly isOverCap: boolean }

/** Duplicate keys are looked for in a message, its `params`, and what lies directly in those (`_meta`, `arguments`). */
const guardedDepth = 3

const space = 32
const quote = 34
const comma = 44
const colon = 58
const openBracket = 91
const backslash = 92
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

/**
 * Reads one JSON text. Linear in its length, and never recursive over what the peer nested.
 *
 * - `BodyTooLarge`: longer than `caps.maxMessageBytes`.
 * - `ParseError`: not UTF-8, or not JSON (RFC 8259); a byte order mark is neither.
 * - `InvalidRequest`: over a cap, which is told before the rest of the text is looked at, or a key twice in an object
 *   at depth 1 to 3 (in a batch, of each message): two readers could take such a message for two different ones.
 */
export function parseJson(input: Uint8Array | string, caps: Caps): ParsedJson {
  if (isLonger(input, caps.maxMessageBytes)) return refused('BodyTooLarge', true)
  const text = typeof input === 'string' ? input : decode(input)
  if (text === undefined) return refused('ParseError')
  const keys = countKeys(text, caps)
  if (keys === undefined) return refused('InvalidRequest', true)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refused('ParseError')
  }
  const own = isComposed(value) ? countOwnKeys(value, depthGuarded(Array.isArray(value))) : 0
  return own === keys ? { value } : refused('InvalidRequest')
}

/** Texts are counted byte by byte only where that decides: no character takes more than three. */
function isLonger(input: Uint8Array | string, maxBytes: number): boolean {
  if (typeof input !== 'string' || input.length * 3 <= maxBytes) return input.length > maxBytes
  return Buffer.byteLength(input) > maxBytes
}

function refused(kind: RefusalKind, isOverCap = false): ParsedJson {
  return { refusal: new Refusal(kind), isOverCap }
}

function decode(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes)) return undefined
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('utf8')
}

/**
 * Counts the keys that are written at the depths that are guarded; `undefined` when a cap is exceeded.
 * It trusts that the text is JSON: what it makes of anything else does not matter, since that is refused afterwards.
 */
function countKeys(text: string, caps: Caps): number | undefined {
  let guarded = guardedDepth
  let depth = 0
  let guardedKeys = 0
  let keys = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    switch (code) {
      case quote:
        at = endOfString(text, at + 1)
        break
      case openBrace:
      case openBracket:
        if (depth === 0) guarded = depthGuarded(code === openBracket)
        if (++depth > caps.maxDepth) return undefined
        values++
        break
      case closeBrace:
      case closeBracket:
        depth--
        if (isEmptyBefore(text, at)) values--
        break
      case colon:
        keys++
        if (depth <= guarded) guardedKeys++
        break
      case comma:
        values++
        break
    }
  }
  return keys > caps.maxKeys || values > caps.maxValues ? undefined : guardedKeys
}

/** Whether the array or object that ends at `end` has nothing in it. */
function isEmptyBefore(text: string, end: number): boolean {
  let at = end - 1
  while (text.charCodeAt(at) <= space) at--
  const code = text.charCodeAt(at)
  return code === openBrace || code === openBracket
}

/** The index of the quote that ends the string whose contents start at `from`, or the text's length. */
function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from)
  while (end !== -1) {
    let escapes = end
    while (text.charCodeAt(escapes - 1) === backslash) escapes--
    if ((end - escapes) % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  return text.length
}

/** Counts the keys that survived parsing, as deep as {@link countKeys} counted those that were written. */
function countOwnKeys(value: object, depth: number): number {
  if (depth === 1) return Array.isArray(value) ? 0 : Object.keys(value).length
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  let sum = Array.isArray(value) ? 0 : members.length
  for (const member of members) if (isComposed(member)) sum += countOwnKeys(member, depth - 1)
  return sum
}

function isComposed(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** A batch is one level around its messages. */
function depthGuarded(isBatch: boolean): number {
  return isBatch ? guardedDepth + 1 : guardedDepth
}
