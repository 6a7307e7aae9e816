// What a call costs that runs at most once, over one that does not, and what idle sessions cost. Run by `npm run bench:once`.
//   --calls N      calls of each kind in each round; 2,000 by default
//   --sessions N   idle sessions; 10,000 by default
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type * as main from '../src/index.ts'
import type { Store } from '../src/index.ts'
import type * as ofRedis from '../src/redis.ts'
import type * as ofSqlite from '../src/sqlite.ts'
import { redisMissing, startRedis } from '../tools/redis-server.ts'
import { isWithin, toTable, type Row } from './rows.ts'
import { median } from './stats.ts'

/** An entry as built: what compiles the sources as they are loaded makes every function slower that is made in a call. */
async function built<Entry>(name: string): Promise<Entry> {
  return (await import(new URL(`../dist/${name}.js`, import.meta.url).href)) as Entry
}

const { connectInMemory, createServer, memoryStore, serveHttp, tool } = await built<typeof main>('index')
const { redis } = await built<typeof ofRedis>('redis')
const { sqlite } = await built<typeof ofSqlite>('sqlite')

const { values } = parseArgs({
  options: { calls: { type: 'string', default: '2000' }, sessions: { type: 'string', default: '10000' } },
})
const calls = Number(values.calls)
const rounds = 21
/** Rounds until all code is compiled. */
const warmUps = 6

const tools = [tool('echo', {}, () => 'hello')]

/** Makes all the calls whose texts it is given, so many at once, the next as soon as one before is answered. */
type Caller = (texts: readonly string[], atOnce: number) => Promise<void>

function callerOf(store: Store): Caller {
  const link = connectInMemory(createServer({ name: 'bench', version: '1', store, tools }))
  let onAnswer = (): void => {}
  link.onMessage((text) => {
    if (!text.includes('"hello"')) throw new Error(text)
    onAnswer()
  })
  return (texts, atOnce) =>
    new Promise((resolve) => {
      let sent = 0
      let answered = 0
      const sendNext = (): void => {
        const text = texts[sent++]
        if (text !== undefined) link.send(text)
      }
      onAnswer = () => (++answered === texts.length ? resolve() : sendNext())
      for (let at = 0; at < atOnce; at++) sendNext()
    })
}

let ids = 0

/** The texts of calls, made before anything is measured. No id and no key comes twice. */
function textsOf(claimed: boolean): readonly string[] {
  const about = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return Array.from({ length: calls }, () => {
    const id = ++ids
    const key = claimed ? { 'dev.dragoman/idempotencyKey': `call ${id}` } : {}
    const params = { name: 'echo', _meta: { ...about, ...key } }
    return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
  })
}

/** Microseconds of CPU for one call, with `atOnce` in flight. */
async function cpuPerCall(run: Caller, claimed: boolean, atOnce: number): Promise<number> {
  const texts = textsOf(claimed)
  const before = process.cpuUsage()
  await run(texts, atOnce)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

/** @param budget microseconds; without one there is nothing to compare with: alone, two transactions cost what they cost */
async function claimRow(name: string, store: Store, atOnce: number, budget?: number): Promise<Row> {
  const run = callerOf(store)
  for (let turn = 0; turn < warmUps; turn++) {
    await cpuPerCall(run, true, atOnce)
    await cpuPerCall(run, false, atOnce)
  }
  const plain: number[] = []
  const claimed: number[] = []
  for (let round = 0; round < rounds; round++) {
    plain.push(await cpuPerCall(run, false, atOnce))
    claimed.push(await cpuPerCall(run, true, atOnce))
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
// Memory first: what others leave for the collector would be charged to it.
const rows: Row[] = [await claimRow('a claimed call, memory / CPU', memoryStore({ maxKeys: 1_000_000 }), 1, 10)]
rows.push(await tripsRow(), await sessionsRow(Number(values.sessions)))
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
