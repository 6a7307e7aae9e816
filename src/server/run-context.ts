import type { Call, Retry } from '../model/call.ts'
import { requiredCapabilities, type Feature } from '../model/feature.ts'
import { own, type Json, type JsonObject } from '../model/json.ts'
import {
  logLevels,
  type AskAnswer,
  type AskRequest,
  type Implementation,
  type LogLevel,
  type Root,
  type SampleParams,
  type SampleResult,
} from '../model/nouns.ts'
import type { Principal } from '../model/notification.ts'
import { Refusal } from '../model/refusal.ts'
import type { CallContext } from '../model/served.ts'
import type { Form } from '../schema/form.ts'
import type { Context, Elicited, StepInput, Visited } from './context.ts'
import type { Core } from './core.ts'
import type { Round } from './round.ts'
import type { ServerHandle } from './server.ts'
import { isRoots, isSampled } from './shapes.ts'

const defaultRetryMs = 1000
/** Headers that say who asks: they are for the door, not for handlers. */
const credentials: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization'])
const actions = ['accept', 'decline', 'cancel']

/** The context of one run, over the context of its call. */
export class RunContext implements Context {
  readonly #core: Core
  readonly #call: Call
  readonly #context: CallContext
  readonly #round: Round
  readonly #responses: Readonly<Record<string, AskAnswer>> | undefined
  #progress = -Infinity

  constructor(
    core: Core,
    call: Call,
    context: CallContext,
    round: Round,
    responses: Retry['inputResponses'] = (call.params as Retry).inputResponses,
  ) {
    this.#core = core
    this.#call = call
    this.#context = context
    this.#round = round
    this.#responses = responses
  }

  get revision(): string {
    return this.#context.revision
  }

  get client(): Implementation | undefined {
    return this.#context.client
  }

  get principal(): Principal | undefined {
    return this.#context.principal
  }

  get signal(): AbortSignal {
    return this.#round.signalOver(this.#context.signal)
  }

  get meta(): JsonObject {
    return this.#call.meta
  }

  get inputResponses(): Readonly<Record<string, AskAnswer>> | undefined {
    return this.#responses
  }

  get state(): Json | undefined {
    return this.#round.own
  }

  get server(): ServerHandle {
    return this.#core.handle
  }

  header(name: string): string | undefined {
    const key = name.toLowerCase()
    return credentials.has(key) ? undefined : this.#context.header?.(key)
  }

  can(feature: Feature): boolean {
    return this.#context.features.has(feature)
  }

