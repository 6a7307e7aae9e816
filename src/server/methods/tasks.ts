import { recordPatience, retried } from '../../durable/retried.ts'
import { isTerminal, type TaskRecord } from '../../durable/task.ts'
import type { Ear } from '../../durable/task-bus.ts'
import type { CallToolResult, ListTasksResult } from '../../model/call.ts'
import type { AskAnswer, AskRequest, Task } from '../../model/nouns.ts'
import { Refusal, type RefusalKind } from '../../model/refusal.ts'
import type { CallContext } from '../../model/served.ts'
import { isStoreUnavailable } from '../../model/store-unavailable.ts'
import type { Core, Method } from '../core.ts'
import { callerOf, relatedTask, tasksFeature, toTask, withoutTasks } from '../task-view.ts'

const defaultPageSize = 100
/** A cursor of a list of tasks outlives no task by default. */
const cursorTtlMs = 24 * 3600_000
/** Whoever waits for a task looks for itself this often, should news of it be lost. */
const lookEveryMs = 2000

/** `tasks/get`: how a task of the caller stands, with what it came to. */
export const getTask: Method<'tasks/get'> = async ({ taskId }, context, core) =>
  seen(await find(taskId, context, core), core)

/**
 * `tasks/result`: waits for a task's end, asking the client meanwhile what the task wants to know, and tells exactly
 * what the call behind it came to (2025-11-25, tasks, "Result Retrieval").
 */
export const taskResult: Method<'tasks/result'> = async ({ taskId }, context, core) => {
  const ear = core.tasks.ear(taskId)
  try {
    const asked = new Set<string>()
    for (let task = await find(taskId, context, core); ; task = await nextLook(ear, taskId, context, core)) {
      if (isTerminal(task.status)) return outcomeOf(task)
      for (const [key, { request }] of Object.entries(task.asks)) {
        if (asked.has(key) || open.has(nameOf(task, key))) continue
        asked.add(key)
        void askFor(task, key, request, context, core)
      }
    }
  } finally {
    ear.close()
  }
}

/** `tasks/list`: the caller's tasks, oldest first. */
export const listTasks: Method<'tasks/list'> = async ({ cursor }, context, core) => {
  const owner = callerOf(context)
  const size = core.options.pageSize ?? defaultPageSize
  const listed = await core.tasks.list(
    owner,
    cursor === undefined ? undefined : readCursor(cursor, owner, core),
    size + 1,
  )
  const tasks = listed.slice(0, size).map((task) => seen(task, core))
  const last = tasks.at(-1)?.taskId
  const page: ListTasksResult = { tasks }
  return listed.length > size && last !== undefined ? { ...page, nextCursor: writeCursor(last, owner, core) } : page
}

/** `tasks/cancel`: calls a task off. Where the extension is spoken that is a wish, so a task that is over does not mind. */
export const cancelTask: Method<'tasks/cancel'> = async ({ taskId }, context, core) => {
  const done = await core.tasks.act(ownerIn(context), taskId, { kind: 'cancel' })
  if (!done) throw new Refusal('UnknownTask')
  if (!context.features.has('tasks')) return {}
  if (done.before === done.after) throw new Refusal('TaskTerminal')
  return seen(done.after, core)
}

/** `tasks/update`: answers what a task asked. Answers to anything else are passed over. */
export const updateTask: Method<'tasks/update'> = async ({ taskId, inputResponses }, context, core) => {
  const done = await core.tasks.act(ownerIn(context), taskId, { kind: 'answer', answers: inputResponses })
  if (!done) throw new Refusal('UnknownTask')
  return {}
}

/**
 * A task that was there, once there is news of it or it is time to look. A store that is away is waited for as long as
 * by whoever works on the task: nothing is lost by that.
 * @throws what the signal is aborted with, once whoever waits has gone
 */
async function nextLook(ear: Ear, taskId: string, context: CallContext, core: Core): Promise<TaskRecord> {
  const { times, everyMs } = recordPatience
  for (let left = times, waitMs = lookEveryMs; ; left--, waitMs = everyMs) {
    await ear.next(waitMs, context.signal)
    context.signal.throwIfAborted()
    try {
      return await find(taskId, context, core)
    } catch (error) {
      if (!isStoreUnavailable(error) || left === 0) throw error
    }
  }
}

