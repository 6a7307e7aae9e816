// One store behind both generations, and behind any number of processes: what one of them knows all do, and what one
// leaves behind another takes over.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createServer, inputRequired, memoryStore, tool } from '../../src/index.ts'
import type { Server, Store, ToolConfig } from '../../src/index.ts'
import { ada, clientOf, legacy, modern, mortal, ok, sure, until, workshop, yes } from './support.ts'

const leaseMs = 90

test('a principal has its tasks on both generations at once', async () => {
  const { server, release } = workshop()
  const old = await clientOf(server, { revision: legacy, principal: ada })
  const young = await clientOf(server, { revision: modern, principal: ada })
  const { taskId: byOld } = ok(await old.request('tools/call', { name: 'held', task: {} }))['task'] as {
    taskId: string
  }
  const { taskId: byYoung } = ok(await young.request('tools/call', { name: 'held' })) as { taskId: string }
  release()
  const seen = await until(young, byOld, ({ status }) => status === 'completed')
  assert.deepEqual(seen['result'], { content: [{ type: 'text', text: 'held' }] })
  assert.deepEqual(ok(await old.request('tasks/result', { taskId: byYoung }))['content'], [
    { type: 'text', text: 'held' },
  ])
})

test('a question that a task of one generation asks can be answered on the other', async () => {
  const { server } = workshop()
  const old = await clientOf(server, { revision: legacy, principal: ada })
  const young = await clientOf(server, { revision: modern, principal: ada })
  const { taskId } = ok(await old.request('tools/call', { name: 'asks', task: {} }))['task'] as { taskId: string }
  await until(young, taskId, ({ status }) => status === 'input_required')
  ok(await young.request('tasks/update', { taskId, inputResponses: { sure: yes } }))
  assert.deepEqual(ok(await old.request('tasks/result', { taskId }))['content'], [
    { type: 'text', text: 'answered accept' },
  ])
})

test('another process on the same store collects, cancels, answers and hears', async () => {
  const store = memoryStore()
  const here = workshop({ store })
  const there = workshop({ store })
  const client = await clientOf(here.server, { principal: ada })
  const away = await clientOf(there.server, { revision: legacy, principal: ada })
  const { taskId } = ok(await client.request('tools/call', { name: 'held' })) as { taskId: string }
  const waiting = away.request('tasks/result', { taskId })
  here.release()
  assert.deepEqual(ok(await waiting)['content'], [{ type: 'text', text: 'held' }])
  await delay(5)
  assert.deepEqual(
    away.heard.map(({ method, params }) => [method, params?.['status']]),
    [['notifications/tasks/status', 'completed']],
  )

  const { taskId: second } = ok(await client.request('tools/call', { name: 'asks' })) as { taskId: string }
  ok(await away.request('tasks/cancel', { taskId: second }))
  await delay(5)
  assert.equal(ok(await client.request('tasks/get', { taskId: second }))['status'], 'cancelled')
  assert.deepEqual(there.done, [])
})

/** A process on `store` with one job that does two steps and asks between them. */
function replica(store: Store, log: string[], config: Partial<ToolConfig<undefined, undefined>>): Server {
  return createServer({
    name: 'replica',
    version: '1',
    keys: [new Uint8Array(32).fill(7)],
    store,
    tasks: { leaseMs },
    tools: [
      tool('job', { task: 'always', ...config }, async (_, ctx) => {
        log.push(`run for ${ctx.principal?.id ?? 'nobody'}`)
        await ctx.step('first', ({ key }) => {
          log.push(`first ${key}`)
          return 1
        })
        const answer = await ctx.elicit('sure', sure, 'Sure?')
        await ctx.step('second', () => {
          log.push(`second ${answer.action}`)
          return 2
        })
        return 'done'
      }),
    ],
  })
}

test('a worker that dies hands its task to another process; steps and answers are not done and asked again', async () => {
  const shared = memoryStore()
  const first = mortal(shared)
  const log: string[] = []
  const dying = await clientOf(replica(first.store, log, { rerun: 'safe' }), { principal: ada })
  const { taskId } = ok(await dying.request('tools/call', { name: 'job' })) as { taskId: string }
  await until(dying, taskId, ({ status }) => status === 'input_required')
  first.die()
  await delay(leaseMs + 20)

  const client = await clientOf(replica(shared, log, { rerun: 'safe' }), { principal: ada })
  await until(client, taskId, ({ status }) => status === 'input_required')
  ok(await client.request('tasks/update', { taskId, inputResponses: { sure: yes } }))
  const { result } = await until(client, taskId, ({ status }) => status === 'completed')
  assert.deepEqual(result, { content: [{ type: 'text', text: 'done' }] })
  assert.equal(log.filter((line) => line.startsWith('first')).length, 1)
  assert.deepEqual(
    log.filter((line) => !line.startsWith('first')),
    ['run for ada', 'run for ada', 'second accept'],
  )
})

