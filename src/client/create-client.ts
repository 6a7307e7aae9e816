import type { CompleteResult, GetPromptResult, ListenFilter, ReadResourceResult } from '../model/call.ts'
import { CallFailed } from '../model/failure.ts'
import { isObject, own, type JsonObject } from '../model/json.ts'
import type { ClientCapabilities } from '../model/nouns.ts'
import type { Clock, Logger } from '../model/ports.ts'
import { safely } from '../model/safely.ts'
import type { AnswerAsk } from '../peer/calling-asks.ts'
import type { Caller, Dialect } from '../peer/calling.ts'
import type { Target } from '../peer/link.ts'
import type { AnswerUrl } from './answering.ts'
import type { Breaker } from './breaker.ts'
import type { Client } from './client.ts'
import type { Connection } from './connection.ts'
import { partOf, type Kept, type ListCache } from './list-cache.ts'
import { createLifetimes } from './lifetimes.ts'
import type { Listeners } from './listeners.ts'
import { createLists } from './lists.ts'
import { createReadings } from './readings.ts'
import { layered } from './middleware.ts'
import type { ClientOptions, RequestOptions } from './options.ts'
import { subscribe, type Subscription } from './listening.ts'
import type { LogLevels } from './log-levels.ts'
import { createOutputChecks } from './outputs.ts'
import { defaultRetry } from './retrying.ts'
import { createSend, type JobFacts } from './sending.ts'
import { isContents, isMessage, mustList } from './shape.ts'
import { createTaskProgress } from './task-progress.ts'
import { cancelTask, followTask, getTask, listTasks, updateTask, type TasksOptions } from './tasks.ts'
import { ToolAnswer } from './tool-answer.ts'
import { createToolCalls } from './tool-calls.ts'
import { createUris } from './uris.ts'
import { createVisits } from './visits.ts'
import { watchList } from './watching.ts'

/** What a client is put together from. */
export interface ClientParts {
  readonly target: Target
  readonly options: ClientOptions
  readonly capabilities: ClientCapabilities
  readonly connection: Connection
  /** What was agreed first. */
  readonly dialect: Dialect | undefined
  readonly levels: LogLevels
  readonly listeners: Listeners
  readonly answer: AnswerAsk
  readonly visit: AnswerUrl | undefined
  readonly breaker: Breaker
  readonly cache: ListCache
  readonly clock: Clock
  readonly logger: Logger
}

const defaults = {
  timeoutMs: 60_000,
  maxTimeoutMs: 15 * 60_000,
  maxRounds: 10,
  maxPages: 100,
  maxItems: 10_000,
  debounceMs: 100,
}
/** What may run twice without harm. */
const repeatable: ReadonlySet<string> = new Set([
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'ping',
])

const none = {}

