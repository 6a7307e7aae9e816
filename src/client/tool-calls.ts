import type { CallToolResult } from '../model/call.ts'
import { own, type JsonObject } from '../model/json.ts'
import type { Task } from '../model/nouns.ts'
import { isRefusal } from '../model/refusal.ts'
import type { Dialect } from '../peer/calling.ts'
import { restOf, untilOf } from './answered.ts'
import type { Lists } from './lists.ts'
import type { CallOptions, RequestOptions } from './options.ts'
import type { OutputChecks } from './outputs.ts'
import { runKey } from './run-key.ts'
import { afterVisits, type JobFacts } from './sending.ts'
import type { Visits } from './visits.ts'
import { asTask, cancelTask, declaresTasks, followTask, type TasksOptions } from './tasks.ts'
import type { TaskProgress } from './task-progress.ts'
import { ToolAnswer } from './tool-answer.ts'

/** What tools are called with. */
export interface ToolCallsOptions extends TasksOptions {
  readonly lists: Lists
  /** Absent where results are not checked. */
  readonly checks: OutputChecks | undefined
  readonly visits: Visits
  readonly maxRounds: number
  readonly progress: TaskProgress
  dialect(): Dialect
}

/** Calls of tools. */
export interface ToolCalls {
  /** Resolves to the answer; a call that becomes a task is waited for. */
  call(name: string, args?: JsonObject, given?: CallOptions): Promise<ToolAnswer<never>>
  /** Resolves to the answer, or to the task that the call became. */
  start(name: string, args?: JsonObject, given?: CallOptions): Promise<ToolAnswer<never> | Task>
}

/** Makes the calls of one client. */
export function createToolCalls(options: ToolCallsOptions): ToolCalls {
  const { lists, ask, checks } = options

  async function send(
    name: string,
    args: JsonObject,
    given: CallOptions,
    more?: Pick<JobFacts, 'progressUntil' | 'onKey'>,
  ): Promise<JsonObject> {
    const asks = await asTaskOrNot(name, given)
    const params = { name, arguments: args, ...asks.params }
    const facts: JobFacts = {
      repeatable: () => isHarmless(name),
      headerPlan: () => lists.tool(name)?.headerPlan,
      ...more,
      ...asks.facts,
    }
    let key: string | true = given.idempotencyKey ?? true
    const onKey = (sent: string): void => {
      key = sent
      more?.onKey?.(sent)
    }
    try {
      return await ask('tools/call', params, given, { ...facts, key, onKey })
    } catch (error) {
      if (!isRefusal(error) || error.kind !== 'HeaderMismatch' || error.ran !== 'no') throw error
      // The server has another idea of the tool, which is looked up anew (Streamable HTTP, custom headers).
      await lists.changed('tools')
      await lists.list('tools')
      // By the same key: if it did run, though its server says that it did not, it does not run again.
      return ask('tools/call', params, given, { ...facts, key, onKey })
    }
  }

  /** How a call says that it may become a task: by a param of its own, or by what it declares. */
  async function asTaskOrNot(
    name: string,
    { task }: CallOptions,
  ): Promise<{ readonly params?: JsonObject; readonly facts?: JobFacts }> {
    const { features } = options.dialect()
    const wants = task !== undefined && task !== false
    if (!features.has('tasks.requests.tools.call')) return wants ? { facts: { capabilities: declaresTasks } } : {}
    const support = (await lookedUp(name))?.execution?.taskSupport
    if (support !== 'required' && !(wants && support === 'optional')) return {}
    const ttl = typeof task === 'object' ? task.ttl : undefined
    return { params: { task: ttl === undefined ? {} : { ttl } } }
  }

  async function lookedUp(name: string): Promise<Tool | undefined> {
    if (!lists.tool(name)) await lists.list('tools').catch(() => {})
    return lists.tool(name)?.tool
  }

  /** Whether a tool may run twice, by what the server says of it. */
  async function isHarmless(name: string): Promise<boolean> {
    const hints = (await lookedUp(name))?.annotations
    return hints?.readOnlyHint === true || hints?.idempotentHint === true
  }

  function answered(name: string, result: CallToolResult): ToolAnswer<never> {
    const schema = lists.tool(name)?.tool.outputSchema
    if (schema && result.isError !== true) checks?.check(name, schema, result.structuredContent)
    return new ToolAnswer<never>(result)
  }

  async function followed(
    task: Task,
    given: CallOptions,
    until: number,
    key: string | undefined,
  ): Promise<CallToolResult> {
    try {
      return await followTask(task, apart(restOf(given, until)), options, key)
    } catch (error) {
      // Whoever gives up a call means the task that it became.
      if (given.signal?.aborted || performance.now() >= until) void cancelTask(task.taskId, {}, options).catch(() => {})
      throw error
    }
  }

  return {
    async call(name, args = {}, given = {}) {
      const until = untilOf(given)
      return afterVisits('tools/call', { ...given, until }, options, async (round) => {
        const over = given.onProgress && new AbortController()
        let key: string | undefined
        try {
          const result = await send(name, args, await again(restOf(given, until), round), {
            ...(over && { progressUntil: over.signal }),
            onKey: (sent) => (key = sent),
          })
          const whole =
            own(result, 'resultType') === 'task' ? await followed(asTask(result), given, until, key) : result
          return answered(name, whole)
        } finally {
          over?.abort()
        }
      })
    },
    async start(name, args = {}, given = {}) {
      const heard = given.onProgress && new AbortController()
      const result = await send(
        name,
        args,
        { ...given, task: given.task ?? true },
        heard && { progressUntil: heard.signal },
      )
      if (own(result, 'resultType') !== 'task') return answered(name, result)
      const task = asTask(result)
      if (heard) options.progress.keep(task.taskId, heard)
      return task
    },
  }
}

type Tool = NonNullable<ReturnType<Lists['tool']>>['tool']

/** Another run of a call whose task was refused needs a key of its own. */
async function again(given: CallOptions, round: number): Promise<CallOptions> {
  const { idempotencyKey: key } = given
  return key === undefined ? given : { ...given, idempotencyKey: await runKey(key, 'task', round) }
}

/** What of a call's options is meant for the requests that follow it, too. */
function apart({ signal, timeoutMs, maxTimeoutMs }: CallOptions): RequestOptions {
  return {
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxTimeoutMs !== undefined && { maxTimeoutMs }),
  }
}
