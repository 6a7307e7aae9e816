import { timerMs } from '../model/timer.ts'
import { StoreUnavailable } from '../model/store-unavailable.ts'
import { isBusy } from './sqlite-driver.ts'

/** Writes to one file. */
export interface Writer {
  /**
   * Runs `work` in a transaction, soon and in the order of calls; as a whole or not at all, and perhaps twice.
   * @param single `work` is one statement, which needs no transaction where it is alone
   */
  write<Result>(work: () => Result, single: boolean): Promise<Result>
  /** Rejects what has not been written. */
  close(): void
}

/** What a writer needs of its file. */
export interface WriterParts {
  begin(): unknown
  commit(): unknown
  rollBack(): void
  /** Milliseconds that a write waits at most for others to let go of the file. */
  readonly timeoutMs: number
  toError(error: unknown): Error
}

interface Waiting {
  readonly deadline: number
  readonly single: boolean
  /** @returns what settles the call once the transaction is over */
  run(): () => void
  reject(error: Error): void
}

/** Calls that share a transaction at most. */
const batch = 64

/**
 * Most of what a small transaction costs is its end, so that all calls of one turn of the event loop share one. Where one
 * of them fails, they are run again each by itself, so that none is harmed by another.
 */
export function createWriter({ begin, commit, rollBack, timeoutMs, toError }: WriterParts): Writer {
  let queue: Waiting[] = []
  let scheduled = false
  let closed = false

  function schedule(delayMs: number): void {
    if (scheduled || queue.length === 0) return
    scheduled = true
    const next = (): void => {
      scheduled = false
      flush()
    }
    if (delayMs === 0) setImmediate(next)
    else setTimeout(next, timerMs(delayMs))
  }

  function flush(): void {
    const now = queue.slice(0, batch)
    queue = queue.slice(now.length)
    if (now.length > 0 && !transact(now)) {
      queue = [...now, ...queue].filter(inTime)
      return schedule(2 + Math.random() * 10)
    }
    schedule(0)
  }

  /** @returns false when others hold the file; then nothing was done */
  function transact(calls: readonly Waiting[]): boolean {
    const isWhole = calls.length === 1 && calls[0]?.single === true
    const settle: (() => void)[] = []
    let begun = false
    try {
      if (!isWhole) begin()
      begun = !isWhole
      for (const call of calls) settle.push(call.run())
      if (!isWhole) commit()
    } catch (error) {
      if (begun) rollBack()
      if (isBusy(error)) return false
      if (begun && calls.length > 1) return oneByOne(calls)
      for (const call of calls) call.reject(toError(error))
      return true
    }
    for (const each of settle) each()
    return true
  }

  function oneByOne(calls: readonly Waiting[]): boolean {
    const left = [...calls]
    for (let call = left[0]; call !== undefined && transact([call]); call = left[0]) left.shift()
    queue = [...left, ...queue]
    return true
  }

  function inTime(call: Waiting): boolean {
    if (performance.now() < call.deadline) return true
    call.reject(new StoreUnavailable(`Other processes held the file for ${timeoutMs} ms`))
    return false
  }

  return {
    write(work, single) {
      if (closed) return Promise.reject(new StoreUnavailable('The store is closed'))
      return new Promise((resolve, reject) => {
        const run = (): (() => void) => {
          const result = work()
          return () => resolve(result)
        }
        queue.push({ deadline: performance.now() + timeoutMs, single, run, reject })
        schedule(0)
      })
    },
    close() {
      closed = true
      for (const call of queue) call.reject(new StoreUnavailable('The store is closed'))
      queue = []
    },
  }
}
