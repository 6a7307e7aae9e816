// Tasks as the extension io.modelcontextprotocol/tasks of 2026-07-28: the server decides, for clients that declared it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestClient } from '../../src/testing.ts'
import { ada, bob, clientOf, extension, ok, until, withTasks, workshop, yes } from './support.ts'

async function call(client: TestClient, name: string, more: object = {}): Promise<Record<string, unknown>> {
  return ok(await client.request('tools/call', { name, ...more }))
}

test('the extension is declared as soon as a tool may be a task, and never the capability of the core', async () => {
  const { server } = workshop()
  const client = await clientOf(server)
  const { capabilities } = ok(await client.request('server/discover')) as { capabilities: Record<string, unknown> }
  assert.deepEqual(capabilities['extensions'], { [extension]: {} })
  assert.equal(capabilities['tasks'], undefined)
})

test('a call that takes too long is answered a flat handle; the task then tells its own end', async () => {
  const { server, release } = workshop()
  const client = await clientOf(server)
  const handle = await call(client, 'held')
  const { _meta: _, ...flat } = handle
  assert.deepEqual(Object.keys(flat).toSorted(), [
    'createdAt',
    'lastUpdatedAt',
    'pollIntervalMs',
    'resultType',
    'status',
    'taskId',
    'ttlMs',
  ])
  assert.deepEqual([flat['resultType'], flat['status']], ['task', 'working'])
  const { taskId } = handle
  const working = ok(await client.request('tasks/get', { taskId: String(taskId) }))
  assert.deepEqual([working['resultType'], working['status'], working['result']], ['complete', 'working', undefined])
  release()
  const { result } = await until(client, taskId, ({ status }) => status === 'completed')
  assert.deepEqual(result, { content: [{ type: 'text', text: 'held' }] })
})

test('a call that is done in time is answered its result, and leaves no task', async () => {
  const client = await clientOf(workshop().server)
  assert.equal((await call(client, 'quick'))['resultType'], 'complete')
  assert.equal((await call(client, 'plain', { task: { ttl: 5 } }))['resultType'], 'complete')
})

test('a client without the extension waits, or is told what it lacks; it has none of the methods', async () => {
  const { server, release } = workshop()
  const client = await clientOf(server, { capabilities: {} })
  const lacking = {
    code: -32021,
    message: 'This needs a capability that the client did not declare.',
    data: { requiredCapabilities: { extensions: { [extension]: {} } } },
  }
  const waiting = call(client, 'held')
  await delay(30)
  release()
  assert.equal((await waiting)['resultType'], 'complete')
  assert.deepEqual((await client.request('tools/call', { name: 'must' })).error, lacking)
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
    assert.deepEqual((await client.request(method, { taskId: 'x', inputResponses: {} })).error, lacking, method)
  assert.deepEqual((await client.request('subscriptions/listen', { notifications: { taskIds: ['x'] } })).error, lacking)
})

test('revisions that know no tasks wait for what must be one', async () => {
  const { server, release } = workshop()
  release()
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18']) {
    const client = await clientOf(server, { revision })
    assert.deepEqual((await call(client, 'must'))['content'], [{ type: 'text', text: 'held' }], revision)
  }
})

test('an error result completes the task, an error of the protocol fails it', async () => {
  const client = await clientOf(workshop().server)
  const no = await until(client, (await call(client, 'no'))['taskId'], ({ status }) => status !== 'working')
  assert.deepEqual(
    [no['status'], no['result']],
    ['completed', { content: [{ type: 'text', text: 'no' }], isError: true }],
  )
  const broken = await until(client, (await call(client, 'broken'))['taskId'], ({ status }) => status !== 'working')
  assert.deepEqual([broken['status'], broken['result']], ['failed', undefined])
  assert.deepEqual(broken['error'], { code: -32603, message: 'it broke' })
})

