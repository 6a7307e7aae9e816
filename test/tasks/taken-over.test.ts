// A process that was stopped for longer than its lease on a task: what it goes on with is somebody else's by then.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createServer, isRefusal, memoryStore, tool } from '../../src/index.ts'
import type { Context, Server, Store, ToolConfig } from '../../src/index.ts'
import { flakyStore, handClock, recorder } from '../durable/fakes.ts'
import { ada, clientOf, ok, until } from './support.ts'

const leaseMs = 15_000
/** Leases keep no process alive; here nothing else does. */
const keepsAlive = setInterval(() => {}, 1_000)
after(() => clearInterval(keepsAlive))

/** One process on `store` whose job does one step, waits to be let on, and does another. */
function office(
  store: Store,
  clock: () => number,
  effects: string[],
  name: string,
  config: Partial<ToolConfig<undefined, undefined>>,
) {
  const log = recorder()
  const told: { ctx?: Context; steps: unknown[] } = { steps: [] }
  let letOn = (): void => {}
  const gate = new Promise<void>((resolve) => (letOn = resolve))
  const step = (ctx: Context, key: string): Promise<unknown> =>
    ctx
      .step(key, () => {
        effects.push(`${name}: ${key}`)
        return `${key} by ${name}`
      })
      .catch((error: unknown) => error)
  const server: Server = createServer({
    name: 'office',
    version: '1',
    keys: [new Uint8Array(32).fill(7)],
    store,
    clock,
    logger: log.logger,
    tasks: { leaseMs },
    tools: [
      tool('job', { task: 'always', rerun: 'safe', ...config }, async (_, ctx) => {
        told.ctx = ctx
        told.steps.push(await step(ctx, 'first'))
        await gate
        told.steps.push(await step(ctx, 'second'))
        if (name === 'old') told.steps.push(await step(ctx, 'third'))
        return `done by ${name}`
      }),
    ],
  })
  return { server, log, told, letOn: () => letOn() }
}

async function two(config: Partial<ToolConfig<undefined, undefined>> = {}) {
  const clock = handClock()
  const flaky = flakyStore(memoryStore({ clock }))
  const effects: string[] = []
  const old = office(flaky.store, clock, effects, 'old', config)
  const young = office(flaky.store, clock, effects, 'new', config)
  young.letOn()
  const first = await clientOf(old.server, { principal: ada })
  const second = await clientOf(young.server, { principal: ada })
  return { clock, flaky, effects, old, young, first, second }
}

async function soon(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 200 && !holds(); turn++) await delay(5)
  assert.ok(holds(), holds.toString())
}

const isTakenOver = (error: unknown): boolean =>
  isRefusal(error) && error.kind === 'OutcomeUnknown' && /taken over/.test(error.message)

for (const config of [{ task: 'always' }, { task: { after: 5 } }] as const) {
  const kind = JSON.stringify(config.task)

  test(`${kind}: who wakes after its lease finds the steps of its successor, and begins none of its own`, async () => {
    const { clock, effects, old, first, second } = await two(config)
    const { taskId } = ok(await first.request('tools/call', { name: 'job' }))
    await soon(() => old.told.steps.length === 1)
    clock.now += leaseMs
    const { result } = await until(second, taskId, ({ status }) => status === 'completed')
    assert.deepEqual(result, { content: [{ type: 'text', text: 'done by new' }] })
    old.letOn()
    await soon(() => old.told.steps.length === 3)
    assert.deepEqual(old.told.steps.slice(0, 2), ['first by old', 'second by new'])
    assert.ok(isTakenOver(old.told.steps[2]), String(old.told.steps[2]))
    assert.deepEqual(effects, ['old: first', 'new: second'])
    assert.ok(isTakenOver(old.told.ctx?.signal.reason), String(old.told.ctx?.signal.reason))
    assert.deepEqual(
      old.log.at('warn').map(({ message }) => message),
      ['a task was taken over while it was running'],
    )
  })
}

test('who wakes after its lease, and was not taken over, goes on', async () => {
  const { clock, effects, old, first, second } = await two()
  const { taskId } = ok(await first.request('tools/call', { name: 'job' }))
  await soon(() => old.told.steps.length === 1)
  clock.now += leaseMs
  old.letOn()
  const { result } = await until(first, taskId, ({ status }) => status === 'completed')
  assert.deepEqual(result, { content: [{ type: 'text', text: 'done by old' }] })
  assert.deepEqual(ok(await second.request('tasks/get', { taskId: String(taskId) }))['status'], 'completed')
  assert.deepEqual(effects, ['old: first', 'old: second', 'old: third'])
  assert.deepEqual(old.log.at('warn'), [])
})

test('where the task was said to have failed, nothing more is begun for it', async () => {
  const { clock, effects, old, first, second } = await two({ rerun: 'never' })
  const { taskId } = ok(await first.request('tools/call', { name: 'job' }))
  await soon(() => old.told.steps.length === 1)
  clock.now += leaseMs
  assert.equal(ok(await second.request('tasks/get', { taskId: String(taskId) }))['status'], 'failed')
  old.letOn()
  await soon(() => old.told.steps.length === 3)
  assert.ok(old.told.steps.slice(1).every(isTakenOver), String(old.told.steps))
  assert.deepEqual(effects, ['old: first'])
})

test('a task that its owner called off may still undo what it did', async () => {
  const { clock, effects, old, first } = await two()
  const { taskId } = ok(await first.request('tools/call', { name: 'job' }))
  await soon(() => old.told.steps.length === 1)
  ok(await first.request('tasks/cancel', { taskId: String(taskId) }))
  assert.equal(old.told.ctx?.signal.aborted, true)
  clock.now += leaseMs
  old.letOn()
  await soon(() => old.told.steps.length === 3)
  assert.deepEqual(effects, ['old: first', 'old: second', 'old: third'])
})

test('after its lease a step waits for the store to say whose the task is', async () => {
  const { clock, flaky, effects, old, first } = await two()
  const { taskId } = ok(await first.request('tools/call', { name: 'job' }))
  await soon(() => old.told.steps.length === 1)
  clock.now += leaseMs
  flaky.away = 'before'
  old.letOn()
  await delay(30)
  assert.deepEqual(effects, ['old: first'])
  flaky.away = undefined
  await until(first, taskId, ({ status }) => status === 'completed')
  assert.deepEqual(effects, ['old: first', 'old: second', 'old: third'])
})
