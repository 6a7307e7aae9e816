import type { TaskWorker } from '../durable/tasks.ts'
import { Refusal } from '../model/refusal.ts'
import type { Core } from './core.ts'
import { runAgain } from './methods/tools.ts'
import { Round } from './round.ts'
import { revivedCaller, TaskContext } from './task-context.ts'
import { finish } from './task-run.ts'

/** Runs a task again whose worker died: what it was told and the steps it recorded are not asked and done again. */
export async function adoptTask(worker: TaskWorker, core: Core): Promise<void> {
  const { tool, again } = worker.task.work
  const entry = core.snapshot().tools.byKey.get(tool)
  core.ports.logger.info('a task is taken over', { task: worker.task.id, tool })
  if (!entry || !again) return finish(worker, Promise.reject(new Refusal('OutcomeUnknown')), core)
  const call = { method: 'tools/call', params: { name: tool, arguments: again.arguments }, meta: again.meta }
  const context = new TaskContext(revivedCaller(again), core, worker)
  const round = new Round(core, again.flow)
  round.recordSteps(true)
  round.heldBy(worker.hold)
  return finish(worker, runAgain(entry, round, { core, call, context, name: tool, target: tool }), core)
}
