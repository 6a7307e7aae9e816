import type { JsonObject, Json } from './json.ts'
import type { ListenFilter } from './call.ts'
import type { LogLevel, Task } from './nouns.ts'

/** What a server tells a client without being asked, in the model's own vocabulary. */
export type Notification =
  | { readonly method: 'notifications/progress'; readonly params: ProgressParams }
  | { readonly method: 'notifications/message'; readonly params: LogParams }
  | { readonly method: 'notifications/tools/list_changed'; readonly params?: JsonObject }
  | { readonly method: 'notifications/prompts/list_changed'; readonly params?: JsonObject }
  | { readonly method: 'notifications/resources/list_changed'; readonly params?: JsonObject }
  | { readonly method: 'notifications/resources/updated'; readonly params: { readonly uri: string } }
  | { readonly method: 'notifications/elicitation/complete'; readonly params: { readonly elicitationId: string } }
  | {
      readonly method: 'notifications/subscriptions/acknowledged'
      readonly params: { readonly notifications: ListenFilter }
    }
  | { readonly method: 'notifications/tasks/status'; readonly params: Task }
  | { readonly method: 'notifications/tasks'; readonly params: Task }

/** How far a call has come. `progress` only grows; `total` may be unknown. */
export interface ProgressParams {
  readonly progressToken: string | number
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Something a server says of its work, at a severity. */
export interface LogParams {
  readonly level: LogLevel
  readonly data: Json
  readonly logger?: string
}

/** Something that changed on a served value, announced after it took effect. */
export type Change =
  | { readonly kind: 'tools' | 'prompts' | 'resources'; visibleTo(principal: Principal | undefined): boolean }
  | { readonly kind: 'resource'; readonly uri: string; visibleTo(principal: Principal | undefined): boolean }
  | TaskChange

/** Something happened to a task, or inside it. */
export interface TaskChange {
  readonly kind: 'task'
  readonly taskId: string
  /** What a session that the task belongs to is told. */
  readonly toSession: Notification
  /** What whoever listens to the task is told, if anything. */
  readonly toListener: Notification | undefined
  /** Whether the task belongs to this caller. `session` is the key of its session, where it has one. */
  visibleTo(principal: Principal | undefined, session?: string): boolean
}

/** On whose behalf a request is made. Scopes decide what it sees. */
export interface Principal {
  /** Stable and unique among those who use the server. */
  readonly id: string
  readonly scopes: ReadonlySet<string>
  /** What the verifier of the credentials knows besides. */
  readonly claims?: JsonObject
}

/**
 * Whether `value` is a {@link Principal}, by its own members alone: an id that is not empty, and a set of scopes. What tells
 * who is asking is written by others, so a mistake in it must let nobody in.
 */
export function isPrincipal(value: unknown): value is Principal {
  if (!isMembers(value)) return false
  const { id, scopes, claims } = value
  return typeof id === 'string' && id !== '' && isSet(scopes) && (claims === undefined || isMembers(claims))
}

/** @throws TypeError for a principal that is given and is none; see {@link isPrincipal} */
export function checkPrincipal(value: unknown): void {
  if (value === undefined || isPrincipal(value)) return
  throw new TypeError('a principal has an id that is a string and not empty, and scopes that are a Set')
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Also a set of another realm, or a read-only one of somebody's own. */
function isSet(value: unknown): boolean {
  if (!isMembers(value)) return false
  const isMethod = (name: string | symbol): boolean => typeof Reflect.get(value, name) === 'function'
  return isMethod('has') && isMethod(Symbol.iterator) && typeof value.size === 'number' && !isMethod('get')
}
