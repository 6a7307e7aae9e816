// Tasks of the core protocol of 2025-11-25: the client asks for one with each call, and collects its result.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Middleware } from '../../src/index.ts'
import type { CallContext } from '../../src/model/served.ts'
import { InnerContext } from '../../src/server/middleware/inner-context.ts'
import type { TestClientOptions } from '../../src/testing.ts'
import { ada, bob, clientOf, legacy, ok, related, until, workshop, yes } from './support.ts'

const speak = (options: TestClientOptions = {}): TestClientOptions => ({
  revision: legacy,
  capabilities: { elicitation: { form: {} } },
  ...options,
})

/** Calls `name` as a task; the task that was made. */
async function started(
  client: Awaited<ReturnType<typeof clientOf>>,
  name: string,
  ttl = 60_000,
): Promise<Record<string, unknown>> {
  const { task } = ok(await client.request('tools/call', { name, task: { ttl } }))
  return task as Record<string, unknown>
}

test('capabilities and listings say what may be a task, to this revision alone', async () => {
  const { server } = workshop()
  const client = await clientOf(server, speak())
  const { capabilities } = client.introduction as { capabilities: Record<string, unknown> }
  assert.deepEqual(capabilities['tasks'], { cancel: {}, requests: { tools: { call: {} } } })
  assert.equal(capabilities['extensions'], undefined)
  const { tools } = ok(await client.request('tools/list')) as { tools: { name: string; execution?: unknown }[] }
  const execution = new Map(tools.map((each) => [each.name, each.execution]))
  assert.equal(execution.get('plain'), undefined)
  assert.deepEqual(execution.get('held'), { taskSupport: 'optional' })
  assert.deepEqual(execution.get('must'), { taskSupport: 'required' })
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2026-07-28']) {
    const other = await clientOf(server, { revision })
    const listed = ok(await other.request('tools/list')) as { tools: { execution?: unknown }[] }
    assert.ok(
      listed.tools.every((each) => each.execution === undefined),
      revision,
    )
    const said = (other.introduction ?? ok(await other.request('server/discover'))) as { capabilities: object }
    assert.ok(!('tasks' in said.capabilities), revision)
  }
})

test('a server without such tools says nothing of tasks and has none of their methods', async () => {
  const { server } = workshop()
  for (const name of [
    'held',
    'must',
    'later',
    'pays',
    'quick',
    'sum',
    'no',
    'broken',
    'asks',
    'asks_late',
    'asks_twice',
    'asks_first',
    'reports',
  ])
    server.remove('tool', name)
  const client = await clientOf(server, speak())
  assert.equal((client.introduction as { capabilities: { tasks?: object } }).capabilities.tasks, undefined)
  for (const method of ['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel'])
    assert.equal((await client.request(method, { taskId: 'x' })).error?.code, -32601, method)
  assert.ok(ok(await client.request('tools/call', { name: 'plain', task: {} }))['content'])
})

test('a call with `task` is answered a task; its result is exactly that of the call', async () => {
  const { server, release } = workshop()
  const client = await clientOf(server, speak())
  const task = await started(client, 'held')
  assert.equal(task['status'], 'working')
  assert.equal(task['ttl'], 60_000)
  assert.ok(Number.isInteger(task['pollInterval']))
  assert.ok(Date.parse(String(task['createdAt'])) <= Date.parse(String(task['lastUpdatedAt'])))
  const { taskId } = task
  const waiting = client.request('tasks/result', { taskId: String(taskId) })
  assert.equal(ok(await client.request('tasks/get', { taskId: String(taskId) }))['status'], 'working')
  release()
  assert.deepEqual(ok(await waiting), { content: [{ type: 'text', text: 'held' }], _meta: { [related]: { taskId } } })
  const seen = ok(await client.request('tasks/get', { taskId: String(taskId) }))
  assert.equal(seen['status'], 'completed')
  assert.deepEqual(Object.keys(seen).toSorted(), [
    'createdAt',
    'lastUpdatedAt',
    'pollInterval',
    'status',
    'taskId',
    'ttl',
  ])
})

