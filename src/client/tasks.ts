import { asUnknown } from '../model/as-unknown.ts'
import type { CallToolResult } from '../model/call.ts'
import { CallFailed, isFailure } from '../model/failure.ts'
import { isObject, own, type JsonObject } from '../model/json.ts'
import type { AskAnswer, AskRequest, ClientCapabilities, Task } from '../model/nouns.ts'
import type { AnswerAsk } from '../peer/calling-asks.ts'
import type { Caller } from '../peer/calling.ts'
import { asksIn } from './asked.ts'
import { answered, restOf, untilOf } from './answered.ts'
import { tasksExtension, type RequestOptions } from './options.ts'
import { heeding } from './lifetimes.ts'
import { throughOutage, type OutageOptions } from './outage.ts'
import { pause, type JobFacts } from './sending.ts'
import type { ToolAnswer } from './tool-answer.ts'

/** Long jobs on a server, of either generation. */
export interface Tasks {
  /** How a task stands. */
  get(taskId: string, options?: RequestOptions): Promise<Task>
  /**
   * Waits for a task's end, answering meanwhile what it asks, and over times in which the server is away.
   * @throws what the call behind it would have thrown; and what ended the waiting, its `data` with the `taskId`
   */
  result(taskId: string, options?: RequestOptions): Promise<ToolAnswer>
  /** The caller's tasks, where the server lists them. */
  list(options?: RequestOptions): Promise<readonly Task[]>
  /** Calls a task off. Where that is a wish, the task may end otherwise. */
  cancel(taskId: string, options?: RequestOptions): Promise<void>
  /** Answers what a task asks, for those who do not leave that to {@link Tasks.result}. */
  update(taskId: string, inputResponses: Readonly<Record<string, AskAnswer>>, options?: RequestOptions): Promise<void>
}

/** Declares the extension, for requests about tasks of a client that does not declare it for all. */
export const declaresTasks: ClientCapabilities = { extensions: { [tasksExtension]: {} } }

/** What requests about tasks have in common: twice is as good as once. */
const facts: JobFacts = { repeatable: () => true, capabilities: declaresTasks }

/** What tasks are followed with. */
export interface TasksOptions extends OutageOptions {
  readonly answer: AnswerAsk
  ask(method: string, params: JsonObject, options: RequestOptions, facts: JobFacts): Promise<JsonObject>
}

/** How often one looks, unless the server says; and never more often, nor less. Milliseconds. */
const lookMs = { usual: 1_000, least: 20, most: 60_000 }
const maxPages = 100

/** Reads how a task stands. */
export async function getTask(taskId: string, options: RequestOptions, { ask }: TasksOptions): Promise<Task> {
  return asTask(await ask('tasks/get', { taskId }, options, facts))
}

/** Reads all of the caller's tasks. */
export async function listTasks(options: RequestOptions, { ask }: TasksOptions): Promise<readonly Task[]> {
  const tasks: Task[] = []
  const seen = new Set<unknown>([undefined])
  let cursor: string | undefined
  for (let pages = 0; pages < maxPages; pages++) {
    const page = await ask('tasks/list', cursor === undefined ? {} : { cursor }, options, facts)
    if (Array.isArray(page.tasks)) tasks.push(...page.tasks.filter(isObject).map(asTask))
    if (typeof page.nextCursor !== 'string' || page.nextCursor === '' || seen.has(page.nextCursor)) break
    cursor = page.nextCursor
    seen.add(cursor)
  }
  return tasks
}

/** Calls a task off. */
export async function cancelTask(taskId: string, options: RequestOptions, { ask }: TasksOptions): Promise<void> {
  await ask('tasks/cancel', { taskId }, options, facts)
}

/** Answers what a task asks. */
export async function updateTask(
  taskId: string,
  inputResponses: Readonly<Record<string, AskAnswer>>,
  options: RequestOptions,
  { ask }: TasksOptions,
): Promise<void> {
  await ask('tasks/update', { taskId, inputResponses }, options, facts)
}

/**
 * Follows a task to its end and resolves to what the call behind it came to. A server that is away is waited for as long as a
 * call may go without a word.
 * @param key the key of the call that became the task
 * @throws what the call came to; and what ended the waiting, its `data` with the `taskId` and the key as `idempotencyKey`
 */
