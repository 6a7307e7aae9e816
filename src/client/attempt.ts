import { CallFailed } from '../model/failure.ts'
import type { Caller } from '../peer/calling.ts'
import type { Connection } from './connection.ts'
import { whenAborted } from './lifetimes.ts'

/** The first attempt to connect, which can be given up. */
export interface Attempt {
  /** @throws CallFailed `Cancelled` once it was given up */
  check(): void
  /** A caller was made, to be closed if it is given up. */
  began(caller: Caller): void
  /** Resolves to the caller of the connection. @throws CallFailed `Cancelled` at once when it is given up, and what connecting throws */
  done(connection: Connection): Promise<Caller>
}

/** Makes an attempt that ends with `signal`. After {@link Attempt.done} that means nothing any more. */
export function createAttempt(signal: AbortSignal | undefined): Attempt {
  if (!signal) return { check: () => {}, began: () => {}, done: (connection) => connection.caller() }
  const callers = new Set<Caller>()
  let over = false
  const cancelled = (): CallFailed =>
    new CallFailed('Cancelled', { ran: 'no', message: 'Connecting was cancelled', cause: signal.reason })
  const check = (): void => {
    if (!over && signal.aborted) throw cancelled()
  }
  return {
    check,
    began: (caller) => void (over || callers.add(caller)),
    async done(connection) {
      check()
      let forget = (): void => {}
      const given = new Promise<never>((_, reject) => {
        const stop = (): void => {
          const failure = cancelled()
          reject(failure)
          // What is begun ends behind the back of whoever gave it up, and takes the time that it needs.
          void connection.close()
          for (const caller of callers) void caller.close(failure)
        }
        forget = whenAborted(signal, stop)
      })
      try {
        const caller = await Promise.race([connection.caller(), given])
        // Whoever gives up in between has closed what came.
        if (signal.aborted) throw cancelled()
        return caller
      } finally {
        // Once given up it stays so: whatever still goes on is to begin nothing new.
        over = !signal.aborted
        callers.clear()
        forget()
      }
    },
  }
}
