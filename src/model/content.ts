import type { Json, JsonObject } from './json.ts'

/** Who a piece of content is meant for, and how much it matters. */
export interface Annotations {
  readonly audience?: readonly ('user' | 'assistant')[]
  /** From 0 (optional) to 1 (required). */
  readonly priority?: number
  /** ISO 8601. */
  readonly lastModified?: string
}

/** A picture that a client may show beside a name. */
export interface Icon {
  /** An `https:` or `data:` URI. */
  readonly src: string
  readonly mimeType?: string
  readonly sizes?: readonly string[]
  readonly theme?: 'light' | 'dark'
}

interface Block {
  readonly annotations?: Annotations
  readonly _meta?: JsonObject
}

/** Words. */
export interface TextContent extends Block {
  readonly type: 'text'
  readonly text: string
}

/** A picture. */
export interface ImageContent extends Block {
  readonly type: 'image'
  /** Base64. */
  readonly data: string
  readonly mimeType: string
}

/** A sound. Defined from 2025-03-26. */
export interface AudioContent extends Block {
  readonly type: 'audio'
  /** Base64. */
  readonly data: string
  readonly mimeType: string
}

/** Contents of a resource that are text. */
export interface TextResourceContents {
  readonly uri: string
  readonly mimeType?: string
  readonly text: string
  readonly _meta?: JsonObject
}

/** Contents of a resource that are bytes. */
export interface BlobResourceContents {
  readonly uri: string
  readonly mimeType?: string
  /** Base64. */
  readonly blob: string
  readonly _meta?: JsonObject
}

/** Contents of a resource. */
export type ResourceContents = TextResourceContents | BlobResourceContents

/** A resource with its contents, within other content. */
export interface EmbeddedResource extends Block {
  readonly type: 'resource'
  readonly resource: ResourceContents
}

/** A resource that the client may read if it wants. Defined from 2025-06-18. */
export interface ResourceLink extends Block {
  readonly type: 'resource_link'
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** Bytes. */
  readonly size?: number
  readonly icons?: readonly Icon[]
}

/** A tool call that a model made while sampling. */
export interface ToolUseContent {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: JsonObject
  readonly _meta?: JsonObject
}

/** The answer to a {@link ToolUseContent}. */
export interface ToolResultContent {
  readonly type: 'tool_result'
  readonly toolUseId: string
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: Json
  readonly isError?: boolean
  readonly _meta?: JsonObject
}

/** What tools and prompts speak in. */
export type ContentBlock = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink

/** What a sampled message speaks in. */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent
