import type { Feature } from '../model/feature.ts'
import type { JsonObject } from '../model/json.ts'
import type { AskAnswer, AskRequest, Implementation, TaskStatus } from '../model/nouns.ts'
import type { Outcome } from './claim.ts'
import type { Flow } from './flow.ts'

/** A question that a task waits on, with the digest of what is asked. */
export interface TaskAsk {
  readonly to: string
  readonly request: AskRequest
}

/** What came back to a question: the client's answer, or why there is none. */
export type TaskReply = { readonly to: string } & ({ readonly answer: AskAnswer } | { readonly refused: string })

/** The job behind a task. */
export interface TaskWork {
  readonly tool: string
  /** What it takes to run it once more in another process; absent where the tool may not run again. */
  readonly again?: {
    readonly arguments: JsonObject
    readonly meta: JsonObject
    /** The rounds and steps before the task was made. */
    readonly flow: Flow
    readonly revision: string
    readonly features: readonly Feature[]
    readonly client: Implementation | undefined
    readonly principal:
      | { readonly id: string; readonly scopes: readonly string[]; readonly claims?: JsonObject }
      | undefined
  }
}

/** A task as it is kept. Times are milliseconds since the epoch. */
export interface TaskRecord {
  readonly id: string
  readonly status: TaskStatus
  /** For people. */
  readonly statusMessage?: string
  readonly createdAt: number
  readonly updatedAt: number
  /** Milliseconds from its creation after which the task is forgotten. */
  readonly ttlMs: number
  readonly work: TaskWork
  /** What it waits for, by key; status `input_required` means that there is something. */
  readonly asks: Readonly<Record<string, TaskAsk>>
  /** What it was told so far. A key that was answered is never asked again. */
  readonly replies: Readonly<Record<string, TaskReply>>
  /** Who works on it. A token fences: a worker that was taken for dead can change nothing any more. */
  readonly lease: { readonly token: string; readonly until: number }
  /** What it came to: there once it is completed or failed. */
  readonly outcome?: Outcome
}

/** What happens to a task. */
export type TaskEvent =
  /** Its worker asks the client something. */
  | { readonly kind: 'ask'; readonly token: string; readonly key: string; readonly ask: TaskAsk }
  /** Its owner answers. Answers to what is not asked are passed over. */
  | { readonly kind: 'answer'; readonly answers: Readonly<Record<string, AskAnswer>> }
  /** The client could not answer one question. */
  | { readonly kind: 'refuse'; readonly key: string; readonly message: string }
  /** Its worker is done. */
  | { readonly kind: 'complete'; readonly token: string; readonly outcome: Outcome; readonly message?: string }
  /** Its owner calls it off. */
  | { readonly kind: 'cancel' }
  /** Its worker is alive. */
  | { readonly kind: 'renew'; readonly token: string; readonly until: number }
  /** Another worker would take it over: it may once the lease has run out. */
  | { readonly kind: 'take'; readonly token: string; readonly until: number }

/** Whether a task in this status never changes again. */
export function isTerminal(status: TaskStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

/** What the owner of a task is told whose worker died, where its tool may not run again. */
const died = 'The process that ran this task ended before the task did. How far it came is not known.'

/**
 * A task after `event`, at `now`; the same object where the event changes nothing: it came too late, or from a worker
 * that is no longer the task's. A task begins as `working`, goes to `input_required` and back as it asks and is
 * answered, and from either to one of the three ends, of which none is ever left (2025-11-25, tasks, "Task Status
 * Lifecycle").
 */
export function advance(task: TaskRecord, event: TaskEvent, now: number): TaskRecord {
  if (isTerminal(task.status)) return task
  if ('token' in event && event.kind !== 'take' && event.token !== task.lease.token) return task
  switch (event.kind) {
    case 'ask':
      if (Object.hasOwn(task.replies, event.key)) return task
      return asking(task, { ...task.asks, [event.key]: event.ask }, task.replies, now)
    case 'answer':
      return replied(
        task,
        Object.entries(event.answers).map(([key, answer]) => [key, { answer }]),
        now,
      )
    case 'refuse':
      return replied(task, [[event.key, { refused: event.message }]], now)
    case 'complete':
      return ended(task, 'refusal' in event.outcome ? 'failed' : 'completed', event, now)
    case 'cancel':
      return ended(task, 'cancelled', { message: 'The task was cancelled.' }, now)
    case 'renew':
      return { ...task, lease: { token: event.token, until: event.until } }
    case 'take':
      if (task.lease.until > now) return task
      if (!task.work.again) return ended(task, 'failed', { outcome: lost(task), message: died }, now)
      // Whoever runs it asks again what is not answered yet.
      return { ...asking(task, {}, task.replies, now), lease: { token: event.token, until: event.until } }
  }
}

function asking(task: TaskRecord, asks: TaskRecord['asks'], replies: TaskRecord['replies'], now: number): TaskRecord {
  return { ...task, status: Object.keys(asks).length > 0 ? 'input_required' : 'working', asks, replies, updatedAt: now }
}

function replied(
  task: TaskRecord,
  given: readonly (readonly [string, { readonly answer: AskAnswer } | { readonly refused: string }])[],
  now: number,
): TaskRecord {
  const fresh = given.flatMap(([key, reply]) => {
    const ask = Object.hasOwn(task.asks, key) ? task.asks[key] : undefined
    return ask ? [[key, { to: ask.to, ...reply }] as const] : []
  })
  if (fresh.length === 0) return task
  const answered = new Set(fresh.map(([key]) => key))
  const left = Object.entries(task.asks).filter(([key]) => !answered.has(key))
  return asking(task, Object.fromEntries(left), { ...task.replies, ...Object.fromEntries(fresh) }, now)
}

function ended(
  task: TaskRecord,
  status: TaskStatus,
  { outcome, message }: { readonly outcome?: Outcome; readonly message?: string },
  now: number,
): TaskRecord {
  const { statusMessage: _, ...rest } = task
  return {
    ...rest,
    status,
    asks: {},
    updatedAt: now,
    ...(message !== undefined && { statusMessage: message }),
    ...(outcome && { outcome }),
  }
}

function lost(task: TaskRecord): Outcome {
  return { refusal: { kind: 'OutcomeUnknown', data: { since: new Date(task.createdAt).toISOString() } } }
}