test('structured content has its text copy in the result of a task too', async () => {
  const client = await clientOf(workshop().server, speak())
  const { taskId } = await started(client, 'sum')
  const { content, structuredContent } = ok(await client.request('tasks/result', { taskId: String(taskId) }))
  assert.deepEqual(structuredContent, { n: 3 })
  assert.deepEqual(content, [{ type: 'text', text: '{"n":3}' }])
})

test('`task` is passed over where the tool has none; a tool that must be one refuses a call without', async () => {
  const { server } = workshop()
  const client = await clientOf(server, speak())
  assert.ok(ok(await client.request('tools/call', { name: 'plain', task: {} }))['content'])
  assert.ok(ok(await client.request('tools/call', { name: 'quick' }))['content'])
  assert.equal((await client.request('tools/call', { name: 'must' })).error?.code, -32601)
})

test('an error result makes the task a failed one, and is still what its result is', async () => {
  const client = await clientOf(workshop().server, speak())
  const { taskId } = await started(client, 'no')
  const { isError, content } = ok(await client.request('tasks/result', { taskId: String(taskId) }))
  assert.deepEqual([isError, content], [true, [{ type: 'text', text: 'no' }]])
  assert.equal(ok(await client.request('tasks/get', { taskId: String(taskId) }))['status'], 'failed')
})

test('an error of the protocol is what the result is', async () => {
  const client = await clientOf(workshop().server, speak())
  const { taskId } = await started(client, 'broken')
  const { error } = await client.request('tasks/result', { taskId: String(taskId) })
  assert.deepEqual(error, { code: -32603, message: 'it broke' })
  const seen = ok(await client.request('tasks/get', { taskId: String(taskId) }))
  assert.deepEqual([seen['status'], seen['statusMessage']], ['failed', 'it broke'])
})

test('a page that the user has to visit first is what the result is', async () => {
  const client = await clientOf(workshop().server, speak({ capabilities: { elicitation: { url: {} } } }))
  const { taskId } = await started(client, 'pays')
  assert.equal((await client.request('tasks/result', { taskId: String(taskId) })).error?.code, -32042)
})

test('arguments and names are checked before there is a task', async () => {
  const client = await clientOf(workshop().server, speak())
  assert.equal((await client.request('tools/call', { name: 'absent', task: {} })).error?.code, -32602)
  assert.equal((await client.request('tools/call', { name: 'held', task: 'yes' })).error?.code, -32602)
})

test('cancel is done before it is answered, once', async () => {
  const { server, done } = workshop()
  const client = await clientOf(server, speak())
  const { taskId } = await started(client, 'held')
  const waiting = client.request('tasks/result', { taskId: String(taskId) })
  assert.equal(ok(await client.request('tasks/cancel', { taskId: String(taskId) }))['status'], 'cancelled')
  assert.equal((await client.request('tasks/cancel', { taskId: String(taskId) })).error?.code, -32602)
  assert.deepEqual(done, ['began', 'aborted'])
  assert.equal((await waiting).error?.code, -32603)
  assert.equal(ok(await client.request('tasks/get', { taskId: String(taskId) }))['status'], 'cancelled')
})

test("another session's task, another principal's and one that never was are refused alike", async () => {
  const { server } = workshop()
  const mine = await clientOf(server, speak())
  const { taskId } = await started(mine, 'held')
  const hers = await clientOf(server, speak({ principal: ada }))
  const made = await started(hers, 'held')
  for (const other of [await clientOf(server, speak()), await clientOf(server, speak({ principal: bob }))])
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      for (const id of [taskId, made['taskId'], 'nope', '', '../x', 'a/b'])
        assert.deepEqual((await other.request(method, { taskId: String(id) })).error, {
          code: -32602,
          message: 'There is no such task.',
        })
  const again = await clientOf(server, speak({ principal: ada }))
  assert.equal(ok(await again.request('tasks/get', { taskId: String(made['taskId']) }))['status'], 'working')
})

