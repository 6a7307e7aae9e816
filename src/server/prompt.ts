import type { PromptMessage } from '../model/nouns.ts'
import type { Context } from './context.ts'
import type { Completer } from './resource.ts'
import type { InputRequired } from './result.ts'
import type { Presentation, Visible } from './tool.ts'

/** What is said of one argument. */
export interface PromptArgumentConfig {
  readonly title?: string
  readonly description?: string
  readonly required?: boolean
  readonly complete?: Completer
}

/** The arguments of a prompt, by name, in the order in which they are listed. */
export type PromptArguments = Readonly<Record<string, PromptArgumentConfig>>

/** What is said of a prompt. */
export interface PromptConfig<A extends PromptArguments> extends Presentation, Visible {
  readonly arguments?: A
}

/** The arguments as a getter sees them: those required are there. */
export type PromptInput<A extends PromptArguments> = {
  readonly [Name in keyof A]: A[Name] extends { readonly required: true } ? string : string | undefined
}

/** What a getter may return: text for one message of the user, messages, or messages with a description. */
export type Prompted =
  | string
  | readonly PromptMessage[]
  | { readonly description?: string; readonly messages: readonly PromptMessage[] }
  | InputRequired

/** A prompt as a value: add it to any number of servers. */
export interface PromptValue {
  readonly kind: 'prompt'
  readonly name: string
  readonly config: PromptConfig<PromptArguments>
  readonly getter: ((args: never, ctx: Context) => Promise<Prompted> | Prompted) | undefined
}

/** Makes the messages of a prompt of its arguments. */
export type PromptGetter<A extends PromptArguments> = (
  args: PromptInput<A>,
  ctx: Context,
) => Promise<Prompted> | Prompted

/** Declares a prompt. Without a getter it is listed, but answers as one that does not exist. */
export function prompt<const A extends PromptArguments>(
  name: string,
  config: PromptConfig<A>,
  getter?: PromptGetter<A>,
): PromptValue {
  return { kind: 'prompt', name, config, getter }
}
