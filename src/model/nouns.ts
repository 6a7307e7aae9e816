import type { Annotations, ContentBlock, Icon, ResourceContents, SamplingContent } from './content.ts'
import type { Json, JsonObject } from './json.ts'

/** Who a program says it is. For display and logs; never for a decision. */
export interface Implementation {
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly icons?: readonly Icon[]
}

/** Hints about a tool's behaviour. They are the server's own word, so a client trusts them no further than the server. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** Whether a tool may run as a task of the 2025-11-25 kind. */
export interface ToolExecution {
  readonly taskSupport?: 'forbidden' | 'optional' | 'required'
}

/** A tool as it is listed. */
export interface Tool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly icons?: readonly Icon[]
  /** JSON Schema 2020-12 with `type: "object"` at its root. */
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  readonly annotations?: ToolAnnotations
  readonly execution?: ToolExecution
  readonly _meta?: JsonObject
}

/** A resource as it is listed. */
export interface Resource {
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly icons?: readonly Icon[]
  readonly mimeType?: string
  /** Bytes. */
  readonly size?: number
  readonly annotations?: Annotations
  readonly _meta?: JsonObject
}

/** A family of resources as it is listed. */
export interface ResourceTemplate {
  /** RFC 6570. */
  readonly uriTemplate: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly icons?: readonly Icon[]
  readonly mimeType?: string
  readonly annotations?: Annotations
  readonly _meta?: JsonObject
}

/** An argument of a prompt; its value is always a string. */
export interface PromptArgument {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly required?: boolean
}

/** A prompt as it is listed. */
export interface Prompt {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly icons?: readonly Icon[]
  readonly arguments?: readonly PromptArgument[]
  readonly _meta?: JsonObject
}

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: 'user' | 'assistant'
  readonly content: ContentBlock
}

/** A place in the client's file system that the server may work in. */
export interface Root {
  /** A `file:` URI. */
  readonly uri: string
  readonly name?: string
  readonly _meta?: JsonObject
}

/** The eight severities of RFC 5424, mildest first. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number]

/** How long, and for whom, a result may be kept. */
export interface CacheHints {
  /** Milliseconds. */
  readonly ttlMs?: number
  readonly cacheScope?: 'public' | 'private'
}

/** What either side declares. An unknown capability is carried along. */
export interface Capabilities {
  readonly experimental?: JsonObject
  readonly extensions?: JsonObject
  readonly [name: string]: Json | undefined
}

/** What a server declares. */
export interface ServerCapabilities extends Capabilities {
  readonly tools?: { readonly listChanged?: boolean }
  readonly resources?: { readonly subscribe?: boolean; readonly listChanged?: boolean }
  readonly prompts?: { readonly listChanged?: boolean }
  readonly completions?: JsonObject
  readonly logging?: JsonObject
  readonly tasks?: JsonObject
}

/** What a client declares. */
export interface ClientCapabilities extends Capabilities {
  readonly elicitation?: { readonly form?: JsonObject; readonly url?: JsonObject }
  readonly sampling?: { readonly tools?: JsonObject; readonly context?: JsonObject }
  readonly roots?: { readonly listChanged?: boolean }
  readonly tasks?: JsonObject
}

/** One message of a conversation with the client's model. */
export interface SamplingMessage {
  readonly role: 'user' | 'assistant'
  readonly content: SamplingContent | readonly SamplingContent[]
  readonly _meta?: JsonObject
}

/** @deprecated Sampling is deprecated from 2026-07-28. */
export interface SampleParams {
  readonly messages: readonly SamplingMessage[]
  readonly maxTokens: number
  readonly systemPrompt?: string
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
  readonly modelPreferences?: {
    readonly hints?: readonly { readonly name?: string }[]
    readonly costPriority?: number
    readonly speedPriority?: number
    readonly intelligencePriority?: number
  }
  /** @deprecated `thisServer` and `allServers` are deprecated from 2025-11-25. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers'
  readonly metadata?: JsonObject
  readonly tools?: readonly Tool[]
  readonly toolChoice?: { readonly mode?: 'auto' | 'required' | 'none' }
}

/** What the client's model said. */
export interface SampleResult {
  readonly role: 'user' | 'assistant'
  readonly content: SamplingContent | readonly SamplingContent[]
  readonly model: string
  readonly stopReason?: string
  readonly _meta?: JsonObject
}

/** A form for the user. Defined from 2025-06-18. */
export interface ElicitFormParams {
  readonly mode?: 'form'
  readonly message: string
  readonly requestedSchema: JsonObject
}

/** A URL for the user to visit. Defined from 2025-11-25. */
export interface ElicitUrlParams {
  readonly mode: 'url'
  readonly message: string
  readonly url: string
  readonly elicitationId?: string
}

/** What the user is asked. */
export type ElicitParams = ElicitFormParams | ElicitUrlParams

/** What the user did; `content` only with `accept`, and only for a form. */
export interface ElicitResult {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: JsonObject
  readonly _meta?: JsonObject
}

/** The client's roots. */
export interface ListRootsResult {
  readonly roots: readonly Root[]
  readonly _meta?: JsonObject
}

/** Something a server asks of the client while it serves a request. */
export type AskRequest =
  | { readonly method: 'elicitation/create'; readonly params: ElicitParams }
  | { readonly method: 'sampling/createMessage'; readonly params: SampleParams }
  | { readonly method: 'roots/list'; readonly params?: JsonObject }

/** The method of an ask. */
export type AskMethod = AskRequest['method']

/** The answers to asks: an {@link ElicitResult}, a {@link SampleResult} or a {@link ListRootsResult}, as the client sent it. */
export type AskAnswer = JsonObject

/** How a task stands. The last three are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** A long job as its owner is told of it. */
export interface Task {
  readonly taskId: string
  readonly status: TaskStatus
  /** For people. */
  readonly statusMessage?: string
  /** ISO 8601. */
  readonly createdAt: string
  /** ISO 8601. */
  readonly lastUpdatedAt: string
  /** Milliseconds that it is kept, from its creation; `null`: for ever. */
  readonly ttlMs: number | null
  /** Milliseconds that a client had better wait before it asks again. */
  readonly pollIntervalMs?: number
  /** What waits for the client's answers, by keys that are unique for the task's life. */
  readonly inputRequests?: Readonly<Record<string, AskRequest>>
  /** What a completed task came to: the result of the call behind it. */
  readonly result?: JsonObject
  /** The refusal that a failed task ended with, in the model's terms; the codec knows its code and its text. */
  readonly error?: { readonly kind: string; readonly data?: Json; readonly message?: string }
}

export type { ResourceContents }