async function find(taskId: string, context: CallContext, core: Core): Promise<TaskRecord> {
  const task = await core.tasks.get(ownerIn(context), taskId)
  if (!task) throw new Refusal('UnknownTask')
  return task
}

/** @throws Refusal `MissingClientCapability` for a client that would have to declare the extension and did not */
function ownerIn(context: CallContext): string {
  if (!context.features.has('tasks') && !context.features.has(tasksFeature)) throw withoutTasks()
  return callerOf(context)
}

function seen(task: TaskRecord, core: Core): Task {
  return toTask(task, core.tasks.pollIntervalMs)
}

function outcomeOf({ id, outcome }: TaskRecord): CallToolResult {
  if (!outcome) throw new Refusal('HandlerFailed', { message: 'The task was cancelled.', ran: 'unknown' })
  if ('refusal' in outcome) {
    const { kind, data, message } = outcome.refusal
    // Recorded by `refusalOf`, so the kind is one and data is an object.
    const details = {
      ...(data !== undefined && { data: data as Refusal['data'] & object }),
      ...(message !== undefined && { message }),
    }
    throw new Refusal(kind as RefusalKind, { ...details, ran: 'yes' })
  }
  const result = outcome.result as CallToolResult
  return { ...result, _meta: { ...result._meta, [relatedTask]: { taskId: id } } }
}

/** Questions that are with a client now, so that two who wait for one task do not both ask. */
const open = new Set<string>()

function nameOf({ id }: TaskRecord, key: string): string {
  return `${id} ${key}`
}

/** Asks on the stream of whoever waits for the task, and hands on what comes back. */
async function askFor(
  task: TaskRecord,
  key: string,
  request: AskRequest,
  context: CallContext,
  core: Core,
): Promise<void> {
  if (!context.ask) return
  const name = nameOf(task, key)
  open.add(name)
  const { id } = task
  const owner = callerOf(context)
  try {
    const event = await context.ask(related(request, id), key).then(
      (answer): Reply => ({ kind: 'answer', answers: { [key]: answer satisfies AskAnswer } }),
      (error: unknown) => refusedBy(error, key),
    )
    // Nobody is asked twice, so what was said is not lost to a store that is away.
    await retried(recordPatience, () => core.tasks.act(owner, id, event))
  } catch (error) {
    core.ports.logger.debug('a question of a task was not answered; it stays', { task: id, error })
  } finally {
    open.delete(name)
  }
}

type Reply = Parameters<Core['tasks']['act']>[2]

/** That the client will not answer. @throws `error` where it was not reached, or too slow, so that it can be asked again */
function refusedBy(error: unknown, key: string): Reply {
  if (error instanceof Error && isOfClient(error)) return { kind: 'refuse', key, message: error.message }
  throw error
}

/** Layers of a server may wrap what a question came to. */
const maxWraps = 8

/** Whether a question failed by the client's own word, which is the cause then; what else fails may have a cause, too. */
function isOfClient(thrown: Error): boolean {
  let error: unknown = thrown
  for (let wraps = 0; wraps < maxWraps && error instanceof Error; wraps++) {
    if (error.name === 'AskFailed') return error.cause !== undefined
    error = error.cause
  }
  return false
}

function related(request: AskRequest, taskId: string): AskRequest {
  const params = { ...request.params, _meta: { [relatedTask]: { taskId } } }
  // The same request with one more member, which the params of every request may have.
  return { ...request, params } as unknown as AskRequest
}

function writeCursor(last: string, owner: string, { ports }: Core): string {
  return ports.seal.seal('cursor', { list: 'tasks', last, owner }, ports.clock() + cursorTtlMs)
}

function readCursor(cursor: string, owner: string, { ports }: Core): string {
  const opened = ports.seal.open('cursor', cursor)
  if (opened === undefined || opened === 'expired' || opened.list !== 'tasks' || opened.owner !== owner)
    throw new Refusal('BadCursor')
  if (typeof opened.last !== 'string') throw new Refusal('BadCursor')
  return opened.last
}
