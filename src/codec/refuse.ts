import { isObject, own } from '../model/json.ts'
import { Refusal } from '../model/refusal.ts'
import { refusals } from './refusals.ts'
import type { Codec, RefusalProfile, WireCode } from './codec.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { RefusalKind } from '../model/refusal.ts'

/** A refusal as it crosses the wire: as an error, or as a result that says so. */
export interface WireRefusal {
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject }
  /** An encoded result with `isError`. */
  readonly result?: JsonObject
  /** HTTP status. */
  readonly status: number
}

/** What looks like another kind, so that nobody learns what is listed but has nothing behind it. */
const disguises: Partial<Record<RefusalKind, RefusalKind>> = {
  UnassignedResource: 'UnknownResource',
  UnassignedPrompt: 'UnknownPrompt',
}

/** The kinds whose own words reach the peer. */
const spoken: ReadonlySet<RefusalKind> = new Set(['HandlerFailed', 'InvalidArguments', 'UrlElicitationRequired'])

/** The members of a refusal's data that its kind may show. */
const shown: Partial<Record<RefusalKind, readonly string[]>> = {
  UnsupportedVersion: ['requested', 'supported'],
  MissingClientCapability: ['requiredCapabilities'],
  NotCallable: ['requiredCapabilities'],
  UnknownResource: ['uri'],
  UnassignedResource: ['uri'],
  OutcomeUnknown: ['since', 'ended'],
  UrlElicitationRequired: ['elicitations'],
}

const ignore = (): void => {}

/** What the peer is told: the table's fixed text, or the handler's own words where the kind carries them. */
export function messageOf(refusal: Refusal, codec: Codec, profile: RefusalProfile): string {
  if (typeof refusal.words === 'string' && spoken.has(refusal.kind)) return refusal.words
  const disguise = disguises[refusal.kind]
  const hidden =
    disguise !== undefined && codec.codeOf(refusal.kind, profile).code === codec.codeOf(disguise, profile).code
  return refusals[hidden ? disguise : refusal.kind].message
}

/** What the peer is told beside the code: only what the kind is known to have, in the revision's own terms. */
export function dataOf(refusal: Refusal, codec: Codec, profile: RefusalProfile): JsonObject | undefined {
  const { kind, data } = refusal
  if (!data) return undefined
  const disguise = disguises[kind]
  if (disguise && codec.codeOf(kind, profile).code !== codec.codeOf(disguise, profile).code) return undefined
  return visible(kind, data, (name, value) => inTermsOf(codec, name, value))
}

/** What `kind` may show of `data`, each member as `tell` says it; `undefined` where that is nothing. */
function visible(
  kind: RefusalKind,
  data: JsonObject,
  tell: (name: string, value: Json) => Json,
): JsonObject | undefined {
  const members = shown[kind]?.flatMap((name): [string, Json][] => {
    const value = own(data, name)
    return value === undefined ? [] : [[name, tell(name, value)]]
  })
  return members && members.length > 0 ? Object.fromEntries(members) : undefined
}

function inTermsOf(codec: Codec, name: string, value: Json): Json {
  if (name === 'requiredCapabilities' && isObject(value)) return codec.clientCapabilities.encode(value, ignore)
  const ask = codec.asks.get('elicitation/create')
  if (name !== 'elicitations' || !Array.isArray(value) || !ask) return value
  return value.map((params: Json) => (isObject(params) ? ask.params.encode(params, ignore) : params))
}

/**
 * How `refusal` is told to a peer. Only the answer of `tools/call` can be a result: for any other `method` a kind that
 * would be one is told as an error with its code.
 */
export function toWire(refusal: Refusal, codec: Codec, profile: RefusalProfile, method?: string): WireRefusal {
  const { code, status, asResult }: WireCode = codec.codeOf(refusal.kind, profile)
  const message = messageOf(refusal, codec, profile)
  const call = method === 'tools/call' ? codec.requests.get(method) : undefined
  if (asResult && call) {
    return { result: call.result.encode({ content: [{ type: 'text', text: message }], isError: true }, ignore), status }
  }
  const data = dataOf(refusal, codec, profile)
  return { error: data ? { code, message, data } : { code, message }, status }
}

/**
 * The error that a failed task has in it. `refusal` is the one that it was recorded with, `{kind, data?, message?}`, in
 * the revisions in which tasks tell their own end; a kind that is not known is told as something unexpected.
 */
export function refusalInTask(refusal: JsonObject): JsonObject {
  const given = own(refusal, 'kind')
  const kind = typeof given === 'string' && isKind(given) ? given : 'InternalError'
  const { message, data } = refusal
  const told = isObject(data) && visible(kind, data, (_, value) => value)
  return {
    code: refusals[kind].request.code,
    message: typeof message === 'string' && spoken.has(kind) ? message : refusals[kind].message,
    ...(told && { data: told }),
  }
}

function isKind(text: string): text is RefusalKind {
  return Object.hasOwn(refusals, text)
}

/** What a code means to whoever receives it, whichever revision its sender speaks. */
const kinds: ReadonlyMap<number, RefusalKind> = new Map([
  [-32700, 'ParseError'],
  [-32600, 'InvalidRequest'],
  [-32601, 'UnknownMethod'],
  [-32602, 'MalformedParams'],
  [-32002, 'UnknownResource'],
  [-32020, 'HeaderMismatch'],
  [-32021, 'MissingClientCapability'],
  [-32022, 'UnsupportedVersion'],
  [-32042, 'UrlElicitationRequired'],
])

/** What an error without a code is taken for: what crossed a wire has one. */
const noCode = refusals.InternalError.request.code

/** The kinds that are found out before anything runs. A capability or a URL may turn out to be needed halfway. */
const before: ReadonlySet<RefusalKind> = new Set([
  'ParseError',
  'InvalidRequest',
  'UnknownMethod',
  'MalformedParams',
  'UnknownResource',
  'HeaderMismatch',
  'UnsupportedVersion',
])

/**
 * The refusal that an error from a peer means. Kinds that share a code cannot be told apart: -32602 stays
 * MalformedParams, whatever was wrong with the params, unless its data names the missing resource or the supported
 * versions. A code outside the specification is its sender's own, so it is HandlerFailed with the sender's words.
 * Never throws, whatever the error looks like.
 */
export function fromWire(error: Json | undefined, codec: Codec | undefined): Refusal {
  const members = isObject(error) ? error : {}
  const code = own(members, 'code')
  const message = own(members, 'message')
  const data = own(members, 'data')
  const kind = typeof code === 'number' ? kindOf(code, data, codec) : 'InternalError'
  return new Refusal(kind, {
    ran: before.has(kind) ? 'no' : 'unknown',
    code: typeof code === 'number' ? code : noCode,
    ...(typeof message === 'string' ? { message } : {}),
    ...(isObject(data) ? { data } : {}),
  })
}

function kindOf(code: number, data: Json | undefined, codec: Codec | undefined): RefusalKind {
  if (code === -32602 && isObject(data)) {
    if (Array.isArray(own(data, 'supported'))) return 'UnsupportedVersion'
    if (codec?.lifecycle === 'request' && typeof own(data, 'uri') === 'string') return 'UnknownResource'
  }
  const known = kinds.get(code)
  if (known) return known
  return code <= -32000 && code >= -32768 ? 'InternalError' : 'HandlerFailed'
}
