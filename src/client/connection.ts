import { CallFailed } from '../model/failure.ts'
import type { Caller } from '../peer/calling.ts'

/** A way to one server that is made anew when it breaks. */
export interface Connection {
  /** The caller to use; connects where there is none. @throws CallFailed, Refusal */
  caller(): Promise<Caller>
  /** The caller, where there is one just now. */
  readonly current: Caller | undefined
  /** The caller is of no use any more: the next call makes another. */
  leave(caller: Caller): void
  /** The same, but what is in flight may end. */
  retire(caller: Caller): void
  close(): Promise<void>
}

/** How often it is looked whether a retired caller has ended. Milliseconds. */
const lookMs = 200

/** What a connection is made of. */
export interface ConnectionOptions {
  connect(): Promise<Caller>
  /** A caller took another's place; what the server knew of the client is to be told again. */
  renewed(caller: Caller): void
}

/** Keeps one caller at a time; whoever needs one while it is being made waits for the same one. */
export function createConnection({ connect, renewed }: ConnectionOptions): Connection {
  let current: Caller | undefined
  let connecting: Promise<Caller> | undefined
  let closed = false
  let made = 0

  async function make(): Promise<Caller> {
    const caller = await connect()
    if (closed) {
      await caller.close()
      throw closedFailure()
    }
    current = caller
    made += 1
    if (made > 1) renewed(caller)
    return caller
  }

  return {
    get current() {
      return current
    },
    caller() {
      if (closed) return Promise.reject(closedFailure())
      if (current) return Promise.resolve(current)
      connecting ??= make().finally(() => (connecting = undefined))
      return connecting
    },
    leave(caller) {
      if (current === caller) current = undefined
      // What met the end of the session is told that first; the rest is lost with it.
      setImmediate(() => void caller.close(new CallFailed('ConnectionLost', { ran: 'unknown' })))
    },
    retire(caller) {
      if (current === caller) current = undefined
      const timer = setInterval(() => {
        if (caller.size > 0 && !closed) return
        clearInterval(timer)
        void caller.close()
      }, lookMs)
    },
    async close() {
      closed = true
      const last = current
      current = undefined
      await last?.close()
      await connecting?.catch(() => {})
    },
  }
}

function closedFailure(): CallFailed {
  return new CallFailed('Cancelled', { ran: 'no', message: 'The client is closed' })
}
