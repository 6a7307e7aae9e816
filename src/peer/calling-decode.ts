import type { Codec, RequestCodec } from '../codec/codec.ts'
import { fromWire } from '../codec/refuse.ts'
import { refusals } from '../codec/refusals.ts'
import { CallFailed } from '../model/failure.ts'
import { isObject, own, type Json, type JsonObject } from '../model/json.ts'
import { Refusal, type Ran, type RefusalKind } from '../model/refusal.ts'
import type { RpcError } from '../wire/envelope.ts'
import { judged } from './calling-age.ts'
import type { Received } from './link.ts'

/** HTTP statuses that say more than the code that comes with them. */
const byStatus: ReadonlyMap<number, RefusalKind> = new Map([
  [401, 'Unauthenticated'],
  [403, 'InsufficientScope'],
  [429, 'RateLimited'],
  [503, 'Overloaded'],
])

/**
 * What an error answer rejects with. A server that broke (HTTP 500 and up) refused nothing. Nor need one that is said to be
 * busy, but in our own words: what stands before a server says so, too, of a call that it has handed on.
 */
export function failureOf(error: RpcError, codec: Codec | undefined, received: Received): Refusal | CallFailed {
  const { status = 200, retryAfter } = received
  const refusal = fromWire(error as unknown as Json, codec)
  const kind = byStatus.get(status)
  const isOurs = kind !== undefined && isBusy.has(kind) && isInWordsOf(kind, refusal)
  if (kind !== undefined && (status < 500 || isOurs)) {
    return toldAgain(refusal, kind, retryAfter, isBusy.has(kind) && !isOurs ? 'unknown' : 'no')
  }
  if (status < 500) {
    const told = byWords(refusal)
    return told === undefined ? judged(refusal, codec, status) : toldAgain(refusal, told, retryAfter, 'unknown')
  }
  return new CallFailed('HttpStatus', {
    ran: 'unknown',
    status,
    message: refusal.message,
    cause: refusal,
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

const isBusy: ReadonlySet<RefusalKind> = new Set(['RateLimited', 'Overloaded'])

/** What goes on under the same key is the same call; and a store may go away in the middle of one. */
const mayHaveRun: readonly RefusalKind[] = ['DuplicateInFlight', 'IdempotencyUnavailable']

/** Their codes are shared with what means something else; the fixed texts of the table tell them apart. */
function byWords(refusal: Refusal): RefusalKind | undefined {
  return mayHaveRun.find((kind) => isInWordsOf(kind, refusal))
}

/** Whether a refusal is `kind` as the table has it. */
function isInWordsOf(kind: RefusalKind, { code, words }: Refusal): boolean {
  const { message, session, request } = refusals[kind]
  return words === message && (code === session.code || code === request.code)
}

function toldAgain(refusal: Refusal, kind: RefusalKind, retryAfter: number | undefined, ran: Ran): Refusal {
  return new Refusal(kind, {
    ran,
    message: refusal.message,
    ...(refusal.code !== undefined && { code: refusal.code }),
    ...(refusal.data && { data: refusal.data }),
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

/** The refusal that the error inside a failed task means. Where tasks tell their own end, that is an error of the wire. */
export function refusalInResult(error: Json | undefined, codec: Codec): Refusal {
  const refusal = fromWire(error, codec)
  return new Refusal(refusal.kind, {
    ran: 'yes',
    message: refusal.message,
    ...(refusal.code !== undefined && { code: refusal.code }),
    ...(refusal.data && { data: refusal.data }),
  })
}

/** The methods whose result may ask for input (2026-07-28, multi round-trip requests). */
const mayAsk: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** How `method` crosses the wire; what no revision defines is carried as it is. */
export function requestCodec(codec: Codec, method: string): RequestCodec {
  if (method === 'initialize' || method === 'server/discover') return codec.introduction
  return codec.requests.get(method) ?? codec.foreign
}

/**
 * The result in the model's terms. @throws CallFailed `ProtocolViolation` for a type of result that the method does
 * not have, and for questions that the revision cannot ask
 */
export function decodeResult(codec: Codec, method: string, wire: JsonObject): JsonObject {
  const result = requestCodec(codec, method).result.decode(wire)
  const type = own(result, 'resultType')
  if (type === undefined)
    return method === 'tasks/get' && codec.asking === 'rounds' ? decodeQuestions(codec, result) : result
  if (type === 'task' && method === 'tools/call') return result
  if (type === 'input_required' && codec.asking === 'rounds' && mayAsk.has(method))
    return decodeQuestions(codec, result)
  if (!codec.requests.has(method)) return result
  throw new CallFailed('ProtocolViolation', { ran: 'unknown', message: 'The result is of a type that is not known' })
}

function decodeQuestions(codec: Codec, result: JsonObject): JsonObject {
  const asked = own(result, 'inputRequests')
  if (asked === undefined) return result
  if (!isObject(asked)) throw malformed()
  return {
    ...result,
    inputRequests: Object.fromEntries(Object.entries(asked).map(([key, ask]) => [key, decodeAsk(codec, ask)])),
  }
}

function decodeAsk(codec: Codec, ask: Json | undefined): JsonObject {
  const method = isObject(ask) ? own(ask, 'method') : undefined
  const convert = typeof method === 'string' ? codec.asks.get(method) : undefined
  const params = isObject(ask) ? (own(ask, 'params') ?? {}) : undefined
  if (typeof method !== 'string' || !convert || !isObject(params) || convert.check(params)) throw malformed()
  return { method, params: convert.params.decode(params) }
}

function malformed(): CallFailed {
  return new CallFailed('ProtocolViolation', { ran: 'unknown', message: 'The server asks what cannot be asked' })
}
