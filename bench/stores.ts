// What a store costs: CPU of this process and time per call, one call after the other and 32 at once.
//   node --import tsx bench/stores.ts              memory and SQLite, and what can be started of Redis and PostgreSQL
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../src/model/store.ts'
import { memoryStore } from '../src/store/memory.ts'
import { migratePostgres } from '../src/store/postgres-migrate.ts'
import { postgres } from '../src/store/postgres.ts'
import { redis } from '../src/store/redis.ts'
import { sqlite } from '../src/store/sqlite.ts'
import { postgresMissing, startPostgres } from '../tools/postgres-server.ts'
import { redisMissing, startRedis } from '../tools/redis-server.ts'

const calls = 6000
const value = JSON.stringify({ state: 'running', round: 0, token: 'x'.repeat(150) })
const expiresAt = Date.now() + 3_600_000

type Call = (store: Store, at: number) => Promise<unknown>

const measured: readonly (readonly [name: string, call: Call])[] = [
  ['put, absent', (store, at) => store.put(`put${at}`, value, { ifVersion: 0, expiresAt })],
  [
    'put, absent, bounded',
    (store, at) => store.put(`bench/${at}`, value, { ifVersion: 0, expiresAt, maxInGroup: 100_000 }),
  ],
  ['put, over', (store, at) => store.put(`put${at % 1000}`, value, { expiresAt })],
  ['get', (store, at) => store.get(`put${at % 1000}`)],
  ['append', (store, at) => store.append(`log${at % 50}`, value, { maxEntries: 100, expiresAt })],
  ['publish', (store) => store.publish('bench', 'id')],
]

/** Microseconds of CPU and of time for one call, `atOnce` being on their way. */
async function measure(store: Store, call: Call, from: number, atOnce: number): Promise<{ cpu: number; took: number }> {
  let at = from
  const worker = async (): Promise<void> => {
    while (at < from + calls) await call(store, at++)
  }
  const [cpu, started] = [process.cpuUsage(), performance.now()]
  await Promise.all(Array.from({ length: atOnce }, worker))
  const { user, system } = process.cpuUsage(cpu)
  return { cpu: (user + system) / calls, took: ((performance.now() - started) * 1000) / calls }
}

async function bench(name: string, store: Store): Promise<void> {
  await store.put('connect', 'x')
  for (const [title, call] of measured) {
    await measure(store, call, 1e6, 8)
    const alone = await measure(store, call, 2e6, 1)
    const many = await measure(store, call, 3e6, 32)
    const cell = (number: number): string => number.toFixed(1).padStart(8)
    console.log(
      `${name.padEnd(16)} ${title.padEnd(22)} ${cell(alone.cpu)} ${cell(alone.took)} ${cell(many.cpu)} ${cell(1e6 / many.took)}`,
    )
  }
  await store.close()
}

console.log(`${' '.repeat(39)} one: CPU µs, time µs; 32 at once: CPU µs, calls/s`)
const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'))
await bench('memory', memoryStore())
await bench('sqlite', sqlite(join(folder, 'normal.db')))
rmSync(folder, { recursive: true })
if (!process.argv.includes('local') && redisMissing() === undefined) {
  const server = await startRedis()
  for (const driver of ['ioredis', 'redis'] as const)
    await bench(`redis: ${driver}`, redis({ url: server.url, driver, prefix: driver }))
  await server.stop()
}
if (!process.argv.includes('local') && postgresMissing() === undefined) {
  const server = await startPostgres()
  await migratePostgres({ connectionString: server.url })
  await bench('postgres', postgres({ connectionString: server.url }))
  await server.stop()
}
