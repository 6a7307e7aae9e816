import type { AskAnswer, AskRequest } from '../model/nouns.ts'
import type { Clock, Logger, Random } from '../model/ports.ts'
import { isRefusal, Refusal } from '../model/refusal.ts'
import type { Store, Versioned } from '../model/store.ts'
import { timerMs } from '../model/timer.ts'
import type { Outcome } from './claim.ts'
import { digest } from './digest.ts'
import { HeldTask, type TaskHolding } from './held-task.ts'
import type { Hold } from './hold.ts'
import { recordPatience, retried } from './retried.ts'
import { advance, isTerminal, type TaskEvent, type TaskRecord, type TaskWork } from './task.ts'
import { createTaskBus, type Ear } from './task-bus.ts'
import { writeEnding } from './task-ending.ts'
import { watched } from './task-outage.ts'
import { createTaskSweep, type OpenTask } from './task-sweep.ts'

/** The owner of what belongs to whoever bears its id. */
export const anybody = 'anybody'

/** How tasks are kept. */
export interface TaskLimits {
  /** Milliseconds that a task is kept from its creation, where its client does not say. Default 1 hour. */
  readonly ttlMs?: number
  /** The longest that a client may ask for, in milliseconds. Default 24 hours. */
  readonly maxTtlMs?: number
  /** How often a client is told to look, in milliseconds. Default 500. */
  readonly pollIntervalMs?: number
  /** Milliseconds after which a task whose process is silent counts as abandoned. Default 15,000. */
  readonly leaseMs?: number
  /** Tasks of one owner that are kept at most; finished ones give way first, others never. Default 1,000. */
  readonly maxPerOwner?: number
  /** Tasks of clients that are nobody in particular that are kept at most. Default 10,000. */
  readonly maxAnonymous?: number
  /** Tasks that one process works on at most. Default 1,000. */
  readonly maxRunning?: number
}

/** What tasks are kept with. */
export interface TasksOptions extends TaskLimits {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Names what all processes have in common that serve the same tools. */
  readonly kind: string
  /** Whether this process has the tool behind a task: others' tasks it leaves alone until somebody asks it for them. */
  has(tool: string): boolean
  /** Takes over a task whose worker died. */
  adopt(worker: TaskWorker): void
  /** Told of every change of any task, whichever process caused it. */
  changed(owner: string, task: TaskRecord): void
}

/** Works on one task, until it is done. */
export interface TaskWorker {
  readonly owner: string
  readonly task: TaskRecord
  /** Aborted once nobody wants the task any more: it was called off, is too old, or somebody else has taken it over. */
  readonly signal: AbortSignal
  /** Whether the task is still this process's, for what is begun in its course. A task that was called off is nobody else's. */
  readonly hold: Hold
  /** Asks the owner, and waits for as long as the task may live. Rejects when the client cannot answer. */
  ask(request: AskRequest, key: string): Promise<AskAnswer>
  /** Records what the task came to. Resolves when that is written, or cannot be. */
  complete(outcome: Outcome, message?: string): Promise<void>
}

/** The tasks of a server, over its store. An owner is whatever text names one; a task is found under its owner alone. */
export interface Tasks {
  readonly pollIntervalMs: number
  /**
   * Makes a task, written down before this resolves. @param ttlMs what the client asks for
   * @throws Refusal `Overloaded` or `StoreFull` where there is no room, `IdempotencyUnavailable` when the store is away
   */
  create(owner: string, work: TaskWork, ttlMs?: number): Promise<TaskWorker>
  get(owner: string, id: string): Promise<TaskRecord | undefined>
  /** Tasks in the order of their creation, behind the one with the id `after`. */
  list(owner: string, after: string | undefined, limit: number): Promise<readonly TaskRecord[]>
  /** The task before and after what its owner did; `undefined` if there is none. */
  act(owner: string, id: string, event: Exclude<TaskEvent, { readonly token: string }>): Promise<TaskStep | undefined>
  /** Hears of changes of one task. */
  ear(id: string): Ear
  /** Begins to hear of what other processes do with tasks, and to look after them. */
  listen(): void
  /** Begins to look, from time to time, for tasks whose process died, so that they end although nobody asks for them. */
  lookAfter(): void
  /** Stops renewing leases and looking after others' tasks, as a process does that dies. */
  close(): void
}

/** A task before and after an event; the same object where it changed nothing. */
export interface TaskStep {
  readonly before: TaskRecord
  readonly after: TaskRecord
}

const defaults = {
  ttlMs: 3600_000,
  maxTtlMs: 24 * 3600_000,
  pollIntervalMs: 500,
  leaseMs: 15_000,
  maxPerOwner: 1000,
  maxAnonymous: 10_000,
  maxRunning: 1000,
}
type Ending = Extract<TaskEvent, { readonly kind: 'complete' }>

