import type { JsonObject } from './json.ts'

const kinds = [
  'ParseError',
  'InvalidRequest',
  'NotInitialized',
  'UnknownMethod',
  'MalformedParams',
  'MissingArgument',
  'BadCursor',
  'BadLogLevel',
  'UnknownReference',
  'MalformedInitialize',
  'MalformedRequestMeta',
  'UnsupportedVersion',
  'HeaderMismatch',
  'MissingClientCapability',
  'NotCallable',
  'UnnegotiableVersion',
  'UnknownTool',
  'UnknownResource',
  'UnknownPrompt',
  'UnassignedResource',
  'UnassignedPrompt',
  'UnknownTask',
  'TaskRequired',
  'TaskTerminal',
  'InvalidArguments',
  'HandlerFailed',
  'Unserializable',
  'InternalError',
  'DuplicateInFlight',
  'KeyConflict',
  'TamperedRequestState',
  'ExpiredRequestState',
  'IdempotencyUnavailable',
  'StoreFull',
  'OutcomeUnknown',
  'UrlElicitationRequired',
  'NotRepresentable',
  'MissingSession',
  'UnknownSession',
  'BadVersionHeader',
  'StreamGap',
  'ForeignOrigin',
  'ForeignHost',
  'Unauthenticated',
  'InsufficientScope',
  'NotFound',
  'MethodNotAllowed',
  'NotAcceptable',
  'BodyTooLarge',
  'UnsupportedMediaType',
  'RateLimited',
  'Overloaded',
] as const

/** Every way in which a request can be refused. What each becomes on the wire is the codec's table. */
export type RefusalKind = (typeof kinds)[number]

const known: ReadonlySet<unknown> = new Set(kinds)

/** Whether the call behind a failure ran: `no` promises that it had no effect. */
export type Ran = 'no' | 'yes' | 'unknown'

/** What is known of a refusal beside its kind. */
export interface RefusalDetails {
  /** What the peer is told beside the code, where the kind has such data. */
  readonly data?: JsonObject
  /** The handler's own words, or the check's; only `HandlerFailed`, `InvalidArguments` and `UrlElicitationRequired` carry any to a peer. */
  readonly message?: string
  readonly ran?: Ran
  /** Seconds; goes into `Retry-After`. 1 by default for `Overloaded`. */
  readonly retryAfter?: number
  /**
   * How to authenticate, for `WWW-Authenticate` over HTTP (RFC 9110, 11.6.1): `Bearer resource_metadata="https://…"`.
   * `Bearer` by default for `Unauthenticated`, `Bearer error="insufficient_scope"` for `InsufficientScope`.
   */
  readonly challenge?: string
  readonly cause?: unknown
}

/** A 401 has to carry a challenge, and a client that lacks a scope learns of it in one (RFC 6750, section 3). */
const challenges: { readonly [kind in RefusalKind]?: string } = {
  Unauthenticated: 'Bearer',
  InsufficientScope: 'Bearer error="insufficient_scope"',
}

/** A request that was refused. Thrown anywhere behind the wire, turned into an answer in one place. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly kind: RefusalKind
  readonly data: JsonObject | undefined
  readonly ran: Ran
  readonly retryAfter: number | undefined
  readonly challenge: string | undefined
  /** The handler's own words, or undefined: then the table's fixed text is sent. */
  readonly words: string | undefined
  /** The code on the wire, once the refusal has crossed one: then it is a peer's. */
  readonly code: number | undefined

  constructor(kind: RefusalKind, details: RefusalDetails & { readonly code?: number } = {}) {
    super(details.message ?? kind, details.cause === undefined ? undefined : { cause: details.cause })
    this.kind = kind
    this.data = details.data
    this.ran = details.ran ?? 'no'
    this.retryAfter = wholeSeconds(details.retryAfter) ?? (kind === 'Overloaded' ? 1 : undefined)
    this.challenge = details.challenge ?? challenges[kind]
    this.words = details.message
    this.code = details.code
  }
}

/** Seconds as `Retry-After` has them (RFC 9110, 10.2.3); `undefined` for what are none. */
export function wholeSeconds(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && Number.isSafeInteger(Math.ceil(value))
    ? Math.ceil(value)
    : undefined
}

/**
 * Whether `error` is what a peer refused: a client's or a server's on the way. It says nothing of the call in whose course
 * it was thrown, least of all that this did not run.
 */
export function isPeersRefusal(error: unknown): error is Refusal {
  return isRefusal(error) && error.code !== undefined
}

/** Whether `error` is a {@link Refusal}, also one of another copy of this package. Never throws, whatever `error` is. */
export function isRefusal(error: unknown): error is Refusal {
  try {
    return error instanceof Error && error.name === 'Refusal' && 'kind' in error && known.has(error.kind)
  } catch {
    // A getter or a proxy of whoever threw it.
    return false
  }
}
