import type { Annotations, ResourceContents } from '../model/content.ts'
import type { CacheHints } from '../model/nouns.ts'
import type { Context } from './context.ts'
import type { InputRequired } from './result.ts'
import type { Presentation, Visible } from './tool.ts'

/** What a reader may return: text, bytes, or whole contents. */
export type Readable = string | Uint8Array | ResourceContents | readonly ResourceContents[] | InputRequired

/** What is said of a resource. */
export interface ResourceConfig extends Presentation, Visible {
  readonly name: string
  readonly mimeType?: string
  /** Bytes. */
  readonly size?: number
  readonly annotations?: Annotations
  /**
   * How long what was read may be kept. Default: not at all, by nobody but the reader; `private` wherever scopes decide
   * who reads it, whatever is said here.
   */
  readonly cache?: CacheHints
}

/** Reads a resource. */
export type Reader = (uri: string, ctx: Context) => Promise<Readable> | Readable

/** Completes one argument: the values that fit what was typed so far. At most 100 are sent. */
export type Completer = (
  value: string,
  given: Readonly<Record<string, string>>,
  ctx: Context,
) => Promise<readonly string[]> | readonly string[]

/** What is said of a family of resources. */
export interface TemplateConfig extends ResourceConfig {
  /** Completers, by variable. */
  readonly complete?: Readonly<Record<string, Completer>>
}

/** The variables of the template, by name; an exploded one as a list. */
export type Variables = Readonly<Record<string, string | readonly string[]>>

/** Reads a resource of a family. */
export type TemplateReader = (variables: Variables, ctx: Context, uri: string) => Promise<Readable> | Readable

/** A resource as a value: add it to any number of servers. */
export interface ResourceValue {
  readonly kind: 'resource'
  readonly uri: string
  readonly config: ResourceConfig
  readonly reader: Reader | undefined
}

/** A template as a value: add it to any number of servers. */
export interface TemplateValue {
  readonly kind: 'template'
  readonly uriTemplate: string
  readonly config: TemplateConfig
  readonly reader: TemplateReader | undefined
}

/** Declares a resource. Without a reader it is listed, but answers as one that does not exist. */
export function resource(uri: string, config: ResourceConfig, reader?: Reader): ResourceValue {
  return { kind: 'resource', uri, config, reader }
}

/** Declares a family of resources by an RFC 6570 template; the reader gets the variables by name. */
export function template(uriTemplate: string, config: TemplateConfig, reader?: TemplateReader): TemplateValue {
  return { kind: 'template', uriTemplate, config, reader }
}
