import { digest } from '../durable/digest.ts'
import type { Hold } from '../durable/hold.ts'
import { retried } from '../durable/retried.ts'
import { recallStep, recordStep } from '../durable/steps.ts'
import { namedFlow, newFlow, sealFlow, stepKey, type Binding, type Flow, type FlowPorts } from '../durable/flow.ts'
import type { Awaitable } from '../model/at-once.ts'
import type { InputRequiredResult } from '../model/call.ts'
import type { Json } from '../model/json.ts'
import type { AskAnswer, AskRequest } from '../model/nouns.ts'
import { Refusal } from '../model/refusal.ts'
import type { Core } from './core.ts'
import { ToolError } from './result.ts'
import { quoted } from './visibility.ts'
import { timerMs } from '../model/timer.ts'

/** Rejects everything that depends on an answer which is not there yet. Not an `Error` to be handled: the round is over. */
export class Suspension extends Error {
  override readonly name = 'Suspension'
  constructor() {
    super('This round ends here: the client is asked, and the handler runs again with its answer')
  }
}

/** Steps that still run when the handler has unwound get this long. Milliseconds. */
const drainMs = 10_000
/** A call may ask its client this often; a `maxRounds` of the server's options goes before it. */
export const defaultMaxRounds = 20
/** A store that is away gets this long to come back before a step goes on without it. */
const stepPatience = { times: 20, everyMs: 250 }

/**
 * One run of a handler that may have to stop for the client's answers. It keeps the table of pending asks: once that
 * is not empty the round is suspended, whatever the handler returns or throws.
 */
export class Round {
  /** Asks of this run, by key; like the steps, only there where there are any. */
  #asks:
    | Map<string, { readonly to: string; readonly request: AskRequest; readonly reply: Promise<AskAnswer> }>
    | undefined
  #steps: Map<string, Promise<Json>> | undefined
  readonly #core: Core
  #flow: Flow | undefined
  #recorded: 'record' | 'recall' | undefined
  /** Where the run may be taken over by another process. */
  #hold: Hold | undefined
  /** Made when somebody looks at the signal of a run that may be lost. */
  #stop: AbortController | undefined
  /** A map, since keys may be any text, also `__proto__`. */
  #pending: Map<string, AskRequest> | undefined
  #ending = false
  #begun = false

  constructor(core: Core, flow: Flow | undefined) {
    this.#core = core
    this.#flow = flow
  }

  get suspended(): boolean {
    return this.#pending !== undefined
  }

  /** Whether the round ends with a question, or is about to. */
  get asking(): boolean {
    return this.suspended || this.#ending
  }

  /** Whether the handler was called at all. */
  get begun(): boolean {
    return this.#begun
  }

  begin(): void {
    this.#begun = true
  }

  /** What the handler kept for itself in the round before. */
  get own(): Json | undefined {
    return this.#flow?.own
  }

  /** The flow that an earlier round began, if there was one. */
  get flow(): Flow | undefined {
    return this.#flow
  }

