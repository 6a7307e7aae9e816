import type { Feature } from '../model/feature.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { ClientCapabilities, Implementation, LogLevel } from '../model/nouns.ts'
import type { RefusalKind } from '../model/refusal.ts'

/** Tells that an encode could not say something; see `projection.ts` for the rules. */
export type Report = (rule: string, path?: string) => void

/**
 * A pair of pure converters between a revision's wire and the model. Neither throws on any JSON.
 * `decode` carries along what it does not know; `encode` may have to project, and reports what was lost.
 */
export interface Convert {
  decode(wire: JsonObject): JsonObject
  encode(model: JsonObject, report: Report): JsonObject
}

/** How one request of a revision crosses the wire. */
export interface RequestCodec {
  /** The refusal that these (wire) params deserve for their shape, if any. */
  check(params: JsonObject): RefusalKind | undefined
  readonly params: Convert
  readonly result: Convert
  /** The server feature without which the method does not exist. */
  readonly needs?: Feature
  /**
   * The extension that defines the method. A server that does not declare it does not know the method; a client that
   * does not declare it is refused with MissingClientCapability.
   */
  readonly extension?: string
  /** Whether (model) params of an ask say what the revision cannot ask. Such an ask is refused, never bent. */
  refuses(params: JsonObject): boolean
}

/** How one notification of a revision crosses the wire. */
export interface NotificationCodec {
  readonly params: Convert
}

/** What a self-contained request says of itself in `_meta`. */
export interface RequestMeta {
  readonly version: string
  readonly capabilities: ClientCapabilities
  readonly client: Implementation | undefined
  readonly logLevel: LogLevel | undefined
}

/** Reads and writes the `_meta` of self-contained requests and the marks of their results. */
export interface Envelope {
  /** The revision that `_meta` names, if it names one. */
  version(meta: JsonObject): Json | undefined
  read(meta: JsonObject): RequestMeta | RefusalKind
  write(meta: JsonObject, request: RequestMeta): JsonObject
  /** Adds the server's identity to an encoded result. */
  sign(result: JsonObject, server: Implementation): JsonObject
  /** Marks a notification as belonging to the listen request `id`. */
  tag(params: JsonObject, id: string | number): JsonObject
  /** The headers that repeat the body: which methods name something, and under which of their params. */
  readonly named: ReadonlyMap<string, string>
}

/** How a revision uses HTTP. */
export interface HttpTraits {
  /** `MCP-Protocol-Version`: not known, sent after the handshake, or sent on every request. */
  readonly versionHeader: 'none' | 'session' | 'always'
  /** A stream of its own for what the server says unasked (GET), and an end of the session (DELETE). */
  readonly sessions: boolean
  /** Streams carry event ids and can be resumed. */
  readonly resumable: boolean
  /** Streams open with an event that only carries an id, so that the server may let go at any time. */
  readonly priming: boolean
  /** A client that goes away has cancelled. */
  readonly disconnectCancels: boolean
}

/** What a refusal becomes on the wire. */
export interface WireCode {
  readonly code: number
  /** HTTP status. */
  readonly status: number
  /** Answer a result with `isError` instead of an error; only for `tools/call`. */
  readonly asResult?: true
}

/** Which codes legacy peers get: those their specification names, or the application-defined ones. */
export type RefusalProfile = 'spec' | 'application'

/**
 * What switches a feature on, once the revision defines it: nothing more, a capability of the server or of the client,
 * of both, another feature, or the transport that carries it.
 */
export type Owner = 'revision' | 'server' | 'client' | 'both' | Transport | { readonly with: Feature }

/** The ways to carry messages that features tell apart. */
export type Transport = 'stdio' | 'http' | 'http+sse' | 'memory' | 'socket'

/** One published revision: everything about the wire that depends on its date. */
export interface Codec {
  readonly revision: string
  /** Whether peers agree once in a handshake, or say everything in each request. */
  readonly lifecycle: 'session' | 'request'
  /** Whether the server asks the client by requests of its own, or by results that ask for a retry. */
  readonly asking: 'live' | 'rounds'
  readonly batch: boolean
  /** What this revision defines, before anybody declared anything. */
  readonly features: ReadonlySet<Feature>
  /** The same, with what each feature waits for; see `profile.ts`. */
  readonly owners: ReadonlyMap<Feature, Owner>
  /** Extensions that this revision forbids, although either side may declare them to others. */
  readonly withheldExtensions: ReadonlySet<string>
  /** Requests that a client sends: `ping` where there is one, but neither `initialize` nor `server/discover`. */
  readonly requests: ReadonlyMap<string, RequestCodec>
  /** For methods that no revision defines, so that an extension may: nothing is checked, everything is carried. */
  readonly foreign: RequestCodec
  /** Requests that a server sends, or puts into a result that asks for input. */
  readonly asks: ReadonlyMap<string, RequestCodec>
  /** Notifications that a server sends. */
  readonly notifications: ReadonlyMap<string, NotificationCodec>
  /** Notifications that a client sends. */
  readonly clientNotifications: ReadonlyMap<string, NotificationCodec>
  /** `initialize` or `server/discover`, whichever the revision has. */
  readonly introduction: RequestCodec
  /**
   * How a server describes itself: the result of {@link Codec.introduction}. The model's side is one object with
   * everything any revision says (`protocolVersion`, `supportedVersions`, `serverInfo`, `capabilities`,
   * `instructions`, `ttlMs`, `cacheScope`); `encode` keeps what this revision has.
   */
  readonly description: Convert
  readonly clientCapabilities: Convert
  readonly serverCapabilities: Convert
  readonly implementation: Convert
  readonly envelope: Envelope | undefined
  readonly http: HttpTraits
  codeOf(kind: RefusalKind, profile: RefusalProfile): WireCode
}
