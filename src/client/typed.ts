import type { JsonObject, Json } from '../model/json.ts'
import type { InferArguments, InferStructured } from '../schema/schema.ts'
import type { CallOptions } from './options.ts'

/** What a server's type tells of its tools. */
interface WithTools<T> {
  readonly '~tools'?: T
}

interface AnyTool {
  readonly name: string
  readonly config: { readonly input?: unknown; readonly output?: unknown }
}

/** The tools in the type of a server; `never` for any other type. */
export type ToolsOf<S> =
  S extends WithTools<infer T> ? (unknown extends T ? never : T extends AnyTool ? T : never) : never

/** The names that can be called: those of the server's tools where its type is at hand, else any. */
export type ToolName<S> = [ToolsOf<S>] extends [never] ? string : ToolsOf<S>['name']

type Named<S, N> = Extract<ToolsOf<S>, { readonly name: N }>
type InputOf<T> = T extends { readonly config: { readonly input?: infer I } } ? Exclude<I, undefined> : never
type OutputOf<T> = T extends { readonly config: { readonly output?: infer O } } ? Exclude<O, undefined> : never

/** What a tool takes. One without an input schema takes nothing. */
export type ArgumentsOf<S, N> = [Named<S, N>] extends [never]
  ? JsonObject
  : [InputOf<Named<S, N>>] extends [never]
    ? Record<string, never>
    : InferArguments<InputOf<Named<S, N>>>

/**
 * What a tool's structured content is; anything where its server's type is not at hand. A tool that declares no output
 * promises none: what it answers all the same is `structuredContent`.
 */
export type StructuredOf<S, N> = [Named<S, N>] extends [never]
  ? Json
  : [OutputOf<Named<S, N>>] extends [never]
    ? never
    : InferStructured<OutputOf<Named<S, N>>>

/** What follows the name in a call: the arguments may be left out where nothing is required. */
export type CallRest<S, N> =
  {} extends ArgumentsOf<S, N>
    ? [args?: ArgumentsOf<S, N> | undefined, options?: CallOptions]
    : [args: ArgumentsOf<S, N>, options?: CallOptions]
