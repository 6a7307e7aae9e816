// Defends: a call that becomes a task is waited for, in both generations of tasks, and answered on the way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../src/client.ts'
import { isRefusal, Refusal, tool } from '../../src/index.ts'
import { isObject } from '../../src/model/json.ts'
import type { Task } from '../../src/model/nouns.ts'
import { createTaskProgress, maxHeard } from '../../src/client/task-progress.ts'
import { ToolAnswer } from '../../src/client/tool-answer.ts'
import { serverOf, sure } from '../server/support.ts'
import { until } from '../transport/dial/support.ts'
import type { MemoryTarget } from './memory-link.ts'
import { add, connected, eras, legacy, modern } from './support.ts'

const slow = tool('slow', { task: { after: 5 } }, async () => {
  await delay(40)
  return 'done'
})
const always = tool('always', { task: 'always' }, async () => 'always')
const asks = tool('asks', { task: 'always' }, async (_args, ctx) => {
  const answer = await ctx.elicit('sure', sure, 'Sure?')
  return JSON.stringify(answer)
})
const fails = tool('fails', { task: 'always' }, () => Promise.reject(new Error('broken')))
const endless = tool(
  'endless',
  { task: 'always' },
  (_args, { signal }) =>
    new Promise<string>((resolve) => {
      const hold = setTimeout(() => resolve('late'), 5_000)
      signal.addEventListener('abort', () => {
        clearTimeout(hold)
        resolve('stopped')
      })
    }),
)
const principal = { id: 'ada', scopes: new Set<string>() }
const server = () => serverOf({ tools: [slow, always, asks, fails, endless, add], tasks: { pollIntervalMs: 20 } })
const serve = { principal }

for (const revision of eras) {
  test(`${revision}: a call that may become a task is waited for`, async () => {
    await using pair = await connected(server(), { revision, serve })
    assert.equal((await pair.client.call('slow', {}, { task: true })).text, 'done')
    assert.equal((await pair.client.call('always', {}, { task: { ttl: 60_000 } })).text, 'always')
    assert.ok(pair.target.sent().includes('tasks/get'))
  })

  test(`${revision}: a task is started, looked at, waited for and listed`, async () => {
    await using pair = await connected(server(), { revision, serve })
    const task = (await pair.client.tasks.start('slow')) as Task
    assert.ok(!(task instanceof ToolAnswer))
    assert.equal(task.status, 'working')
    assert.equal((await pair.client.tasks.get(task.taskId)).taskId, task.taskId)
    assert.equal((await pair.client.tasks.result(task.taskId)).text, 'done')
    if (revision === legacy)
      assert.deepEqual(
        (await pair.client.tasks.list()).map(({ taskId }) => taskId),
        [task.taskId],
      )
    else await assert.rejects(pair.client.tasks.list(), { kind: 'UnknownMethod', ran: 'no' })
  })

  test(`${revision}: what a task asks is answered by the same handlers`, async () => {
    const asked: string[] = []
    await using pair = await connected(server(), {
      revision,
      serve,
      elicit: ({ message }) => {
        asked.push(message)
        return { action: 'accept', content: { sure: true } }
      },
    })
    const answer = await pair.client.call('asks', {}, { task: true })
    assert.deepEqual(JSON.parse(answer.text), { action: 'accept', content: { sure: true } })
    assert.deepEqual(asked, ['Sure?'])
  })

  test(`${revision}: a task that is called off says so; a tool that fails in one says no`, async () => {
    await using pair = await connected(server(), { revision, serve })
    const task = (await pair.client.tasks.start('endless')) as Task
    await pair.client.tasks.cancel(task.taskId)
    await assert.rejects(pair.client.tasks.result(task.taskId), { kind: 'Cancelled', ran: 'unknown' })
    assert.equal((await pair.client.call('fails', {}, { task: true })).isError, true)
    await assert.rejects(pair.client.tasks.get('nothing'), (error) => isRefusal(error) && error.ran === 'no')
  })

  test(`${revision}: the signal of a call calls its task off`, async () => {
    await using pair = await connected(server(), { revision, serve })
    const stop = new AbortController()
    const pending = pair.client.call('endless', {}, { task: true, signal: stop.signal })
    setTimeout(() => stop.abort(), 60)
    await assert.rejects(pending, { kind: 'Cancelled' })
    await delay(20)
    assert.ok(pair.target.sent().includes('tasks/cancel'))
  })
}