test('whoever waits for the result is what makes a process take the task over', async () => {
  const shared = memoryStore()
  const first = mortal(shared)
  const log: string[] = []
  const dying = await clientOf(replica(first.store, log, { rerun: 'safe' }), { principal: ada })
  const { taskId } = ok(await dying.request('tools/call', { name: 'job' })) as { taskId: string }
  await until(dying, taskId, ({ status }) => status === 'input_required')
  ok(await dying.request('tasks/get', { taskId }))
  first.die()
  await delay(leaseMs + 20)
  const client = await clientOf(replica(shared, log, { rerun: 'safe' }), {
    principal: ada,
    revision: legacy,
    answer: () => yes,
  })
  assert.deepEqual(ok(await client.request('tasks/result', { taskId }))['content'], [{ type: 'text', text: 'done' }])
})

test('where the tool may not run again, the task of a dead worker fails and says why', async () => {
  const shared = memoryStore()
  const first = mortal(shared)
  const log: string[] = []
  const dying = await clientOf(replica(first.store, log, {}), { principal: ada })
  const { taskId } = ok(await dying.request('tools/call', { name: 'job' })) as { taskId: string }
  await until(dying, taskId, ({ status }) => status === 'input_required')
  first.die()
  await delay(leaseMs + 20)
  const client = await clientOf(replica(shared, log, {}), { principal: ada })
  const over = ok(await client.request('tasks/get', { taskId }))
  assert.equal(over['status'], 'failed')
  assert.match(String(over['statusMessage']), /process that ran this task ended/)
  const { code, data } = over['error'] as { code: number; data: { since: string } }
  assert.equal(code, -32603)
  assert.equal(data.since, over['createdAt'])
  assert.deepEqual(
    log.filter((line) => line.startsWith('run')),
    ['run for ada'],
  )
})

test('a worker that lives keeps its task for longer than a lease', async () => {
  const store = memoryStore()
  const here = workshop({ store, tasks: { leaseMs } })
  const there = workshop({ store, tasks: { leaseMs } })
  const client = await clientOf(here.server)
  const away = await clientOf(there.server)
  const { taskId } = ok(await client.request('tools/call', { name: 'must' })) as { taskId: string }
  await delay(leaseMs * 3)
  assert.equal(ok(await away.request('tasks/get', { taskId }))['status'], 'working')
  here.release()
  await until(away, taskId, ({ status }) => status === 'completed')
})

test('a question asked under a key that was answered gets a key of its own', async () => {
  const server = createServer({
    name: 'raw',
    version: '1',
    tools: [
      tool('job', { task: 'always' }, async (_, ctx) => {
        if (ctx.inputResponses === undefined) return ask('First?')
        return ctx.state === 'First?' ? ask('Second?') : `state ${String(ctx.state)}`
      }),
    ],
  })
  const client = await clientOf(server)
  const { taskId } = ok(await client.request('tools/call', { name: 'job' })) as { taskId: string }
  const first = await until(client, taskId, ({ status }) => status === 'input_required')
  assert.deepEqual(Object.keys(first['inputRequests'] as object), ['q'])
  ok(await client.request('tasks/update', { taskId, inputResponses: { q: yes } }))
  const second = await until(client, taskId, ({ inputRequests }) => Object.hasOwn(inputRequests ?? {}, 'q~2'))
  assert.equal((second['inputRequests'] as { 'q~2': { params: { message: string } } })['q~2'].params.message, 'Second?')
  ok(await client.request('tasks/update', { taskId, inputResponses: { 'q~2': yes } }))
  const { result } = await until(client, taskId, ({ status }) => status === 'completed')
  assert.deepEqual(result, { content: [{ type: 'text', text: 'state Second?' }] })
})

function ask(message: string): ReturnType<typeof inputRequired> {
  const params = { message, requestedSchema: sure.document }
  return inputRequired({ inputRequests: { q: { method: 'elicitation/create', params } }, state: message })
}
