import { isObject, own, type JsonObject } from '../model/json.ts'
import type { Task } from '../model/nouns.ts'
import { isRefusal } from '../model/refusal.ts'
import type { Listener } from './listeners.ts'
import { saysNothing } from './retrying.ts'

/** Until when the progress is heard of tasks that were started and that nobody has to wait for: until they are over. */
export interface TaskProgress extends Listener {
  /** Another task whose progress is heard until `heard` is aborted. */
  keep(taskId: string, heard: AbortController): void
  /** Does `work`, a request, and reads from what it comes to whether the task that it is about is over. */
  watching(method: string, params: JsonObject, work: () => Promise<JsonObject>): Promise<JsonObject>
}

/** Tasks whose progress is heard; of more than that the oldest is not any more, since it may never be asked about. */
export const maxHeard = 1_000

/** Makes that of one client. */
export function createTaskProgress(): TaskProgress {
  const tasks = new Map<string, AbortController>()

  function over(taskId: unknown): void {
    if (typeof taskId !== 'string') return
    tasks.get(taskId)?.abort()
    tasks.delete(taskId)
  }

  /** What was told of a task may be anything. */
  function told(task: unknown): void {
    if (isObject(task) && isOver(own(task, 'status'))) over(own(task, 'taskId'))
  }

  return {
    keep(taskId, heard) {
      over(taskId)
      tasks.set(taskId, heard)
      for (const oldest of tasks.size > maxHeard ? tasks.keys() : []) return over(oldest)
    },
    async watching(method, params, work) {
      if (tasks.size === 0 || !method.startsWith('tasks/')) return work()
      try {
        const result = await work()
        if (method === 'tasks/result') over(params.taskId)
        else told(result)
        return result
      } catch (error) {
        // The refusal is what the task came to, or says that there is no such task.
        if (method === 'tasks/result' && isRefusal(error) && !saysNothing(error)) over(params.taskId)
        throw error
      }
    },
    notified({ method, params }) {
      if (method === 'notifications/tasks/status') told(params)
    },
  }
}

function isOver(status: unknown): boolean {
  const ends: readonly unknown[] = ['completed', 'failed', 'cancelled'] satisfies readonly Task['status'][]
  return ends.includes(status)
}