for (const revision of eras) {
  test(`${revision}: the time of a call is that of the task that it becomes, which is called off then`, async () => {
    await using pair = await connected(server(), { revision, serve })
    const failure = { kind: 'TimedOut', ran: 'unknown' }
    await assert.rejects(pair.client.call('endless', {}, { task: true, maxTimeoutMs: 100 }), failure)
    await until(() => pair.target.sent().includes('tasks/cancel'))
    const task = (await pair.client.tasks.start('endless')) as Task
    await assert.rejects(pair.client.tasks.result(task.taskId, { maxTimeoutMs: 50 }), failure)
    await pair.client.tasks.cancel(task.taskId)
  })
}

test('a server that does not say in numbers how often it wants to be asked is asked once a second', async () => {
  for (const said of ['abc', null, -5, 0, {}]) {
    await using pair = await connected(server(), { revision: modern, serve })
    pair.target.alter = (message, way) =>
      way === '<' && isObject(message.result) && 'taskId' in message.result
        ? { ...message, result: { ...message.result, pollIntervalMs: said } }
        : message
    await assert.rejects(pair.client.call('endless', {}, { task: true, maxTimeoutMs: 150 }), { kind: 'TimedOut' })
    assert.ok(!pair.target.sent().includes('tasks/get'), String(said))
  }
})

test('a tool that only runs as a task is called as one, also where the client has to say so', async () => {
  await using pair = await connected(server(), { revision: legacy, serve })
  assert.equal((await pair.client.call('always')).text, 'always')
  await using plain = await connected(server(), { revision: modern, serve })
  await assert.rejects(plain.client.call('always'), { kind: 'MissingClientCapability' })
  await using declared = await connected(server(), { revision: modern, serve, tasks: true })
  assert.equal((await declared.client.call('always')).text, 'always')
})

test('where there are no tasks a call is a call', async () => {
  await using pair = await connected(serverOf({ tools: [add] }), { revision: '2025-06-18' })
  assert.deepEqual((await pair.client.call('add', { a: 1, b: 2 }, { task: true })).structured, { sum: 3 })
  await using other = await connected(serverOf({ tools: [add] }), { revision: modern })
  assert.deepEqual((await other.client.call('add', { a: 1, b: 2 }, { task: true })).structured, { sum: 3 })
})

const climbs = tool('climbs', { task: 'always' }, async (_args, ctx) => {
  for (let step = 1; step <= 3; step++) {
    await delay(15)
    ctx.progress(step, 3)
  }
  return 'top'
})

test('progress of a call that became a task is heard until its end, where the revision has it', async () => {
  for (const revision of eras) {
    await using pair = await connected(serverOf({ tools: [climbs], tasks: { pollIntervalMs: 20 } }), {
      revision,
      serve,
    })
    const heard: number[] = []
    const onProgress = ({ progress }: { readonly progress: number }): void => void heard.push(progress)
    assert.equal((await pair.client.call('climbs', {}, { task: true, onProgress })).text, 'top')
    assert.deepEqual(heard, revision === legacy ? [1, 2, 3] : [])
  }
})

