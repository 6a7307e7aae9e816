import type { Call } from './call.ts'
import type { Feature } from './feature.ts'
import type { JsonObject } from './json.ts'
import type { AskAnswer, AskRequest, CacheHints, Implementation, LogLevel, ServerCapabilities } from './nouns.ts'
import type { Change, Notification, Principal } from './notification.ts'

/** Which features a peer may count on: those of the revision that both sides declared and the transport carries. */
export interface Features {
  has(feature: Feature): boolean
}

/** The part of a session that requests may change. Only revisions with a handshake have one. */
export interface SessionState {
  /** The session's own name, which nobody can guess. */
  readonly key: string
  setLogLevel(level: LogLevel): void | Promise<void>
  subscribe(uri: string): void | Promise<void>
  unsubscribe(uri: string): void | Promise<void>
}

/** What surrounds one call: who makes it, what was agreed, and the ways back to the caller. */
export interface CallContext {
  /** For display; code asks {@link CallContext.features} instead. */
  readonly revision: string
  readonly features: Features
  /** What the revision defines, whoever declared it: what is outside it no declaration of the client can bring. */
  readonly defined: Features
  readonly principal: Principal | undefined
  readonly client: Implementation | undefined
  /** Aborted when the caller cancels, goes away where that is a cancel, or the server gives up. */
  readonly signal: AbortSignal
  /** The mildest severity the caller wants to hear of; `undefined` where it asked for none. */
  readonly logLevel: LogLevel | undefined
  readonly progressToken: string | number | undefined
  /** Sends a notification that belongs to this call, before its answer. After the answer it does nothing. */
  notify(notification: Notification): void
  /** Asks the client while the call runs, the question being known by `key` within the call; absent where the revision asks in rounds. Rejects with a `Refusal`. */
  readonly ask: ((request: AskRequest, key: string) => Promise<AskAnswer>) | undefined
  readonly session: SessionState | undefined
  /** Names this request among all of its session, where the session's ids can be relied on not to come twice. */
  readonly requestKey: string | undefined
  /** Lets the call go on when its caller goes away: whoever comes again will be told what it came to. */
  detach(): void
  /** The id of the request, as the caller chose it. */
  readonly requestId: string | number
  /** Reads a header of the HTTP request by its name in lower case; absent where there is no such request. */
  readonly header: ((name: string) => string | undefined) | undefined
  /** Lets go of the connection without ending the exchange; the client is to come back after `retryMs`. Does nothing where streams cannot be resumed. */
  disconnect(retryMs: number): void
}

/** Who a served value is and what it can do. */
export interface Description {
  readonly info: Implementation
  readonly instructions?: string
  readonly capabilities: ServerCapabilities
  /** How long the description itself may be kept. */
  readonly hints: CacheHints
}

/** The arguments of a tool that HTTP requests repeat as headers. */
export interface HeaderPlan {
  readonly params: readonly {
    /** From the arguments' root. */
    readonly path: readonly string[]
    /** Lower case, `mcp-param-…`. */
    readonly header: string
    readonly type: 'string' | 'integer' | 'boolean'
  }[]
}

/** Anything that can stand behind a transport: a server, a bridge, a test's stand-in. */
export interface Served {
  /** Answers one call. Rejects with a `Refusal`, or with anything else for a fault of its own. */
  handle(call: Call, context: CallContext): Promise<JsonObject>
  describe(principal: Principal | undefined): Description
  /** Calls `listener` after each change; it returns how many peers it told. Returns the way to stop. */
  onChange(listener: (change: Change) => number | void): () => void
  /** Whether `method`, which no revision defines, is answered for a peer on `revision`. */
  owns?(method: string, revision: string): boolean
  /** The plan of a tool that `principal` sees, if it mirrors any argument. */
  headerPlan(tool: string, principal: Principal | undefined): HeaderPlan | undefined
}