test('tasks are listed for a principal, page by page, and for nobody else', async () => {
  const { server } = workshop({ pageSize: 2 })
  const nobody = await clientOf(server, speak())
  assert.equal((await nobody.request('tasks/list')).error?.code, -32601)
  const client = await clientOf(server, speak({ principal: ada }))
  const { capabilities } = client.introduction as { capabilities: { tasks: object } }
  assert.deepEqual(capabilities.tasks, { list: {}, cancel: {}, requests: { tools: { call: {} } } })
  const ids: unknown[] = []
  for (let turn = 0; turn < 5; turn++) {
    ids.push((await started(client, 'held'))['taskId'])
    await delay(2)
  }
  const listed: unknown[] = []
  let cursor: unknown
  do {
    const page = ok(await client.request('tasks/list', cursor === undefined ? {} : { cursor: String(cursor) }))
    listed.push((page['tasks'] as { taskId: string }[]).map((each) => each.taskId))
    cursor = page['nextCursor']
  } while (cursor !== undefined)
  assert.deepEqual(listed, [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)])
  const other = await clientOf(server, speak({ principal: bob }))
  assert.deepEqual(ok(await other.request('tasks/list'))['tasks'], [])
  assert.equal((await client.request('tasks/list', { cursor: 'made up' })).error?.code, -32602)
})

test('a question waits in the task until somebody collects the result, who is asked it', async () => {
  const { server } = workshop()
  const client = await clientOf(
    server,
    speak({ answer: (method) => (method === 'elicitation/create' ? yes : undefined) }),
  )
  const { taskId } = await started(client, 'asks')
  await until(client, taskId, ({ status }) => status === 'input_required')
  assert.deepEqual(
    client.heard.filter(({ id }) => id !== undefined),
    [],
  )
  const { content } = ok(await client.request('tasks/result', { taskId: String(taskId) }))
  assert.deepEqual(content, [{ type: 'text', text: 'answered accept' }])
  const asks = client.heard.filter(({ method }) => method === 'elicitation/create')
  assert.deepEqual(
    asks.map(({ params }) => params?.['_meta']),
    [{ [related]: { taskId } }],
  )
})

test('two who wait for one task are asked once; a client that cannot answer is told of in the result', async () => {
  const { server } = workshop()
  const client = await clientOf(server, speak({ answer: () => undefined }))
  const { taskId } = await started(client, 'asks_twice')
  const both = await Promise.all([1, 2].map(() => client.request('tasks/result', { taskId: String(taskId) })))
  assert.equal(client.heard.filter(({ method }) => method === 'elicitation/create').length, 2)
  for (const each of both) assert.equal(ok(each)['isError'], true)
})

test("what fails in a layer on the way of a question is not the client's word on it", async () => {
  let fails = true
  class Passing extends InnerContext {
    override get ask(): CallContext['ask'] {
      const { ask } = this.outer
      return async (...question) => {
        if (fails) throw new Error('the way to the client failed', { cause: new Error('its reason') })
        return await (ask ?? assert.fail())(...question).catch((cause: unknown) => {
          throw new Error('wrapped', { cause })
        })
      }
    }
  }
  const all: Middleware['all'] = (call, context, next) => next(call, new Passing(context))
  const { server } = workshop({ middleware: [{ all }] })
  let answer: typeof yes | undefined = yes
  const client = await clientOf(server, speak({ answer: () => answer }))
  const result = async (taskId: unknown) => ok(await client.request('tasks/result', { taskId: String(taskId) }))
  const { taskId } = await started(client, 'asks')
  await until(client, taskId, ({ status }) => status === 'input_required')
  const waiting = result(taskId)
  await delay(30)
  assert.equal((await until(client, taskId, () => true))['status'], 'input_required')
  fails = false
  assert.deepEqual((await result(taskId))['content'], [{ type: 'text', text: 'answered accept' }])
  assert.deepEqual((await waiting)['content'], [{ type: 'text', text: 'answered accept' }])
  answer = undefined
  assert.equal((await result((await started(client, 'asks'))['taskId']))['isError'], true)
})

