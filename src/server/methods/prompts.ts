import type { GetPromptResult } from '../../model/call.ts'
import { isObject, own, type JsonObject } from '../../model/json.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Method } from '../core.ts'
import { listPage } from '../listing.ts'
import type { Prompted } from '../prompt.ts'
import type { InputRequired } from '../result.ts'
import { openRound, runHandler } from '../run.ts'
import { isMessage } from '../shapes.ts'
import { lookUp } from '../visibility.ts'
import { failed, misshapen } from './resources.ts'

/** `prompts/list`: the prompts that the caller sees. */
export const listPrompts: Method<'prompts/list'> = async (params, context, core) =>
  listPage('prompts', params.cursor, context.principal, core)

/** `prompts/get`: what the getter makes of the arguments. */
export const getPrompt: Method<'prompts/get'> = async (params, context, core, call) => {
  const entry = lookUp(core.snapshot().prompts, params.name, context.principal, core.ports.logger)
  if (!entry) throw new Refusal('UnknownPrompt')
  const { getter, config } = entry.value
  if (!getter) throw new Refusal('UnassignedPrompt')
  const args = params.arguments ?? {}
  if (entry.required.some((name) => own(args, name) === undefined)) throw new Refusal('MissingArgument')
  const run = { core, call, context, name: entry.key, target: entry.key }
  const round = await openRound(run)
  try {
    // The getter's own argument type follows from the arguments that were just checked.
    const outcome = await runHandler<Prompted>(run, round, (ctx) => getter(args as never, ctx))
    return 'asks' in outcome ? outcome.asks : toMessages(outcome.value, config.description)
  } catch (thrown) {
    throw failed(thrown, run)
  }
}

function toMessages(prompted: Exclude<Prompted, InputRequired>, description: string | undefined): GetPromptResult {
  const about = description === undefined ? {} : { description }
  if (typeof prompted === 'string')
    return { ...about, messages: [{ role: 'user', content: { type: 'text', text: prompted } }] }
  // Types are no proof of what a getter returns.
  const given: unknown = Array.isArray(prompted) ? { messages: prompted } : prompted
  if (isObject(given) && isPrompted(given)) return { ...about, ...given }
  throw misshapen('The getter returned neither text nor messages of user or assistant with one block each')
}

function isPrompted(given: JsonObject): given is JsonObject & GetPromptResult {
  const { messages, description } = given
  return (
    (description === undefined || typeof description === 'string') &&
    Array.isArray(messages) &&
    messages.every(isMessage)
  )
}
