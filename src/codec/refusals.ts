import type { RefusalProfile, WireCode } from './codec.ts'
import type { RefusalKind } from '../model/refusal.ts'

/** One row of the table of refusals. */
interface Row {
  /** What the peer is told. It never contains anything the peer sent. */
  readonly message: string
  /** To peers that shook hands, in the terms of the specification. */
  readonly session: WireCode
  /** To them, in the terms of the profile `application`, where those differ. */
  readonly application?: WireCode
  /** To peers whose requests stand alone. */
  readonly request: WireCode
}

/**
 * A code that some libraries declare for unknown tools. It is named here so that nobody gives it another meaning; no
 * profile of any revision sends it.
 */
export const neverSent = -32001

const ok = (code: number): WireCode => ({ code, status: 200 })
const bad = (code: number): WireCode => ({ code, status: 400 })
const http = (status: number): WireCode => ({ code: -32600, status })
const result = (code: number): WireCode => ({ code, status: 200, asResult: true })
const same = (message: string, code: WireCode): Row => ({ message, session: code, request: code })

/**
 * Every kind of refusal: its message and its codes (basic, error codes). A kind that one lifecycle never meets has a
 * code there all the same, the nearest that the lifecycle allows, so that the table is total. The codes -32020 to
 * -32022 tell a client that it met a peer without handshake, so no handshake's column has them.
 */
export const refusals: Readonly<Record<RefusalKind, Row>> = {
  ParseError: same('The message is not JSON.', bad(-32700)),
  InvalidRequest: same('The message is not a valid request.', bad(-32600)),
  NotInitialized: { message: 'The session is not initialized yet.', session: bad(-32000), request: bad(-32600) },
  UnknownMethod: { message: 'There is no such method.', session: ok(-32601), request: { code: -32601, status: 404 } },
  MalformedParams: same('The params do not have the shape that the method asks for.', ok(-32602)),
  MissingArgument: same('A required argument is missing.', ok(-32602)),
  BadCursor: same('The cursor is not one that this server gave out for this list.', ok(-32602)),
  BadLogLevel: same('The log level is none of the eight.', ok(-32602)),
  UnknownReference: same('There is nothing to complete under this reference.', ok(-32602)),
  MalformedInitialize: same('initialize needs a protocolVersion, capabilities and clientInfo with a name.', ok(-32602)),
  MalformedRequestMeta: same('_meta lacks a required key, or has one of the wrong type.', bad(-32602)),
  UnsupportedVersion: {
    message: 'This protocol version is not served here.',
    session: bad(-32602),
    request: bad(-32022),
  },
  HeaderMismatch: {
    message: 'A header is missing, malformed, or unlike the body.',
    session: bad(-32600),
    request: bad(-32020),
  },
  MissingClientCapability: {
    message: 'This needs a capability that the client did not declare.',
    session: ok(-32603),
    request: bad(-32021),
  },
  NotCallable: {
    message: 'This needs a capability that the client did not declare.',
    session: ok(-32603),
    request: bad(-32021),
  },
  UnnegotiableVersion: {
    message: 'The session settled on a protocol version that is not served here any more.',
    session: { code: -32603, status: 404 },
    request: bad(-32603),
  },
  UnknownTool: {
    message: 'There is no such tool.',
    session: ok(-32602),
    application: result(-32602),
    request: ok(-32602),
  },
  UnknownResource: { message: 'There is no such resource.', session: ok(-32002), request: ok(-32602) },
  UnknownPrompt: {
    message: 'There is no such prompt.',
    session: ok(-32602),
    application: ok(-32003),
    request: ok(-32602),
  },
  UnassignedResource: {
    message: 'The resource is listed, but nothing reads it.',
    session: ok(-32002),
    application: ok(-32603),
    request: ok(-32602),
  },
  UnassignedPrompt: {
    message: 'The prompt is listed, but nothing gets it.',
    session: ok(-32602),
    application: ok(-32603),
    request: ok(-32602),
  },
  UnknownTask: { message: 'There is no such task.', session: ok(-32602), application: ok(-32002), request: ok(-32602) },
  TaskRequired: same('This tool only runs as a task.', ok(-32601)),
  TaskTerminal: same('The task has ended already.', ok(-32602)),
  InvalidArguments: {
    message: 'The arguments do not match the input schema.',
    session: result(-32602),
    application: ok(-32602),
    request: result(-32602),
  },
  HandlerFailed: { message: 'The request failed.', session: ok(-32603), application: ok(-32004), request: ok(-32603) },
  Unserializable: same('The result cannot be sent.', ok(-32603)),
  InternalError: same('Something unexpected went wrong.', ok(-32603)),
  DuplicateInFlight: same('A request with this id or key is still running.', ok(-32600)),
  KeyConflict: same('The idempotency key was used for a different request.', ok(-32602)),
  TamperedRequestState: same('The requestState is not one that this server gave out for this request.', ok(-32602)),
  ExpiredRequestState: same('The requestState has expired. Call again without it.', ok(-32602)),
  IdempotencyUnavailable: same('Whether this ran before cannot be told right now. Nothing was run.', ok(-32603)),
  StoreFull: same('There is no room to record this call right now. Nothing was run.', ok(-32603)),
  OutcomeUnknown: same('The call was started and its outcome is not known.', ok(-32603)),
  UrlElicitationRequired: {
    message: 'The user has to visit a URL before this can go on.',
    session: result(-32603),
    request: result(-32603),
  },
  NotRepresentable: same('The protocol version in use cannot express this.', ok(-32603)),
  MissingSession: { message: 'The session id is missing.', session: bad(-32000), request: bad(-32600) },
  UnknownSession: same('There is no such session. Initialize a new one.', http(404)),
  BadVersionHeader: same('The protocol version header does not name the version of this session.', http(400)),
  StreamGap: same('Some events since the given one are no longer kept.', http(400)),
  ForeignOrigin: same('Requests from this origin are not allowed.', http(403)),
  ForeignHost: same('Requests for this host are not allowed.', http(403)),
  Unauthenticated: same('Valid credentials are required.', http(401)),
  InsufficientScope: same('The credentials do not cover this.', http(403)),
  NotFound: same('Nothing is served at this path.', http(404)),
  MethodNotAllowed: same('This HTTP method is not offered here.', http(405)),
  NotAcceptable: same('The client accepts no media type that this could be answered with.', http(406)),
  BodyTooLarge: same('The message is too large.', http(413)),
  UnsupportedMediaType: same('The body has to be application/json.', http(415)),
  RateLimited: same('Too many requests. Try again later.', http(429)),
  Overloaded: same('The server has too much to do. Try again later.', http(503)),
}

/** The code of `kind` for a lifecycle, before a revision's own exceptions. */
export function codeOf(kind: RefusalKind, lifecycle: 'session' | 'request', profile: RefusalProfile): WireCode {
  const row = refusals[kind]
  if (lifecycle === 'request') return row.request
  return profile === 'application' ? (row.application ?? row.session) : row.session
}