test('when the one who was asked goes away, another who waits is asked', async () => {
  const { server } = workshop()
  const first = await clientOf(server, speak({ principal: ada }))
  const second = await clientOf(server, speak({ principal: ada, answer: () => yes }))
  const { taskId } = await started(first, 'asks')
  void first.request('tasks/result', { taskId: String(taskId) })
  await until(second, taskId, ({ status }) => status === 'input_required')
  const waiting = second.request('tasks/result', { taskId: String(taskId) })
  await delay(10)
  assert.equal(first.heard.filter(({ method }) => method === 'elicitation/create').length, 1)
  assert.equal(second.heard.filter(({ method }) => method === 'elicitation/create').length, 0)
  await first.close()
  assert.deepEqual(ok(await waiting)['content'], [{ type: 'text', text: 'answered accept' }])
})

test('status, progress and logs of a task go to its session and no other', async () => {
  const { server, release } = workshop()
  const client = await clientOf(server, speak())
  const other = await clientOf(server, speak())
  const reply = ok(await client.request('tools/call', { name: 'reports', task: {} }, { progressToken: 'p' }))
  const { taskId } = reply['task'] as { taskId: string }
  await until(client, taskId, ({ status }) => status === 'completed')
  await delay(5)
  const told = client.heard.map(({ method, params }) => [
    method,
    params?.['progress'] ?? params?.['status'] ?? params?.['data'],
  ])
  assert.deepEqual(told, [
    ['notifications/progress', 1],
    ['notifications/message', 'half'],
    ['notifications/progress', 2],
    ['notifications/tasks/status', 'completed'],
  ])
  assert.deepEqual(client.heard[0]?.params?.['_meta'], { [related]: { taskId } })
  assert.deepEqual(other.heard, [])
  release()
})

test('a client that goes away cancels no task', async () => {
  const { server, done, release } = workshop()
  const client = await clientOf(server, speak({ principal: ada }))
  const { taskId } = await started(client, 'held')
  await client.close()
  const back = await clientOf(server, speak({ principal: ada }))
  assert.equal(ok(await back.request('tasks/get', { taskId: String(taskId) }))['status'], 'working')
  release()
  ok(await back.request('tasks/result', { taskId: String(taskId) }))
  assert.deepEqual(done, ['began', 'ended'])
})

test('ttlMs, maxTtlMs: a task is forgotten after its time, which is never longer than the server keeps any', async () => {
  let now = 1_000_000
  const { server, done } = workshop({ clock: () => now, tasks: { ttlMs: 5000, maxTtlMs: 60_000 } })
  const client = await clientOf(server, speak())
  assert.equal((await started(client, 'held', 60_000))['ttl'], 60_000)
  assert.equal((await started(client, 'held', 60_001))['ttl'], 60_000)
  const { task } = ok(await client.request('tools/call', { name: 'held', task: {} }))
  assert.equal((task as { ttl: number }).ttl, 5000)
  const { taskId } = task as { taskId: string }
  now += 4999
  assert.equal(ok(await client.request('tasks/get', { taskId }))['status'], 'working')
  now += 1
  assert.equal((await client.request('tasks/get', { taskId })).error?.code, -32602)
  assert.deepEqual(done, ['began', 'began', 'began'])
})

test('maxPerOwner, maxRunning: there is a bound to the tasks of an owner, and to those that a process works on', async () => {
  const few = workshop({ tasks: { maxPerOwner: 2 } })
  const client = await clientOf(few.server, speak())
  await started(client, 'held')
  const { taskId } = await started(client, 'sum')
  await until(client, taskId, ({ status }) => status === 'completed')
  await started(client, 'held')
  assert.equal((await client.request('tasks/get', { taskId: String(taskId) })).error?.code, -32602)
  assert.equal((await client.request('tools/call', { name: 'held', task: {} })).error?.code, -32603)
  const other = await clientOf(few.server, speak())
  await started(other, 'held')
  const one = await clientOf(workshop({ tasks: { maxRunning: 1 } }).server, speak())
  await started(one, 'held')
  assert.equal((await one.request('tools/call', { name: 'held', task: {} })).error?.code, -32600)
})
