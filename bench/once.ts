// What a call costs that runs at most once, over one that does not, and what idle sessions cost. Run by `npm run bench:once`.
//   --calls N      calls of each kind in each round; 2,000 by default
//   --sessions N   idle sessions; 10,000 by default
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connectInMemory, createServer, memoryStore, serveHttp, tool } from '../src/index.ts'
import type { Store } from '../src/index.ts'
import { redis } from '../src/redis.ts'
import { sqlite } from '../src/sqlite.ts'
import { redisMissing, startRedis } from '../tools/redis-server.ts'
import { isWithin, toTable, type Row } from './rows.ts'
import { median } from './stats.ts'

const { values } = parseArgs({
  options: { calls: { type: 'string', default: '2000' }, sessions: { type: 'string', default: '10000' } },
})
const calls = Number(values.calls)
const rounds = 9
/** Rounds until all code is compiled. */
const warmUps = 6

const tools = [tool('echo', {}, () => 'hello')]

/** A client that makes calls one after the other, and as many at once as `atOnce` says. */
function caller(store: Store) {
  const link = connectInMemory(createServer({ name: 'bench', version: '1', store, tools }))
  const waiting = new Map<number, () => void>()
  link.onMessage((text) => {
    const { id, result } = JSON.parse(text) as { id: number; result?: unknown } // an answer, as the server writes it
    if (result === undefined) throw new Error(text)
    waiting.get(id)?.()
    waiting.delete(id)
  })
  const about = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  let ids = 0
  return (claimed: boolean): Promise<void> => {
    const id = ++ids
    const key = claimed ? { 'dev.dragoman/idempotencyKey': `call ${id}` } : {}
    const params = { name: 'echo', _meta: { ...about, ...key } }
    return new Promise((resolve) => {
      waiting.set(id, resolve)
      link.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }))
    })
  }
}

/** Microseconds of CPU for one call, with `atOnce` in flight. */
async function cpuPerCall(one: (claimed: boolean) => Promise<void>, claimed: boolean, atOnce: number): Promise<number> {
  const before = process.cpuUsage()
  let left = calls
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) await one(claimed)
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

/** @param budget microseconds; without one there is nothing to compare with: alone, two transactions cost what they cost */
async function claimRow(name: string, store: Store, atOnce: number, budget?: number): Promise<Row> {
  const one = caller(store)
  for (let turn = 0; turn < warmUps; turn++) {
    await cpuPerCall(one, true, atOnce)
    await cpuPerCall(one, false, atOnce)
  }
  const plain: number[] = []
  const claimed: number[] = []
  for (let round = 0; round < rounds; round++) {
    plain.push(await cpuPerCall(one, false, atOnce))
    claimed.push(await cpuPerCall(one, true, atOnce))
  }
  const [measured, baseline] = [median(claimed), median(plain)]
  const ratio = measured / baseline
  const row = { name, unit: 'µs', measured, baseline, ratio }
  return budget === undefined ? row : { ...row, budget: { of: 'difference', bound: 'at most', value: budget } }
}

/** How often a claimed call waits for the store before it is answered. */
async function tripsRow(): Promise<Row> {
  const inner = memoryStore()
  let trips = 0
  const counted: Store = {
    ...inner,
    get: (key) => (trips++, inner.get(key)),
    put: (key, value, options) => (trips++, inner.put(key, value, options)),
  }
  let answered = 0
  const server = createServer({
    name: 'bench',
    version: '1',
    store: counted,
    tools: [tool('trips', {}, () => String((answered = trips)))],
  })
  const link = connectInMemory(server)
  link.send({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'trips',
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
        'dev.dragoman/idempotencyKey': 'k',
      },
    },
  })
  await link.messages().next()
  await link.close()
  const budget = { of: 'difference', bound: 'at most', value: 1 } as const
  return {
    name: 'round trips before a claimed call runs',
    unit: '',
    measured: answered,
    baseline: 0,
    ratio: answered,
    budget,
  }
}

/** KiB that idle sessions add to the process. */
async function sessionsRow(count: number): Promise<Row> {
  const http = await serveHttp(createServer({ name: 'bench', version: '1', tools }), { port: 0 })
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const open = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request(http.url, { method: 'POST', headers, agent }, (response) => {
        if (response.headers['mcp-session-id'] === undefined) reject(new Error(`status ${response.statusCode}`))
        response.resume().once('end', resolve)
      })
      sent.once('error', reject)
      sent.end(body)
    })
  const openMany = async (many: number): Promise<void> => {
    let left = many
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        while (left-- > 0) await open()
      }),
    )
  }
  // The first ones warm up what every session shares.
  await openMany(2_000)
  const before = await settledBytes()
  await openMany(count)
  const kib = Math.max(0, ((await settledBytes()) - before) / 1024)
  agent.destroy()
  await http.close({ graceMs: 0 })
  const budget = { of: 'difference', bound: 'at most', value: 1024 } as const
  return { name: `${count} idle sessions`, unit: 'KiB', measured: kib, baseline: 0, ratio: 0, budget }
}

async function settledBytes(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('Run with --expose-gc')
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const folder = mkdtempSync(join(tmpdir(), 'dragoman-once-'))
const rows: Row[] = [await tripsRow(), await sessionsRow(Number(values.sessions))]
rows.push(await claimRow('a claimed call, memory / CPU', memoryStore({ maxKeys: 1_000_000 }), 1, 10))
const file = sqlite(join(folder, 'once.db'))
rows.push(await claimRow('a claimed call, SQLite, 32 in flight / CPU', file, 32, 60))
rows.push(await claimRow('a claimed call, SQLite, one at a time / CPU', file, 1))
await file.close()
const missing = redisMissing()
if (missing === undefined) {
  const server = await startRedis()
  const store = redis({ url: server.url })
  rows.push(await claimRow('a claimed call, Redis, 32 in flight / CPU', store, 32, 150))
  await store.close()
  await server.stop()
} else console.log(`\n*** NOT MEASURED on Redis: ${missing} ***`)
rmSync(folder, { recursive: true, force: true })
console.log(`\n${toTable(rows)}\n`)
process.exit(rows.every((row) => isWithin(row, 2)) ? 0 : 1)
