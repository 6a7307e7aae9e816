import type { Authorization } from '../model/authorization.ts'
import type { JsonObject } from '../model/json.ts'
import type { ClientCapabilities, Implementation, LogLevel } from '../model/nouns.ts'
import type { LogParams, Notification, ProgressParams } from '../model/notification.ts'
import type { Logger } from '../model/ports.ts'
import type { HttpTargetOptions } from '../transport/dial/target.ts'
import type { AnsweringOptions } from './answering.ts'
import type { BreakerOptions } from './breaker.ts'
import type { ListCache } from './list-cache.ts'
import type { ClientMiddleware } from './middleware.ts'
import type { RetryOptions } from './retrying.ts'
import type { Verdicts } from './verdicts.ts'

/** How a client behaves, all of it optional. */
export interface ClientOptions extends AnsweringOptions {
  /** Headers on every HTTP request. Those of the protocol win over them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Where the credentials for HTTP come from, such as `oauth(…)` of `dragoman/oauth`. */
  readonly authorization?: Authorization
  /** How else a URL is reached. */
  readonly http?: HttpTargetOptions
  /** Who the client says it is. */
  readonly info?: Implementation
  /** The one revision to speak. Default: the newest that both sides know. */
  readonly revision?: string
  /** The revisions to speak, or the oldest and the newest of them. */
  readonly revisions?: readonly string[] | { readonly min?: string; readonly max?: string }
  /** Extensions to declare, by identifier, each with its settings. Tasks are declared by `tasks`. */
  readonly extensions?: Readonly<Record<string, JsonObject>>
  /** Whether any call may become a task, to be waited for; without it only those that ask for one. Default false. */
  readonly tasks?: boolean
  /** Declared beside what the handlers and extensions declare. */
  readonly capabilities?: ClientCapabilities
  /** The mildest severity to hear of. Default: none. */
  readonly logLevel?: LogLevel
  /** Hears what the server logs. */
  readonly onLog?: (log: LogParams) => void
  /** Hears everything that the server tells unasked, logs among it. */
  readonly onNotification?: (notification: Notification) => void
  /** Milliseconds that an answer may take, anew with each word of progress. Default 60,000. */
  readonly timeoutMs?: number
  /** Milliseconds that an answer may take in all, what the user is asked on the way among it. Default 15 minutes. */
  readonly maxTimeoutMs?: number
  /** Milliseconds that each step of connecting may take, without the time that a user is asked for credentials. Default 30,000. */
  readonly connectTimeoutMs?: number
  /**
   * Gives up connecting: `connect` rejects with `CallFailed('Cancelled')`, and what was begun for it is ended, a process and a
   * question to the user among it. Means nothing once connected.
   */
  readonly signal?: AbortSignal
  /** Milliseconds of silence after which a server on one stream is offered a handshake. Default 2,000. */
  readonly silenceMs?: number
  /** How what failed in passing is tried again. */
  readonly retry?: RetryOptions
  /** When a server that breaks down again and again is left alone for a while. */
  readonly breaker?: BreakerOptions
  /** Where it is remembered how old which server is. Default: this process's memory. */
  readonly verdicts?: Verdicts
  /**
   * Milliseconds after which a server that was found to be old is asked anew, when it is next connected to, how old it is.
   * Default: an hour.
   */
  readonly verdictTtlMs?: number
  /** Where lists and resources are kept while they are good. Default: this process's memory. */
  readonly cache?: ListCache
  /** Pages of one list at most. Default 100. */
  readonly maxPages?: number
  /** Entries of one list at most. Default 10,000. */
  readonly maxItems?: number
  /** Milliseconds that further changes are waited for before a watched list is fetched anew. Default 100. */
  readonly debounceMs?: number
  /** How often one call may be asked for input. Default 10. */
  readonly maxRounds?: number
  /** Whether structured results are checked by the output schemas of their tools. Default true. */
  readonly validate?: boolean
  /** Layers around what the client sends, the first outermost. */
  readonly middleware?: readonly ClientMiddleware[]
  readonly logger?: Logger
}

/** How one request is made. */
export interface RequestOptions {
  /** Cancels the request, on the wire too. */
  readonly signal?: AbortSignal
  /** Milliseconds that the answer may take, anew with each word of progress. */
  readonly timeoutMs?: number
  /**
   * Milliseconds that the answer may take in all, what the user is asked on the way among it. What is said here is for a
   * call with the task that it becomes, which is called off then. Where nothing is, a task takes the time that it takes, and what
   * the client says counts for each request about it.
   */
  readonly maxTimeoutMs?: number
  readonly onProgress?: (progress: ProgressParams) => void
  /** Goes into `_meta`. */
  readonly meta?: JsonObject
}

/** How a tool is called. */
export interface CallOptions extends RequestOptions {
  /**
   * Names the effect that is wanted once. Default: a random one for each call, sent to servers that declare support
   * for it; one that is given here is sent to any server.
   */
  readonly idempotencyKey?: string
  /**
   * Whether the call may become a task, which is then waited for; `ttl` in milliseconds is how long it is to be kept. What ends
   * the waiting has the `taskId` in its `data`, beside the `idempotencyKey` of the call.
   */
  readonly task?: boolean | { readonly ttl?: number }
}

/** The `_meta` key under which a call's effect is named, and the experimental capability of servers that heed it. */
export const keyName = 'dev.dragoman/idempotencyKey'

/** The identifier of the extension for tasks. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'
