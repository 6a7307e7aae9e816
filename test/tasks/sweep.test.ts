// Tasks whose process died end although nobody asks for them: another process looks after them, and tells.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createServer, memoryStore, tool } from '../../src/index.ts'
import type { Server, Store, ToolConfig } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { TestClient } from '../../src/testing.ts'
import { createTaskSweep, type OpenTask, type TaskSweepOptions } from '../../src/durable/task-sweep.ts'
import { flakyStore, recorder } from '../durable/fakes.ts'
import { ada, clientOf, legacy, mortal, ok } from './support.ts'

const leaseMs = 40
const folder = mkdtempSync(join(tmpdir(), 'dragoman-sweep-'))
const opened: Store[] = []
after(async () => {
  await Promise.all(opened.map((store) => store.close()))
  rmSync(folder, { recursive: true, force: true })
})

/** The time of all processes, which the test moves. */
function handClock() {
  const time = { now: Date.now(), clock: (): number => time.now }
  return time
}
type Time = ReturnType<typeof handClock>

let files = 0
/** Stores by their kind: each call of what `make` returns is another process's connection to one store. */
const stores: Readonly<Record<string, (time: Time) => () => Store>> = {
  memory({ clock }) {
    const store = memoryStore({ clock })
    return () => store
  },
  sqlite() {
    const file = join(folder, `${++files}.db`)
    return () => {
      const store = sqlite(file)
      opened.push(store)
      return store
    }
  },
}

interface Process {
  readonly server: Server
  /** What its job has done. */
  readonly log: string[]
  /** Lets the job go on behind its first step. */
  release(): void
}

interface ProcessOptions {
  readonly time: Time
  readonly store: Store
  readonly name?: string
  readonly job?: string
  readonly config?: Partial<ToolConfig<undefined, undefined>>
  readonly more?: Partial<Parameters<typeof createServer>[0]>
}

function processOn({ time, store, name = 'office', job = 'job', config = {}, more = {} }: ProcessOptions): Process {
  const log: string[] = []
  let release = (): void => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const server = createServer({
    name,
    version: '1',
    keys: [new Uint8Array(32).fill(7)],
    store,
    clock: time.clock,
    tasks: { leaseMs },
    ...more,
    tools: [
      tool(job, { task: 'always', ...config }, async (_, ctx) => {
        log.push('began')
        await ctx.step('first', () => log.push('first'))
        await gate
        return 'done'
      }),
    ],
  })
  return { server, log, release: () => release() }
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (await holds()) return
    await delay(5)
  }
  throw new Error(`waited in vain for ${holds.toString()}`)
}

const started = async (client: TestClient, job = 'job'): Promise<string> =>
  String(ok(await client.request('tools/call', { name: job }))['taskId'])

/** The statuses that a client was told of a task by `method`, in their order. */
const told = (client: TestClient, method: string): readonly Record<string, unknown>[] =>
  client.heard.filter((one) => one.method === method).map(({ params }) => params ?? {})

/** Two processes, of which the one that works on a task dies; at the other, one client of each generation listens. */
async function deserted(kind: string, config: ProcessOptions['config']) {
  const time = handClock()
  const open = stores[kind]?.(time) ?? assert.fail(kind)
  const first = mortal(open())
  const dying = processOn({ time, store: first.store, ...(config && { config }) })
  const taskId = await started(await clientOf(dying.server, { principal: ada }))
  await until(() => dying.log.includes('first'))
  const other = processOn({ time, store: open(), ...(config && { config }) })
  const young = await clientOf(other.server, { principal: ada })
  const old = await clientOf(other.server, { principal: ada, revision: legacy })
  void young.request('subscriptions/listen', { notifications: { taskIds: [taskId] } })
  await until(() => told(young, 'notifications/subscriptions/acknowledged').length === 1)
  first.die()
  return { time, taskId, dying, other, young, old }
}

