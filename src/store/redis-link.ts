import { timerMs } from '../model/timer.ts'
import { Refusal } from '../model/refusal.ts'
import { StoreUnavailable } from '../model/store-unavailable.ts'
import { createGate, Late, within } from './deadline.ts'
import type { RedisConnect, RedisConnection, RedisListeners } from './redis-connection.ts'
import type { Script } from './redis-scripts.ts'

/** Two connections to Redis, one of them for messages, that reject in time. */
export interface RedisLink {
  command(...args: readonly string[]): Promise<unknown>
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>
  subscribe(channel: string): Promise<void>
  unsubscribe(channel: string): Promise<void>
  close(): void
}

/** What a link tells. */
export interface LinkListeners {
  message(channel: string, text: string): void
  /** The connection for messages is back: nothing is subscribed on it, and messages may have been lost. */
  reconnected(): void
}

/** A connection that is made anew when it is lost, or answers no more. */
interface Line {
  /** Uses the connection once it is up; it has this long to come back, in milliseconds. */
  use<Result>(work: (connection: RedisConnection) => Promise<Result>): Promise<Result>
  close(): void
}

/** A connection that was lost is waited for so long, in milliseconds; one that never was, for the timeout. */
const patienceMs = 250
/** A connection that only listens is asked for a sign of life once in so many timeouts. */
const checkEveryTimeouts = 5

/** Opens both connections with the first use. */
export function createRedisLink(
  connect: () => Promise<RedisConnect>,
  timeoutMs: number,
  listeners: LinkListeners,
): RedisLink {
  const ignore = (): void => {}
  const commands = createLine(connect, timeoutMs, { message: ignore, reconnected: ignore })
  const messages = createLine(connect, timeoutMs, listeners)
  let check: NodeJS.Timeout | undefined

  /** A peer that went without a word is noticed only by who waits for an answer. */
  function checkMessages(): void {
    check ??= setInterval(
      () => {
        messages.use((connection) => connection.command(['PING'])).catch(ignore)
      },
      timerMs(checkEveryTimeouts * timeoutMs),
    ).unref()
  }

  const command = (args: readonly string[]): Promise<unknown> => commands.use((connection) => connection.command(args))

  return {
    command: (...args) => command(args),
    async run({ sha, text }, keys, args) {
      const rest = [String(keys.length), ...keys, ...args]
      try {
        return await command(['EVALSHA', sha, ...rest])
      } catch (error) {
        if (!reasonOf(error).startsWith('NOSCRIPT')) throw error
        return command(['EVAL', text, ...rest])
      }
    },
    subscribe(channel) {
      checkMessages()
      return messages.use((connection) => connection.subscribe(channel))
    },
    unsubscribe: (channel) => messages.use((connection) => connection.unsubscribe(channel)),
    close() {
      clearInterval(check)
      commands.close()
      messages.close()
    },
  }
}

function createLine(connect: () => Promise<RedisConnect>, timeoutMs: number, listeners: LinkListeners): Line {
  let opened: Promise<RedisConnection> | undefined
  let wasUp = false
  let closed = false
  let reason: Error | undefined
  const gate = createGate(() => `Redis is not reachable${reason ? `: ${reason.message}` : ''}`)

  async function open(): Promise<RedisConnection> {
    // Of a connection that was given up nothing is heard any more.
    const isCurrent = (): boolean => opened === mine && !closed
    const told: RedisListeners = {
      ready() {
        if (!isCurrent()) return
        gate.open()
        if (wasUp) listeners.reconnected()
        wasUp = true
      },
      down(error) {
        if (!isCurrent()) return
        reason = error ?? reason
        gate.shut()
      },
      message: (channel, text) => isCurrent() && listeners.message(channel, text),
    }
    const mine = opening(told)
    opened = mine
    return mine
  }

  async function opening(told: RedisListeners): Promise<RedisConnection> {
    try {
      return (await connect())(told)
    } catch (error) {
      opened = undefined
      throw new StoreUnavailable(reasonOf(error), { cause: error })
    }
  }

  /** Answers that do not come may never come: the peer may be gone without a word. */
  function giveUp(connection: RedisConnection, used: Promise<RedisConnection>): void {
    if (opened !== used || closed) return
    gate.shut()
    connection.end()
    void open().catch(() => {})
  }

  return {
    async use(work) {
      if (closed) throw new StoreUnavailable('The store is closed')
      await (opened ?? open())
      if (!gate.isOpen) await gate.pass(wasUp ? Math.min(patienceMs, timeoutMs) : timeoutMs)
      // It may have been given up for another one meanwhile.
      const used = opened ?? open()
      const connection = await used
      try {
        return await within(timeoutMs, work(connection), `Redis did not answer within ${timeoutMs} ms`)
      } catch (error) {
        if (error instanceof Late) giveUp(connection, used)
        throw toStoreError(error)
      }
    },
    close() {
      closed = true
      opened?.then(
        (connection) => connection.end(),
        () => {},
      )
    },
  }
}

function toStoreError(error: unknown): Error {
  if (error instanceof StoreUnavailable) return error
  const reason = reasonOf(error)
  if (reason.startsWith('OOM') || reason.startsWith(tooLong)) return new Refusal('StoreFull', { cause: error })
  // An answer was given instead of an effect; anything else is the connection's.
  return new StoreUnavailable(reason, { attempted: isAnswer(error) ? 'no' : 'unknown', cause: error })
}

/** What Redis says of a text that is longer than it takes, before it breaks the connection. */
const tooLong = 'ERR Protocol error: invalid bulk length'

/** Whether an error is an answer of the server's: these begin with their kind in capitals. */
export function isAnswer(error: unknown): boolean {
  return /^[A-Z]{2,} /.test(reasonOf(error))
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
