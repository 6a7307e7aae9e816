import type { CallToolResult, InputRequiredResult } from '../model/call.ts'
import type { ContentBlock } from '../model/content.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { AskRequest } from '../model/nouns.ts'

/** A tool's "no": becomes a result with `isError` whose text is the message, for the model to read. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}

/** Whether `error` is a {@link ToolError}, also one of another copy of this package. Never throws. */
export function isToolError(error: unknown): error is ToolError {
  try {
    return error instanceof Error && error.name === 'ToolError'
  } catch {
    // A getter or a proxy of whoever threw it.
    return false
  }
}

/**
 * Thrown by a tool that cannot go on before the user has visited a URL. On 2025-11-25 the call is refused with the
 * elicitations; from 2026-07-28 it becomes a URL ask; before, a result with `isError`.
 */
export class UrlElicitationRequired extends Error {
  override readonly name = 'UrlElicitationRequired'
  readonly elicitations: readonly { readonly url: string; readonly message: string; readonly elicitationId: string }[]

  constructor(elicitations: UrlElicitationRequired['elicitations']) {
    super(elicitations.map(({ message, url }) => `${message}: ${url}`).join('\n'))
    this.elicitations = elicitations
  }
}

/** Named for whoever meets it in a type error: `{ content }` alone is no result, {@link result} makes one of it. */
const madeByResult: unique symbol = Symbol.for('dragoman.result')

/** A whole tool result, told apart from a mere value by a symbol of its own. Made by {@link result}. */
export type Result = CallToolResult & { readonly [madeByResult]: 'complete' }

/** A whole input-required result. Made by {@link inputRequired}. */
export interface InputRequired {
  readonly [madeByResult]: 'input_required'
  readonly inputRequests?: InputRequiredResult['inputRequests']
  readonly state?: Json
}

/** Full control over a tool's result. Without `content`, the content is the text copy of `structuredContent`. */
export function result(parts: {
  readonly content?: readonly ContentBlock[]
  readonly structuredContent?: Json
  readonly isError?: boolean
  readonly _meta?: JsonObject
}): Result {
  return { ...parts, [madeByResult]: 'complete' }
}

/**
 * The raw protocol of multi round-trip requests, for a handler that does not use `ctx.elicit` and its like: asks the
 * client `inputRequests` and keeps `state`, sealed, until the retry, which reads `ctx.inputResponses` and `ctx.state`.
 */
export function inputRequired(parts: {
  readonly inputRequests?: Readonly<Record<string, AskRequest>>
  readonly state?: Json
}): InputRequired {
  return { ...parts, [madeByResult]: 'input_required' }
}

/** Whether a handler returned {@link result} or {@link inputRequired}, and which. */
export function brandOf(value: unknown): 'complete' | 'input_required' | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, madeByResult)) return undefined
  return (value as Result | InputRequired)[madeByResult]
}

/** The message of whatever was thrown; never its stack. Never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    const message: unknown = thrown instanceof Error ? thrown.message : thrown
    if (typeof message === 'string') return message
  } catch {
    // A getter or a proxy of whoever threw it.
  }
  return 'Something was thrown that is no error'
}
