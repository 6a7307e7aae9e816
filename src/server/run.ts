import { openFlow, type Binding, type FlowPorts } from '../durable/flow.ts'
import { isLater, type Awaitable } from '../model/at-once.ts'
import type { Call, InputRequiredResult, Retry } from '../model/call.ts'
import type { AskAnswer } from '../model/nouns.ts'
import { isPeersRefusal, Refusal } from '../model/refusal.ts'
import type { CallContext } from '../model/served.ts'
import type { Context } from './context.ts'
import type { Core } from './core.ts'
import { brandOf, inputRequired, ToolError, UrlElicitationRequired, type InputRequired } from './result.ts'
import { askedTooOften, defaultMaxRounds, Round } from './round.ts'
import { needAsk, RunContext } from './run-context.ts'

/** What a handler came to, with its own asking resolved. */
export type Outcome<T> = { readonly value: Exclude<T, InputRequired> } | { readonly asks: InputRequiredResult }

/** The call being run: what it is and where it is going. */
export interface Run {
  readonly core: Core
  readonly call: Call
  readonly context: CallContext
  /** What is registered: the name of a tool, prompt or method, a URI, or a template's text. */
  readonly name: string
  /** What is called of it: for a template the caller's URI, else the name. */
  readonly target: string
}

/** Opens the state that a retry brings. @throws Refusal for a state that is not good for this call */
export function openRound(run: Run): Round | Promise<Round> {
  const retry = run.call.params as Retry
  if (retry.requestState === undefined) return new Round(run.core, undefined)
  return continued(retry, retry.requestState, run)
}

async function continued(retry: Retry, state: string, run: Run): Promise<Round> {
  const flow = await openFlow(state, retry.inputResponses, bindingOf(run), flowPorts(run.core))
  return new Round(run.core, flow)
}

type Handler<T> = (ctx: Context) => Awaitable<T>

/**
 * Runs `handler` for one round: to its end, or until the client has to be asked; without waiting where the handler does
 * not. Rejects with what the handler threw, or throws it.
 */
export function runHandler<T>(run: Run, round: Round, handler: Handler<T>): Awaitable<Outcome<T>> {
  round.begin()
  try {
    const returned = handler(new RunContext(run.core, run.call, run.context, round))
    return isLater(returned) ? awaited(run, round, returned, handler) : ended(run, round, returned, handler)
  } catch (thrown) {
    return failed(run, round, thrown, handler)
  }
}

async function awaited<T>(run: Run, round: Round, returned: Promise<T>, handler: Handler<T>): Promise<Outcome<T>> {
  try {
    return await ended(run, round, await returned, handler)
  } catch (thrown) {
    return failed(run, round, thrown, handler)
  }
}

function ended<T>(run: Run, round: Round, returned: T, handler: Handler<T>): Awaitable<Outcome<T>> {
  if (round.suspended) {
    run.core.warnOnce('a handler went on after it had to wait for the client; what it came to is discarded', {
      name: run.name,
    })
    return suspend(run, round)
  }
  if (brandOf(returned) !== 'input_required') return { value: returned as Exclude<T, InputRequired> }
  return asked(run, round, returned as InputRequired, handler).catch((thrown: unknown) =>
    failed(run, round, thrown, handler),
  )
}

/**
 * @throws what was thrown, unless it was thrown to ask the client. What another server refused is an error of the handler
 * like any other: told on as it is, it would be taken for this server's own refusal
 */
function failed<T>(run: Run, round: Round, thrown: unknown, handler: Handler<T>): Promise<Outcome<T>> {
  if (round.suspended) return suspend(run, round)
  if (thrown instanceof UrlElicitationRequired) return urlAsks(run, round, thrown, handler)
  throw isPeersRefusal(thrown) ? new Error(thrown.message, { cause: thrown }) : thrown
}

async function suspend(run: Run, round: Round): Promise<{ readonly asks: InputRequiredResult }> {
  return { asks: await round.suspend(bindingOf(run), flowPorts(run.core)) }
}

/** Plays a handler's own `inputRequired`: as a result where the revision has it, else by asking and running again. */
async function asked<T>(run: Run, round: Round, first: InputRequired, handler: Handler<T>): Promise<Outcome<T>> {
  const { ask } = run.context
  for (const request of Object.values(first.inputRequests ?? {})) needAsk(request, run.context)
  if (!ask)
    return {
      asks: await round.inputRequired(first.inputRequests ?? {}, first.state, bindingOf(run), flowPorts(run.core)),
    }
  let wanted = first
  const { maxRounds = defaultMaxRounds } = run.core.options
  for (let rounds = 0; rounds < maxRounds; rounds++) {
    const requests = Object.entries(wanted.inputRequests ?? {})
    for (const [, request] of requests) needAsk(request, run.context)
    const answers = await Promise.all(requests.map(async ([key, request]) => [key, await ask(request, key)] as const))
    const responses = Object.fromEntries<AskAnswer>(answers)
    const next = round.next(wanted.state)
    const returned = await handler(new RunContext(run.core, run.call, run.context, next, responses))
    if (brandOf(returned) !== 'input_required') return { value: returned as Exclude<T, InputRequired> }
    wanted = returned as InputRequired
  }
  throw new ToolError(askedTooOften(maxRounds))
}

/** A thrown {@link UrlElicitationRequired}: a refusal, where the revision has one; else the client is asked. */
async function urlAsks<T>(
  run: Run,
  round: Round,
  thrown: UrlElicitationRequired,
  handler: Handler<T>,
): Promise<Outcome<T>> {
  const { ask, features } = run.context
  const requests = thrown.elicitations.map((elicitation) => ({ mode: 'url' as const, ...elicitation }))
  if (ask && (features.has('url.requiredError') || !features.has('elicitation.url'))) {
    throw new Refusal('UrlElicitationRequired', {
      data: { elicitations: requests },
      message: thrown.message,
      cause: thrown,
    })
  }
  const asks = requests.map(
    (params) => [params.elicitationId, { method: 'elicitation/create' as const, params }] as const,
  )
  return asked(run, round, inputRequired({ inputRequests: Object.fromEntries(asks) }), handler)
}

const defaultStateTtlMs = 15 * 60_000

/** Milliseconds that a request state stays good. */
export function stateTtlMs({ options }: Core): number {
  return options.stateTtlMs ?? defaultStateTtlMs
}

function flowPorts(core: Core): FlowPorts {
  return { ...core.ports, ttlMs: stateTtlMs(core) }
}

function bindingOf({ call, context, target }: Run): Binding {
  return { principal: context.principal?.id, method: call.method, target, arguments: call.params.arguments }
}
