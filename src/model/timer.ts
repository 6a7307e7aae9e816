/** The longest that a timer of the runtime can wait: nearly 25 days. Milliseconds. */
export const longestTimerMs: number = 2 ** 31 - 1

/**
 * A time as a timer takes it: what is longer than a timer can wait, `Infinity` too, waits for that long. Without this the
 * runtime makes one millisecond of it.
 */
export function timerMs(ms: number): number {
  return Math.min(ms, longestTimerMs)
}
