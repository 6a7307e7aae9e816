import { CallFailed } from '../model/failure.ts'
import type { Caller } from '../peer/calling.ts'
import { deferred } from './deferred.ts'
import { asUnsent } from './unsent.ts'

/** A way to one server that is made anew when it breaks. */
export interface Connection {
  /** The caller to use; connects where there is none. @throws CallFailed, Refusal, both `ran: 'no'`; `Cancelled` as soon as it is closed */
  caller(): Promise<Caller>
  /** The caller, where there is one just now. */
  readonly current: Caller | undefined
  /** The caller is of no use any more: the next call makes another. */
  leave(caller: Caller): void
  /** The same, but what is in flight may end. */
  retire(caller: Caller): void
  /**
   * Finds out anew what the server is, which may not be any more what `caller` agreed with. Resolves to whether a caller of
   * another age took its place. Not looked again soon after. Never rejects.
   */
  reconsider(caller: Caller): Promise<boolean>
  /** Gives up on all callers, also on those that are being made. */
  close(): Promise<void>
}

/** A caller that is being made. */
export interface Making {
  /** @throws CallFailed `Cancelled` once the connection is closed */
  check(): void
  /** A caller was made on the way, to be closed with the connection. */
  began(caller: Caller): void
  /** Whether what was found out of the server before does not count. */
  readonly anew: boolean
}

/** How often it is looked whether a retired caller has ended. Milliseconds. */
const lookMs = 200
/** How long the age of a server is not doubted again. Milliseconds. */
const settledMs = 30_000

/** What a connection is made of. */
export interface ConnectionOptions {
  connect(making: Making): Promise<Caller>
  /** A caller took another's place; what the server knew of the client is to be told again. */
  renewed(caller: Caller): void
  /** A caller is of no use any more. */
  left(caller: Caller): void
}

/** Keeps one caller at a time; whoever needs one while it is being made waits for the same one. */
export function createConnection({ connect, renewed, left }: ConnectionOptions): Connection {
  let current: Caller | undefined
  let making: Promise<Caller> | undefined
  /** The same, as long as that is of use to those who wait. */
  let connecting: Promise<Caller> | undefined
  let closed = false
  let made = 0
  const closing = deferred<never>()
  let looking: Promise<void> | undefined
  let settledUntil = 0
  const begun = new Set<Caller>()
  const retired = new Set<Caller>()
  /** A server may go away while it is told what it has to know of the client. */
  const gone = new WeakSet<Caller>()

  const check = (): void => {
    if (closed) throw closedFailure()
  }

  async function dial(anew: boolean): Promise<Caller> {
    const mine: Caller[] = []
    const began = (caller: Caller): void => {
      mine.push(caller)
      begun.add(caller)
    }
    try {
      const caller = await connect({ check, began, anew })
      if (closed) await caller.close()
      check()
      return caller
    } finally {
      for (const caller of mine) begun.delete(caller)
    }
  }

  function use(caller: Caller): Caller {
    made += 1
    if (gone.has(caller)) return caller
    current = caller
    if (made > 1) renewed(caller)
    return caller
  }

  async function make(): Promise<Caller> {
    try {
      return use(await dial(false))
    } catch (error) {
      throw asUnsent(error)
    } finally {
      making = undefined
      connecting = undefined
    }
  }

  function drop(caller: Caller): void {
    if (current === caller) current = undefined
    if (gone.has(caller)) return
    gone.add(caller)
    left(caller)
  }

  function retire(caller: Caller): void {
    drop(caller)
    retired.add(caller)
    const timer = setInterval(() => {
      if (caller.size > 0) return
      clearInterval(timer)
      retired.delete(caller)
      void caller.close()
    }, lookMs)
  }

  async function look(caller: Caller): Promise<void> {
    settledUntil = performance.now() + settledMs
    const found = await dial(true)
    if (current !== caller || ageOf(found) === ageOf(caller) || gone.has(found)) return found.close()
    // In this order: who hears that one was left wants the other.
    use(found)
    retire(caller)
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
    retire,
    async reconsider(caller) {
      if (current === caller && !looking && performance.now() >= settledUntil)
        looking = Promise.race([look(caller), closing.promise])
          .catch(() => {})
          .finally(() => (looking = undefined))
      await looking
      return current !== undefined && ageOf(current) !== ageOf(caller)
    },
    async close() {
      closed = true
      const last = current
      current = undefined
      closing.reject(closedFailure())
      const given = [...begun].map((caller) => caller.close(closedFailure()))
      await Promise.all([last?.close(), ...given, ...[...retired].map((caller) => caller.close())])
      await Promise.allSettled([making, looking])
    },
  }
}

function ageOf({ dialect }: Caller): string | undefined {
  return dialect?.codec.lifecycle
}

function closedFailure(): CallFailed {
  return new CallFailed('Cancelled', { ran: 'no', message: 'The client is closed' })
}
