import type { CallContext } from '../model/served.ts'
import { Refusal } from '../model/refusal.ts'
import type { Core } from './core.ts'
import { callerOf, tasksFeature, toTask, withoutTasks } from './task-view.ts'

/** Tasks that one listener names at most. */
const maxTasks = 1000

/** The tasks among `ids` that the caller may hear of, each with its last change. @throws Refusal for a client that did not declare the extension */
export async function honourTasks(
  ids: readonly string[],
  context: CallContext,
  core: Core,
): Promise<ReadonlyMap<string, number>> {
  if (!context.features.has(tasksFeature)) throw withoutTasks()
  if (ids.length > maxTasks) throw new Refusal('MalformedParams')
  const owner = callerOf(context)
  const found = await Promise.all([...new Set(ids)].map((id) => core.tasks.get(owner, id)))
  return new Map(found.flatMap((task) => (task ? [[task.id, task.updatedAt] as const] : [])))
}

/** Tells what changed of `tasks` before anybody listened. What changes later comes over the bus. */
export function tellChanged(tasks: ReadonlyMap<string, number>, context: CallContext, core: Core): void {
  const owner = callerOf(context)
  for (const [id, updatedAt] of tasks) {
    void core.tasks.get(owner, id).then(
      (task) => {
        if (!task || task.updatedAt === updatedAt) return
        context.notify({ method: 'notifications/tasks', params: toTask(task, core.tasks.pollIntervalMs) })
      },
      () => {},
    )
  }
}
