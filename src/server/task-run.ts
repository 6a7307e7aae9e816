import type { TaskWork } from '../durable/task.ts'
import { asOutcome } from '../durable/task-ending.ts'
import type { TaskWorker } from '../durable/tasks.ts'
import type { CallToolParams, CallToolResult, CreateTaskResult, InputRequiredResult } from '../model/call.ts'
import { features } from '../model/feature.ts'
import type { JsonObject } from '../model/json.ts'
import { Refusal } from '../model/refusal.ts'
import type { CallContext } from '../model/served.ts'
import { timerMs } from '../model/timer.ts'
import type { Core } from './core.ts'
import type { ToolEntry } from './entry.ts'
import { refusalOf } from './once.ts'
import type { Round } from './round.ts'
import type { Run } from './run.ts'
import { TaskContext } from './task-context.ts'
import { callerOf, tasksFeature, toHandle, withoutTasks } from './task-view.ts'

/** When a call becomes a task, and how long the client wants to keep it. */
export interface TaskMode {
  /** Milliseconds; 0 with `now`: before anything ran. */
  readonly after: number | 'now'
  readonly ttlMs?: number
}

/**
 * When a call becomes a task, if it does: where the client decides, as it asks; where the server does, as the tool says,
 * and only for a client that declared the extension.
 * @throws Refusal `TaskRequired` or `MissingClientCapability` for a tool that only runs as a task
 */
export function taskMode(
  { value: { config } }: ToolEntry,
  { task: asked }: CallToolParams,
  context: CallContext,
): TaskMode | undefined {
  const { task = 'never' } = config
  if (task === 'never') return undefined
  if (context.features.has('tasks.requests.tools.call')) {
    if (asked) return { after: 'now', ...(asked.ttl !== undefined && { ttlMs: asked.ttl }) }
    if (task === 'always') throw new Refusal('TaskRequired')
    return undefined
  }
  if (context.features.has(tasksFeature)) return { after: task === 'always' ? 'now' : task.after }
  // A revision that knows no tasks at all leaves nobody a choice, so there the call just takes its time.
  if (task === 'always' && context.defined.has('tasks.extension')) throw withoutTasks()
  return undefined
}

type Answer = CallToolResult | InputRequiredResult
type Go = (context: CallContext) => Promise<Answer>

/** Runs a call that becomes a task: answers the task's handle, or what the call came to before it was one. */
export async function runAsTask(
  mode: TaskMode,
  entry: ToolEntry,
  round: Round,
  run: Run,
  go: Go,
): Promise<Answer | CreateTaskResult> {
  const { core, context } = run
  const make = (): Promise<TaskWorker> => core.tasks.create(callerOf(context), workOf(entry, round, run), mode.ttlMs)
  if (mode.after === 'now') {
    const worker = await make()
    round.heldBy(worker.hold)
    void finish(worker, go(new TaskContext(context, core, worker)), core)
    return toHandle(worker.task, core.tasks.pollIntervalMs)
  }
  const inner = new TaskContext(context, core)
  const running = go(inner)
  if (await isDoneWithin(mode.after, running)) return running
  // A call that is about to ask its client first does so (2026-07-28, tasks, on multi round-trip requests).
  if (round.asking || inner.signal.aborted) return running
  return promoted(running, make, inner, round, core)
}

async function promoted(
  running: Promise<Answer>,
  make: () => Promise<TaskWorker>,
  inner: TaskContext,
  round: Round,
  core: Core,
): Promise<Answer | CreateTaskResult> {
  let worker: TaskWorker
  try {
    worker = await make()
  } catch (error) {
    core.ports.logger.warn('a call could not become a task; it is waited for', { error })
    return running
  }
  if (round.asking || inner.signal.aborted) {
    await core.tasks.act(worker.owner, worker.task.id, { kind: 'cancel' })
    return running
  }
  inner.promote(worker)
  round.heldBy(worker.hold)
  void finish(worker, running, core)
  return toHandle(worker.task, core.tasks.pollIntervalMs)
}

/** Whether the call ends, whichever way, within `ms`. */
async function isDoneWithin(ms: number, running: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timerMs(ms))
  })
  const done = await Promise.race([
    running.then(
      () => true,
      () => true,
    ),
    late,
  ])
  clearTimeout(timer)
  return done
}

/** What has to be known to run the call once more, where it may. */
function workOf(entry: ToolEntry, round: Round, { call, context }: Run): TaskWork {
  const tool = entry.key
  if (entry.value.config.rerun !== 'safe') return { tool }
  round.recordSteps(false)
  const { principal, client, revision } = context
  return {
    tool,
    again: {
      // The codec checked that the arguments are an object where there are any.
      arguments: (call.params.arguments ?? {}) as JsonObject,
      meta: call.meta,
      flow: round.resumed(round.own),
      revision,
      features: [...features, tasksFeature].filter((feature) => context.features.has(feature)),
      client,
      principal: principal && { ...principal, scopes: [...principal.scopes] },
    },
  }
}

/** Waits for a task's run and records what it came to. Never rejects. */
export async function finish(worker: TaskWorker, running: Promise<Answer>, core: Core): Promise<void> {
  try {
    const answer = await running
    if (answer.resultType !== undefined) throw new Error('A task cannot end with a question')
    await worker.complete(asOutcome(answer))
  } catch (thrown) {
    // Nobody waits for what a task came to that was called off.
    if (worker.signal.aborted) return
    core.ports.logger.warn('a task failed', { tool: worker.task.work.tool, error: thrown })
    const refusal = refusalOf(thrown)
    await worker.complete({ refusal }, refusal.message ?? 'The call behind the task failed.')
  }
}
