import { CallFailed } from '../model/failure.ts'
import { isObject, own, type Json, type JsonObject } from '../model/json.ts'
import type {
  AskAnswer,
  AskRequest,
  ClientCapabilities,
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
  ListRootsResult,
  Root,
  SampleParams,
  SampleResult,
} from '../model/nouns.ts'
import type { Logger } from '../model/ports.ts'
import { AskDeclined, type AnswerAsk } from '../peer/calling-asks.ts'
import { withoutSlowPatterns } from '../schema/patterns.ts'
import { compileInput } from '../schema/schema.ts'
import { issuesText } from '../schema/issues.ts'

/** What surrounds one question. */
export interface AskContext {
  /** Aborted when the server takes the question back, or the client closes. */
  readonly signal: AbortSignal
}

/** What a handler says of a form: the filled-in form, a plain no, or that the user turned away. */
export type FormAnswer = Pick<ElicitResult, 'action' | 'content'>
/** Shows a form to the user. What is left out of the answer and has a default is filled in; the rest is checked. */
export type AnswerForm = (form: ElicitFormParams, context: AskContext) => Promise<FormAnswer> | FormAnswer
/** What a handler says of a URL: whether the user agrees to visit it. */
export interface VisitAnswer {
  readonly action: ElicitResult['action']
  /**
   * Resolves when the user says that the visit is over. A call that was refused until then is made again at once, though the
   * server has no word for it (2025-11-25, elicitation, completion notifications). Means nothing to a live question.
   */
  readonly over?: Promise<unknown>
}
/**
 * Asks the user whether to visit a URL of the web, which is never fetched here: show all of it, and open it only with consent, in a
 * browser that shares nothing with this program. `accept` means consent, not that the visit is over.
 */
export type AnswerUrl = (visit: ElicitUrlParams, context: AskContext) => Promise<VisitAnswer> | VisitAnswer
/** Asks the client's model. `undefined`: the user said no. */
export type AnswerSample = (
  params: SampleParams,
  context: AskContext,
) => Promise<SampleResult | undefined> | SampleResult | undefined
/** Tells where the server may work. */
export type AnswerRoots = (context: AskContext) => Promise<readonly Root[]> | readonly Root[]

/** What a client answers its servers. What is not given is not declared, so that no server may ask for it. */
export interface AnsweringOptions {
  /** Forms alone, or each mode by its own handler. */
  readonly elicit?: AnswerForm | { readonly form?: AnswerForm; readonly url?: AnswerUrl }
  /** Plain sampling, or with what the model can do besides. */
  readonly sample?:
    | AnswerSample
    | { readonly create: AnswerSample; readonly tools?: boolean; readonly context?: boolean }
  /** The roots, or a function that tells them. */
  readonly roots?: readonly Root[] | AnswerRoots
}

/** What a client declares and how it answers: the same handlers serve live requests and questions in results. */
export interface Answering {
  readonly capabilities: ClientCapabilities
  readonly answer: AnswerAsk
  /** Asks the user to visit a URL, outside of any question of the server's; absent where nobody can be asked. */
  readonly visit: AnswerUrl | undefined
}

/** Makes both out of the handlers. */
export function createAnswering({ elicit, sample, roots }: AnsweringOptions, logger: Logger): Answering {
  const { form, url }: { readonly form?: AnswerForm; readonly url?: AnswerUrl } =
    typeof elicit === 'function' ? { form: elicit } : (elicit ?? {})
  const sampling = typeof sample === 'function' ? { create: sample } : sample
  const capabilities: ClientCapabilities = {
    ...((form || url) && { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } }),
    ...(sampling && {
      sampling: { ...(sampling.tools === true && { tools: {} }), ...(sampling.context === true && { context: {} }) },
    }),
    ...(roots && { roots: { listChanged: true } }),
  }

  async function answer(request: AskRequest, signal: AbortSignal): Promise<AskAnswer> {
    const context = { signal }
    switch (request.method) {
      case 'elicitation/create': {
        const { params } = request
        if (params.mode === 'url' && !isWebAddress(params.url)) break
        if (params.mode === 'url') {
          const visited = await url?.(params, context)
          if (!visited) break
          return { action: visited.action }
        }
        const answered = await form?.(params, context)
        if (!answered) break
        return filled(params, answered, logger)
      }
      case 'sampling/createMessage': {
        if (!sampling) break
        const said: SampleResult | undefined = await sampling.create(request.params, context)
        if (!said) throw new AskDeclined('The user rejected the request')
        return said as unknown as AskAnswer
      }
      case 'roots/list': {
        if (!roots) break
        const list = typeof roots === 'function' ? await roots(context) : roots
        return { roots: list } satisfies ListRootsResult as unknown as AskAnswer
      }
    }
    throw new CallFailed('ProtocolViolation', {
      ran: 'unknown',
      message: `The server asks for what is not offered: ${request.method}`,
    })
  }

  async function told<T>(method: string, answering: () => T | Promise<T>): Promise<T> {
    try {
      return await answering()
    } catch (error) {
      logger.warn('a question of the server could not be answered', { method, error })
      throw error
    }
  }

  return {
    capabilities,
    answer: (request, signal) => told(request.method, () => answer(request, signal)),
    visit: url && ((visit, context) => told('elicitation/create', () => url(visit, context))),
  }
}

/** Other addresses do things when they are opened: run scripts, show files. */
export function isWebAddress(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol)
}

/**
 * The answer to a form: defaults where nothing was said, and the whole checked by the schema that was sent along.
 * @throws TypeError that names the fields which do not fit
 */
function filled({ requestedSchema }: ElicitFormParams, { action, content }: FormAnswer, logger: Logger): AskAnswer {
  if (action !== 'accept') return { action }
  const whole = { ...defaultsOf(requestedSchema), ...content }
  const checked = check(requestedSchema, whole, logger)
  if (checked !== undefined) throw new TypeError(`The answer does not fit the form: ${checked}`)
  return { action, content: whole }
}

function defaultsOf(schema: JsonObject): Record<string, Json> {
  const properties = own(schema, 'properties')
  const fields = Object.entries(isObject(properties) ? properties : {})
  return Object.fromEntries(
    fields.flatMap(([name, field]): [string, Json][] => {
      const given = isObject(field) ? own(field, 'default') : undefined
      return given === undefined ? [] : [[name, given]]
    }),
  )
}

/** What is wrong with `content`; nothing where the server's own schema is no schema. */
function check(schema: JsonObject, content: JsonObject, logger: Logger): string | undefined {
  let compiled: ReturnType<typeof compileInput>
  try {
    const { schema: quick, left } = withoutSlowPatterns(schema)
    if (left.length > 0) logger.warn('patterns of a form are not checked; they could take long', { left })
    compiled = compileInput(quick)
  } catch {
    return undefined
  }
  const checked = compiled.validate(content)
  return !(checked instanceof Promise) && 'issues' in checked ? issuesText(checked.issues) : undefined
}
