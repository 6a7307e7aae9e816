import type { Codec, RefusalProfile, Transport } from '../codec/codec.ts'
import type { Loss } from '../codec/projection.ts'
import type { Codecs } from '../codec/registry.ts'
import type { ClientCapabilities, Implementation, LogLevel } from '../model/nouns.ts'
import type { Change, Principal } from '../model/notification.ts'
import type { Clock, Logger, Random } from '../model/ports.ts'
import type { Refusal } from '../model/refusal.ts'
import type { Features, Served } from '../model/served.ts'
import type { RequestId, RequestMessage, ResponseMessage } from '../wire/envelope.ts'

/** What a peer is made of. */
export interface PeerOptions {
  readonly served: Served
  readonly codecs: Codecs
  readonly refusals: RefusalProfile
  /** Refuse a result that its revision can only express with a loss. */
  readonly strict: boolean
  readonly onLoss: (loss: Loss) => void
  readonly logger: Logger
  readonly clock: Clock
  readonly random: Random
  /** Milliseconds that a live ask waits for its answer. */
  readonly askTimeoutMs: number
  /** Asks that may wait at once in one session. */
  readonly maxPendingAsks: number
  /** Resources that one session, or one `subscriptions/listen`, may be told about. */
  readonly maxSubscriptions: number
}

/** An answer as text, and what an HTTP response says of it. */
export interface Answer {
  readonly text: string
  /** What {@link Answer.text} is made of, where a long part of it is kept as bytes: sending those costs far less. */
  readonly pieces?: readonly (string | Uint8Array)[]
  /** HTTP status. */
  readonly status: number
  /** Seconds, for `Retry-After`. */
  readonly retryAfter: number | undefined
  /** For `WWW-Authenticate`. */
  readonly challenge?: string | undefined
}

/** Where the messages of one exchange go before its answer. */
export interface Outlet {
  send(text: string): void
  /** How a live ask leaves. `false`: the client cannot be reached, so the ask is refused. Absent: by {@link Outlet.send}. */
  readonly ask?: SendAsk
  /** The headers of the request, over HTTP. */
  readonly header?: ReadHeader | undefined
  /** Lets go of the connection, to be resumed after `retryMs`; absent where streams cannot be resumed. */
  readonly disconnect?: ((retryMs: number) => void) | undefined
}

/** One request being answered. */
export interface Exchange {
  /** Never rejects. `undefined`: cancelled, so nothing may be sent any more. */
  readonly answer: Promise<Answer | undefined>
  cancel(reason?: string): void
  /** Gives up on the handler: the caller is told `refusal`, the handler that it is over. */
  stop(refusal: Refusal): void
  /** The caller went away where that is a cancel: what nobody will come back for is cancelled. */
  leave(): void
  /** Present where an exchange has no end of its own (`subscriptions/listen`): completes it, with its answer. */
  readonly end?: (() => void) | undefined
}

/** The ids in flight on one connection or in one session; the scope within which a second equal id is refused. */
export interface InFlight {
  readonly size: number
  get(id: RequestId): Exchange | undefined
  /** Takes in an exchange under an id that nothing here has. */
  add(id: RequestId, exchange: Exchange): void
  delete(id: RequestId): void
  all(): readonly Exchange[]
}

/** How the headers of an HTTP request are read; names in lower case. A header that came twice is joined by `, `. */
export type ReadHeader = (name: string) => string | undefined

/** What `initialize` settled, as it can be kept and picked up again. */
export interface Agreed {
  readonly revision: string
  readonly capabilities: ClientCapabilities
  readonly client: Implementation
}

/** What tells one session from all others. */
export interface SessionNames {
  readonly key: string
  readonly initializeId: RequestId
}

/**
 * What a handshake agreed, and what the requests of the session changed since. Not on whose behalf they are made: over HTTP
 * each brings its own credentials, and several are under way at once, so that is passed with every request.
 */
