import { createHash } from 'node:crypto'
import { within } from './deadline.ts'
import { borrow, openPool, queryPool, toStoreError } from './postgres-pool.ts'
import type { PostgresClient, PostgresPool, PostgresSource } from './postgres-pool.ts'
import { migrations } from './postgres-schema.ts'

/** The version that the tables had, and the one they have now. */
export interface Migrated {
  readonly from: number
  readonly to: number
}

/** Milliseconds that a migration may take, also waiting for another one. */
const migrationMs = 60_000

/** @throws TypeError if `schema` is not a plain name, of lower case letters, digits and underscores */
export function checkSchema(schema: string): string {
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema)) throw new TypeError(`Not a plain name for a schema: ${schema}`)
  return schema
}

/**
 * Brings the tables of a store up to date; any number of processes may do so at once.
 * @param options.schema where the tables are. Default `dragoman`
 * @throws StoreUnavailable if PostgreSQL cannot be reached or refuses; then nothing has changed
 */
export async function migratePostgres(options: PostgresSource & { readonly schema?: string }): Promise<Migrated> {
  const schema = checkSchema(options.schema ?? 'dragoman')
  const pool = await openPool(options, migrationMs)
  try {
    return await migratePool(pool, schema)
  } finally {
    if (!('pool' in options)) await pool.end()
  }
}

/** As {@link migratePostgres}, with an open pool. */
export async function migratePool(pool: PostgresPool, schema: string): Promise<Migrated> {
  const client = await borrow(pool, migrationMs)
  try {
    const done = await within(migrationMs, migrate(client, schema), 'The migration took too long')
    client.release()
    return done
  } catch (error) {
    // Closing the connection rolls back.
    client.release(true)
    throw toStoreError(error)
  }
}

async function migrate(client: PostgresClient, schema: string): Promise<Migrated> {
  const steps = migrations(schema)
  await client.query(`BEGIN; SET LOCAL statement_timeout = ${migrationMs}`)
  await client.query({ text: 'SELECT pg_advisory_xact_lock($1, $2)', values: lockOf(schema) })
  const known = await client.query({ text: 'SELECT 1 FROM pg_namespace WHERE nspname = $1', values: [schema] })
  if (known.rows.length === 0) await client.query(`CREATE SCHEMA ${schema}`)
  await client.query(`CREATE TABLE IF NOT EXISTS ${schema}.migration (
    version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`)
  const from = versionIn((await client.query(newest(schema))).rows)
  for (const [at, sql] of steps.entries()) {
    if (at < from) continue
    await client.query(sql)
    await client.query({ text: `INSERT INTO ${schema}.migration (version) VALUES ($1)`, values: [at + 1] })
  }
  await client.query('COMMIT')
  return { from, to: Math.max(from, steps.length) }
}

/** The version of the tables in `schema`. @throws StoreUnavailable where there are none, or PostgreSQL is not reachable */
export async function versionOf(pool: PostgresPool, schema: string, timeoutMs: number): Promise<number> {
  return versionIn(await queryPool(pool, { text: newest(schema), values: [] }, timeoutMs))
}

function newest(schema: string): string {
  return `SELECT coalesce(max(version), 0) AS version FROM ${schema}.migration`
}

function versionIn(rows: readonly unknown[]): number {
  const [row] = rows as readonly { readonly version: number }[] // the one row of the query above
  return row?.version ?? 0
}

/** The two halves of the advisory lock. */
function lockOf(schema: string): readonly number[] {
  const hash = createHash('sha256').update(`dragoman migrate ${schema}`).digest()
  return [hash.readInt32BE(0), hash.readInt32BE(4)]
}