  /** Has the flow go by `id`, unless an earlier round named it already, and by the client's `key`, if there is one. */
  named(id: string, key: string | undefined): this {
    const flow = (this.#flow ??= namedFlow(id, key))
    if (key !== undefined && flow.key === undefined) this.#flow = { ...flow, key }
    return this
  }

  /** From now on no step begins that another process may have done, as `hold` knows. */
  heldBy(hold: Hold): void {
    this.#hold = hold
  }

  /** The signal of the handler: that of its call, which is also aborted once the run is another's. */
  signalOver(outer: AbortSignal): AbortSignal {
    if (this.#stop !== undefined) return this.#stop.signal
    const hold = this.#hold
    if (hold?.onLost === undefined) return outer
    const stop = (this.#stop = new AbortController())
    if (outer.aborted) stop.abort(outer.reason)
    else outer.addEventListener('abort', () => stop.abort(outer.reason), { once: true })
    if (hold.lost === undefined) hold.onLost((reason) => stop.abort(reason))
    else stop.abort(hold.lost)
    return stop.signal
  }

  /** Records each step the moment it is done; after a run that may have ended anywhere, looks for them first. */
  recordSteps(again: boolean): void {
    this.#recorded = again || this.#recorded === 'recall' ? 'recall' : 'record'
  }

  get #current(): Flow {
    return (this.#flow ??= newFlow(this.#core.ports.random))
  }

  /**
   * Answers `request` from the rounds before, by `live`, or suspends. `accepts` judges an answer of an earlier round;
   * one that does not fit is asked for again.
   */
  ask(
    key: string,
    request: AskRequest,
    live: ((request: AskRequest, key: string) => Promise<AskAnswer>) | undefined,
    accepts: (answer: AskAnswer) => boolean,
  ): Promise<AskAnswer> {
    const to = digest(request)
    const twin = this.#asks?.get(key)
    if (twin !== undefined) {
      if (twin.to !== to)
        return Promise.reject(new TypeError(`Two different questions under the key ${JSON.stringify(key)}`))
      return twin.reply
    }
    const reply = this.#reply(key, to, request, live, accepts)
    this.#asks ??= new Map()
    this.#asks.set(key, { to, request, reply })
    // A handler that lets go of an ask must not take the process down with it.
    reply.catch(() => {})
    return reply
  }

  #reply(
    key: string,
    to: string,
    request: AskRequest,
    live: ((request: AskRequest, key: string) => Promise<AskAnswer>) | undefined,
    accepts: (answer: AskAnswer) => boolean,
  ): Promise<AskAnswer> {
    const known = this.#flow && Object.hasOwn(this.#flow.answers, key) ? this.#flow.answers[key] : undefined
    if (known !== undefined && known.to === to && accepts(known.answer)) return Promise.resolve(known.answer)
    if (live) return live(request, key)
    this.#pending ??= new Map()
    this.#pending.set(key, request)
    return Promise.reject(new Suspension())
  }

  /** A name for what is under `key` that no other flow has. */
  nameOf(key: string): string {
    return stepKey(this.#current, key)
  }

  /** Runs `effect` unless an earlier round of the flow did; either way resolves to its result as JSON keeps it. */
  step(key: string, effect: (stepKey: string) => unknown): Promise<Json> {
    if (this.suspended) return Promise.reject(new Suspension())
    if (this.#steps?.has(key)) return Promise.reject(new TypeError(`Two steps under the key ${JSON.stringify(key)}`))
    const running = this.#step(key, effect)
    this.#steps ??= new Map()
    this.#steps.set(key, running)
    running.catch(() => {})
    return running
  }

  async #step(key: string, effect: (stepKey: string) => unknown): Promise<Json> {
    const flow = this.#current
    if (Object.hasOwn(flow.steps, key)) return flow.steps[key] ?? null
    const recalled = this.#recorded === 'recall' ? await this.#recall(flow, key) : undefined
    const kept = recalled === undefined ? await this.#run(flow, key, effect) : recalled
    this.#flow = { ...this.#current, steps: { ...this.#current.steps, [key]: kept } }
    return kept
  }

  async #run(flow: Flow, key: string, effect: (stepKey: string) => unknown): Promise<Json> {
    const hold = this.#hold
    // Last of all before the effect, and nothing to wait for as long as the lease lasts.
    const isOurs = hold === undefined || hold.isOurs()
    if (hold !== undefined && isOurs !== true && !(await this.#known(isOurs)))
      return this.#doneElsewhere(flow, key, hold)
    const result = asJson(key, await effect(stepKey(flow, key)))
    return this.#recorded === undefined ? result : this.#record(flow, key, result)
  }

  /** What a step came to where the run was taken over. One that is not known to be done is left to whoever did that. */
  async #doneElsewhere(flow: Flow, key: string, hold: Hold): Promise<Json> {
    const recalled = await this.#recall(flow, key)
    if (recalled === undefined) throw hold.lost ?? new Refusal('OutcomeUnknown')
    return recalled
  }

  /** Nobody knows whether the step ran while its record cannot be read, so it does not run. */
  #recall(flow: Flow, key: string): Promise<Json | undefined> {
    return this.#known(retried(stepPatience, () => recallStep(flow, key, this.#core.ports)))
  }

  /** @throws Refusal `OutcomeUnknown` for what cannot be known */
  async #known<T>(looking: Awaitable<T>): Promise<T> {
    try {
      return await looking
    } catch (cause) {
      const since = new Date(this.#core.ports.clock()).toISOString()
      throw new Refusal('OutcomeUnknown', { data: { since }, cause, ran: 'unknown' })
    }
  }

  /** The effect has happened: a store that is away now must not make it look undone. */
  async #record(flow: Flow, key: string, result: Json): Promise<Json> {
    try {
      return await retried(stepPatience, () => recordStep(flow, key, result, this.#core.ports))
    } catch (error) {
      this.#core.ports.logger.error('the result of a step could not be recorded', { step: quoted(key), error })
      return result
    }
  }

  /** The result that asks the client for everything pending, once the steps that still run are done. */
  async suspend(binding: Binding, ports: FlowPorts): Promise<InputRequiredResult> {
    await this.#settled()
    // The table is closed here: what is asked later, by what nobody waited for, is asked in the next round.
    return this.inputRequired(Object.fromEntries(this.#pending ?? []), this.#current.own, binding, ports)
  }

  /**
   * The result that asks the client `inputRequests`, and keeps what is known so far in its state.
   * @throws ToolError for a call that asks without end, be it that no answer ever fits
   */
  async inputRequired(
    inputRequests: Readonly<Record<string, AskRequest>>,
    own: Json | undefined,
    binding: Binding,
    ports: FlowPorts,
  ): Promise<InputRequiredResult> {
    this.#ending = true
    const { maxRounds = defaultMaxRounds } = this.#core.options
    if (this.#current.round >= maxRounds) throw new ToolError(askedTooOften(maxRounds))
    const asked = Object.fromEntries(Object.entries(inputRequests).map(([key, request]) => [key, digest(request)]))
    const flow = { ...this.#current, round: this.#current.round + 1, asked, own }
    const requestState = await sealFlow(flow, binding, ports)
    return {
      resultType: 'input_required',
      ...(Object.keys(inputRequests).length > 0 && { inputRequests }),
      requestState,
    }
  }

  /** The round after live answers. */
  next(own: Json | undefined): Round {
    const next = new Round(this.#core, this.resumed(own))
    next.#recorded = this.#recorded
    next.#hold = this.#hold
    return next
  }

  /** The flow as it goes on after live answers: what was done stays done, `own` is what the handler keeps. */
  resumed(own: Json | undefined): Flow {
    return { ...this.#current, own }
  }

  /** Lets what is under way at once come to where it waits: steps end, and more questions join. */
  async #settled(): Promise<void> {
    if (this.#steps) {
      const { promise, resolve } = timer(drainMs)
      await Promise.race([Promise.allSettled(this.#steps.values()), promise])
      resolve()
    }
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

/** What a call is told that asked too often. */
export function askedTooOften(rounds: number): string {
  return `The call asked ${rounds} times and still wants to know more`
}

/** A step's result as it will be on replay. @throws TypeError for what is not JSON */
function asJson(key: string, result: unknown): Json {
  const text = JSON.stringify(result ?? null)
  if (text === undefined) throw new TypeError(`The step ${JSON.stringify(key)} has to return JSON`)
  return JSON.parse(text) as Json
}

function timer(ms: number): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => {
    const handle = setTimeout(done, timerMs(ms))
    resolve = () => {
      clearTimeout(handle)
      done()
    }
  })
  return { promise, resolve }
}
