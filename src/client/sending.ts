import { setTimeout as delay } from 'node:timers/promises'
import { asUnknown } from '../model/as-unknown.ts'
import { timerMs } from '../model/timer.ts'
import { CallFailed, isCallFailed, isFailure } from '../model/failure.ts'
import { isObject, own, type JsonObject } from '../model/json.ts'
import type { AskAnswer, AskRequest, ClientCapabilities } from '../model/nouns.ts'
import { isRefusal } from '../model/refusal.ts'
import type { HeaderPlan } from '../model/served.ts'
import type { AnswerAsk } from '../peer/calling-asks.ts'
import { doubtsAge, isOfOtherAge } from '../peer/calling-age.ts'
import type { Caller } from '../peer/calling.ts'
import { asksIn, mustAsk } from './asked.ts'
import { answered, untilOf, type Limits } from './answered.ts'
import type { Breaker } from './breaker.ts'
import type { Connection } from './connection.ts'
import { cancelledBy } from './lifetimes.ts'
import { keyName, type RequestOptions } from './options.ts'
import { within, type Patience } from './patience.ts'
import { isBreakdown, isTransient, nextAttempt, type RetryOptions } from './retrying.ts'
import { runKey } from './run-key.ts'
import type { Visits } from './visits.ts'

/** One request, as often as it takes. */
export interface Job extends JobFacts {
  readonly method: string
  readonly params: JsonObject
  readonly meta: JsonObject
  readonly options: RequestOptions
  /** Whether it may run twice. Asked only once that matters. */
  readonly repeatable: () => boolean | Promise<boolean>
}

/** How a request differs from a plain one. */
export interface JobFacts {
  readonly repeatable?: () => boolean | Promise<boolean>
  /** Whether its effect has a name: `true` for a random one, where the server heeds names. */
  readonly key?: string | true
  /** Hears the key that the server was sent. */
  readonly onKey?: (key: string) => void
  readonly headerPlan?: () => HeaderPlan | undefined
  /** Until when progress is heard of a task that the request becomes. */
  readonly progressUntil?: AbortSignal
  /** Declared for this request beside the client's own. */
  readonly capabilities?: ClientCapabilities
}

/** What jobs are done with. */
export interface SendingOptions {
  readonly connection: Connection
  readonly breaker: Breaker
  readonly retry: Required<RetryOptions>
  readonly answer: AnswerAsk
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
  readonly maxRounds: number
  readonly visits: Visits
}

/** Sends a request, with its rounds and repetitions, and resolves to its result. @throws Refusal, CallFailed */
export type Send = (job: Job) => Promise<JsonObject>

/** Makes the way in which a client sends. */
export function createSend(sending: SendingOptions): Send {
  return async (job) => {
    // Node's own module of this name takes long to load; the global loads it when it is used.
    const key = job.key === true ? crypto.randomUUID() : job.key
    const until = untilOf(job.options, sending.maxTimeoutMs)
    let { params } = job
    const newKeys = keysWatched()
    for (let round = 0; ; round++) {
      const result = await visited({ ...job, params }, key, until, sending).catch((error: unknown) => {
        // What asked has begun to run, whatever became of the request that answers it.
        throw round > 0 ? asUnknown(error) : error
      })
      if (own(result, 'resultType') !== 'input_required') return result
      const isAskedAnew = newKeys(result)
      if (round >= sending.maxRounds) throw tooManyRounds(job.method, undefined, isAskedAnew)
      params = { ...job.params, ...(await answersTo(result, { signal: job.options.signal, until }, round, sending)) }
    }
  }
}

/**
 * Sends a request, anew each time that the user visited what it was refused for. Each is a run of its own, so it has a key of
 * its own, which is the same whenever a given key is used again.
 */
async function visited(job: Job, key: string | undefined, until: number, sending: SendingOptions): Promise<JsonObject> {
  // What a task was refused for is no matter of the requests that ask how it stands.
  if (job.method.startsWith('tasks/')) return deliver(job, key, until, sending)
  return afterVisits(job.method, { ...job.options, until }, sending, async (round) =>
    deliver(job, key === undefined ? key : await runKey(key, 'request', round), until, sending),
  )
}

/**
 * Does `attempt` again, each time that the user visited what it was refused for, which may take until `until`; in default
 * of that what `maxTimeoutMs` says, for each time. @throws CallFailed `TooManyRounds`, `Cancelled`, `TimedOut`
 */
