// Our client beside the official ones, over loopback HTTP against the same server: what a call costs the client, and what
// a thousand lists leave behind.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { childPath, startChild } from './child.ts'
import type { Effort } from './effort.ts'
import { eras, isSelfContained, type Era } from './messages.ts'
import type { Budget, Row } from './rows.ts'
import { median, medianRatio, rotated } from './stats.ts'

const budget: Budget = { of: 'ratio', bound: 'at most', value: 0.5 }
/** KiB that the heap may be larger after its lists: two bytes for each tool that was listed are what the runtime's own tables do. */
const heapBudget: Budget = { of: 'difference', bound: 'at most', value: 100 }

const tools = 50
const atOnce = [1, 8]
const refreshes = 1_000

/** With the versions that the package is developed against. */
const rivals = { official: 'client 2.x', sdk: 'sdk 1.x' } as const
type Rival = keyof typeof rivals
type Name = 'dragoman' | Rival

/** Measures all that `wanted` lets through, and calls `found` with its rows. */
export async function benchClient(
  effort: Effort,
  wanted: (name: string) => boolean,
  found: (rows: readonly Row[]) => void,
): Promise<void> {
  const cases = eras.flatMap((era) =>
    atOnce.map((count) => ({ era, count, name: `client / ${era} / tools/call / ${count} in flight / CPU` })),
  )
  const chosen = cases.filter(({ name }) => wanted(name))
  const heap = `client / ${refreshes} lists of ${tools} / heap`
  if (chosen.length === 0 && !wanted(heap)) return
  const server = await startChild('http-dragoman', tools)
  const url = `http://127.0.0.1:${server.port}/mcp`
  try {
    for (const era of eras) {
      const counts = chosen.filter((one) => one.era === era)
      if (counts.length > 0)
        await withClients(url, era, async (clients) => {
          for (const { name, count } of counts) found(await measure(name, count, clients, effort))
        })
    }
    if (wanted(heap)) found([await heapRow(heap, url)])
  } finally {
    await server.stop()
  }
}

type Clients = ReadonlyMap<Name, Client>

async function withClients(url: string, era: Era, use: (clients: Clients) => Promise<void>): Promise<void> {
  const names: readonly Name[] = isSelfContained(era) ? ['dragoman', 'official'] : ['dragoman', 'official', 'sdk']
  const clients = new Map(
    await Promise.all(names.map(async (name) => [name, await startClient(name, url, era)] as const)),
  )
  try {
    await use(clients)
  } finally {
    await Promise.all([...clients.values()].map((client) => client.stop()))
  }
}

/** One row for each rival, which is its baseline: all had their turn in each round. */
async function measure(name: string, count: number, clients: Clients, effort: Effort): Promise<readonly Row[]> {
  const micros = new Map<Name, number[]>([...clients.keys()].map((client) => [client, []]))
  for (const client of clients.values()) await warmUp(client, count, effort)
  for (let round = 0; round < effort.rounds; round++) {
    for (const [client, { turn }] of rotated([...clients], round)) {
      const { cpuMicros, count: calls } = await turn({ ask: 'call', ms: effort.windowMs, atOnce: count })
      micros.get(client)?.push(cpuMicros / calls)
    }
  }
  const ours = micros.get('dragoman') ?? []
  return (Object.keys(rivals) as Rival[]).flatMap((rival) => {
    const theirs = micros.get(rival)
    if (!theirs) return []
    const row = { unit: 'µs/call', measured: median(ours), baseline: median(theirs), ratio: medianRatio(ours, theirs) }
    return [{ name: `${name} beside ${rivals[rival]}`, ...row, budget }]
  })
}

/** Until its code is compiled a client takes several times as long, as servers do. */
async function warmUp(client: Client, atOnce: number, { warmUp }: Effort): Promise<void> {
  const until = performance.now() + warmUp.ms
  for (let calls = 0; calls < warmUp.requests && performance.now() < until;) {
    calls += (await client.turn({ ask: 'call', ms: 500, atOnce })).count
  }
}

/** In the era whose lists are fetched each time that they are wanted. In KiB; the baseline is what was held before. */
async function heapRow(name: string, url: string): Promise<Row> {
  const client = await startClient('dragoman', url, '2026-07-28')
  try {
    // What the compiler keeps goes on growing for thousands.
    await client.turn({ ask: 'list', count: 5 * refreshes })
    const before = (await client.heap()) / 1024
    await client.turn({ ask: 'list', count: refreshes })
    const after = (await client.heap()) / 1024
    return { name, unit: 'KiB', measured: after, baseline: before, ratio: after / before, budget: heapBudget }
  } finally {
    await client.stop()
  }
}

interface Turn {
  readonly ask: 'call' | 'list'
  readonly ms?: number
  readonly count?: number
  readonly atOnce?: number
}

/** A client in a process of its own. */
interface Client {
  turn(turn: Turn): Promise<{ readonly count: number; readonly cpuMicros: number }>
  /** Bytes that are held once all that can be let go of was. */
  heap(): Promise<number>
  stop(): Promise<void>
}

async function startClient(name: Name, url: string, era: Era): Promise<Client> {
  const profile = process.env.BENCH_PROFILE === `client-${name}` ? ['--cpu-prof', '--cpu-prof-dir=.cache/profiles'] : []
  const child = fork(childPath(`client-${name}`), [url, era, String(tools)], { execArgv: ['--expose-gc', ...profile] })
  await next(child)
  return {
    async turn(turn) {
      child.send(turn)
      return next<{ count: number; cpuMicros: number }>(child)
    },
    async heap() {
      child.send({ ask: 'heap' })
      return (await next<{ heapBytes: number }>(child)).heapBytes
    },
    async stop() {
      const gone = once(child, 'exit')
      child.send({ ask: 'stop' })
      await gone
    },
  }
}

function next<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`A client under test ended with ${code}`))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      // What children/client.mjs sends.
      resolve(message as T)
    })
  })
}
