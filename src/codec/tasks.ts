import { isObject, own } from '../model/json.ts'
import { refusalInTask } from './refuse.ts'
import type { Transform } from './define.ts'
import type { JsonObject } from '../model/json.ts'

/** The identifier of the extension that tasks became. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

/**
 * Writes a task where its times are called `ttl` and `pollInterval`; a task that lives for ever has `ttl` null. There a
 * tool's result that is an error makes the task a failed one (2025-11-25, tasks, "Task Execution Errors").
 */
export const taskToWire: Transform = (task) => {
  const { ttlMs, pollIntervalMs, result, ...others } = task
  const failed = others['status'] === 'completed' && isObject(result) && result['isError'] === true
  const rest = failed ? { ...others, status: 'failed' } : others
  return {
    ...rest,
    ttl: ttlMs ?? rest['ttl'] ?? null,
    ...(pollIntervalMs === undefined ? {} : { pollInterval: pollIntervalMs }),
  }
}

/** Writes a task that has in it how it ended: the refusal that it failed with becomes an error with its code. */
export const detailedTaskToWire: Transform = (task) => {
  const error = own(task, 'error')
  return isObject(error) ? { ...task, error: refusalInTask(error) } : task
}

/** Reads what {@link taskToWire} wrote. */
export const taskFromWire: Transform = (task) => {
  const { ttl, pollInterval, ...rest } = task
  return {
    ...rest,
    ...(ttl === undefined ? {} : { ttlMs: ttl }),
    ...(pollInterval === undefined ? {} : { pollIntervalMs: pollInterval }),
  }
}

/** The members that say something of a result and not of the task in it. */
const ofResult = ['_meta', 'resultType'] as const

/** Writes the handle of a task, which the model has flat and marked by its `resultType`, inside `task`. */
export const handleToWire =
  (otherwise: Transform): Transform =>
  (model, report) => {
    if (own(model, 'resultType') !== 'task') return otherwise(model, report)
    const meta = own(model, '_meta')
    const task = Object.fromEntries(Object.entries(model).filter(([name]) => !ofResult.some((other) => other === name)))
    return meta === undefined ? { task } : { task, _meta: meta }
  }

/** Reads what {@link handleToWire} wrote. */
export const handleFromWire: Transform = (wire, report) => {
  const task = own(wire, 'task')
  if (!isObject(task) || own(wire, 'content') !== undefined) return wire
  const { task: _, ...rest } = wire
  return { ...rest, ...taskFromWire(task, report), resultType: 'task' }
}

/** Reads a list of tasks. */
export const tasksFromWire: Transform = (wire, report) => {
  const tasks = own(wire, 'tasks')
  return Array.isArray(tasks)
    ? { ...wire, tasks: tasks.map((task: JsonObject) => (isObject(task) ? taskFromWire(task, report) : task)) }
    : wire
}