export interface Session {
  readonly codec: Codec
  /** What is on for who asks now: what a principal may use can change while the session lives. */
  features(principal: Principal | undefined): Features
  readonly client: Implementation | undefined
  readonly inFlight: InFlight
  /** The session's own name, which nobody can guess; what is kept for it is kept under this. */
  key: string
  /** The id of `initialize`. */
  initializeId: RequestId
  readonly asks: Map<RequestId, PendingAsk>
  readonly subscriptions: Set<string>
  /** Resources that it is told about, at most. */
  readonly maxSubscriptions: number
  logLevel: LogLevel | undefined
  initialized: boolean
  /**
   * Tells other processes that an ask waits here for at most `ms`, so that they hand its answer on; absent where the session
   * lives in one. Never rejects.
   */
  asking?: ((id: string, ms: number) => Promise<void>) | undefined
  /**
   * Keeps a change where other processes find it; absent where the session lives in one. Rejects with the refusal
   * `Overloaded` for a subscription over the cap, which other processes may have come to.
   */
  keep?: ((change: SessionChange) => Promise<void>) | undefined
}

/** What a request changes of its session. */
export type SessionChange =
  | { readonly logLevel: LogLevel }
  | { readonly subscribe: string }
  | { readonly unsubscribe: string }

/** A live ask that waits for its answer. */
export interface PendingAsk {
  settle(response: ResponseMessage): void
  abandon(refusal: Refusal): void
}

/** How a live ask leaves: on the stream of the call, or wherever else the transport can reach the client. */
export type SendAsk = (text: string) => boolean

/** What surrounds a request that says everything itself. */
export interface SelfContainedScope {
  readonly principal: Principal | undefined
  readonly outlet: Outlet
  /** Absent over HTTP, where every request is its own scope. */
  readonly inFlight?: InFlight
  /** Present over HTTP: the headers that repeat the body are checked against it. */
  readonly header?: ReadHeader
  readonly transport: Transport
}

/** The protocol of the serving side, without I/O. One for all connections of a served value. */
export interface Peer {
  readonly codecs: Codecs
  readonly served: Served
  /** The answer that tells a refusal. Without a codec, in the terms of the newest revision with a handshake. */
  refuse(id: RequestId | undefined, refusal: Refusal, codec?: Codec): Answer
  /** Whether the message says everything itself (`_meta` names a revision), or its header names such a revision. */
  isSelfContained(
    message: { readonly method?: string; readonly params?: RequestMessage['params'] },
    versionHeader: string | undefined,
  ): boolean
  answerSelfContained(request: RequestMessage, scope: SelfContainedScope): Exchange
  /** Answers `initialize`. On success `session` is what was agreed; its ids share `inFlight` with the rest of the connection. */
  initialize(
    request: RequestMessage,
    principal: Principal | undefined,
    transport: Transport,
    inFlight?: InFlight,
  ): { readonly answer: Answer; readonly session?: Session; readonly agreed?: Agreed }
  /** The session that a handshake agreed to elsewhere or earlier. @throws Refusal `UnnegotiableVersion` */
  resume(agreed: Agreed & SessionNames, transport: Transport): Session
  /** @param principal who makes this very request, with what its own credentials grant */
  answerInSession(request: RequestMessage, session: Session, outlet: Outlet, principal: Principal | undefined): Exchange
  /** Takes in a notification of the client: `initialized`, `cancelled`, others are ignored. */
  notified(method: string, params: unknown, session: Session): void
  /** Takes in the client's answer to a live ask. */
  responded(response: ResponseMessage, session: Session): void
  /**
   * The notification that `change` is for this session, as text, or `undefined` where it is none of its business.
   * @param principal who listens
   */
  announce(change: Change, session: Session, principal: Principal | undefined): string | undefined
  /** Waits until no exchange is in flight any more, then resolves; aborts those that are after `graceMs`. */
  drain(graceMs: number): Promise<void>
}