  progress(progress: number, total?: number, message?: string): void {
    const { progressToken } = this.#context
    if (progressToken === undefined || this.#round.suspended) return
    if (!Number.isFinite(progress) || progress <= this.#progress) return
    this.#progress = progress
    const params = {
      progressToken,
      progress,
      ...(total !== undefined && Number.isFinite(total) && { total }),
      ...(message !== undefined && { message }),
    }
    this.#context.notify({ method: 'notifications/progress', params })
  }

  log(level: LogLevel, data: Json, logger?: string): void {
    if (this.#core.options.capabilities?.logging === false) return
    this.#core.deprecated('logging')
    const { logLevel } = this.#context
    if (logLevel === undefined || this.#round.suspended || logLevels.indexOf(level) < logLevels.indexOf(logLevel))
      return
    this.#context.notify({
      method: 'notifications/message',
      // `data` is required (specification, logging), and JSON leaves out what is undefined.
      params: { level, data: data ?? null, ...(logger !== undefined && { logger }) },
    })
  }

  elicit<T>(key: string, form: Form<T>, message: string): Promise<Elicited<T>> {
    return free(this.#elicit(key, form, message))
  }

  async #elicit<T>(key: string, form: Form<T>, message: string): Promise<Elicited<T>> {
    const params = { mode: 'form', message, requestedSchema: form.document } as const
    const answer = await this.#ask(
      key,
      { method: 'elicitation/create', params },
      (given) => isAction(given) && fits(form, given),
    )
    if (answer.action !== 'accept') return { action: answer.action === 'decline' ? 'decline' : 'cancel' }
    const read = form.validate(answer.content ?? {})
    if (!('value' in read)) throw new TypeError('The answer of the client does not fit the form')
    return { action: 'accept', content: read.value }
  }

  elicitUrl(key: string, url: string, message: string): Promise<Visited> {
    return free(this.#elicitUrl(key, url, message))
  }

  async #elicitUrl(key: string, url: string, message: string): Promise<Visited> {
    const elicitationId = this.#round.nameOf(key)
    const params = { mode: 'url', message, url, elicitationId } as const
    const answer = await this.#ask(key, { method: 'elicitation/create', params }, isAction)
    const done = (): void =>
      this.#context.notify({ method: 'notifications/elicitation/complete', params: { elicitationId } })
    return { action: answer.action as Visited['action'], done }
  }

  sample(key: string, params: SampleParams): Promise<SampleResult> {
    return free(this.#sample(key, params))
  }

  async #sample(key: string, params: SampleParams): Promise<SampleResult> {
    this.#core.deprecated('sampling')
    if (params.includeContext !== undefined && params.includeContext !== 'none') this.#core.deprecated('includeContext')
    const answer = await this.#ask(key, { method: 'sampling/createMessage', params }, isSampled)
    return answer as unknown as SampleResult
  }

  roots(key = 'roots'): Promise<readonly Root[]> {
    return free(this.#roots(key))
  }

  async #roots(key: string): Promise<readonly Root[]> {
    this.#core.deprecated('roots')
    const answer = await this.#ask(key, { method: 'roots/list', params: {} }, isRoots)
    return answer.roots as unknown as readonly Root[]
  }

  step<T extends Json>(key: string, effect: (input: StepInput) => Promise<T> | T): Promise<T> {
    return free(this.#round.step(key, (stepKey) => effect(stepInput(stepKey, this))) as Promise<T>)
  }

  disconnect(retryMs: number = defaultRetryMs): void {
    this.#context.disconnect(retryMs)
  }

  async #ask(key: string, request: AskRequest, accepts: (answer: AskAnswer) => boolean): Promise<AskAnswer> {
    needAsk(request, this.#context)
    const answer = await this.#round.ask(key, request, this.#context.ask, accepts)
    if (!accepts(answer)) throw new TypeError(`The client's answer to ${request.method} is malformed`)
    return answer
  }
}

/** What a step is given; the signal is made for who looks at it. */
function stepInput(key: string, context: Context): StepInput {
  return {
    key,
    get signal() {
      return context.signal
    },
  }
}

/** The promise, which nobody has to wait for: a handler that lets go of it must not take the process down with it. */
function free<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

/** @throws Refusal `NotCallable`, naming what the client would have to declare, if one of `features` is off. */
export function needFeatures(features: readonly Feature[] | undefined, context: CallContext): void {
  const missing = features?.filter((feature) => !context.features.has(feature))
  if (missing === undefined || missing.length === 0) return
  throw new Refusal('NotCallable', { data: { requiredCapabilities: requiredCapabilities(missing) } })
}

/** @throws Refusal `NotRepresentable` for what the revision cannot ask, else as {@link needFeatures} does */
export function needAsk(request: AskRequest, context: CallContext): void {
  const features = featuresOf(request)
  if (features.some((feature) => !context.defined.has(feature))) throw new Refusal('NotRepresentable')
  needFeatures(features, context)
}

function featuresOf(request: AskRequest): readonly Feature[] {
  switch (request.method) {
    case 'roots/list':
      return ['roots']
    case 'sampling/createMessage':
      return sampled(request.params)
    case 'elicitation/create':
      return [request.params.mode === 'url' ? 'elicitation.url' : 'elicitation.form']
  }
}

/** Context and tools are not sent to who did not declare them (specification, `CreateMessageRequestParams`). */
function sampled({ tools, toolChoice, includeContext = 'none' }: SampleParams): readonly Feature[] {
  return [
    tools !== undefined || toolChoice !== undefined ? 'sampling.tools' : 'sampling',
    ...(includeContext === 'none' ? [] : ['sampling.context' as const]),
  ]
}

function isAction(answer: AskAnswer): boolean {
  return actions.includes(own(answer, 'action') as string)
}

function fits(form: Form<unknown>, answer: AskAnswer): boolean {
  return answer.action !== 'accept' || 'value' in form.validate(answer.content ?? {})
}