/** Puts a client together over a connection that is open. */
export function createClient<S>(parts: ClientParts): Client<S> {
  const { options, connection, logger, target } = parts
  const { maxPages = defaults.maxPages, maxItems = defaults.maxItems } = options
  const retry = { ...defaultRetry, ...options.retry }
  const { timeoutMs = defaults.timeoutMs, maxRounds = defaults.maxRounds } = options
  const visits = createVisits({ ...parts, timeoutMs, dialect: () => connection.current?.dialect })
  const send = createSend({
    ...parts,
    retry,
    timeoutMs,
    maxTimeoutMs: options.maxTimeoutMs ?? defaults.maxTimeoutMs,
    maxRounds,
    visits,
  })
  const declared = JSON.stringify(parts.capabilities)
  const lifetimes = createLifetimes()
  // Who asks is not known where no context tells, such as by headers of one's own; then it is nobody else.
  const context = target.context ?? `client ${crypto.randomUUID()}`
  let latest = parts.dialect

  const perform = layered(options.middleware ?? [], ({ method, params, meta }, { options: given, facts }) =>
    send({ method, params, meta, options: given, repeatable: () => repeatable.has(method), ...facts }),
  )

  function ask(method: string, params: JsonObject, given: RequestOptions, facts: JobFacts = none): Promise<JsonObject> {
    return lifetimes.within(given, (own) =>
      perform({ method, params, meta: given.meta ?? none }, { options: own, facts }),
    )
  }

  /** What is spoken; between two connections, what was spoken last. */
  function dialect(): Dialect {
    latest = connection.current?.dialect ?? latest
    if (!latest) throw new CallFailed('ConnectionLost', { ran: 'no' })
    return latest
  }

  const kept = ({ introduction }: Dialect): Kept =>
    partOf(parts.cache, [target.key, introduction.revision, declared], context, parts.clock, logger)
  /** Where what the server tells broke off, or a list waited for it in vain: no list waits there until it is heard. */
  let silent: Caller | undefined
  const lists = createLists({
    limits: { maxPages, maxItems },
    logger,
    now: parts.clock,
    dialect,
    kept,
    listening: async () => {
      const heardOn = connection.current
      if (!heardOn || heardOn === silent) return () => false
      const stillHears = await heardOn.listening()
      if (!stillHears()) silent = heardOn
      return () => stillHears() && connection.current === heardOn
    },
    page: (method, cursor, given) => ask(method, cursor === undefined ? {} : { cursor }, given),
  })

  const progress = createTaskProgress()
  parts.listeners.add(progress)
  const tasksOptions: TasksOptions = {
    connection,
    retry,
    timeoutMs,
    answer: parts.answer,
    ask: (method, params, ...rest) => progress.watching(method, params, () => ask(method, params, ...rest)),
  }
  const calls = createToolCalls({
    ...tasksOptions,
    lists,
    dialect,
    visits,
    maxRounds,
    progress,
    checks: options.validate === false ? undefined : createOutputChecks(logger),
  })
  const uris = createUris()
  const listen = (filter: ListenFilter, signal?: AbortSignal): Promise<Subscription> =>
    subscribe(filter, lifetimes.begin(signal), { connection, listeners: parts.listeners, uris, retry, timeoutMs })

  const readings = createReadings()
  async function read(uri: string, given: RequestOptions = {}): Promise<ReadResourceResult> {
    const name = `resources/read ${uri}`
    const store = kept(dialect())
    const known = await store.get(name)
    if (known) return known as unknown as ReadResourceResult
    const reading = readings.begin(uri)
    const result = await ask('resources/read', { uri }, given).finally(reading.end)
    mustList(result, 'contents', isContents)
    const { ttlMs } = result
    if (typeof ttlMs === 'number' && !reading.isOld)
      await store.set(name, result, { ttlMs, isPublic: result.cacheScope === 'public' })
    return result as unknown as ReadResourceResult
  }

  const failed = (error: unknown): void => logger.error('a listener threw', { error })
  parts.listeners.add({
    notified(notification) {
      safely(() => options.onNotification?.(notification), failed)
      switch (notification.method) {
        case 'notifications/message':
          return safely(() => options.onLog?.(notification.params), failed)
        case 'notifications/tools/list_changed':
          return void lists.changed('tools')
        case 'notifications/prompts/list_changed':
          return void lists.changed('prompts')
        case 'notifications/resources/list_changed':
          void lists.changed('resourceTemplates')
          return void lists.changed('resources')
        case 'notifications/resources/updated':
          readings.changed(notification.params.uri)
          return void kept(dialect()).delete(`resources/read ${notification.params.uri}`)
        default:
          return
      }
    },
    hears(caller, hears) {
      silent = hears ? undefined : caller
    },
    renewed() {
      lists.reset()
      readings.reset()
    },
  })

  async function close(): Promise<void> {
    const { current } = connection
    const closing = connection.close()
    // What waits for nothing of the connection's ends here.
    lifetimes.end()
    await closing
    if (current) parts.listeners.left(current)
  }

  const client: Client<S> = {
    get revision() {
      return dialect().introduction.revision
    },
    get features() {
      return dialect().features
    },
    get server() {
      const { info, capabilities, instructions } = dialect().introduction
      return { info, capabilities, instructions }
    },
    call: (name, ...[args, given = {}]) =>
      lifetimes.within(given, (own) => calls.call(name, args as JsonObject | undefined, own)),
    list: lists.list,
    tools: (given) => lists.list('tools', given),
    resources: (given) => lists.list('resources', given),
    resourceTemplates: (given) => lists.list('resourceTemplates', given),
    prompts: (given) => lists.list('prompts', given),
    read,
    async get(name, args, given = {}) {
      const result = await ask('prompts/get', { name, ...(args && { arguments: args }) }, given)
      mustList(result, 'messages', isMessage)
      return result as unknown as GetPromptResult
    },
    async complete(params, given = {}) {
      const result = await ask('completion/complete', params as unknown as JsonObject, given)
      const completion = own(result, 'completion') ?? null
      mustList(isObject(completion) ? completion : {}, 'values', (value) => typeof value === 'string')
      return completion as unknown as CompleteResult['completion']
    },
    request: (method, params = {}, given = {}) => ask(method, params, given),
    listen: (filter, { signal } = {}) => listen(filter, signal),
    subscribe: (uri, { signal } = {}) =>
      listen({ resourceSubscriptions: typeof uri === 'string' ? [uri] : uri }, signal),
    watch: (kind, { signal } = {}) =>
      watchList(kind, () => lifetimes.begin(signal), {
        lists,
        listen,
        debounceMs: options.debounceMs ?? defaults.debounceMs,
        now: parts.clock,
        features: () => dialect().features,
      }),
    tasks: {
      get: (taskId, given = {}) => getTask(taskId, given, tasksOptions),
      result: (taskId, given = {}) =>
        lifetimes.within(given, async (own) => new ToolAnswer(await followTask(taskId, own, tasksOptions))),
      list: (given = {}) => listTasks(given, tasksOptions),
      cancel: (taskId, given = {}) => cancelTask(taskId, given, tasksOptions),
      update: (taskId, inputResponses, given = {}) => updateTask(taskId, inputResponses, given, tasksOptions),
      start: (name, ...[args, given = {}]) =>
        lifetimes.within(given, (own) => calls.start(name, args as JsonObject | undefined, own)),
    },
    async setLogLevel(level) {
      await parts.levels.set(level, await connection.caller())
    },
    async rootsChanged() {
      const caller = await connection.caller()
      await caller.notify('notifications/roots/list_changed')
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  return client
}
