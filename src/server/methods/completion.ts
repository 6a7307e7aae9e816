import type { CompleteParams, CompleteResult } from '../../model/call.ts'
import type { Principal } from '../../model/notification.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Core, Method } from '../core.ts'
import type { Completer } from '../resource.ts'
import { openRound, runHandler } from '../run.ts'
import { lookUp } from '../visibility.ts'
import { failed, misshapen } from './resources.ts'

/** At most this many values are sent (specification, completion). */
const maxValues = 100

/** `completion/complete`: asks the completer of the argument; none completes to nothing. */
export const complete: Method<'completion/complete'> = async (params, context, core, call) => {
  const completer = completerOf(params, context.principal, core)
  if (!completer) return { completion: { values: [], total: 0, hasMore: false } }
  const { argument, context: around, ref } = params
  const run = { core, call, context, name: ref.type === 'ref/prompt' ? ref.name : ref.uri, target: argument.name }
  try {
    const outcome = await runHandler(run, await openRound(run), (ctx) =>
      completer(argument.value, around?.arguments ?? {}, ctx),
    )
    if ('asks' in outcome) throw new Error('A completer cannot ask the client')
    return completed(outcome.value)
  } catch (thrown) {
    throw failed(thrown, run)
  }
}

/** @throws Refusal `UnknownReference` for a prompt or template that is absent or hidden, and for an argument it does not have */
function completerOf(
  { ref, argument }: CompleteParams,
  principal: Principal | undefined,
  core: Core,
): Completer | undefined {
  const { prompts, resourceTemplates } = core.snapshot()
  if (ref.type === 'ref/prompt') {
    const given = lookUp(prompts, ref.name, principal, core.ports.logger)?.value.config.arguments
    if (!given || !Object.hasOwn(given, argument.name)) throw new Refusal('UnknownReference')
    return given[argument.name]?.complete
  }
  const entry = lookUp(resourceTemplates, ref.uri, principal, core.ports.logger)
  if (!entry?.template.variables.includes(argument.name)) throw new Refusal('UnknownReference')
  const completers = entry.value.config.complete ?? {}
  return Object.hasOwn(completers, argument.name) ? completers[argument.name] : undefined
}

function completed(values: unknown): CompleteResult {
  // Types are no proof of what a completer returns.
  if (!Array.isArray(values) || !values.every((value): value is string => typeof value === 'string'))
    throw misshapen('The completer returned no list of texts')
  return {
    completion: { values: values.slice(0, maxValues), total: values.length, hasMore: values.length > maxValues },
  }
}
