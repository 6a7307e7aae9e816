// A store that is away: nothing runs that could not be told of, and nothing that ran is lost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { memoryStore } from '../../src/index.ts'
import type { Middleware } from '../../src/index.ts'
import { flakyStore } from '../durable/fakes.ts'
import { clientOf, legacy, ok, until, workshop, yes } from './support.ts'

test('without its store a call that must be a task is refused, and nothing runs', async () => {
  const flaky = flakyStore(memoryStore())
  const { server, done } = workshop({ store: flaky.store })
  const client = await clientOf(server)
  flaky.away = 'before'
  const { error } = await client.request('tools/call', { name: 'must' })
  assert.deepEqual(error, {
    code: -32603,
    message: 'Whether this ran before cannot be told right now. Nothing was run.',
  })
  assert.deepEqual(done, [])
})

test('a call that would become a task is waited for instead', async () => {
  const flaky = flakyStore(memoryStore())
  const { server, release } = workshop({ store: flaky.store })
  const client = await clientOf(server)
  flaky.away = 'before'
  const called = client.request('tools/call', { name: 'held' })
  await delay(40)
  release()
  assert.deepEqual(ok(await called)['content'], [{ type: 'text', text: 'held' }])
})

test('what a task came to while the store was away is recorded once it is back', async () => {
  for (const away of ['before', 'after'] as const) {
    const flaky = flakyStore(memoryStore())
    const { server, release } = workshop({ store: flaky.store })
    const client = await clientOf(server)
    const { taskId } = ok(await client.request('tools/call', { name: 'held' }))
    flaky.away = away
    release()
    await delay(20)
    flaky.away = undefined
    const { result } = await until(client, taskId, ({ status }) => status === 'completed')
    assert.deepEqual(result, { content: [{ type: 'text', text: 'held' }] }, away)
  }
})

test('a question is asked once the store is back', async () => {
  const flaky = flakyStore(memoryStore())
  const { server } = workshop({ store: flaky.store })
  const client = await clientOf(server)
  const { taskId } = ok(await client.request('tools/call', { name: 'asks_late' })) as { taskId: string }
  flaky.away = 'before'
  await delay(60)
  flaky.away = undefined
  await until(client, taskId, ({ status }) => status === 'input_required')
  ok(await client.request('tasks/update', { taskId, inputResponses: { sure: yes } }))
  const { result } = await until(client, taskId, ({ status }) => status === 'completed')
  assert.deepEqual(result, { content: [{ type: 'text', text: 'late accept' }] })
})

test('whoever waits for a task waits on while the store is away, and whoever comes then is refused', async () => {
  const flaky = flakyStore(memoryStore())
  const { server, release } = workshop({ store: flaky.store })
  const client = await clientOf(server, { revision: legacy })
  const { taskId } = ok(await client.request('tools/call', { name: 'held', task: {} }))['task'] as { taskId: string }
  const waiting = client.request('tasks/result', { taskId })
  await delay(20)
  flaky.away = 'before'
  // It looks for itself every two seconds.
  await delay(2_300)
  const { error } = await client.request('tasks/result', { taskId })
  assert.equal(error?.code, -32603)
  release()
  await delay(20)
  flaky.away = undefined
  assert.deepEqual(ok(await waiting)['content'], [{ type: 'text', text: 'held' }])
})

test('whoever stops waiting while the store is away is let go', async () => {
  const flaky = flakyStore(memoryStore())
  const left: string[] = []
  const all: Middleware['all'] = (call, context, next) => next(call, context).finally(() => left.push(call.method))
  const { server } = workshop({ store: flaky.store, middleware: [{ all }] })
  const client = await clientOf(server, { revision: legacy })
  const { taskId } = ok(await client.request('tools/call', { name: 'held', task: {} }))['task'] as { taskId: string }
  void client.request('tasks/result', { taskId })
  await delay(20)
  flaky.away = 'before'
  await delay(2_300)
  assert.deepEqual(left, ['tools/call'])
  await client.close()
  await delay(600)
  assert.deepEqual(left, ['tools/call', 'tasks/result'])
})

test('what a user answers while the store is away reaches the task once it is back', { timeout: 10_000 }, async () => {
  const flaky = flakyStore(memoryStore())
  const { server } = workshop({ store: flaky.store })
  const client = await clientOf(server, {
    revision: legacy,
    answer: () => {
      flaky.away = 'before'
      return yes
    },
  })
  const { taskId } = ok(await client.request('tools/call', { name: 'asks', task: {} }))['task'] as { taskId: string }
  const waiting = client.request('tasks/result', { taskId })
  await delay(100)
  assert.equal(flaky.away, 'before')
  flaky.away = undefined
  assert.deepEqual(ok(await waiting)['content'], [{ type: 'text', text: 'answered accept' }])
})