for (const kind of Object.keys(stores)) {
  test(`${kind}: a task whose process died is finished by another that nobody asks, and whoever listens is told`, async () => {
    const { time, taskId, other, young, old } = await deserted(kind, { rerun: 'safe' })
    await delay(3 * leaseMs)
    assert.deepEqual(other.log, [], 'the lease has not run out')
    time.now += leaseMs + 1
    await until(() => other.log.length > 0)
    other.release()
    await until(() => told(young, 'notifications/tasks').at(-1)?.['status'] === 'completed')
    await until(() => told(old, 'notifications/tasks/status').at(-1)?.['status'] === 'completed')
    assert.deepEqual(told(young, 'notifications/tasks').at(-1)?.['result'], {
      content: [{ type: 'text', text: 'done' }],
    })
    assert.equal(told(old, 'notifications/tasks/status').at(-1)?.['taskId'], taskId)
    // Its step was done already.
    assert.deepEqual(other.log, ['began'])
  })

  test(`${kind}: a task whose process died has failed where its tool may not run again, and whoever listens is told why`, async () => {
    const { time, taskId, other, young, old } = await deserted(kind, {})
    time.now += leaseMs + 1
    await until(() => told(young, 'notifications/tasks').at(-1)?.['status'] === 'failed')
    await until(() => told(old, 'notifications/tasks/status').at(-1)?.['status'] === 'failed')
    for (const last of [told(young, 'notifications/tasks').at(-1), told(old, 'notifications/tasks/status').at(-1)]) {
      assert.equal(last?.['taskId'], taskId)
      assert.match(String(last?.['statusMessage']), /process that ran this task ended/)
    }
    assert.deepEqual(other.log, [])
  })

  test(`${kind}: a task that is over is looked after no more`, async () => {
    const time = handClock()
    const store = (stores[kind]?.(time) ?? assert.fail(kind))()
    const listed: string[] = []
    const spied = new Proxy(store, {
      get(target, name) {
        if (name !== 'delete') return Reflect.get(target, name) as unknown
        return (key: string, ...rest: []) => {
          listed.push(key)
          return target.delete(key, ...rest)
        }
      },
    })
    const { server, release } = processOn({ time, store: spied })
    const client = await clientOf(server, { principal: ada })
    const taskId = await started(client)
    release()
    await until(async () => ok(await client.request('tasks/get', { taskId }))['status'] === 'completed')
    await until(() => listed.some((key) => key.startsWith('task-open.') && key.endsWith(taskId)))
  })
}

test('a process leaves the tasks of other servers alone, and those of tools that it does not have', async () => {
  const time = handClock()
  const store = memoryStore({ clock: time.clock })
  const first = mortal(store)
  const dying = processOn({ time, store: first.store })
  await started(await clientOf(dying.server, { principal: ada }))
  first.die()
  const another = processOn({ time, store, name: 'shop' })
  const stranger = processOn({ time, store, job: 'other' })
  for (const { server } of [another, stranger]) await clientOf(server, { principal: ada, revision: legacy })
  for (let turn = 0; turn < 4; turn++) {
    time.now += leaseMs + 1
    await delay(2 * leaseMs)
  }
  const heir = processOn({ time, store })
  const listener = await clientOf(heir.server, { principal: ada, revision: legacy })
  assert.deepEqual(told(listener, 'notifications/tasks/status'), [])
  for (let turn = 0; turn < 40 && told(listener, 'notifications/tasks/status').length === 0; turn++) {
    time.now += leaseMs + 1
    await delay(leaseMs)
  }
  assert.equal(told(listener, 'notifications/tasks/status').at(-1)?.['status'], 'failed')
})

test('a process that works on as much as it may leaves a task to one that has room', async () => {
  const time = handClock()
  const store = memoryStore({ clock: time.clock })
  const first = mortal(store)
  const config = { rerun: 'safe' } as const
  const dying = processOn({ time, store: first.store, config })
  await started(await clientOf(dying.server, { principal: ada }))
  const full = processOn({ time, store, config, more: { tasks: { leaseMs, maxRunning: 1 } } })
  await started(await clientOf(full.server, { principal: ada }))
  await until(() => full.log.includes('first'))
  first.die()
  for (let turn = 0; turn < 4; turn++) {
    time.now += leaseMs / 2
    await delay(2 * leaseMs)
  }
  assert.deepEqual(full.log, ['began', 'first'])
  const heir = processOn({ time, store, config })
  await clientOf(heir.server, { principal: ada, revision: legacy })
  for (let turn = 0; turn < 40 && heir.log.length === 0; turn++) {
    time.now += leaseMs / 2
    await delay(leaseMs)
  }
  assert.deepEqual([heir.log, full.log], [['began'], ['began', 'first']])
})

