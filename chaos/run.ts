// Defends: whatever is killed, cut or away, each effect is had once, or its client is told that nobody knows.
//   npm run chaos -- --calls 500 --kills 5 [--only redis]      the size for CI: all three stores together
//   npm run chaos -- --calls 10000 --kills 50 --report          by hand; writes the counts into docs/reliability.md
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { postgresMissing, startPostgres } from '../tools/postgres-server.ts'
import { redisMissing, startRedis } from '../tools/redis-server.ts'
import type { TestServer } from '../tools/server-process.ts'
import { startProxy, type TcpProxy } from '../tools/tcp-proxy.ts'
import { callModern, connectLegacy, lastTold, type LegacyClient, type Told } from './clients.ts'
import { startFleet, type Fleet } from './fleet.ts'
import { judge, print, type Counts } from './judge.ts'
import { writeReport } from './report.ts'
import type { ServerOrders } from './server.ts'
import { deathPlaces, openWorld, type World } from './world.ts'

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '500' },
    kills: { type: 'string', default: '5' },
    only: { type: 'string' },
    report: { type: 'boolean', default: false },
  },
})

/** A place to run: how many processes, on which store, and what stands between. */
interface Arena {
  readonly name: string
  readonly missing: string | undefined
  readonly processes: number
  start(
    folder: string,
  ): Promise<{ readonly store: ServerOrders['store']; readonly proxy?: TcpProxy; stop(): Promise<void> }>
}

async function behindProxy(server: TestServer, toStore: (url: string) => ServerOrders['store']) {
  const url = new URL(server.url)
  const proxy = await startProxy({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  const stop = async (): Promise<void> => {
    await proxy.close()
    await server.stop()
  }
  return { store: toStore(url.href), proxy, stop }
}

const arenas: readonly Arena[] = [
  {
    name: 'redis',
    missing: redisMissing(),
    processes: 3,
    start: async () => behindProxy(await startRedis(), (url) => ({ kind: 'redis', url })),
  },
  {
    name: 'postgres',
    missing: postgresMissing(),
    processes: 3,
    start: async () => behindProxy(await startPostgres(), (url) => ({ kind: 'postgres', url })),
  },
  {
    name: 'sqlite',
    missing: undefined,
    processes: 1,
    start: async (folder) => ({ store: { kind: 'sqlite', path: join(folder, 'store.db') }, stop: async () => {} }),
  },
]

const clientsAtOnce = 16
const kinds = ['bare', 'steps', 'asks', 'tells'] as const

async function play(arena: Arena, calls: number, kills: number): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-chaos-'))
  const world = openWorld(join(folder, 'world.db'))
  const place = await arena.start(folder)
  const fleet = await startFleet(arena.processes, { world: join(folder, 'world.db'), store: place.store })
  const started = performance.now()
  const names = Array.from({ length: calls }, (_, n) => `${arena.name}-${n}`)
  const outside = Math.floor(kills / 2)
  planDeaths(world, names, kills - outside)
  const disturbance = disturb(fleet, place.proxy, names.length, outside)
  const legacy = await Promise.all([connectLegacy(fleet.url), connectLegacy(fleet.url)])
  const subscriber = await connectLegacy(fleet.url)
  const subscription = await subscriber.subscribe('memo://touched')
  const told = new Map<string, Told & { kind: string }>()
  const waiting = [...names]
  const asked = new Set<string>()
  const slow = setInterval(() => {
    const left = names.filter((name) => asked.has(name) && !told.has(name))
    console.error(`${arena.name}: ${told.size} of ${calls} calls, ${fleet.ended} killed; waiting for ${left.join(' ')}`)
    for (const [call, message] of lastTold)
      if (left.some((name) => call.includes(name))) console.error(`  ${call} ${message}`)
    lastTold.clear()
  }, 10_000)
  await Promise.all(
    Array.from({ length: clientsAtOnce }, async (_, client) => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        asked.add(name)
        const kind = kinds[Number(name.split('-')[1]) % kinds.length] ?? 'bare'
        told.set(name, { kind, ...(await callOnce(fleet, legacy, kind, name, client)) })
        disturbance.done(told.size)
        if (told.size % 20 === 0) void subscriber.call('touch', name).catch(() => {})
      }
    }),
  )
  clearInterval(slow)
  const tookMs = performance.now() - started
  await disturbance.end()
  fleet.calm()
  const fresh = await isFresh(world, subscription)
  subscription.stop()
  const clients = [...legacy, subscriber]
  const counts = judge(arena.name, told, world, {
    kills: fleet.ended,
    planned: world.deaths(),
    dropped: fleet.dropped,
    outages: disturbance.outages(),
    sessionsLost: clients.reduce((sum, { lost }) => sum + lost, 0),
    eventsLost: clients.reduce((sum, { gaps }) => sum + gaps, 0),
    resumed: clients.reduce((sum, { resumed }) => sum + resumed, 0),
    stale: fresh ? 0 : 1,
    seconds: tookMs / 1_000,
  })
  await fleet.close()
  await place.stop()
  world.close()
  rmSync(folder, { recursive: true, force: true })
  return counts
}

