import { timerMs } from '../../model/timer.ts'

/** Something whose time is running out. */
export interface Deadline {
  /** When its time is up, by `performance.now()`. */
  readonly at: number
  readonly expire: () => void
}

/** Times of one length, which may run side by side. */
export interface Deadlines {
  /** Calls `expire` once the time is up, unless that is stopped before. */
  start(expire: () => void): Deadline
  stop(deadline: Deadline): void
}

/** A deadline among the others: all are of one length, so the next one is up no sooner. */
interface Link extends Deadline {
  before: Link
  after: Link
}

/** The timer keeps the process for so much longer than it is wanted, at most. Milliseconds. */
const lookEveryMs = 100

/**
 * Times `ms` milliseconds for many at once, with one timer that looks for what is up while any is running: to set a timer
 * and to clear it costs more than a short call, and so does to let it go between two of them.
 */
export function createDeadlines(ms: number): Deadlines {
  const ring = createRing()
  let timer: NodeJS.Timeout | undefined

  function arm(inMs: number): void {
    timer = setTimeout(look, timerMs(Math.min(inMs, lookEveryMs)))
  }

  function look(): void {
    try {
      const now = performance.now()
      // Asked this way round, so that a time that is no number is up at once, and not in the way of the others for ever.
      while (ring.after !== ring && !(ring.after.at > now)) {
        const { after } = ring
        remove(after)
        after.expire()
      }
    } finally {
      // Only now: whoever begins while others are up must not set a timer beside this one.
      timer = undefined
      if (ring.after !== ring) arm(ring.after.at - performance.now())
    }
  }

  return {
    start(expire) {
      const link = { at: performance.now() + ms, expire, before: ring.before, after: ring }
      ring.before.after = link
      ring.before = link
      if (timer === undefined) arm(ms)
      return link
    },
    stop: (deadline) => remove(deadline as Link),
  }
}

/** The end and the beginning of a row of links that is a ring. */
function createRing(): Link {
  const ring = { at: Infinity, expire: () => {} } as Link
  ring.before = ring
  ring.after = ring
  return ring
}

/** Takes a link out, once; what is out stands alone. */
function remove(link: Link): void {
  link.before.after = link.after
  link.after.before = link.before
  link.before = link
  link.after = link
}