export async function afterVisits<T>(
  method: string,
  { until, ...options }: RequestOptions & { readonly until?: number },
  { visits, maxRounds }: Pick<SendingOptions, 'visits' | 'maxRounds'>,
  attempt: (round: number) => Promise<T>,
): Promise<T> {
  let hasRun = false
  for (let round = 0; ; round++) {
    try {
      return await attempt(round)
    } catch (thrown) {
      const error: unknown = hasRun ? asUnknown(thrown) : thrown
      hasRun ||= isFailure(error) && error.ran !== 'no'
      const wanted = visits.wantedBy(error)
      if (!wanted) throw error
      if (round >= maxRounds) throw tooManyRounds(method, error)
      if (!(await visits.made(wanted, { ...options, signal: options.signal, until: until ?? untilOf(options) })))
        throw error
    }
  }
}

/** Tells of one result after the other whether all of them asked something, and nothing under a key of one before. */
function keysWatched(): (result: JsonObject) => boolean {
  const seen = new Set<string>()
  let isEverNew = true
  return ({ inputRequests }) => {
    const keys = Object.keys(isObject(inputRequests) ? inputRequests : {})
    isEverNew &&= keys.length > 0 && !keys.some((key) => seen.has(key))
    keys.forEach((key) => seen.add(key))
    return isEverNew
  }
}

function tooManyRounds(method: string, cause?: unknown, hasNewKeys = false): CallFailed {
  // Answers are found by their keys, so that a server which makes up new ones asks for ever.
  const message = `${method} asks for input again and again${hasNewKeys ? ', each time under new keys' : ''}`
  return new CallFailed('TooManyRounds', { ran: 'unknown', message, cause })
}

/** What a retry brings along: all the answers, and the state exactly as it came, or none (multi round-trip requests). */
async function answersTo(
  result: JsonObject,
  limits: Limits,
  round: number,
  { connection, answer }: SendingOptions,
): Promise<JsonObject> {
  const { inputRequests, requestState } = result
  const asked = asksIn(inputRequests)
  mustAsk(asked, requestState)
  const answering = async (
    [key, request]: readonly [string, AskRequest],
    stop: AbortSignal,
  ): Promise<readonly [string, AskAnswer]> => {
    const given = await answer(request, stop)
    return [key, connection.current?.encodeAnswer(request.method, given) ?? given]
  }
  if (asked.length === 0) await pause(Math.min(50 * 2 ** round, 2_000), limits.signal)
  const answers = await answered((stop) => Promise.all(asked.map((one) => answering(one, stop))), limits)
  return {
    ...(asked.length > 0 && { inputResponses: Object.fromEntries(answers) }),
    ...(requestState !== undefined && { requestState }),
  }
}

/** Sends until there is a result, or nothing more may be tried: never what may have run already, unless that does no harm. */
async function deliver(job: Job, key: string | undefined, until: number, sending: SendingOptions): Promise<JsonObject> {
  const { signal } = job.options
  let mayHaveRun = false
  let keyed = false
  let last: unknown
  for (let attempts = 1; ; attempts++) {
    let caller: Caller | undefined
    try {
      caller = await enter(job, until, sending)
      keyed = key !== undefined && heedsKeys(caller)
      if (!mayHaveRun || keyed || (await job.repeatable())) {
        const result = await caller.call(requestOf(job, key, caller, until, sending))
        sending.breaker.succeeded()
        return result
      }
    } catch (error) {
      last = error
    }
    count(last, sending.breaker)
    if (caller && (await isOutlived(caller, last, job, until, sending))) continue
    mayHaveRun ||= isFailure(last) && last.ran !== 'no'
    const wait = await waitBefore(last, { attempts, keyed, mayHaveRun }, caller, job, sending)
    if (wait === undefined || performance.now() + wait > until || signal?.aborted)
      throw mayHaveRun ? asUnknown(last) : last
    await pause(wait, signal, mayHaveRun ? 'unknown' : 'no')
  }
}

interface Attempt {
  readonly attempts: number
  readonly keyed: boolean
  readonly mayHaveRun: boolean
}

