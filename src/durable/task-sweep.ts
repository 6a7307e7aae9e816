import type { Clock, Logger } from '../model/ports.ts'
import type { Listed } from '../model/store.ts'
import { isStoreUnavailable } from '../model/store-unavailable.ts'
import { timerMs } from '../model/timer.ts'
import { digest } from './digest.ts'
import type { TaskStore } from './task-outage.ts'

/** A task that is not over, as far as it has to be known to look after it. */
export interface OpenTask {
  readonly owner: string
  readonly id: string
  readonly tool: string
}

/** What tasks are looked after with. */
export interface TaskSweepOptions {
  readonly store: TaskStore
  readonly clock: Clock
  readonly logger: Logger
  /** Names what all processes have in common that serve the same tools: they look after each other's tasks alone. */
  readonly kind: string
  /** Milliseconds between two looks of all processes together; each of them wakes a little less often. */
  readonly leaseMs: number
  /** Looks at one task, and takes it over where its process is dead. @returns whether it is over */
  look(task: OpenTask): Promise<boolean>
}

/** Looks for tasks whose process died, so that they end although nobody asks for them. */
export interface TaskSweep {
  /** Notes a task that begins, until `expiresAt` at the latest. Never rejects: what is not noted is found once it is asked for. */
  enter(task: OpenTask, expiresAt: number): Promise<void>
  /** Strikes off a task that is over. Never rejects. */
  leave(id: string): Promise<void>
  /** Begins to look; what has begun goes on. Keeps no process alive. */
  start(): void
  /** Stops looking. */
  close(): void
}

/** How far the processes have come with all tasks, and until when nobody else needs to look. */
interface Turn {
  readonly until: number
  /** The key behind which the next look begins; absent: from the first. */
  readonly after?: string
}

/** Tasks that one page has, and pages that one look goes through: what is left is for the next one. */
const pageSize = 100
const maxPages = 10
/** Tasks that are noted at most; for one more the oldest is found only once it is asked for. */
const maxNoted = 100_000
/** Milliseconds that it is kept how far the processes have come, once none of them looks any more. */
const keepMs = 24 * 3_600_000

/** One process at a time looks, whoever's turn it is: the turn is a value of the store that changes hands by its version. */
export function createTaskSweep(options: TaskSweepOptions): TaskSweep {
  const { store, clock, logger, leaseMs, look } = options
  const kind = digest('tasks', options.kind)
  const group = `task-open.${kind}`
  const turnKey = `task-sweep/${kind}`
  let waiting: NodeJS.Timeout | undefined
  let failing = false
  let state: 'resting' | 'looking' | 'closed' = 'resting'

  /** @returns the version and place of this process's turn; `undefined` where it is another's */
  async function takeTurn(): Promise<{ readonly version: number; readonly turn: Turn } | undefined> {
    const kept = await store.get(turnKey)
    // Written by this function and `passOn` alone.
    const last = kept && (JSON.parse(kept.value) as Turn)
    const now = clock()
    if (last && last.until > now) return undefined
    const turn: Turn = { ...last, until: now + leaseMs }
    const version = await writeTurn(turn, kept?.version ?? 0)
    return version === undefined ? undefined : { version, turn }
  }

  function writeTurn(turn: Turn, ifVersion: number): Promise<number | undefined> {
    return store.put(turnKey, JSON.stringify(turn), { ifVersion, expiresAt: turn.until + keepMs })
  }

  async function lookAt({ key, value }: Listed): Promise<void> {
    // Written by `enter` alone.
    const { owner, tool } = JSON.parse(value) as Omit<OpenTask, 'id'>
    const id = key.slice(group.length + 1)
    // One that cannot be looked at keeps nobody from the others.
    const over = await look({ owner, id, tool }).catch((error: unknown) => {
      if (isStoreUnavailable(error)) throw error
      logger.warn('a task could not be looked at', { task: id, error })
      return false
    })
    if (over) await leave(id)
  }

  const isClosed = (): boolean => state === 'closed'

  /** Looks at what there is, page by page. @returns where the next look begins */
  async function lookThrough(from: string | undefined): Promise<string | undefined> {
    let after = from
    for (let pages = 0; pages < maxPages; pages++) {
      const page = await store.list(group, { limit: pageSize, ...(after !== undefined && { after }) })
      // One by one: what is taken over has to be counted before the next is, and nobody is in a hurry.
      for (const noted of page) {
        if (isClosed()) return after
        await lookAt(noted)
      }
      if (page.length < pageSize) return undefined
      after = page.at(-1)?.key
    }
    return after
  }

  async function sweep(): Promise<void> {
    const mine = await takeTurn()
    if (!mine) return
    const { turn, version } = mine
    const after = await lookThrough(turn.after)
    if (after !== turn.after) await writeTurn({ until: turn.until, ...(after !== undefined && { after }) }, version)
  }

  async function turnRound(): Promise<void> {
    try {
      await sweep()
      failing = false
    } catch (error) {
      // Told once: it is tried again for as long as the server is there, whose store may be closed for good.
      if (!failing) logger.warn('abandoned tasks cannot be looked for', { error })
      failing = true
    }
    if (state === 'looking') waiting = wakeLater(self, leaseMs)
  }

  async function leave(id: string): Promise<void> {
    await store
      .delete(`${group}/${id}`)
      .catch((error: unknown) => logger.debug('a task that is over is still noted', { task: id, error }))
  }

  const self: Sweeper = { turnRound }
  return {
    enter: async ({ owner, id, tool }, expiresAt) => {
      await store
        .put(`${group}/${id}`, JSON.stringify({ owner, tool }), { expiresAt, maxInGroup: maxNoted, evict: 'first' })
        .catch((error: unknown) => logger.warn('a task could not be noted for others', { task: id, error }))
    },
    leave,
    start() {
      if (state !== 'resting') return
      state = 'looking'
      waiting = wakeLater(self, leaseMs)
    },
    close() {
      state = 'closed'
      clearTimeout(waiting)
    },
  }
}

interface Sweeper {
  turnRound(): Promise<void>
}

/** Not all processes at once. The timer holds nobody: a server that is not used any more can be let go of. */
function wakeLater(sweeper: Sweeper, ms: number): NodeJS.Timeout {
  const held = new WeakRef(sweeper)
  return setTimeout(() => void held.deref()?.turnRound(), timerMs(ms * (1 + Math.random() / 2))).unref()
}
