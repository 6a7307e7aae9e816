import { Refusal } from '../model/refusal.ts'
import { StoreUnavailable } from '../model/store-unavailable.ts'
import { within } from './deadline.ts'

/** A pool of the package pg. One of its connections is kept for messages while anybody listens. */
export interface PostgresPool {
  connect(): Promise<unknown>
  end(): Promise<unknown>
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** What is used of a connection that the pool lends. */
export interface PostgresClient {
  query(statement: Statement | string): Promise<{ readonly rows: readonly unknown[] }>
  /** @param destroy whether the connection is of no more use */
  release(destroy?: boolean): void
  on(event: 'notification', listener: (notification: Notification) => void): unknown
  on(event: 'error' | 'end', listener: () => void): unknown
}

/** What the connection for messages hears. */
export interface Notification {
  readonly channel: string
  readonly payload?: string
}

/** A statement that a connection parses once, by its name. */
export interface Statement {
  readonly name?: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** Where PostgreSQL is. */
export type PostgresSource = { readonly connectionString: string } | { readonly pool: PostgresPool }

/** Makes a pool, or takes the one there is. @throws if the package pg is not installed */
export async function openPool(source: PostgresSource, timeoutMs: number): Promise<PostgresPool> {
  if ('pool' in source) {
    source.pool.on('error', ignore)
    return source.pool
  }
  const { Pool } = await importPg()
  const pool = new Pool({
    connectionString: source.connectionString,
    application_name: 'dragoman',
    connectionTimeoutMillis: timeoutMs,
    statement_timeout: timeoutMs,
    keepAlive: true,
  })
  pool.on('error', ignore)
  return pool
}

async function importPg(): Promise<Pick<typeof import('pg'), 'Pool'>> {
  try {
    return (await import('pg')).default
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') {
      throw new Error('No driver for PostgreSQL. Install it: npm install pg', { cause: error })
    }
    throw error
  }
}

/** A connection that breaks while nobody uses it is replaced by the pool. */
function ignore(): void {}

/** Borrows a connection. @throws StoreUnavailable if there is none within `timeoutMs` */
export async function borrow(pool: PostgresPool, timeoutMs: number): Promise<PostgresClient> {
  // The shape of a known package; its own types are not at hand where it is not installed.
  const lent = pool.connect() as Promise<PostgresClient>
  try {
    return guarded(await within(timeoutMs, lent, `PostgreSQL did not answer within ${timeoutMs} ms`))
  } catch (error) {
    lent.then(
      (late) => late.release(),
      () => {},
    )
    throw new StoreUnavailable(`PostgreSQL is not reachable: ${reasonOf(error)}`, { cause: error })
  }
}

const guardedClients = new WeakSet<PostgresClient>()

/** A lent connection that breaks tells so by an event that nobody else hears, beside the statement that fails. */
function guarded(client: PostgresClient): PostgresClient {
  if (!guardedClients.has(client)) client.on('error', ignore)
  guardedClients.add(client)
  return client
}

/** Runs one statement, which happens as a whole or not at all. @returns its rows */
export async function queryPool(
  pool: PostgresPool,
  statement: Statement,
  timeoutMs: number,
): Promise<readonly unknown[]> {
  const client = await borrow(pool, timeoutMs)
  try {
    const { rows } = await within(
      timeoutMs,
      client.query(statement),
      `PostgreSQL did not answer within ${timeoutMs} ms`,
    )
    client.release()
    return rows
  } catch (error) {
    // Only after an answer of the server is the connection known to be good for another statement.
    client.release(stateOf(error) === undefined)
    throw toStoreError(error)
  }
}

/** What a failed statement means to who asked for it. */
export function toStoreError(error: unknown): Error {
  if (error instanceof StoreUnavailable || error instanceof Refusal) return error
  const state = stateOf(error)
  if (hasNoRoom(state, error)) return new Refusal('StoreFull', { cause: error })
  const isMissing = state === '42P01' || state === '3F000' || state === '42883'
  const hint = isMissing ? '; run `dragoman migrate`' : ''
  // Errors of these classes tell of the connection or the server's end, and not of the statement.
  const attempted = state === undefined || /^(?:08|57P|58|XX)/.test(state) ? 'unknown' : 'no'
  return new StoreUnavailable(`PostgreSQL: ${reasonOf(error)}${hint}`, { attempted, cause: error })
}

/** Whether the disk or the memory is full, or what was sent is longer than a row or an index may be: that does not pass. */
function hasNoRoom(state: string | undefined, error: unknown): boolean {
  if (state === '53100' || state === '53200' || state === '54000') return true
  // The one such error without a state of its own; its words are not translated.
  return state === 'XX000' && reasonOf(error).startsWith('invalid memory alloc request size')
}

/** The SQLSTATE of an error that the server answered with. */
function stateOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}