/** Keeps tasks in a store. One timer renews the leases of all that this process works on. */
export function createTasks(options: TasksOptions): Tasks {
  const { clock, random, logger, changed } = options
  const limits = { ...defaults, ...options }
  const store = watched(options.store, clock, limits.leaseMs)
  const running = new Map<string, HeldTask>()
  let renewing: NodeJS.Timeout | undefined
  const holding: TaskHolding = {
    clock,
    logger,
    renewPatiently: (mine) => retried(recordPatience, () => renewLease(mine)),
  }

  const bus = createTaskBus(options, ({ owner, id, status }) => {
    look(owner, id).then(
      // What changed since will be told by news of its own.
      (task) => task?.status === status && changed(owner, task),
      (error: unknown) => logger.warn('a task could not be looked up', { task: id, error }),
    )
  })

  const sweep = createTaskSweep({ ...options, store, leaseMs: limits.leaseMs, look: lookAfter })

  /** The task as it stands; lets go of the work on it when that is wanted no more. */
  async function look(owner: string, id: string): Promise<TaskRecord | undefined> {
    const kept = await store.get(keyOf(owner, id))
    const task = kept && read(kept)
    drop(keyOf(owner, id), task)
    return task
  }

  function drop(key: string, task: TaskRecord | undefined): void {
    const mine = running.get(key)
    if (mine?.see(task) === false) running.delete(key)
  }

  async function write(owner: string, task: TaskRecord, ifVersion: number): Promise<number | undefined> {
    return store.put(keyOf(owner, task.id), JSON.stringify(task), {
      ifVersion,
      expiresAt: task.createdAt + task.ttlMs,
      maxInGroup: owner === anybody ? limits.maxAnonymous : limits.maxPerOwner,
      evict: isTerminal(task.status) ? 'first' : 'never',
    })
  }

  async function step(owner: string, id: string, event: TaskEvent): Promise<TaskStep | undefined> {
    for (;;) {
      const kept = await store.get(keyOf(owner, id))
      if (!kept) return undefined
      const before = read(kept)
      const after = advance(before, event, clock())
      if (after === before) return { before, after }
      if ((await write(owner, after, kept.version)) === undefined) continue
      if (event.kind !== 'renew') await announce(owner, after)
      return { before, after }
    }
  }

  async function announce(owner: string, task: TaskRecord): Promise<void> {
    const { id, status } = task
    drop(keyOf(owner, id), task)
    if (isTerminal(status)) void sweep.leave(id)
    await bus.tell({ owner, id, status })
  }

  async function create(owner: string, work: TaskWork, ttlMs?: number): Promise<TaskWorker> {
    if (running.size >= limits.maxRunning) throw new Refusal('Overloaded')
    const now = clock()
    const token = newToken()
    const task: TaskRecord = {
      id: newId(now),
      status: 'working',
      createdAt: now,
      updatedAt: now,
      ttlMs: Math.max(1, Math.min(Math.floor(ttlMs ?? limits.ttlMs), limits.maxTtlMs)),
      work,
      asks: {},
      replies: {},
      lease: { token, until: now + limits.leaseMs },
    }
    // Noted at the same time: whoever finds no task behind a note leaves that alone.
    const noted = sweep.enter({ owner, id: task.id, tool: work.tool }, now + task.ttlMs)
    try {
      await Promise.all([write(owner, task, 0), noted])
    } catch (cause) {
      void noted.then(() => sweep.leave(task.id))
      throw isRefusal(cause) ? cause : new Refusal('IdempotencyUnavailable', { cause })
    }
    return begin(owner, task)
  }

  function begin(owner: string, task: TaskRecord): TaskWorker {
    const { id, lease } = task
    const key = keyOf(owner, id)
    const mine = new HeldTask(owner, task, holding)
    const { signal } = mine.controller
    running.set(key, mine)
    sweep.start()
    renewing ??= setInterval(renew, timerMs(limits.leaseMs / 3)).unref()
    return {
      owner,
      task,
      signal,
      hold: mine,
      ask: (request, asked) => ask(owner, task, { request, key: asked }, signal),
      complete: async (outcome, message) => {
        // Until that is recorded the task is still this process's: its lease is renewed, and nobody runs it again.
        mine.isDone = true
        await record(owner, task, {
          kind: 'complete',
          token: lease.token,
          outcome,
          ...(message !== undefined && { message }),
        })
        if (running.get(key) === mine) running.delete(key)
      },
    }
  }

  async function ask(
    owner: string,
    { id, lease: { token } }: TaskRecord,
    { request, key }: { readonly request: AskRequest; readonly key: string },
    signal: AbortSignal,
  ): Promise<AskAnswer> {
    const to = digest(request)
    const ear = bus.ear(id)
    try {
      const asked = await retried(recordPatience, () =>
        step(owner, id, { kind: 'ask', token, key, ask: { to, request } }),
      )
      let task = asked?.after
      for (;;) {
        if (!task || signal.aborted || isTerminal(task.status)) throw new Error('The task is over')
        const reply = Object.hasOwn(task.replies, key) ? task.replies[key] : undefined
        // A key is asked once in the life of a task, so another question under it needs another key.
        if (reply && reply.to !== to) return await ask(owner, task, { request, key: nextKey(key) }, signal)
        if (reply && 'refused' in reply) throw new Error(reply.refused)
        if (reply) return reply.answer
        await ear.next(limits.leaseMs, signal, 'idly')
        task = await retried(recordPatience, () => look(owner, id))
      }
    } finally {
      ear.close()
    }
  }

  async function record(owner: string, task: TaskRecord, ending: Ending): Promise<void> {
    const { id } = task
    try {
      const done = await writeEnding({
        task,
        ending,
        write: (event) => step(owner, id, event),
        onDelay: (error) => logger.warn('what a task came to cannot be recorded yet', { task: id, error }),
        onUnkept: (error) => logger.error('what a task came to could not be kept', { task: id, error }),
      })
      if (done && done.after !== done.before) return
      // An attempt that looked as if it had failed may have come through, and then nobody was told.
      if (done?.after.outcome && done.after.lease.token === ending.token) return await announce(owner, done.after)
      logger.debug('what a task came to is wanted no more', { task: id })
    } catch (error) {
      logger.error('what a task came to could not be recorded', { task: id, error })
    }
  }

  function renew(): void {
    for (const mine of running.values()) {
      renewLease(mine).catch((error: unknown) =>
        logger.warn('the lease of a task could not be renewed', { task: mine.id, error }),
      )
    }
    if (running.size > 0) return
    clearInterval(renewing)
    renewing = undefined
  }

  async function renewLease(mine: HeldTask): Promise<void> {
    const { owner, id, token } = mine
    const until = clock() + limits.leaseMs
    const after = (await step(owner, id, { kind: 'renew', token, until }))?.after
    drop(keyOf(owner, id), after)
    // Also one that is not in the list any more, as after `close`.
    if (mine.see(after)) mine.until = until
  }

  /** Takes over a task whose worker is silent for too long; where it may not run again, it ends there. */
  async function living(owner: string, task: TaskRecord): Promise<TaskRecord | undefined> {
    const abandoned = !isTerminal(task.status) && task.lease.until <= clock() && !running.has(keyOf(owner, task.id))
    if (!abandoned || store.isJustBack()) return task
    const token = newToken()
    const taken = await step(owner, task.id, { kind: 'take', token, until: clock() + limits.leaseMs })
    if (taken?.after.lease.token === token) options.adopt(begin(owner, taken.after))
    return taken?.after
  }

  /** Does for a task what somebody would bring about who asks for it. @returns whether it is over */
  async function lookAfter({ owner, id, tool }: OpenTask): Promise<boolean> {
    if (running.has(keyOf(owner, id)) || !options.has(tool)) return false
    const kept = await store.get(keyOf(owner, id))
    const task = kept && read(kept)
    if (!task) return false
    // Where there is no room for it, another process may have some.
    if (task.work.again && running.size >= limits.maxRunning) return isTerminal(task.status)
    const after = await living(owner, task)
    return after !== undefined && isTerminal(after.status)
  }

  function newId(now: number): string {
    // The time makes ids sort by creation; nobody can guess the rest (2025-11-25, tasks, security).
    return `${now.toString(36).padStart(9, '0')}-${Buffer.from(random(24)).toString('base64url')}`
  }

  function newToken(): string {
    return Buffer.from(random(12)).toString('base64url')
  }

  return {
    pollIntervalMs: limits.pollIntervalMs,
    create,
    get: async (owner, id) => {
      if (!isId(id)) return undefined
      const kept = await store.get(keyOf(owner, id))
      return kept && living(owner, read(kept))
    },
    list: async (owner, after, limit) => {
      const listed = await store.list(groupOf(owner), {
        limit,
        ...(after !== undefined && { after: keyOf(owner, after) }),
      })
      return (await Promise.all(listed.map((kept) => living(owner, read(kept))))).filter((task) => task !== undefined)
    },
    act: async (owner, id, event) => (isId(id) ? step(owner, id, event) : undefined),
    ear: bus.ear,
    listen: () => {
      bus.listen()
      sweep.start()
    },
    lookAfter: sweep.start,
    close: () => {
      sweep.close()
      clearInterval(renewing)
      running.clear()
    },
  }
}

function groupOf(owner: string): string {
  return `task.${owner}`
}

function keyOf(owner: string, id: string): string {
  return `${groupOf(owner)}/${id}`
}

/** Whether a peer's text can be an id at all: it becomes part of a key. */
function isId(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text)
}

function nextKey(key: string): string {
  const [, stem = key, count = '1'] = /^(.*)~(\d+)$/s.exec(key) ?? []
  return `${stem}~${Number(count) + 1}`
}

/** Written by this module alone, in a store that is the server's own. */
function read({ value }: Pick<Versioned, 'value'>): TaskRecord {
  return JSON.parse(value) as TaskRecord
}
