import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { isRefusal } from '../../src/model/refusal.ts'
import { isStoreUnavailable } from '../../src/model/store-unavailable.ts'
import { migratePostgres } from '../../src/store/postgres-migrate.ts'
import { toStoreError } from '../../src/store/postgres-pool.ts'
import { postgres } from '../../src/store/postgres.ts'
import { postgresMissing, startPostgres } from '../../tools/postgres-server.ts'
import { hearsItself, outageContract } from './outages.ts'
import { addressOf, byPort, reachPostgres } from './servers.ts'

const { url, missing } = reachPostgres()
const noBinary = postgresMissing()
const schema = (name: string): string => `${name}_${process.pid}`

const remote = {
  target: () => addressOf(url(), 5432),
  open: (port: number, timeoutMs: number) =>
    postgres({ connectionString: byPort(url(), port), schema: schema('outage'), migrate: true, timeoutMs }),
}
outageContract('postgres', remote, missing)

test('what was put is there after a crash of the server', { skip: noBinary }, async () => {
  const server = await startPostgres()
  const store = postgres({ connectionString: server.url, migrate: true })
  const version = await store.put('crash', 'kept')
  await server.kill()
  await assert.rejects(store.get('crash'), isStoreUnavailable)
  await server.restart()
  for (;;) {
    if (
      await store.get('recovered').then(
        () => true,
        () => false,
      )
    )
      break
  }
  assert.deepEqual(await store.get('crash'), { value: 'kept', version })
  await store.close()
  await server.stop()
})

test('a pool can be handed in, and stays open', { skip: missing }, async () => {
  const pool = new pg.Pool({ connectionString: url(), max: 3 })
  const store = postgres({ pool, schema: schema('handed'), migrate: true })
  assert.notEqual(await store.put('handed', 'in'), undefined)
  await hearsItself(store)
  await store.close()
  assert.equal((await pool.query('SELECT 1 AS one')).rows[0]?.one, 1)
  await pool.end()
})

test('what is longer than PostgreSQL takes is refused as StoreFull', { skip: missing }, async () => {
  const store = postgres({ connectionString: url(), schema: schema('long'), migrate: true })
  const long = randomBytes(10_000).toString('base64')
  const refused = [
    store.put(long, 'a'),
    store.put(long, 'a', { ifVersion: 0 }),
    store.put(`group/${long}`, 'a', { maxInGroup: 3 }),
    store.append(long, 'a', { maxEntries: 3, expiresAt: Date.now() + 60_000 }),
  ]
  await Promise.all(refused.map((each) => assert.rejects(each, { kind: 'StoreFull' })))
  assert.equal(await store.get(long), undefined)
  await store.close()
})

test('so is a text that there is no room for in its memory', () => {
  // As it says where a text comes near to a gigabyte, which takes several to make.
  const thrown = Object.assign(new Error('invalid memory alloc request size 1073741840'), { code: 'XX000' })
  assert.ok(isRefusal(toStoreError(thrown)))
  const other = toStoreError(Object.assign(new Error('cache lookup failed'), { code: 'XX000' }))
  assert.ok(isStoreUnavailable(other) && other.attempted === 'unknown')
})

test('without its tables a store says what to do', { skip: missing }, async () => {
  const store = postgres({ connectionString: url(), schema: schema('absent') })
  await assert.rejects(store.get('a'), (error) => isStoreUnavailable(error) && /dragoman migrate/.test(error.message))
  assert.deepEqual(await migratePostgres({ connectionString: url(), schema: schema('absent') }), { from: 0, to: 1 })
  assert.equal(await store.get('a'), undefined)
  assert.deepEqual(await migratePostgres({ connectionString: url(), schema: schema('absent') }), { from: 1, to: 1 })
  await store.close()
})

test('many may migrate at once', { skip: missing }, async () => {
  const migrated = await Promise.all(
    Array.from({ length: 6 }, () => migratePostgres({ connectionString: url(), schema: schema('raced') })),
  )
  assert.deepEqual(migrated.map(({ from }) => from).toSorted(), [0, 1, 1, 1, 1, 1])
})

test('schemas keep apart, and messages of any length come in their order', { skip: missing }, async () => {
  const one = postgres({ connectionString: url(), schema: schema('one'), migrate: true })
  const two = postgres({ connectionString: url(), schema: schema('two'), migrate: true })
  await one.put('a', 'one')
  assert.equal(await two.get('a'), undefined)
  const heard: string[] = []
  await two.subscribe('c', () => assert.fail('heard in another schema'))
  await one.subscribe('c', (message) => heard.push(message))
  const messages = ['short', 'é'.repeat(10_000), 'short', 'short', 'x'.repeat(7900), 'x'.repeat(7901), '\0', 'end']
  await Promise.all(messages.map((message) => one.publish('c', message)))
  for (const last = Date.now() + 10_000; heard.length < messages.length && Date.now() < last;) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.deepEqual(heard, messages)
  await one.close()
  await two.close()
})

test('what has expired is deleted in time', { skip: missing }, async () => {
  const pool = new pg.Pool({ connectionString: url(), max: 4 })
  const store = postgres({ pool, schema: schema('swept'), migrate: true })
  const expiresAt = Date.now() + 20
  for (let at = 0; at < 50; at++) await store.put(`old${at}`, 'x', { expiresAt })
  for (let at = 0; at < 3; at++) await store.append(`old${at}`, 'x', { maxEntries: 2, expiresAt })
  for (let at = 0; at < 400; at++) await store.put('new', 'x')
  const left = async (table: string): Promise<number> =>
    Number((await pool.query(`SELECT count(*) AS n FROM ${schema('swept')}.${table}`)).rows[0]?.n)
  for (const last = Date.now() + 5000; (await left('kept')) > 1 && Date.now() < last;);
  assert.deepEqual([await left('kept'), await left('log'), await left('log_entry')], [1, 0, 0])
  await store.close()
  await pool.end()
})

test('names that would have to be quoted are refused', () => {
  assert.throws(() => postgres({ connectionString: 'postgres://127.0.0.1', schema: 'a"b' }), TypeError)
  assert.throws(() => postgres({}), TypeError)
})
