import { digest } from '../durable/digest.ts'
import type { TaskRecord } from '../durable/task.ts'
import { anybody } from '../durable/tasks.ts'
import type { CreateTaskResult } from '../model/call.ts'
import type { Feature } from '../model/feature.ts'
import type { JsonObject } from '../model/json.ts'
import type { Task } from '../model/nouns.ts'
import type { Principal, TaskChange } from '../model/notification.ts'
import { Refusal } from '../model/refusal.ts'
import type { CallContext } from '../model/served.ts'

/** The extension that tasks are from 2026-07-28 on. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'
/** It, as a feature that both sides declare. */
export const tasksFeature: Feature = `extensions.${tasksExtension}`
/** Marks what is sent on account of a task (2025-11-25, tasks, "Related Task Metadata"). */
export const relatedTask = 'io.modelcontextprotocol/related-task'

/**
 * Who a task belongs to: the principal; without one the session; without that whoever bears the task's id. A task is
 * kept under its owner, so that another's is exactly one that does not exist.
 */
export function ownerOf(principal: Principal | undefined, session: string | undefined): string {
  if (principal) return digest('principal', principal.id)
  return session === undefined ? anybody : digest('session', session)
}

/** The owner of the tasks that a caller makes and may see. */
export function callerOf({ principal, session }: CallContext): string {
  return ownerOf(principal, session?.key)
}

/** What is thrown at a client that would have to declare the extension. */
export function withoutTasks(): Refusal {
  return new Refusal('MissingClientCapability', {
    data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
  })
}

/** A task as its owner is told of it. */
export function toTask(task: TaskRecord, pollIntervalMs: number): Task {
  const { asks, outcome } = task
  const asked = Object.entries(asks).map(([key, { request }]) => [key, request] as const)
  return {
    ...head(task, pollIntervalMs),
    ...(asked.length > 0 && { inputRequests: Object.fromEntries(asked) }),
    // A tool's result is an object: it was recorded by `asOutcome`.
    ...(outcome && ('result' in outcome ? { result: outcome.result as JsonObject } : { error: outcome.refusal })),
  }
}

/** What a call is answered that became a task. */
export function toHandle(task: TaskRecord, pollIntervalMs: number): CreateTaskResult {
  return { resultType: 'task', ...head(task, pollIntervalMs) }
}

function head({ id, status, statusMessage, createdAt, updatedAt, ttlMs }: TaskRecord, pollIntervalMs: number): Task {
  return {
    taskId: id,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs,
    pollIntervalMs,
  }
}

/** That a task changed, for its owner. */
export function toChange(owner: string, record: TaskRecord, pollIntervalMs: number): TaskChange {
  const params = toTask(record, pollIntervalMs)
  return {
    kind: 'task',
    taskId: record.id,
    toSession: { method: 'notifications/tasks/status', params },
    toListener: { method: 'notifications/tasks', params },
    visibleTo: (principal, session) => ownerOf(principal, session) === owner,
  }
}
