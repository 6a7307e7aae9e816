import { Refusal } from '../model/refusal.ts'
import type { Listed, Store } from '../model/store.ts'
import { StoreUnavailable } from '../model/store-unavailable.ts'
import { createBus } from './bus.ts'
import { never, toExpiry } from './expiry.ts'
import { groupOf } from './groups.ts'
import { postgresBus } from './postgres-bus.ts'
import { checkSchema, migratePool, versionOf } from './postgres-migrate.ts'
import { openPool, queryPool, type PostgresPool } from './postgres-pool.ts'
import { migrations } from './postgres-schema.ts'
import { postgresStatements } from './postgres-statements.ts'
import { createRooms, evictionRank } from './rooms.ts'
import { fromKept, toKept } from './text.ts'

/** Which PostgreSQL keeps things, and where. */
export interface PostgresStoreOptions {
  /** As in `postgres://user:password@host:5432/database`. Either this or `pool`. */
  readonly connectionString?: string
  readonly pool?: PostgresPool
  /** The schema of the tables. Default `dragoman`. */
  readonly schema?: string
  /** Whether the first call may make or change the tables; else `dragoman migrate` has to. Default false. */
  readonly migrate?: boolean
  /** Milliseconds that a call takes at most, twice: for a connection, and for its answer. Default 2,000. */
  readonly timeoutMs?: number
}

/** What has expired is looked for once in so many writes. */
const sweepEvery = 200

/**
 * A store in PostgreSQL 13 or later, for any number of processes. It connects with the first call, and keeps the process
 * alive until it is closed; a pool that was handed in stays open.
 * @throws if neither a connection string nor a pool is given
 */
export function postgres(where: PostgresStoreOptions | PostgresPool): Store {
  const options: PostgresStoreOptions = 'connect' in where ? { pool: where } : where
  const { connectionString, pool: given, migrate = false, timeoutMs = 2000 } = options
  const schema = checkSchema(options.schema ?? 'dragoman')
  const source = given ? { pool: given } : { connectionString: connectionString ?? '' }
  if (!given && connectionString === undefined) throw new TypeError('postgres() needs a connectionString or a pool')
  const sql = postgresStatements(schema)
  const rooms = createRooms()
  const bus = createBus()
  let opened: Promise<PostgresPool> | undefined
  let ready: Promise<void> | undefined
  let writes = 0
  let closed = false

  async function pool(): Promise<PostgresPool> {
    if (closed) throw new StoreUnavailable('The store is closed')
    opened ??= openPool(source, timeoutMs)
    const found = await opened
    ready ??= prepare(found).catch((error: unknown) => {
      ready = undefined
      throw error
    })
    await ready
    return found
  }

  async function prepare(found: PostgresPool): Promise<void> {
    if (migrate) return void (await migratePool(found, schema))
    const [version, needed] = [await versionOf(found, schema, timeoutMs), migrations(schema).length]
    if (version >= needed) return
    throw new StoreUnavailable(
      `The tables in ${schema} are of version ${version}, not ${needed}; run \`dragoman migrate\``,
    )
  }

  async function query(name: string, text: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    return queryPool(await pool(), { name: `${schema}.${name}`, text, values }, timeoutMs)
  }

  /** Runs one of the statements; its rows are as it says, which the type has to repeat. */
  async function rowsOf<Row>(name: keyof typeof sql, ...values: readonly unknown[]): Promise<readonly Row[]> {
    return (await query(name, sql[name], values)) as readonly Row[]
  }

  function written(): void {
    writes += 1
    // A sweep that fails is made up for by a later one.
    if (writes % sweepEvery === 0)
      void Promise.allSettled([rowsOf('sweepKept'), rowsOf('sweepLogs'), rowsOf('sweepMessages')])
  }

  /** @throws Refusal `StoreFull` */
  async function makeRoom(group: string, key: string, max: number): Promise<void> {
    const [from, to] = rangeOf(group)
    const share = rooms.excess(max, max)
    const [row] = await rowsOf<{ left: number | null }>('makeRoom', from, to, key, max, share)
    if (row === undefined || row.left === null) return
    if (row.left < 0) throw new Refusal('StoreFull')
    rooms.counted(group, max, row.left)
  }

  const fanOut = postgresBus({ bus, schema, timeoutMs, pool, query })

  return {
    durable: true,
    async get(key) {
      const [row] = await rowsOf<Omit<Listed, 'key'>>('get', key)
      return row && { value: fromKept(row.value), version: row.version }
    },
    async put(key, value, { ifVersion, expiresAt, maxInGroup, evict = 'never' } = {}) {
      const group = maxInGroup === undefined || ifVersion ? undefined : groupOf(key)
      if (group !== undefined && maxInGroup !== undefined && !rooms.has(group)) await makeRoom(group, key, maxInGroup)
      const values = [key, toKept(value), toExpiry(expiresAt), evictionRank[evict]]
      const [row] = await (ifVersion === undefined
        ? rowsOf<{ version: number }>('overwrite', ...values)
        : ifVersion === 0
          ? rowsOf<{ version: number }>('create', ...values)
          : rowsOf<{ version: number }>('replace', ...values, ifVersion))
      if (row !== undefined && group !== undefined) rooms.take(group)
      written()
      return row?.version
    },
    async delete(key, ifVersion) {
      const [row] = await rowsOf<{ live: boolean }>('remove', key, ifVersion ?? null)
      return row?.live ?? false
    },
    async list(group, { after = '', limit = 100 } = {}) {
      const rows = await rowsOf<Listed>('list', ...rangeOf(group), after, limit)
      return rows.map(({ key, value, version }) => ({ key, value: fromKept(value), version }))
    },
    async append(log, value, { maxEntries, maxBytes, maxAgeMs, expiresAt }) {
      const bounds = [Math.max(1, maxEntries), maxBytes ?? null, maxAgeMs ?? null, Math.min(toExpiry(expiresAt), never)]
      const [row] = await rowsOf<{ sequence: number }>(
        'append',
        log,
        toKept(value),
        Buffer.byteLength(value),
        ...bounds,
      )
      written()
      return row?.sequence ?? 0
    },
    async read(log, after) {
      const rows = await rowsOf<{ first: number | null; sequence: number | null; value: string | null }>(
        'read',
        log,
        after,
      )
      const entries = rows.flatMap(({ sequence, value }) =>
        sequence === null || value === null ? [] : [{ sequence, value: fromKept(value) }],
      )
      return { entries, evictedThrough: (rows[0]?.first ?? 1) - 1 }
    },
    async publish(channel, message) {
      await fanOut.publish(channel, message)
      written()
    },
    subscribe: (channel, listener, missed) => fanOut.subscribe(channel, listener, missed),
    async close() {
      if (closed) return
      closed = true
      bus.clear()
      fanOut.close()
      const open = await opened?.catch(() => undefined)
      if (given === undefined) await open?.end()
    },
  }
}

/** The keys of a group are those from the first up to and without the second; `0` is what follows `/`. */
function rangeOf(group: string): [string, string] {
  return [`${group}/`, `${group}0`]
}