function callOnce(
  fleet: Fleet,
  legacy: readonly LegacyClient[],
  kind: string,
  name: string,
  client: number,
): Promise<Told> {
  const session = legacy[client % legacy.length]
  // Questions are asked in rounds; progress is told on streams that can be taken up again.
  if (session && (kind === 'tells' || (kind !== 'asks' && client % 2 === 0))) return session.call(kind, name)
  return callModern(fleet.url, kind, name, client % 3 === 0 ? 'header' : 'meta')
}

/** Deaths at places of the calls, spread over all of them. */
function planDeaths(world: World, names: readonly string[], count: number): void {
  for (let n = 0; n < count; n++) {
    const name = names[Math.floor(((n + 0.5) / count) * names.length)]
    if (name !== undefined) world.plan(name, placeFor(Number(name.split('-')[1]), n))
  }
}

/** A place that the call of this number comes to. */
function placeFor(number: number, n: number): (typeof deathPlaces)[number] {
  const places = {
    bare: ['start', 'effect', 'end'],
    steps: deathPlaces,
    asks: ['steps', 'end'],
    tells: ['start'],
  } as const
  const those = places[kinds[number % kinds.length] ?? 'bare']
  return those[n % those.length] ?? 'start'
}

/** Kills from outside and outages of the store, spread over the calls. */
function disturb(fleet: Fleet, proxy: TcpProxy | undefined, calls: number, kills: number) {
  let killed = 0
  let outages = 0
  let outage = Promise.resolve()
  return {
    done(count: number): void {
      while (killed < kills && count >= ((killed + 0.75) / kills) * calls) {
        fleet.killOne()
        killed += 1
      }
      if (proxy === undefined || count < ((outages + 1) / 3) * calls || outages >= 2) return
      outages += 1
      const how = outages % 2 === 1 ? down : freeze
      outage = outage.then(() => how(proxy))
    },
    end: () => outage,
    outages: () => outages,
  }
}

async function down(proxy: TcpProxy): Promise<void> {
  await proxy.down()
  await delay(1_500)
  await proxy.up()
}

async function freeze(proxy: TcpProxy): Promise<void> {
  proxy.freeze()
  await delay(2_500)
  proxy.thaw()
}

/** Whether the subscriber, once all is calm, has read what the resource holds now. */
async function isFresh(world: World, subscription: { last(): string | undefined }): Promise<boolean> {
  for (const until = Date.now() + 20_000; Date.now() < until; await delay(100)) {
    if (subscription.last() === String(world.touched())) return true
  }
  return false
}

const chosen = arenas.filter(({ name }) => values.only === undefined || values.only === name)
const present = chosen.filter(({ missing }) => missing === undefined)
const all: Counts[] = []
for (const [at, arena] of present.entries()) {
  const share = (of: number): number =>
    Math.floor((of * (at + 1)) / present.length) - Math.floor((of * at) / present.length)
  all.push(await play(arena, share(Number(values.calls)), share(Number(values.kills))))
  print(all.at(-1))
}
for (const { name, missing } of chosen)
  if (missing !== undefined) console.log(`\n*** NOT CHECKED on ${name}: ${missing} ***\n`)
const faults = all.flatMap((counts) => counts.faults)
if (values.report && faults.length === 0) writeReport(all)
process.exit(faults.length > 0 || all.length === 0 ? 1 : 0)
