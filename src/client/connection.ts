import { CallFailed } from '../model/failure.ts'
import type { Caller } from '../peer/calling.ts'
import { deferred } from './deferred.ts'

/** A way to one server that is made anew when it breaks. */
export interface Connection {
  /** The caller to use; connects where there is none. @throws CallFailed, Refusal; `Cancelled` as soon as it is closed */
  caller(): Promise<Caller>
  /** The caller, where there is one just now. */
  readonly current: Caller | undefined
  /** The caller is of no use any more: the next call makes another. */
  leave(caller: Caller): void
  /** The same, but what is in flight may end. */
  retire(caller: Caller): void
  /** Gives up on all callers, also on those that are being made. */
  close(): Promise<void>
}

/** A caller that is being made. */
export interface Making {
  /** @throws CallFailed `Cancelled` once the connection is closed */
  check(): void
  /** A caller was made on the way, to be closed with the connection. */
  began(caller: Caller): void
}

/** How often it is looked whether a retired caller has ended. Milliseconds. */
const lookMs = 200

/** What a connection is made of. */
export interface ConnectionOptions {
  connect(making: Making): Promise<Caller>
  /** A caller took another's place; what the server knew of the client is to be told again. */
  renewed(caller: Caller): void
}

/** Keeps one caller at a time; whoever needs one while it is being made waits for the same one. */
export function createConnection({ connect, renewed }: ConnectionOptions): Connection {
  let current: Caller | undefined
  let making: Promise<Caller> | undefined
  /** The same, as long as that is of use to those who wait. */
  let connecting: Promise<Caller> | undefined
  let closed = false
  let made = 0
  const closing = deferred<never>()
  const begun = new Set<Caller>()
  const retired = new Set<Caller>()
  /** A server may go away while it is told what it has to know of the client. */
  const gone = new WeakSet<Caller>()

  const check = (): void => {
    if (closed) throw closedFailure()
  }

  async function make(): Promise<Caller> {
    try {
      const caller = await connect({ check, began: (caller) => void begun.add(caller) })
      if (closed) await caller.close()
      check()
      made += 1
      if (gone.has(caller)) return caller
      current = caller
      if (made > 1) renewed(caller)
      return caller
    } finally {
      begun.clear()
      making = undefined
      connecting = undefined
    }
  }

  function drop(caller: Caller): void {
    gone.add(caller)
    if (current === caller) current = undefined
  }

  return {
    get current() {
      return current
    },
    caller() {
      if (closed) return Promise.reject(closedFailure())
      if (current) return Promise.resolve(current)
      if (connecting) return connecting
      making = make()
      connecting = Promise.race([making, closing.promise])
      return connecting
    },
    leave(caller) {
      drop(caller)
      // What met the end of the way is told that first; the rest is lost with it.
      setImmediate(() => void caller.close(new CallFailed('ConnectionLost', { ran: 'unknown' })))
    },
    retire(caller) {
      drop(caller)
      retired.add(caller)
      const timer = setInterval(() => {
        if (caller.size > 0) return
        clearInterval(timer)
        retired.delete(caller)
        void caller.close()
      }, lookMs)
    },
    async close() {
      closed = true
      const last = current
      current = undefined
      closing.reject(closedFailure())
      const given = [...begun].map((caller) => caller.close(closedFailure()))
      await Promise.all([last?.close(), ...given, ...[...retired].map((caller) => caller.close())])
      await making?.catch(() => {})
    },
  }
}

function closedFailure(): CallFailed {
  return new CallFailed('Cancelled', { ran: 'no', message: 'The client is closed' })
}