test('questions of a task are in it; answers go to it, and what was not asked is passed over', async () => {
  const client = await clientOf(workshop().server)
  const { taskId } = (await call(client, 'asks_twice')) as { taskId: string }
  const asking = await until(client, taskId, ({ inputRequests }) => Object.keys(inputRequests ?? {}).length === 2)
  assert.equal(asking['status'], 'input_required')
  const { one } = asking['inputRequests'] as { one: { method: string; params: { message: string } } }
  assert.deepEqual([one.method, one.params.message], ['elicitation/create', 'One?'])
  const { _meta: _, ...ack } = ok(
    await client.request('tasks/update', { taskId, inputResponses: { other: yes, one: yes } }),
  )
  assert.deepEqual(ack, { resultType: 'complete' })
  const left = ok(await client.request('tasks/get', { taskId }))
  assert.deepEqual(Object.keys(left['inputRequests'] as object), ['two'])
  ok(
    await client.request('tasks/update', {
      taskId,
      inputResponses: { one: { action: 'cancel' }, two: { action: 'decline' } },
    }),
  )
  const { result } = await until(client, taskId, ({ status }) => status === 'completed')
  assert.deepEqual(result, { content: [{ type: 'text', text: 'accept,decline' }] })
  ok(await client.request('tasks/update', { taskId, inputResponses: { two: yes } }))
})

test('a page that the user has to visit is a question of the task', async () => {
  const client = await clientOf(workshop().server)
  const { taskId } = (await call(client, 'pays')) as { taskId: string }
  const { inputRequests } = await until(client, taskId, ({ status }) => status === 'input_required')
  const { pay } = inputRequests as { pay: { params: object } }
  assert.deepEqual(pay.params, { mode: 'url', url: 'https://pay.example', message: 'Pay' })
  ok(await client.request('tasks/update', { taskId, inputResponses: { pay: { action: 'accept' } } }))
  const { result } = await until(client, taskId, ({ status }) => status === 'completed')
  assert.deepEqual(result, { content: [{ type: 'text', text: 'paid' }] })
})

test('what is asked before there is a task is a round of the call; what is asked after is in the task', async () => {
  const client = await clientOf(workshop().server)
  const first = await call(client, 'asks_first')
  assert.deepEqual([first['resultType'], first['taskId']], ['input_required', undefined])
  const second = await call(client, 'asks_first', {
    inputResponses: { sure: yes },
    requestState: first['requestState'],
  })
  assert.deepEqual([second['resultType'], second['requestState']], ['task', undefined])
  const { inputRequests } = await until(client, second['taskId'], ({ status }) => status === 'input_required')
  assert.deepEqual(Object.keys(inputRequests as object), ['still'])
  ok(await client.request('tasks/update', { taskId: String(second['taskId']), inputResponses: { still: yes } }))
  const { result } = await until(client, second['taskId'], ({ status }) => status === 'completed')
  assert.deepEqual(result, { content: [{ type: 'text', text: 'accept accept' }] })
})

test('cancel is acknowledged, also of what is over', async () => {
  const { server, done } = workshop()
  const client = await clientOf(server)
  const { taskId } = (await call(client, 'must')) as { taskId: string }
  for (let turn = 0; turn < 2; turn++) {
    const { _meta: _, ...ack } = ok(await client.request('tasks/cancel', { taskId }))
    assert.deepEqual(ack, { resultType: 'complete' })
  }
  assert.equal(ok(await client.request('tasks/get', { taskId }))['status'], 'cancelled')
  assert.deepEqual(done, ['began', 'aborted'])
})

test('whoever bears the id has the task of nobody in particular; that of a principal has its principal alone', async () => {
  const { server } = workshop()
  const { taskId } = (await call(await clientOf(server), 'must')) as { taskId: string }
  assert.match(taskId, /^[\w-]{40,64}$/)
  assert.equal(ok(await (await clientOf(server)).request('tasks/get', { taskId }))['status'], 'working')
  const unknown = { code: -32602, message: 'There is no such task.' }
  const hers = await clientOf(server, { principal: ada })
  const { taskId: owned } = (await call(hers, 'must')) as { taskId: string }
  for (const other of [await clientOf(server), await clientOf(server, { principal: bob })])
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
      assert.deepEqual((await other.request(method, { taskId: owned, inputResponses: {} })).error, unknown)
  assert.deepEqual((await hers.request('tasks/get', { taskId })).error, unknown)
  assert.equal(ok(await hers.request('tasks/get', { taskId: owned }))['status'], 'working')
})

