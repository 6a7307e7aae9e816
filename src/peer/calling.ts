import type { Codec, Transport } from '../codec/codec.ts'
import type { Codecs } from '../codec/registry.ts'
import type { JsonObject } from '../model/json.ts'
import type {
  AskAnswer,
  AskMethod,
  ClientCapabilities,
  Implementation,
  LogLevel,
  ServerCapabilities,
} from '../model/nouns.ts'
import type { Notification, ProgressParams } from '../model/notification.ts'
import type { CallFailed } from '../model/failure.ts'
import type { Refusal } from '../model/refusal.ts'
import type { Features, HeaderPlan } from '../model/served.ts'
import type { AnswerAsk } from './calling-asks.ts'
import type { Patience } from './calling-table.ts'

/** What a client says of itself, and who hears what its server says. */
export interface CallerOptions {
  readonly info: Implementation
  readonly capabilities: ClientCapabilities
  /** The mildest severity that the client wants to hear of, where each request says so. */
  logLevel(): LogLevel | undefined
  readonly answer: AnswerAsk
  /** Questions that may be open at once. */
  readonly maxAsks: number
  notified(notification: Notification): void
  /** What the server says unasked is heard from now on, or no more; see `LinkListener`. */
  hears?(hears: boolean): void
  expired(): void
  closed(failure: CallFailed): void
  /** What was skipped, and where it came from; at most 1,024 characters of it. */
  noise(from: 'stdout' | 'stderr' | 'stream', text: string): void
}

/** One request of a client. */
export interface Request extends Patience {
  readonly method: string
  readonly params?: JsonObject
  readonly meta?: JsonObject
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: ProgressParams) => void) | undefined
  /**
   * Until when progress is heard also after the answer, where that is a task: its token stays good for the task's life
   * (2025-11-25, tasks, task progress notifications). Without it, until the answer.
   */
  readonly progressUntil?: AbortSignal | undefined
  /** Hears what the server tags as belonging to this request, and its acknowledgement. */
  readonly onNotification?: ((method: string, params: JsonObject) => void) | undefined
  /** Which arguments HTTP headers repeat. */
  readonly headerPlan?: HeaderPlan | undefined
  /** Declared for this request beside the client's capabilities, where each request declares them. */
  readonly capabilities?: ClientCapabilities | undefined
  /** Asks for word of progress, although nobody listens: it keeps the request alive. */
  readonly keepAlive?: boolean | undefined
}

/** What a server said of itself. */
export interface Introduction {
  readonly revision: string
  /** Every revision that it says it serves. Empty after a handshake. */
  readonly supported: readonly string[]
  readonly info: Implementation | undefined
  readonly capabilities: ServerCapabilities
  readonly instructions: string | undefined
  readonly ttlMs: number | undefined
}

/** What was agreed on one link. */
export interface Dialect {
  readonly codec: Codec
  readonly features: Features
  readonly introduction: Introduction
}

/** The calling side of the protocol on one link, without I/O of its own. */
export interface Caller {
  readonly transport: Transport
  /** What was agreed; `undefined` until {@link Caller.agree}. */
  readonly dialect: Dialect | undefined
  /** Connects. @throws CallFailed */
  open(): Promise<void>
  /**
   * Asks what the server is, in a revision whose requests stand alone.
   * @throws Refusal, CallFailed; `ProtocolViolation` for what is no such answer
   */
  discover(codec: Codec, patience: Patience & { readonly signal?: AbortSignal | undefined }): Promise<Introduction>
  /**
   * Shakes hands, offering the revision of `codec`; what the server chose is in the answer.
   * @throws Refusal, CallFailed
   */
  initialize(codec: Codec, patience: Patience): Promise<Introduction>
  /** Settles what is spoken from now on. After a handshake it tells the server so. */
  agree(codec: Codec, introduction: Introduction): Promise<void>
  /**
   * Sends one request and resolves to its result, in the model's terms.
   * @throws Refusal what the server refused; CallFailed anything else. Both say in `ran` whether the call ran
   */
  call(request: Request): Promise<JsonObject>
  /** Sends a notification. Resolves to whether the revision has it. */
  notify(method: string, params?: JsonObject): Promise<boolean>
  /**
   * Resolves once what the server says unasked is heard from now on; where a stream is opened for that, when it cannot be had or
   * after a second at the latest. Resolves to whether it is heard, with nothing missed since. Never rejects.
   */
  listening(): Promise<() => boolean>
  /** The answer to a question that a result asked, as the wire has it. */
  encodeAnswer(method: AskMethod, answer: AskAnswer): JsonObject
  /** What an error inside a task means. */
  refusalIn(error: JsonObject['error']): Refusal
  /** Requests in flight. */
  readonly size: number
  /** Gives up on everything in flight, which rejects with `failure`, and lets go of the link. */
  close(failure?: CallFailed): Promise<void>
}

/** What a client takes from outside itself. */
export interface CallingPorts {
  readonly codecs: Codecs
}

export type { Codec, Codecs, Transport }