test('progress that comes with the task is heard, and none of a task that nobody waits for any more', async () => {
  await using pair = await connected(server(), { revision: legacy, serve })
  let token: unknown
  const tell = (progress: number): void =>
    pair.target.say({ method: 'notifications/progress', params: { progressToken: token as number, progress } })
  pair.target.alter = (message, way) => {
    if (way === '>' && message.method === 'tools/call') token = message.id
    // Right behind the answer, before anybody can have looked at that.
    if (way === '<' && message.id === token) queueMicrotask(() => tell(0.5))
    return message
  }
  const heard: number[] = []
  const onProgress = ({ progress }: { readonly progress: number }): void => void heard.push(progress)
  await pair.client.call('slow', {}, { task: true, onProgress })
  tell(7)
  assert.deepEqual(heard, [0.5])
  await pair.client.tasks.start('slow')
  tell(8)
  assert.deepEqual(heard, [0.5])
  const stop = new AbortController()
  const call = pair.client.call('endless', {}, { task: true, onProgress, signal: stop.signal })
  await delay(30)
  tell(9)
  stop.abort()
  await assert.rejects(call, { kind: 'Cancelled' })
  tell(10)
  assert.deepEqual(heard, [0.5, 0.5, 9])
})

test('progress of a task that was started is heard until its end, where the revision has it', async () => {
  for (const revision of eras) {
    await using pair = await connected(serverOf({ tools: [climbs], tasks: { pollIntervalMs: 20 } }), {
      revision,
      serve,
    })
    const heard: number[] = []
    const onProgress = ({ progress }: { readonly progress: number }): void => void heard.push(progress)
    const { taskId } = (await pair.client.tasks.start('climbs', {}, { onProgress })) as Task
    assert.equal((await pair.client.tasks.result(taskId)).text, 'top')
    assert.deepEqual(heard, revision === legacy ? [1, 2, 3] : [])
  }
})

/** How a client learns that a task is over. */
const ends: Readonly<Record<string, (client: Client, taskId: string, say: MemoryTarget['say']) => Promise<unknown>>> = {
  'its result': (client, taskId) => client.tasks.result(taskId),
  'how it stands': (client, taskId) => client.tasks.get(taskId),
  'its being called off': (client, taskId) => client.tasks.cancel(taskId),
  'the word of the server': async (_client, taskId, say) =>
    say({ method: 'notifications/tasks/status', params: { taskId, status: 'completed' } }),
  'the refusal of its result': (client, taskId) => assert.rejects(client.tasks.result(taskId)),
}

for (const [name, end] of Object.entries(ends)) {
  test(`after ${name} no progress is heard of a task that was started`, async () => {
    const refused = tool('refused', { task: 'always' }, async () => {
      await delay(10)
      throw new Refusal('HandlerFailed', { message: 'no' })
    })
    const tools = [endless, always, refused]
    await using pair = await connected(serverOf({ tools, tasks: { pollIntervalMs: 20 } }), { revision: legacy, serve })
    let token: unknown
    // What the server says by itself would end it, too.
    pair.target.alter = (message, way) => {
      if (way === '>' && message.method === 'tools/call') token = message.id
      return way === '<' && message.method === 'notifications/tasks/status' ? undefined : message
    }
    const heard: number[] = []
    const onProgress = ({ progress }: { readonly progress: number }): void => void heard.push(progress)
    const tell = (progress: number): void =>
      pair.target.say({ method: 'notifications/progress', params: { progressToken: token as number, progress } })
    const called = name.startsWith('its being') ? 'endless' : name.startsWith('the refusal') ? 'refused' : 'always'
    const { taskId } = (await pair.client.tasks.start(called, {}, { onProgress })) as Task
    tell(1)
    pair.target.say({ method: 'notifications/tasks/status', params: { taskId, status: 'working' } })
    pair.target.say({ method: 'notifications/tasks/status', params: { taskId: 'other', status: 'completed' } })
    tell(2)
    if (name.startsWith('how')) await delay(50)
    await end(pair.client, taskId, pair.target.say)
    tell(3)
    assert.deepEqual(heard, [1, 2])
  })
}

test('of more tasks than can be heard the oldest is not any more', () => {
  const progress = createTaskProgress()
  const all = Array.from({ length: maxHeard + 1 }, () => new AbortController())
  for (const [at, heard] of all.entries()) progress.keep(`task ${at}`, heard)
  assert.deepEqual(
    all.flatMap(({ signal }, at) => (signal.aborted ? [at] : [])),
    [0],
  )
})