test('maxAnonymous: of what clients make that are nobody so much is kept, whoever they are; a principal has room of its own', async () => {
  const { server } = workshop({ tasks: { maxAnonymous: 2 } })
  const [one, other] = [await clientOf(server), await clientOf(server)]
  ok(await one.request('tools/call', { name: 'must' }))
  ok(await other.request('tools/call', { name: 'must' }))
  assert.equal((await one.request('tools/call', { name: 'must' })).error?.code, -32603)
  const somebody = await clientOf(server, { principal: ada })
  ok(await somebody.request('tools/call', { name: 'must' }))
})

test('whoever listens to its tasks is told of each change with what it came to, and of no other task', async () => {
  const { server } = workshop()
  const client = await clientOf(server, { principal: ada })
  const other = await clientOf(server, { principal: bob })
  const { taskId } = (await call(client, 'asks')) as { taskId: string }
  const { taskId: foreign } = (await call(other, 'asks')) as { taskId: string }
  await until(client, taskId, ({ status }) => status === 'input_required')
  void client.request('subscriptions/listen', { notifications: { taskIds: [taskId, foreign, 'nope'] } })
  await delay(20)
  ok(await client.request('tasks/update', { taskId, inputResponses: { sure: yes } }))
  ok(await other.request('tasks/cancel', { taskId: foreign }))
  await until(client, taskId, ({ status }) => status === 'completed')
  await delay(20)
  const [acknowledged, ...told] = client.heard
  assert.deepEqual(acknowledged?.params?.['notifications'], { taskIds: [taskId] })
  assert.ok(told.every(({ method, params }) => method === 'notifications/tasks' && params?.['taskId'] === taskId))
  const last = told.at(-1)?.params
  assert.equal(last?.['status'], 'completed')
  assert.deepEqual(last?.['result'], { content: [{ type: 'text', text: 'answered accept' }] })
})

test('nothing is reported on the way of a task', async () => {
  const client = await clientOf(workshop().server)
  const reply = ok(await client.request('tools/call', { name: 'reports' }, { progressToken: 'p' }))
  await until(client, reply['taskId'], ({ status }) => status === 'completed')
  assert.deepEqual(client.heard, [])
})

test('the client of a call that became a task can go away; before that, it takes the call along', async () => {
  const { server, done, release } = workshop()
  const client = await clientOf(server)
  const { taskId } = await call(client, 'held')
  await client.close()
  const soon = await clientOf(server)
  void soon.request('tools/call', { name: 'later' })
  await delay(10)
  await soon.close()
  await delay(10)
  release()
  const back = await clientOf(server)
  await until(back, taskId, ({ status }) => status === 'completed')
  assert.deepEqual(done, ['began', 'began', 'aborted', 'ended'])
})

test('a key names the handle: the call is not run again, and says the same task', async () => {
  const { server, done } = workshop()
  const client = await clientOf(server)
  const named = { 'dev.dragoman/idempotencyKey': 'k' }
  const first = ok(await client.request('tools/call', { name: 'must' }, named))
  const second = ok(await client.request('tools/call', { name: 'must' }, named))
  assert.equal(second['taskId'], first['taskId'])
  assert.equal((second['_meta'] as Record<string, unknown>)['dev.dragoman/replayed'], true)
  assert.deepEqual(done, ['began'])
})

test('the methods of the other generation are not there', async () => {
  const client = await clientOf(workshop().server)
  for (const method of ['tasks/result', 'tasks/list'])
    assert.equal((await client.request(method, { taskId: 'x' })).error?.code, -32601, method)
  assert.ok(withTasks)
})

test('one listener names 1,000 tasks, and not one more', async () => {
  const client = await clientOf(workshop().server)
  const named = (length: number) => ({ notifications: { taskIds: Array.from({ length }, (_, at) => `task ${at}`) } })
  assert.equal((await client.request('subscriptions/listen', named(1001))).error?.code, -32602)
  void client.request('subscriptions/listen', named(1000))
  await delay(100)
  assert.equal(client.heard[0]?.method, 'notifications/subscriptions/acknowledged')
})
