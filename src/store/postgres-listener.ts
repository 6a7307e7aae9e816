import { timerMs } from '../model/timer.ts'
import { StoreUnavailable } from '../model/store-unavailable.ts'
import { within } from './deadline.ts'
import { borrow, toStoreError, type PostgresClient, type PostgresPool } from './postgres-pool.ts'

/** The connection that notifications come on. It is made anew when it is lost, for as long as anybody listens. */
export interface PostgresListener {
  /** @param name a plain identifier */
  listen(name: string): Promise<void>
  unlisten(name: string): Promise<void>
  close(): void
}

/** What a listener tells. */
export interface ListenerEvents {
  notified(name: string, payload: string): void
  /** It listens again, and notifications may have been lost. */
  reconnected(): void
}

/** A connection that only listens is asked for a sign of life once in so many timeouts. */
const checkEveryTimeouts = 5
/** Milliseconds between two attempts to connect, at most. */
const longestDelayMs = 1000

/** Takes a connection of the pool with the first name listened to. */
export function createListener(
  pool: () => Promise<PostgresPool>,
  timeoutMs: number,
  events: ListenerEvents,
): PostgresListener {
  const names = new Set<string>()
  let connected: Promise<PostgresClient> | undefined
  let check: NodeJS.Timeout | undefined
  let retry: NodeJS.Timeout | undefined
  let letGo = (): void => {}
  let closed = false

  function connection(): Promise<PostgresClient> {
    connected ??= connect().catch((error: unknown) => {
      connected = undefined
      throw error
    })
    return connected
  }

  async function connect(): Promise<PostgresClient> {
    const client = await borrow(await pool(), timeoutMs)
    let isLost = false
    const lost = (): void => {
      if (isLost) return
      isLost = true
      clearInterval(check)
      connected = undefined
      client.release(true)
      if (!closed) connectAgain(25)
    }
    client.on('notification', ({ channel, payload = '' }) => events.notified(channel, payload))
    client.on('error', lost)
    client.on('end', lost)
    letGo = lost
    if (closed) {
      lost()
      throw new StoreUnavailable('The store is closed')
    }
    clearInterval(check)
    check = setInterval(() => void send(client, 'SELECT 1').catch(lost), timerMs(checkEveryTimeouts * timeoutMs))
    check.unref()
    try {
      if (names.size > 0) await send(client, [...names].map((name) => `LISTEN ${name}`).join(';'))
    } catch (error) {
      lost()
      throw error
    }
    return client
  }

  function connectAgain(delayMs: number): void {
    if (closed || names.size === 0 || retry !== undefined) return
    retry = setTimeout(() => {
      retry = undefined
      if (connected !== undefined || closed) return
      connection().then(
        () => events.reconnected(),
        () => connectAgain(Math.min(delayMs * 2, longestDelayMs)),
      )
    }, timerMs(delayMs))
  }

  async function send(client: PostgresClient, sql: string): Promise<void> {
    try {
      await within(timeoutMs, client.query(sql), `PostgreSQL did not answer within ${timeoutMs} ms`)
    } catch (error) {
      throw toStoreError(error)
    }
  }

  return {
    async listen(name) {
      if (closed) throw new StoreUnavailable('The store is closed')
      const client = await connection()
      await send(client, `LISTEN ${name}`)
      names.add(name)
    },
    async unlisten(name) {
      names.delete(name)
      if (connected !== undefined) await send(await connected, `UNLISTEN ${name}`)
    },
    close() {
      closed = true
      clearTimeout(retry)
      letGo()
    },
  }
}
