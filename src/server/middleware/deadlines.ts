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

/**
 * Times `ms` milliseconds for many at once, with one timer that is left running where another would be wanted at once:
 * to set a timer and to clear it costs more than a short call.
 */
export function createDeadlines(ms: number): Deadlines {
  // All are of one length, so they are up in the order in which they began.
  const running = new Set<Deadline>()
  let timer: NodeJS.Timeout | undefined

  function arm(inMs: number): void {
    timer = setTimeout(look, timerMs(inMs))
  }

  function look(): void {
    try {
      const now = performance.now()
      for (const deadline of running) {
        if (deadline.at > now) break
        running.delete(deadline)
        deadline.expire()
      }
    } finally {
      // Only now: whoever begins while others are up must not set a timer beside this one.
      timer = undefined
      const [next] = running
      if (next !== undefined) arm(next.at - performance.now())
    }
  }

  return {
    start(expire) {
      const deadline = { at: performance.now() + ms, expire }
      running.add(deadline)
      if (timer === undefined) arm(ms)
      else if (running.size === 1) timer.ref()
      return deadline
    },
    stop(deadline) {
      running.delete(deadline)
      // Nothing waits for it, so it must not keep the process alive.
      if (running.size === 0) timer?.unref()
    },
  }
}
