import type { TaskWorker } from '../durable/tasks.ts'
import type { TaskWork } from '../durable/task.ts'
import type { Notification } from '../model/notification.ts'
import type { CallContext } from '../model/served.ts'
import type { Core } from './core.ts'
import { InnerContext } from './middleware/inner-context.ts'
import { relatedTask } from './task-view.ts'

/**
 * The context of a run that is a task, or may become one. Up to then it is the call's own; from then on the call is
 * over: questions wait in the task, nothing but the task's end stops the run, and what it reports goes to its session.
 */
export class TaskContext extends InnerContext {
  readonly #core: Core
  readonly #controller = new AbortController()
  readonly #stop: () => void
  #worker: TaskWorker | undefined

  constructor(outer: CallContext, core: Core, worker?: TaskWorker) {
    super(outer)
    this.#core = core
    this.#stop = () => this.#controller.abort(outer.signal.reason)
    if (worker) this.promote(worker)
    else if (outer.signal.aborted) this.#stop()
    else outer.signal.addEventListener('abort', this.#stop, { once: true })
  }

  /** From now on the run is that of a task. */
  promote(worker: TaskWorker): void {
    this.#worker = worker
    if (worker.signal.aborted) return this.#controller.abort(worker.signal.reason)
    worker.signal.addEventListener('abort', () => this.#controller.abort(worker.signal.reason), { once: true })
    // The signal of a call that was never aborted until now is not even made.
    if (!this.#controller.signal.aborted) this.outer.signal.removeEventListener('abort', this.#stop)
  }

  override get signal(): AbortSignal {
    return this.#controller.signal
  }

  override get ask(): CallContext['ask'] {
    return this.#worker?.ask ?? this.outer.ask
  }

  override notify(notification: Notification): void {
    const worker = this.#worker
    if (!worker) return this.outer.notify(notification)
    const { session } = this.outer
    if (session === undefined || !this.features.has('tasks')) return
    const params = { ...notification.params, _meta: { [relatedTask]: { taskId: worker.task.id } } }
    this.#core.tell({
      kind: 'task',
      taskId: worker.task.id,
      // The same notification with one more member, which every notification may have.
      toSession: { ...notification, params } as unknown as Notification,
      toListener: undefined,
      visibleTo: (_, key) => key === session.key,
    })
  }

  override disconnect(retryMs: number): void {
    if (!this.#worker) this.outer.disconnect(retryMs)
  }
}

const never = new AbortController().signal

/** The context of a call whose caller is known from the task alone: it ran in another process before. */
export function revivedCaller({ revision, features, client, principal }: NonNullable<TaskWork['again']>): CallContext {
  const known = new Set(features)
  return {
    revision,
    features: known,
    defined: known,
    principal: principal && { ...principal, scopes: new Set(principal.scopes) },
    client,
    signal: never,
    logLevel: undefined,
    progressToken: undefined,
    notify: () => {},
    ask: undefined,
    session: undefined,
    requestKey: undefined,
    detach: () => {},
    requestId: '',
    header: undefined,
    disconnect: () => {},
  }
}
