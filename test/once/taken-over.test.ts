// A process that was stopped for longer than its lease: what it goes on with when it wakes is somebody else's by then.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createServer, isRefusal, memoryStore, tool } from '../../src/index.ts'
import type { Context, Store, ToolConfig } from '../../src/index.ts'
import { flakyStore, handClock, recorder } from '../durable/fakes.ts'
import { overMemory, toldBy, type Speaker } from './speakers.ts'

const leaseMs = 15_000
/** Leases keep no process alive; here nothing else does. */
const keepsAlive = setInterval(() => {}, 1_000)
after(() => clearInterval(keepsAlive))
const modern = '2026-07-28'

/** What the handler of one process was told. */
interface Told {
  ctx?: Context
  reason?: unknown
  steps: unknown[]
}

/** One process on `store` whose tool reserves, waits to be let on, and charges. */
function process(store: Store, clock: () => number, effects: string[], name: string, lease = leaseMs) {
  const log = recorder()
  const told: Told = { steps: [] }
  let letOn = (): void => {}
  const gate = new Promise<void>((resolve) => (letOn = resolve))
  let entered = (): void => {}
  const waits = new Promise<void>((resolve) => (entered = resolve))
  const config: ToolConfig<undefined, undefined> = { rerun: 'safe' }
  const step = (ctx: Context, key: string): Promise<unknown> =>
    ctx.step(key, () => {
      effects.push(`${name}: ${key}`)
      return `${key} by ${name}`
    })
  const server = createServer({
    name: 'till',
    version: '1',
    keys: [new Uint8Array(32).fill(3)],
    store,
    clock,
    logger: log.logger,
    once: { leaseMs: lease },
    tools: [
      tool('pay', config, async (_, ctx) => {
        told.ctx = ctx
        ctx.signal.addEventListener('abort', () => (told.reason = ctx.signal.reason))
        await step(ctx, 'reserve')
        entered()
        await gate
        told.steps.push(await step(ctx, 'charge'))
        if (name === 'old') told.steps.push(await step(ctx, 'notify').catch((error: unknown) => error))
        return `paid by ${name}`
      }),
      tool('late', config, async (_, ctx) => {
        await step(ctx, 'reserve')
        if (name === 'old') {
          entered()
          await gate
          await step(ctx, 'post')
        }
        return `paid by ${name}`
      }),
      tool('stops', config, async (_, ctx) => {
        if (name === 'old') {
          entered()
          const stopped = await new Promise<Error>((resolve) =>
            ctx.signal.addEventListener('abort', () => resolve(new Error('stopped', { cause: ctx.signal.reason }))),
          )
          told.reason = ctx.signal.reason
          throw stopped
        }
        return `paid by ${name}`
      }),
    ],
  })
  return { speak: (): Promise<Speaker> => overMemory(server, modern), log, told, waits, letOn: () => letOn() }
}

async function two(lease = leaseMs) {
  const clock = handClock()
  const flaky = flakyStore(memoryStore({ clock }))
  const effects: string[] = []
  const old = process(flaky.store, clock, effects, 'old', lease)
  const young = process(flaky.store, clock, effects, 'new', lease)
  young.letOn()
  return { clock, flaky, effects, old, young, first: await old.speak(), second: await young.speak() }
}

const warnings = (log: ReturnType<typeof recorder>): readonly string[] => log.at('warn').map(({ message }) => message)
const isTakenOver = (error: unknown): boolean =>
  isRefusal(error) && error.kind === 'OutcomeUnknown' && /taken over/.test(error.message)

test('who wakes after its lease finds the steps of its successor, and begins none of its own', async () => {
  const { clock, effects, old, first, second } = await two()
  const called = first.call('pay', {}, { key: 'order' })
  await old.waits
  clock.now += leaseMs
  assert.equal(toldBy(await second.call('pay', {}, { key: 'order' })), 'paid by new')
  old.letOn()
  await called
  assert.equal(old.told.steps[0], 'charge by new')
  assert.ok(isTakenOver(old.told.steps[1]), String(old.told.steps[1]))
  assert.deepEqual(effects, ['old: reserve', 'new: charge'])
  assert.ok(isTakenOver(old.told.reason), String(old.told.reason))
  assert.equal(old.told.ctx?.signal.aborted, true)
  assert.deepEqual(warnings(old.log), ['a run was taken over while it was running'])
  assert.equal(toldBy(await second.call('pay', {}, { key: 'order' })), 'paid by new, replayed')
})

test('a step that did not begin is no end of the call: whoever asks again is told the truth', async () => {
  const { clock, effects, old, first, second } = await two()
  const called = first.call('late', {}, { key: 'order' })
  await old.waits
  clock.now += leaseMs
  assert.equal(toldBy(await second.call('late', {}, { key: 'order' })), 'paid by new')
  old.letOn()
  assert.match(toldBy(await called), /^refused -32603/)
  assert.equal(toldBy(await first.call('late', {}, { key: 'order' })), 'paid by new, replayed')
  assert.deepEqual(effects, ['old: reserve'])
})

test('who learns that it was taken over is stopped at once, and says so once', async () => {
  const { clock, old, first, second } = await two(60)
  const called = first.call('stops', {}, { key: 'order' })
  await old.waits
  // Before a timer of the other can renew anything.
  clock.now += 60
  assert.equal(toldBy(await second.call('stops', {}, { key: 'order' })), 'paid by new')
  assert.match(toldBy(await called), /^refused -32603/)
  await delay(120)
  assert.ok(isTakenOver(old.told.reason), String(old.told.reason))
  assert.deepEqual(warnings(old.log), ['a run was taken over while it was running'])
})

test('who wakes after its lease, and was not taken over, goes on', async () => {
  const { clock, effects, old, first, second } = await two()
  const called = first.call('pay', {}, { key: 'order' })
  await old.waits
  clock.now += leaseMs
  old.letOn()
  assert.equal(toldBy(await called), 'paid by old')
  assert.equal(toldBy(await second.call('pay', {}, { key: 'order' })), 'paid by old, replayed')
  assert.deepEqual(effects, ['old: reserve', 'old: charge', 'old: notify'])
  assert.deepEqual(warnings(old.log), [])
})

test('after its lease no step begins while nobody can tell whose the run is', { timeout: 20_000 }, async () => {
  const { clock, flaky, effects, old, first } = await two()
  const called = first.call('late', {}, { key: 'order' })
  await old.waits
  clock.now += leaseMs
  flaky.away = 'before'
  old.letOn()
  assert.match(toldBy(await called), /^refused -32603/)
  assert.deepEqual(effects, ['old: reserve'])
})

test('within its lease a step asks the store for nothing, but to keep what it came to', async () => {
  const asked: string[] = []
  const clock = handClock()
  const store = new Proxy(memoryStore({ clock }), {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => {
        asked.push(`${String(name)} ${String(args[0]).split('/')[0]}`)
        return Reflect.apply(member, target, args)
      }
    },
  })
  const { speak, letOn } = process(store, clock, [], 'new')
  letOn()
  const speaker = await speak()
  asked.length = 0
  assert.equal(toldBy(await speaker.call('pay', {}, { key: 'order' })), 'paid by new')
  assert.deepEqual(
    asked.map((each) => each.replace(/claim\S*/, 'claim')),
    ['put claim', 'put step', 'put step', 'put claim'],
  )
})
