import type { ContentBlock, ResourceContents } from './content.ts'
import type { Json, JsonObject } from './json.ts'
import type {
  AskAnswer,
  AskRequest,
  CacheHints,
  LogLevel,
  Prompt,
  PromptMessage,
  Resource,
  ResourceTemplate,
  Task,
  Tool,
} from './nouns.ts'

/** What a retry brings along when its first round asked the client something. */
export interface Retry {
  readonly inputResponses?: Readonly<Record<string, AskAnswer>>
  readonly requestState?: string
}

/** Which page of a list: the one after `cursor`, or the first. */
export interface ListParams {
  readonly cursor?: string
}

/** `tools/call`. */
export interface CallToolParams extends Retry {
  readonly name: string
  readonly arguments?: JsonObject
  /** 2025-11-25: the client wants a task. */
  readonly task?: { readonly ttl?: number }
}

/** `resources/read`. */
export interface ReadResourceParams extends Retry {
  readonly uri: string
}

/** `prompts/get`. Arguments of prompts are strings in every revision. */
export interface GetPromptParams extends Retry {
  readonly name: string
  readonly arguments?: Readonly<Record<string, string>>
}

/** What an argument belongs to that is being completed. */
export type CompletionReference =
  | { readonly type: 'ref/prompt'; readonly name: string }
  | { readonly type: 'ref/resource'; readonly uri: string }

/** `completion/complete`: what was typed so far, and the arguments already given. */
export interface CompleteParams {
  readonly ref: CompletionReference
  readonly argument: { readonly name: string; readonly value: string }
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> }
}

/** What a `subscriptions/listen` asks to hear of. */
export interface ListenFilter {
  readonly toolsListChanged?: boolean
  readonly promptsListChanged?: boolean
  readonly resourcesListChanged?: boolean
  readonly resourceSubscriptions?: readonly string[]
  /** Of the extension for tasks. */
  readonly taskIds?: readonly string[]
  readonly [kind: string]: Json | undefined
}

interface ResultBase {
  readonly _meta?: JsonObject
}

/** A result that asks the client for input before the call can go on. */
export interface InputRequiredResult extends ResultBase {
  readonly resultType: 'input_required'
  readonly inputRequests?: Readonly<Record<string, AskRequest>>
  readonly requestState?: string
}

/**
 * What a tool answers. Without `content`, the content is the text copy of `structuredContent`, which the codec writes.
 */
export interface CallToolResult extends ResultBase {
  readonly resultType?: never
  readonly content?: readonly ContentBlock[]
  readonly structuredContent?: Json
  readonly isError?: boolean
}

/** What is answered in place of a tool's result when the call goes on as a task. */
export type CreateTaskResult = ResultBase &
  Omit<Task, 'result' | 'error' | 'inputRequests'> & { readonly resultType: 'task' }

/** One page of the caller's tasks. */
export interface ListTasksResult extends ResultBase {
  readonly tasks: readonly Task[]
  readonly nextCursor?: string
}

/** Which task is meant. */
export interface TaskParams {
  readonly taskId: string
}

/** `tasks/update`: answers to what a task asked. */
export interface UpdateTaskParams extends TaskParams {
  readonly inputResponses: Readonly<Record<string, AskAnswer>>
}

/** One page of tools. */
export interface ListToolsResult extends ResultBase, CacheHints {
  readonly tools: readonly Tool[]
  readonly nextCursor?: string
}

/** One page of resources. */
export interface ListResourcesResult extends ResultBase, CacheHints {
  readonly resources: readonly Resource[]
  readonly nextCursor?: string
}

/** One page of resource templates. */
export interface ListResourceTemplatesResult extends ResultBase, CacheHints {
  readonly resourceTemplates: readonly ResourceTemplate[]
  readonly nextCursor?: string
}

/** One page of prompts. */
export interface ListPromptsResult extends ResultBase, CacheHints {
  readonly prompts: readonly Prompt[]
  readonly nextCursor?: string
}

/** What a resource holds; several contents where its URI names a collection. */
export interface ReadResourceResult extends ResultBase, CacheHints {
  readonly resultType?: never
  readonly contents: readonly ResourceContents[]
}

/** The messages that a prompt became. */
export interface GetPromptResult extends ResultBase {
  readonly resultType?: never
  readonly description?: string
  readonly messages: readonly PromptMessage[]
}

/** At most 100 values that fit; `total` and `hasMore` tell of the rest. */
export interface CompleteResult extends ResultBase {
  readonly completion: { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean }
}

/** A result that says no more than that it was done. */
export type EmptyResult = ResultBase

/** The operations that a served value answers, by the method's name in the specification. */
export interface Operations {
  'tools/list': { params: ListParams; result: ListToolsResult }
  'tools/call': { params: CallToolParams; result: CallToolResult | InputRequiredResult | CreateTaskResult }
  'resources/list': { params: ListParams; result: ListResourcesResult }
  'resources/templates/list': { params: ListParams; result: ListResourceTemplatesResult }
  'resources/read': { params: ReadResourceParams; result: ReadResourceResult | InputRequiredResult }
  'resources/subscribe': { params: { readonly uri: string }; result: EmptyResult }
  'resources/unsubscribe': { params: { readonly uri: string }; result: EmptyResult }
  'prompts/list': { params: ListParams; result: ListPromptsResult }
  'prompts/get': { params: GetPromptParams; result: GetPromptResult | InputRequiredResult }
  'completion/complete': { params: CompleteParams; result: CompleteResult }
  'logging/setLevel': { params: { readonly level: LogLevel }; result: EmptyResult }
  'tasks/get': { params: TaskParams; result: Task }
  'tasks/result': { params: TaskParams; result: CallToolResult }
  'tasks/list': { params: ListParams; result: ListTasksResult }
  'tasks/cancel': { params: TaskParams; result: Task | EmptyResult }
  'tasks/update': { params: UpdateTaskParams; result: EmptyResult }
  'subscriptions/listen': { params: { readonly notifications: ListenFilter }; result: EmptyResult }
}

/** The name of an operation that a served value answers. */
export type Operation = keyof Operations

/** One request as everything behind the wire sees it: the method's own parameters, and `_meta` apart from them. */
export interface Call {
  readonly method: string
  /** Checked by the codec to have the shape of the method's parameters. */
  readonly params: JsonObject
  /** The request's `_meta`, as it came. */
  readonly meta: JsonObject
}