/** A sweep over a store of `count` tasks, told of every look. */
async function sweepOver(store: Store, count: number, options: Partial<TaskSweepOptions> = {}) {
  const time = handClock()
  const looked: OpenTask[] = []
  const make = () =>
    createTaskSweep({
      store,
      clock: time.clock,
      logger: recorder().logger,
      kind: 'office',
      leaseMs,
      look: async (task) => looked.push(task) < 0,
      ...options,
    })
  const sweep = make()
  for (let at = 0; at < count; at++) {
    await sweep.enter({ owner: 'ada', id: String(at).padStart(6, '0'), tool: 'job' }, time.now + 3600_000)
  }
  return { time, looked, make, sweep }
}

test('one look has a bound, and the next goes on where it ended', async () => {
  const { time, looked, sweep } = await sweepOver(memoryStore(), 1_001)
  sweep.start()
  await until(() => looked.length >= 1_000)
  await delay(3 * leaseMs)
  assert.equal(looked.length, 1_000)
  time.now += leaseMs
  await until(() => looked.length > 1_000)
  assert.equal(looked.at(-1)?.id, '001000')
  await delay(3 * leaseMs)
  assert.equal(looked.length, 1_001)
  time.now += leaseMs
  await until(() => looked.length > 1_001)
  assert.equal(looked[1_001]?.id, '000000')
  sweep.close()
})

test('of many processes one looks at a time, and none that was closed', async () => {
  const { time, looked, make, sweep } = await sweepOver(memoryStore(), 1)
  const all = [sweep, ...Array.from({ length: 9 }, make)]
  for (const one of all) one.start()
  await until(() => looked.length === 1)
  await delay(4 * leaseMs)
  assert.equal(looked.length, 1)
  time.now += leaseMs
  await until(() => looked.length === 2)
  for (const one of all) one.close()
  time.now += leaseMs
  await delay(4 * leaseMs)
  assert.equal(looked.length, 2)
})

test('one that is closed while it looks does not go on', async () => {
  const looked: string[] = []
  const { sweep } = await sweepOver(memoryStore(), 20, {
    look: async ({ id }) => {
      looked.push(id)
      await delay(5)
      return false
    },
  })
  sweep.start()
  await until(() => looked.length === 3)
  sweep.close()
  await delay(3 * leaseMs)
  assert.equal(looked.length, 3)
})

test('what is over is struck off, what cannot be looked at is passed over', async () => {
  const store = memoryStore()
  const seen: string[] = []
  const { logger, at } = recorder()
  const look = async ({ id }: OpenTask): Promise<boolean> => {
    seen.push(id)
    if (id === '000000') throw new Error('unreadable')
    return id === '000001'
  }
  const { time, sweep } = await sweepOver(store, 3, { look, logger })
  sweep.start()
  await until(() => seen.length === 3)
  time.now += leaseMs
  await until(() => seen.length === 5)
  assert.deepEqual(seen, ['000000', '000001', '000002', '000000', '000002'])
  assert.ok(at('warn').every(({ message }) => message === 'a task could not be looked at'))
  sweep.close()
})

test('a store that is away is told to the log, and looked through once it is back', async () => {
  const flaky = flakyStore(memoryStore())
  const { logger, at } = recorder()
  const { time, looked, sweep } = await sweepOver(flaky.store, 1, { logger })
  flaky.away = 'before'
  await sweep.enter({ owner: 'ada', id: 'x', tool: 'job' }, time.now + 1_000)
  await sweep.leave('000000')
  sweep.start()
  const told = (): number =>
    at('warn').filter(({ message }) => message === 'abandoned tasks cannot be looked for').length
  await until(() => told() === 1)
  await delay(4 * leaseMs)
  assert.equal(told(), 1, 'once for all that fail in a row')
  flaky.away = undefined
  await until(() => looked.length === 1)
  sweep.close()
})
