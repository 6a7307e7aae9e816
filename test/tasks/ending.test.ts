// What a task came to is known to its process alone: it is written however long the store is away, the tool does not
// run again meanwhile, and what cannot be kept ends the task all the same.
import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { createServer, memoryStore, Refusal, StoreUnavailable, tool } from '../../src/index.ts'
import type { Server, Store } from '../../src/index.ts'
import type { TestClient } from '../../src/testing.ts'
import { flakyStore, recorder } from '../durable/fakes.ts'
import { ada, clientOf, legacy, ok, until } from './support.ts'

const leaseMs = 60
const isOver = ({ status }: Record<string, unknown>): boolean => status !== 'working'

interface Process {
  readonly server: Server
  readonly runs: string[]
  release(): void
  readonly signals: AbortSignal[]
}

/** A process with two jobs that come to `text` once they are released, of which one may run again. */
function processOn(store: Store, text = 'done', more: Partial<Parameters<typeof createServer>[0]> = {}): Process {
  const runs: string[] = []
  const signals: AbortSignal[] = []
  let release = (): void => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const job = (name: string, rerun: 'safe' | undefined) =>
    tool(name, { task: 'always', ...(rerun && { rerun }) }, async (_, { signal }) => {
      runs.push(name)
      signals.push(signal)
      await gate
      return text
    })
  const server = createServer({
    name: 'office',
    version: '1',
    keys: [new Uint8Array(32).fill(7)],
    store,
    tasks: { leaseMs },
    ...more,
    tools: [job('safe', 'safe'), job('unsafe', undefined)],
  })
  return { server, runs, signals, release: () => release() }
}

const start = async (client: TestClient, name: string): Promise<string> =>
  String(ok(await client.request('tools/call', { name }))['taskId'])

const content = (text: string) => ({ content: [{ type: 'text', text }] })

test('a task whose result does not fit the store runs once, and has failed with words that say so', async () => {
  for (const name of ['safe', 'unsafe']) {
    const { logger, at } = recorder()
    const bench = processOn(memoryStore({ maxLength: 200_000 }), 'x'.repeat(300_000), { logger })
    bench.release()
    const client = await clientOf(bench.server, { principal: ada })
    const taskId = await start(client, name)
    const task = await until(client, taskId, isOver)
    await delay(3 * leaseMs)
    assert.deepEqual(bench.runs, [name])
    assert.equal(task['status'], 'failed')
    assert.equal(task['statusMessage'], 'The task ended, but what it came to could not be kept.')
    const since = task['createdAt']
    const expected = {
      code: -32603,
      message: 'The call was started and its outcome is not known.',
      data: { since, ended: true },
    }
    assert.deepEqual(task['error'], expected)
    const old = await clientOf(bench.server, { principal: ada, revision: legacy })
    assert.deepEqual((await old.request('tasks/result', { taskId })).error, expected)
    assert.deepEqual(at('error').filter(({ message }) => message.includes('what a task came to')).length, 1)
  }
})

test('a store that is full for a while keeps what a task came to once it has room', async () => {
  const inner = memoryStore()
  let full = false
  const store: Store = {
    ...inner,
    put: (...args) => (full ? Promise.reject(new Refusal('StoreFull')) : inner.put(...args)),
  }
  const bench = processOn(store)
  const client = await clientOf(bench.server)
  const taskId = await start(client, 'safe')
  full = true
  bench.release()
  await delay(3 * leaseMs)
  full = false
  const task = await until(client, taskId, isOver)
  assert.deepEqual([task['result'], bench.runs], [content('done'), ['safe']])
})

test('a task that ends while the store is away is worked on until that is recorded, and not taken up once more', async () => {
  for (const name of ['safe', 'unsafe']) {
    const flaky = flakyStore(memoryStore())
    const bench = processOn(flaky.store)
    const client = await clientOf(bench.server)
    const taskId = await start(client, name)
    flaky.away = 'before'
    bench.release()
    await delay(3 * leaseMs)
    flaky.away = undefined
    // Before anything was renewed or recorded.
    assert.equal(ok(await client.request('tasks/get', { taskId }))['status'], 'working')
    const task = await until(client, taskId, isOver)
    assert.deepEqual([task['result'], bench.runs], [content('done'), [name]])
    assert.ok(
      bench.signals.every((signal) => !signal.aborted),
      'a run that ended is not called off',
    )
  }
})

/** Time that passes only where the test says so, half a second at a time, also for what is imported by name. */
function handTime(t: TestContext): (halfSeconds: number) => Promise<void> {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.timers.reset()
    syncBuiltinESMExports()
  })
  return async (halfSeconds) => {
    for (let tick = 0; tick < halfSeconds; tick++) {
      await turn()
      t.mock.timers.tick(500)
    }
    await turn()
  }
}

test('a store may be away for minutes', async (t) => {
  const flaky = flakyStore(memoryStore())
  const bench = processOn(flaky.store, 'done', { tasks: {} })
  const client = await clientOf(bench.server)
  const taskId = await start(client, 'unsafe')
  const pass = handTime(t)
  flaky.away = 'before'
  bench.release()
  await pass(1_100)
  flaky.away = undefined
  await pass(2)
  assert.deepEqual(ok(await client.request('tasks/get', { taskId }))['result'], content('done'))
})

test('another process does not take a task for abandoned whose lease ran out while the store was away', async () => {
  for (const name of ['safe', 'unsafe']) {
    const flaky = flakyStore(memoryStore())
    const bench = processOn(flaky.store, 'done', { tasks: { leaseMs: 1_500 } })
    const other = processOn(flaky.store, 'done', { tasks: { leaseMs: 1_500 } })
    const client = await clientOf(bench.server, { principal: ada })
    const asking = await clientOf(other.server, { principal: ada })
    const taskId = await start(client, name)
    ok(await asking.request('tasks/get', { taskId }))
    flaky.away = 'before'
    bench.release()
    await delay(1_000)
    assert.ok((await asking.request('tasks/get', { taskId })).error)
    await delay(800)
    flaky.away = undefined
    assert.equal(ok(await asking.request('tasks/get', { taskId }))['status'], 'working')
    const task = await until(asking, taskId, isOver)
    assert.deepEqual([task['result'], bench.runs, other.runs], [content('done'), [name], []])
  }
})

test('whoever listens is told of an end that was written although it looked as if it was not', async () => {
  const inner = memoryStore()
  let isCut = false
  const store: Store = {
    ...inner,
    put: async (...args) => {
      const version = await inner.put(...args)
      if (!isCut) return version
      isCut = false
      throw new StoreUnavailable('cut', { attempted: 'unknown' })
    },
  }
  const bench = processOn(store, 'done', { tasks: {} })
  const client = await clientOf(bench.server, { principal: ada, revision: legacy })
  ok(await client.request('tools/call', { name: 'unsafe', task: {} }))
  isCut = true
  bench.release()
  const told = (): unknown[] => client.heard.filter(({ method }) => method === 'notifications/tasks/status')
  for (let turn = 0; turn < 200 && told().length === 0; turn++) await delay(10)
  assert.equal(told().length, 1)
})
