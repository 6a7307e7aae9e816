import type { Awaitable } from '../model/at-once.ts'
import type { Clock, Logger } from '../model/ports.ts'
import type { Refusal } from '../model/refusal.ts'
import { takenOver, type Hold } from './hold.ts'
import { isTerminal, type TaskRecord } from './task.ts'

/** What the tasks that one process works on have in common. */
export interface TaskHolding {
  readonly clock: Clock
  readonly logger: Logger
  /** Renews the lease, with patience for a store that is away, and has the task seen as it stands. */
  renewPatiently(task: HeldTask): Promise<void>
}

/** A task that this process works on. */
export class HeldTask implements Hold {
  readonly owner: string
  readonly id: string
  readonly token: string
  readonly controller: AbortController = new AbortController()
  /** Milliseconds since the epoch until which nobody takes it over. */
  until: number
  /** Whether its work is done, and only has to be recorded: there is nothing to call off any more. */
  isDone = false
  lost: Refusal | undefined
  readonly #holding: TaskHolding

  constructor(owner: string, { id, lease }: TaskRecord, holding: TaskHolding) {
    this.owner = owner
    this.id = id
    this.token = lease.token
    this.until = lease.until
    this.#holding = holding
  }

  isOurs(): Awaitable<boolean> {
    return this.lost === undefined && (this.until > this.#holding.clock() || this.#isStillOurs())
  }

  async #isStillOurs(): Promise<boolean> {
    await this.#holding.renewPatiently(this)
    return this.lost === undefined
  }

  /** Takes in how the task stands; stops the work on it when that is wanted no more. Returns whether it is to go on. */
  see(task: TaskRecord | undefined): boolean {
    if (task && !isTerminal(task.status) && task.lease.token === this.token) return true
    const { signal } = this.controller
    if (!this.isDone && !signal.aborted) this.#stop(task)
    return false
  }

  #stop(task: TaskRecord | undefined): void {
    const { clock, logger } = this.#holding
    if (this.#isTaken(task)) {
      this.lost = takenOver(task?.createdAt ?? clock())
      logger.warn('a task was taken over while it was running', { task: this.id })
    }
    // Nobody takes over what is over.
    this.until = Infinity
    this.controller.abort(this.lost ?? new Error(task ? 'The task is over' : 'The task is too old'))
  }

  /** Whether somebody else may have worked on it: it was neither called off nor forgotten in time. */
  #isTaken(task: TaskRecord | undefined): boolean {
    if (task === undefined) return this.until <= this.#holding.clock()
    return task.lease.token !== this.token || task.status !== 'cancelled'
  }
}
