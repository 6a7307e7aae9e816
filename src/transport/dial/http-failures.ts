import { CallFailed } from '../../model/failure.ts'
import { isObject, own, type JsonObject } from '../../model/json.ts'
import type { Caps } from '../../wire/caps.ts'
import { parseJson } from '../../wire/json.ts'
import { readMessages } from './messages.ts'
import type { ReadHeader } from './http-types.ts'

/** Bytes of an error's body that are read. */
export const maxErrorBytes: number = 256 * 1024
const maxQuoted = 200

/** `Retry-After` in seconds (RFC 9110, §10.2.3); a date counts from now. */
export function retryAfterOf(header: ReadHeader): number | undefined {
  const value = header('retry-after')?.trim()
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1_000))
}

/** The JSON-RPC error that a body carries, if it carries one. */
export function errorMessageIn(body: Uint8Array, caps: Caps): JsonObject | undefined {
  let found: JsonObject | undefined
  readMessages(body, caps, (message) => {
    if (isObject(own(message, 'error') ?? null)) found ??= message
  })
  return found
}

/**
 * What a response comes to that is no success and carries no message. A 401, and a 403 with a challenge, are
 * `Unauthorized`: whatever deals with credentials has had its chance before.
 */
export function statusFailure(status: number, header: ReadHeader, body: Uint8Array, caps: Caps): CallFailed {
  const challenge = header('www-authenticate')
  const unauthorized = status === 401 || (status === 403 && challenge !== undefined)
  const location = status >= 300 && status < 400 ? header('location') : undefined
  const said = location === undefined ? wordsOf(body, caps) : `it points to ${location}, which is not followed`
  return new CallFailed(unauthorized ? 'Unauthorized' : 'HttpStatus', {
    ran: ranAt(status),
    message: `the server answered with HTTP status ${status}${said === '' ? '' : `: ${said}`}`,
    status,
    ...definedRetryAfter(retryAfterOf(header)),
    ...(challenge !== undefined && { data: { challenge } }),
  })
}

/** A member of its own only where there is one. */
export function definedRetryAfter(retryAfter: number | undefined): { readonly retryAfter?: number } {
  return retryAfter === undefined ? {} : { retryAfter }
}

/** A client's error was found before anything ran. A proxy says 5xx, and 408, of what may have got through. */
function ranAt(status: number): 'no' | 'unknown' {
  return status < 500 && status !== 408 && status >= 300 ? 'no' : 'unknown'
}

/** What a body says of an error, where a program can tell: JSON-RPC, OAuth and problem documents; else short plain text. */
function wordsOf(body: Uint8Array, caps: Caps): string {
  const { value } = parseJson(body, caps)
  if (isObject(value)) {
    const error = own(value, 'error')
    const found = [isObject(error ?? null) ? (error as JsonObject).message : error, value.message, value.detail]
    return quoted(found.find((one) => typeof one === 'string') ?? '')
  }
  const text = Buffer.from(body.subarray(0, 4 * maxQuoted)).toString('utf8')
  return text.trimStart().startsWith('<') ? '' : quoted(text)
}

/** Text of the server's in an error message: one line, and short. */
function quoted(text: unknown): string {
  return String(text)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, maxQuoted)
}