/** Whether the server that `caller` agreed with turns out to be of another age by now, so that it did not run what it refused. */
async function isOutlived(
  caller: Caller,
  error: unknown,
  { options }: Job,
  until: number,
  sending: SendingOptions,
): Promise<boolean> {
  if (!doubtsAge(error)) return false
  const isAnother = within(sending.connection.reconsider(caller), patienceOf(options, until, sending), '')
  return (await isAnother.catch(() => false)) && isOfOtherAge(error) && options.signal?.aborted !== true
}

/** Milliseconds before the next attempt, if there is to be one. */
async function waitBefore(
  error: unknown,
  { attempts, keyed, mayHaveRun }: Attempt,
  caller: Caller | undefined,
  job: Job,
  { connection, retry }: SendingOptions,
): Promise<number | undefined> {
  if (caller && attempts === 1 && isOfAnotherAge(error)) {
    connection.retire(caller)
    return 0
  }
  // What a session that is gone refused did not run, and the next attempt gets a new one.
  const replaced = caller !== undefined && connection.current !== caller
  if (replaced && attempts < retry.attempts && isOfGone(error)) return 0
  const repeatable = !mayHaveRun || keyed || (isTransient(error) && (await job.repeatable()))
  return nextAttempt(error, { attempts, repeatable, keyed, random: Math.random() }, retry)
}

/** The caller to use. Where there is none, it is waited for like an answer. */
async function enter({ options }: Job, until: number, sending: SendingOptions): Promise<Caller> {
  const { breaker, connection } = sending
  breaker.enter()
  if (connection.current) return connection.current
  return within(connection.caller(), patienceOf(options, until, sending), 'The server took too long to connect')
}

function patienceOf({ signal, timeoutMs }: RequestOptions, until: number, sending: SendingOptions): Patience {
  const ms = Math.min(timeoutMs ?? sending.timeoutMs, until - performance.now())
  return { timeoutMs: Math.max(1, ms), ...(signal && { signal }) }
}

function requestOf(
  job: Job,
  key: string | undefined,
  caller: Caller,
  until: number,
  sending: SendingOptions,
): Parameters<Caller['call']>[0] {
  const { method, params, meta, options, headerPlan, capabilities, progressUntil } = job
  const sendsKey = key !== undefined && (job.key !== true || heedsKeys(caller))
  if (sendsKey) job.onKey?.(key)
  const all = sendsKey ? { ...meta, [keyName]: key } : meta
  return {
    method,
    params,
    ...(Object.keys(all).length > 0 && { meta: all }),
    signal: options.signal,
    timeoutMs: options.timeoutMs ?? sending.timeoutMs,
    maxTimeoutMs: Math.max(1, until - performance.now()),
    onProgress: options.onProgress,
    progressUntil,
    keepAlive: method === 'tools/call',
    headerPlan: headerPlan?.(),
    capabilities,
  }
}

/** Whether the server runs what has one name once only, by its own word. */
function heedsKeys({ dialect }: Caller): boolean {
  const experimental = dialect?.introduction.capabilities.experimental
  return experimental !== undefined && isObject(own(experimental, keyName))
}

function isOfGone(error: unknown): boolean {
  if (!isFailure(error) || error.ran !== 'no') return false
  return isRefusal(error) || error.kind === 'HttpStatus' || error.kind === 'ConnectionLost'
}

/** The server does not speak any more what was agreed: it was replaced, and is to be asked anew what it is. */
function isOfAnotherAge(error: unknown): boolean {
  return isRefusal(error) && error.kind === 'UnsupportedVersion' && error.ran === 'no'
}

/** Everything that waits on one connection is told the same failure, which counts once. */
const counted = new WeakSet<object>()

function count(error: unknown, breaker: Breaker): void {
  if (!isBreakdown(error)) {
    if (isRefusal(error)) breaker.succeeded()
    else if (!(isCallFailed(error) && error.kind === 'CircuitOpen')) breaker.left()
  } else if (!counted.has(error)) {
    counted.add(error)
    breaker.failed()
  }
}

/** Waits; an aborted signal ends it the way that it ends a call. */
export async function pause(
  ms: number,
  signal: AbortSignal | undefined,
  ran: 'no' | 'unknown' = 'unknown',
): Promise<void> {
  try {
    await delay(timerMs(ms), undefined, signal && { signal })
  } catch {
    throw cancelledBy(signal, ran)
  }
}