export async function followTask(
  first: Task | string,
  options: RequestOptions,
  tasks: TasksOptions,
  key?: string,
): Promise<CallToolResult> {
  const taskId = typeof first === 'string' ? first : first.taskId
  try {
    const task = typeof first === 'string' ? await look(taskId, options, tasks) : first
    return await followed(task, options, tasks)
  } catch (error) {
    if (isFailure(error) && error.ran === 'yes') throw error
    throw asUnknown(error, { taskId, ...(key !== undefined && { idempotencyKey: key }) })
  }
}

function look(taskId: string, options: RequestOptions, tasks: TasksOptions): Promise<Task> {
  return throughOutage(() => getTask(taskId, options, tasks), options, tasks)
}

/**
 * Where a task tells its own end it is looked at as often as the server wants it to be, and answered; where another request
 * tells the end, that is made once the task is over or asks something, which it does while that request waits.
 */
async function followed(first: Task, given: RequestOptions, tasks: TasksOptions): Promise<CallToolResult> {
  const done = new Set<string>()
  const until = untilOf(given)
  for (let task = first; ; task = await look(task.taskId, restOf(given, until), tasks)) {
    const options = restOf(given, until)
    const caller = await throughOutage(() => heeding(tasks.connection.caller(), options.signal), options, tasks)
    const isApart = caller.dialect?.features.has('tasks') === true
    if (task.status === 'cancelled')
      throw new CallFailed('Cancelled', { ran: 'unknown', message: 'The task was cancelled' })
    if (isApart && task.status !== 'working') {
      // It may wait for a person, so nothing but the caller's own patience ends it.
      const patience = { timeoutMs: maxWaitMs, maxTimeoutMs: maxWaitMs, ...options }
      const result = (): Promise<JsonObject> => tasks.ask('tasks/result', { taskId: task.taskId }, patience, facts)
      return await throughOutage(result, options, tasks)
    }
    if (task.status === 'completed' || task.status === 'failed') return outcomeOf(task, caller)
    if (task.status === 'input_required') await answerTask(task, done, options, caller, tasks)
    const left = until - performance.now()
    // A timer may be up to a millisecond early, and rounds down: after it the time is to be over.
    await pause(Math.ceil(Math.min(left, intervalOf(task))) + 1, given.signal)
    if (left <= intervalOf(task))
      throw new CallFailed('TimedOut', { ran: 'unknown', message: 'The time of the call ended before its task did' })
  }
}

const maxWaitMs = 24 * 3600_000

function outcomeOf({ status, result, error }: Task, caller: Caller): CallToolResult {
  if (status === 'failed') throw caller.refusalIn(error)
  return result ?? {}
}

/** Answers the questions that were not answered yet: their keys are unique for the task's life. */
async function answerTask(
  { taskId, inputRequests }: Task,
  done: Set<string>,
  options: RequestOptions,
  caller: Caller,
  tasks: TasksOptions,
): Promise<void> {
  const open = asksIn(inputRequests).filter(([key]) => !done.has(key))
  if (open.length === 0) return
  const answering = async (
    [key, request]: readonly [string, AskRequest],
    stop: AbortSignal,
  ): Promise<readonly [string, AskAnswer]> => [
    key,
    caller.encodeAnswer(request.method, await tasks.answer(request, stop)),
  ]
  // How long a task takes is no matter of one request, so only the caller's own patience counts.
  const limits = { signal: options.signal, until: untilOf(options) }
  const answers = await answered((stop) => Promise.all(open.map((one) => answering(one, stop))), limits)
  await throughOutage(() => updateTask(taskId, Object.fromEntries(answers), options, tasks), options, tasks)
  for (const [key] of open) done.add(key)
}

/** As the server wants it; a server may say what is no number of milliseconds. */
function intervalOf({ pollIntervalMs }: Task): number {
  const said: unknown = pollIntervalMs
  if (typeof said !== 'number' || !(said > 0)) return lookMs.usual
  return Math.min(lookMs.most, Math.max(lookMs.least, said))
}

/** @throws CallFailed `ProtocolViolation` */
export function asTask(result: JsonObject): Task {
  if (typeof own(result, 'taskId') === 'string' && typeof own(result, 'status') === 'string')
    return result as unknown as Task
  throw new CallFailed('ProtocolViolation', { ran: 'unknown', message: 'The server answered no task' })
}
