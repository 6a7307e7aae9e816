import type { ContentBlock, Icon } from '../model/content.ts'
import type { Feature } from '../model/feature.ts'
import type { JsonObject } from '../model/json.ts'
import type { ToolAnnotations } from '../model/nouns.ts'
import type { AnySchema, InferInput, InferOutput } from '../schema/schema.ts'
import type { Context } from './context.ts'
import type { InputRequired, Result } from './result.ts'

/** What may be said of any primitive that a peer can see. */
export interface Presentation {
  readonly title?: string
  readonly description?: string
  readonly icons?: readonly Icon[]
  readonly _meta?: JsonObject
}

/** Who sees a primitive. Without scopes, everybody. */
export interface Visible {
  /** The scopes a principal must hold to see it: to list, call, complete, and hear of it. */
  readonly scopes?: readonly string[]
}

/** What is said of a tool. */
export interface ToolConfig<I, O> extends Presentation, Visible {
  /** What the tool takes. Left out: no arguments. */
  readonly input?: I
  /** What the tool returns as structured content. Left out: text or content blocks. */
  readonly output?: O
  readonly annotations?: ToolAnnotations
  /** Client features without which the tool cannot be called, say `sampling`. They do not decide who sees it. */
  readonly needs?: readonly Feature[]
  /**
   * Whether the tool may run again when nobody knows how a keyed call of it ended. Default: never, the caller is told
   * that the outcome is unknown. With `safe` it runs again, and its steps that were recorded do not.
   */
  readonly rerun?: 'never' | 'safe'
  /**
   * Whether a call may go on as a task, which its client comes back for. `always`: every call is one, and a client that
   * knows no tasks is refused; `after`: one that is not done after so many milliseconds. On 2025-11-25 the client
   * decides, and `after` only says that it may. Default `never`. See `docs/tasks.md`.
   */
  readonly task?: 'never' | 'always' | { readonly after: number }
  /**
   * JSON Schema 2020-12 written by hand, in place of what `input` and `output` say of themselves. Without those it is
   * what is checked, too.
   */
  readonly schema?: { readonly input?: JsonObject; readonly output?: JsonObject }
}

/** What a handler may return: with an output schema its value; without one text or content; always a `result(...)`. */
export type ToolReturn<O> =
  | Result
  | InputRequired
  | ([O] extends [AnySchema] ? InferOutput<O> : string | ContentBlock | readonly ContentBlock[] | void)

/** The arguments as a handler sees them. */
export type ToolArguments<I> = [I] extends [AnySchema] ? InferInput<I> : JsonObject

/** Runs a tool, with arguments that passed its schema. */
export type ToolHandler<I, O> = (args: ToolArguments<I>, ctx: Context) => Promise<ToolReturn<O>> | ToolReturn<O>

/** A tool as a value: add it to any number of servers. `Name`, `I` and `O` are what a typed client reads. */
export interface ToolValue<Name extends string = string, I = unknown, O = unknown> {
  readonly kind: 'tool'
  readonly name: Name
  readonly config: ToolConfig<I, O>
  readonly handler: (args: never, ctx: Context) => unknown
}

/**
 * Declares a tool. @param name 1 to 128 of `A-Z a-z 0-9 _ . -`
 * @throws nothing yet: schemas are compiled, and refused by the tool's name, when the tool is added to a server.
 */
export function tool<
  const Name extends string,
  const I extends AnySchema | undefined = undefined,
  const O extends AnySchema | undefined = undefined,
>(name: Name, config: ToolConfig<I, O>, handler: ToolHandler<I, O>): ToolValue<Name, I, O> {
  return { kind: 'tool', name, config, handler }
}
