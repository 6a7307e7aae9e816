// What a server declares is what its caller can see.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetchHandler, prompt, resource, template, tool } from '../../src/index.ts'
import type { Principal } from '../../src/index.ts'
import { clientOf, recorder, revisions, serverOf, staff } from './support.ts'

const secret = { scopes: ['staff'] }
const nobody: Principal = { id: 'x', scopes: new Set() }

const hidden = {
  tools: [tool('t', { ...secret, task: 'always' }, () => 'seen')],
  resources: [
    resource('memo://a', { name: 'a', ...secret }, () => 'seen'),
    template('memo://{id}', { name: 'm', ...secret, complete: { id: () => ['one'] } }, () => 'seen'),
  ],
  prompts: [prompt('p', { ...secret, arguments: { a: { complete: () => ['x'] } } }, () => 'seen')],
}

/** The names of what a server declares to `principal`. */
async function declared(options: object, revision: string, principal?: Principal): Promise<string[]> {
  const client = await clientOf(serverOf(options), { revision, ...(principal && { principal }) })
  const said = client.introduction ?? (await client.request('server/discover')).result
  const { experimental: _, ...capabilities } = said?.['capabilities'] as Record<string, object>
  return Object.keys(capabilities).toSorted()
}

for (const revision of revisions) {
  test(`${revision}: what is hidden altogether is not declared`, async () => {
    const bare = await declared({}, revision)
    assert.deepEqual(bare, ['logging'])
    assert.deepEqual(await declared(hidden, revision), bare)
    assert.deepEqual(await declared(hidden, revision, nobody), bare)
    const all = await declared(hidden, revision, staff)
    for (const one of ['tools', 'resources', 'prompts']) assert.ok(all.includes(one), one)
  })

  test(`${revision}: a method of what is not declared is none, and is one for whoever sees it`, async () => {
    const server = serverOf(hidden)
    const [stranger, known] = [
      await clientOf(server, { revision }),
      await clientOf(server, { revision, principal: staff }),
    ]
    for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
      assert.equal((await stranger.request(method)).error?.code, -32601, method)
      assert.equal((await known.request(method)).error, undefined, method)
    }
  })
}

test('of each kind one that is visible is enough, and completion goes by what can be completed', async () => {
  const open = tool('open', {}, () => 'open')
  assert.deepEqual(await declared({ ...hidden, tools: [...hidden.tools, open] }, '2026-07-28'), ['logging', 'tools'])
  const plain = prompt('open', {}, () => 'open')
  assert.deepEqual(await declared({ prompts: [...hidden.prompts, plain] }, '2026-07-28'), ['logging', 'prompts'])
  assert.deepEqual(await declared({ tools: [], prompts: [] }, '2026-07-28'), ['logging', 'prompts', 'tools'])
})

test('what only somebody may run as a task is an extension for them alone, and its methods too', async () => {
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const server = serverOf({ tools: [...hidden.tools, tool('open', {}, () => 'open')] })
  const ask = async (principal?: Principal): Promise<unknown> => {
    const client = await clientOf(server, { capabilities, ...(principal && { principal }) })
    return (await client.request('tasks/get', { taskId: 'none' })).error?.code
  }
  assert.equal(await ask(), -32601)
  assert.equal(await ask(staff), -32602)
  const generation = await declared({ tools: hidden.tools }, '2025-11-25', staff)
  assert.ok(generation.includes('tasks'))
})

test('what depends on who asks is kept for nobody else', async () => {
  const cache = { discover: { ttlMs: 1000, cacheScope: 'public' } } as const
  const scopeOf = async (options: object): Promise<unknown> =>
    (await (await clientOf(serverOf({ cache, ...options }))).request('server/discover')).result?.['cacheScope']
  assert.equal(await scopeOf({ tools: [tool('open', {}, () => 'open')] }), 'public')
  assert.equal(await scopeOf(hidden), 'private')
})

test('a kind stays declared when the last that was visible of it is removed', async () => {
  const server = serverOf({ tools: [tool('open', {}, () => 'open'), ...hidden.tools] })
  server.remove('tool', 'open')
  const { result } = await (await clientOf(server)).request('tools/list')
  assert.deepEqual(result?.['tools'], [])
})

test('callers who see alike get one and the same description, until the server changes', () => {
  const server = serverOf({ ...hidden, logger: recorder().logger })
  const seen = server.describe({ id: 'a', scopes: new Set(['staff']) })
  assert.equal(server.describe({ id: 'b', scopes: new Set(['staff', 'night']) }), seen)
  assert.notEqual(server.describe(nobody), seen)
  assert.equal(server.describe(undefined), server.describe(undefined))
  server.tool('open', {}, () => 'open')
  assert.notEqual(server.describe(nobody).capabilities.tools, undefined)
  assert.equal(server.describe(undefined).capabilities.prompts, undefined)
})

test('whose grants widen within a session gets what they may, and loses it with them', async () => {
  const server = serverOf(hidden)
  let scopes: string[] = []
  const door = fetchHandler(server, { authenticate: () => ({ id: 'ada', scopes: new Set(scopes) }) })
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  const post = async (message: object, more: object = {}) =>
    door(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      }),
    )
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const opened = await post({ id: 0, method: 'initialize', params })
  await opened.text()
  const session = { 'mcp-session-id': String(opened.headers.get('mcp-session-id')) }
  await post({ method: 'notifications/initialized' }, session)
  const call = async (id: number) => (await post({ id, method: 'tools/list' }, session)).text()
  assert.match(await call(1), /-32601/)
  scopes = ['staff']
  assert.match(await call(2), /"name":"t"/)
  scopes = []
  assert.match(await call(3), /-32601/)
})
