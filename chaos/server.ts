// One server process of the kill test. It waits for its orders, so that it can take the place of another at once, says
// when it serves, and lives until it is killed.
import { setTimeout as delay } from 'node:timers/promises'
import { createServer, form, resource, serveHttp, tool } from '../src/index.ts'
import type { Store } from '../src/index.ts'
import { postgres } from '../src/postgres.ts'
import { redis } from '../src/redis.ts'
import { sqlite } from '../src/sqlite.ts'
import { openWorld, type World } from './world.ts'

/** How a server process is told what to serve. */
export interface ServerOrders {
  readonly world: string
  readonly port: number
  readonly store:
    | { readonly kind: 'sqlite'; readonly path: string }
    | { readonly kind: 'redis'; readonly url: string }
    | { readonly kind: 'postgres'; readonly url: string }
}

const sure = form({ type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] })
const input = { type: 'object', properties: { call: { type: 'string' } }, required: ['call'] } as const
let world: World
const callOf = (args: Record<string, unknown>): string => String(args['call'])
const aWhile = (): Promise<void> => delay(Math.random() * 30)

/** A world that knows no keys, and a tool that may not run twice. */
const bare = tool('bare', { input }, async (args) => {
  const call = callOf(args)
  world.pass(call, 'start')
  await aWhile()
  world.act(call, 'bare')
  world.pass(call, 'effect')
  await aWhile()
  world.pass(call, 'end')
  return `did ${call}`
})

/** Two steps at a world that takes keys, and a tool that may go on where it broke off. */
const steps = tool('steps', { input, rerun: 'safe' }, async (args, ctx) => {
  const call = callOf(args)
  world.pass(call, 'start')
  for (const name of ['one', 'two']) {
    await ctx.step(name, ({ key }) => {
      world.actOnce(call, name, key)
      world.pass(call, 'effect')
      return name
    })
    if (name === 'one') world.pass(call, 'steps')
    await aWhile()
  }
  world.pass(call, 'end')
  return `did ${call}`
})

/** A question between two effects. */
const asks = tool('asks', { input, rerun: 'safe' }, async (args, ctx) => {
  const call = callOf(args)
  await ctx.step('one', ({ key }) => world.actOnce(call, 'one', key) ?? 'one')
  world.pass(call, 'steps')
  const answer = await ctx.elicit('sure', sure, 'Sure?')
  if (answer.action !== 'accept') return 'declined'
  await ctx.step('two', ({ key }) => world.actOnce(call, 'two', key) ?? 'two')
  world.pass(call, 'end')
  return `did ${call}`
})

/** Tells of its progress, for streams that break. */
const tells = tool('tells', { input }, async (args, ctx) => {
  const call = callOf(args)
  for (let told = 1; told <= 10; told++) {
    ctx.progress(told, 10)
    if (told === 5) world.pass(call, 'start')
    await aWhile()
  }
  world.act(call, 'tells')
  return `did ${call}`
})

const touch = tool('touch', {}, (_, ctx) => {
  world.touch()
  ctx.server.updated('memo://touched')
  return 'touched'
})

async function serve(orders: ServerOrders): Promise<void> {
  world = openWorld(orders.world)
  const server = createServer({
    name: 'chaos',
    version: '1',
    store: openStore(orders.store),
    once: { leaseMs: 2_000 },
    tools: [bare, steps, asks, tells, touch],
    resources: [resource('memo://touched', { name: 'touched' }, () => String(world.touched()))],
  })
  await serveHttp(server, { port: orders.port, retryMs: 50 })
  process.send?.('serving')
}

function openStore(store: ServerOrders['store']): Store {
  switch (store.kind) {
    case 'sqlite':
      return sqlite(store.path)
    case 'redis':
      return redis({ url: store.url, timeoutMs: 1_000 })
    case 'postgres':
      return postgres({ connectionString: store.url, migrate: true, timeoutMs: 1_000 })
  }
}

// Sent by fleet.ts, so of this shape.
process.once('message', (orders) => void serve(orders as ServerOrders))
process.once('disconnect', () => process.exit())
process.send?.('ready')
