// Several servers over one store, and clients that come to a different one with every request.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { flakyStore } from '../durable/fakes.ts'
import { createServer, form, memoryStore, resource, serveHttp, tool } from '../../src/index.ts'
import type { Server, Store } from '../../src/index.ts'
import { readEvents, type SseReader } from './sse-reader.ts'

const key = new Uint8Array(32).fill(5)
const sure = form({ type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] })
const legacy = ['2025-03-26', '2025-06-18', '2025-11-25']

interface Replica {
  readonly server: Server
  readonly url: string
  close(): Promise<void>
}

const open = new Set<Replica>()
after(() => Promise.all([...open].map((replica) => replica.close())))

/** One of several processes, as it were: nothing but the store is shared. */
async function replica(store: Store, options: Partial<Parameters<typeof serveHttp>[1]> = {}): Promise<Replica> {
  const server = createServer({
    name: 'shop',
    version: '1',
    keys: [key],
    store,
    resources: [resource('memo://a', { name: 'a' }, () => 'a')],
    tools: [
      tool('echo', {}, () => 'hello'),
      tool('logs', {}, (_, ctx) => {
        ctx.log('debug', 'quiet')
        return 'done'
      }),
      tool('asks', {}, async (_, ctx) => {
        const answer = await ctx.elicit('sure', sure, 'Sure?')
        return answer.action
      }),
      tool('waits', { input: { type: 'object' } }, async ({ ms }, ctx) => {
        ctx.progress(1, 3)
        await delay(Number(ms), undefined, { signal: ctx.signal })
        ctx.progress(2, 3)
        return 'waited'
      }),
    ],
  })
  const http = await serveHttp(server, { port: 0, ...options })
  const made: Replica = {
    server,
    url: http.url,
    async close() {
      open.delete(made)
      await http.close({ graceMs: 0 })
    },
  }
  open.add(made)
  return made
}

interface Client {
  readonly id: string
  post(to: Replica, body: object): Promise<Response>
  request(to: Replica, id: number, method: string, params?: object): Promise<Record<string, unknown> | undefined>
  stream(to: Replica, lastEventId?: string): Promise<SseReader>
  end(to: Replica): Promise<number>
}

async function connect(to: Replica, revision: string): Promise<Client> {
  const common = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const send = (at: Replica, body: object, headers: object = {}): Promise<Response> =>
    fetch(at.url, { method: 'POST', headers: { ...common, ...headers }, body: JSON.stringify(body) })
  const params = {
    protocolVersion: revision,
    capabilities: { elicitation: {} },
    clientInfo: { name: 'c', version: '1' },
  }
  const response = await send(to, { jsonrpc: '2.0', id: 0, method: 'initialize', params })
  await response.text()
  const id = response.headers.get('mcp-session-id') ?? ''
  const session = { 'mcp-session-id': id }
  return {
    id,
    post: (at, body) => send(at, body, session),
    async request(at, requestId, method, requestParams = {}) {
      const answered = await send(at, { jsonrpc: '2.0', id: requestId, method, params: requestParams }, session)
      const text = await answered.text()
      const data =
        text
          .match(/^data: ?(\{.*)$/gm)
          ?.at(-1)
          ?.replace(/^data: ?/, '') ?? text
      return text === '' ? undefined : (JSON.parse(data) as Record<string, unknown>)
    },
    async stream(at, lastEventId) {
      const headers = {
        accept: 'text/event-stream',
        ...session,
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      }
      return readEvents(await fetch(at.url, { headers }))
    },
    end: async (at) => (await fetch(at.url, { method: 'DELETE', headers: session })).status,
  }
}

async function pair(options: Partial<Parameters<typeof serveHttp>[1]> = {}): Promise<readonly [Replica, Replica]> {
  const store = memoryStore()
  return [await replica(store, options), await replica(store, options)]
}

for (const sessions of ['sealed', 'stored'] as const) {
  for (const revision of legacy) {
    test(`${sessions} ${revision}: a session is served by whichever replica is asked, and by those that come later`, async () => {
      const store = memoryStore()
      const [one, other] = [await replica(store, { sessions }), await replica(store, { sessions })]
      const client = await connect(one, revision)
      assert.ok((await client.request(other, 1, 'ping'))?.['result'])
      await client.request(other, 2, 'logging/setLevel', { level: 'debug' })
      await one.close()
      await other.close()
      const later = await replica(store, { sessions })
      const response = await client.post(later, {
        jsonrpc: '2.0',
        id: 3,
        method: 'tools/call',
        params: { name: 'logs' },
      })
      assert.match(await response.text(), /notifications\/message/, 'the log level was not forgotten')
    })

    test(`${sessions} ${revision}: a session that was ended is unknown everywhere`, async () => {
      const [one, other] = await pair({ sessions })
      const client = await connect(one, revision)
      await client.request(other, 1, 'ping')
      assert.equal(await client.end(one), 204)
      await delay(10)
      for (const at of [one, other]) {
        assert.equal((await client.post(at, { jsonrpc: '2.0', id: 2, method: 'ping' })).status, 404)
        assert.equal(await client.end(at), 404)
      }
    })
  }
}

for (const revision of legacy) {
  test(`${revision}: changes are told on the stream of the session, whichever replica they happen on`, async () => {
    const [one, other] = await pair()
    const client = await connect(one, revision)
    await client.request(one, 1, 'resources/subscribe', { uri: 'memo://a' })
    const stream = await client.stream(other)
    await delay(20)
    one.server.changed('tools')
    assert.equal((await stream.next())['method'], 'notifications/tools/list_changed')
    other.server.updated('memo://a')
    assert.equal((await stream.next())['method'], 'notifications/resources/updated')
    one.server.updated('memo://a')
    assert.equal((await stream.next())['method'], 'notifications/resources/updated')
    await client.request(one, 2, 'resources/unsubscribe', { uri: 'memo://a' })
    other.server.updated('memo://a')
    other.server.changed('prompts')
    one.server.changed('resources')
    assert.equal((await stream.next())['method'], 'notifications/resources/list_changed')
    stream.close()
  })

  test(`${revision}: the newest stream of a session is the one that is told, across replicas`, async () => {
    const [one, other] = await pair()
    const client = await connect(one, revision)
    const first = await client.stream(one)
    await delay(20)
    const second = await client.stream(other)
    await first.ended
    one.server.changed('tools')
    assert.equal((await second.next())['method'], 'notifications/tools/list_changed')
    second.close()
  })

  test(`${revision}: the session’s own stream goes on on another replica, and nothing is left out`, async () => {
    const [one, other] = await pair()
    const client = await connect(one, revision)
    await client.request(one, 1, 'resources/subscribe', { uri: 'memo://a' })
    const stream = await client.stream(one)
    await delay(20)
    other.server.changed('tools')
    await stream.next()
    stream.close()
    await one.close()
    other.server.changed('tools')
    other.server.updated('memo://a')
    const again = await client.stream(other, stream.lastEventId)
    const told = new Set([
      (await again.next())['method'],
      (await again.next())['method'],
      (await again.next())['method'],
    ])
    assert.ok(told.has('notifications/tools/list_changed'))
    assert.ok(
      told.has('notifications/resources/updated') ||
        (await again.next())['method'] === 'notifications/resources/updated',
    )
    again.close()
  })

  test(`${revision}: the stream of a call is followed from another replica to its end`, async () => {
    const [one, other] = await pair()
    const client = await connect(one, revision)
    const params = { name: 'waits', arguments: { ms: 300 }, _meta: { progressToken: 'p' } }
    const stream = readEvents(await client.post(one, { jsonrpc: '2.0', id: 5, method: 'tools/call', params }))
    const first = await stream.next()
    assert.equal(first['method'], 'notifications/progress')
    stream.close()
    const again = await client.stream(other, stream.lastEventId)
    assert.equal((await again.next())['method'], 'notifications/progress')
    assert.equal((await again.next())['id'], 5)
    await again.ended
  })

  test(`${revision}: a call is cancelled from another replica`, async () => {
    const [one, other] = await pair()
    const client = await connect(one, revision)
    const started = performance.now()
    const params = { name: 'waits', arguments: { ms: 20_000 } }
    const called = client.request(one, 5, 'tools/call', params)
    await delay(50)
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } }
    assert.equal((await client.post(other, cancel)).status, 202)
    assert.equal(await called, undefined)
    assert.ok(performance.now() - started < 10_000)
  })

  test(`${revision}: a call is answered when its session is ended on another replica`, async () => {
    const [one, other] = await pair()
    const client = await connect(one, revision)
    const called = client.request(one, 5, 'tools/call', { name: 'waits', arguments: { ms: 20_000 } })
    await delay(50)
    assert.equal(await client.end(other), 204)
    const { id, error } = (await called) ?? {}
    assert.equal(id, 5)
    assert.equal((error as { readonly code: number }).code, -32603)
  })

  if (revision !== '2025-03-26') {
    test(`${revision}: the client answers what it is asked to another replica`, async () => {
      const [one, other] = await pair()
      const client = await connect(one, revision)
      const stream = readEvents(
        await client.post(one, { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'asks' } }),
      )
      const asked = await stream.next()
      assert.equal(asked['method'], 'elicitation/create')
      const content = { sure: true, remark: 'x'.repeat(5_000) }
      const answer = { jsonrpc: '2.0', id: asked['id'], result: { action: 'accept', content } }
      assert.equal((await client.post(other, answer)).status, 202)
      assert.equal((await stream.next())['id'], 5)
    })
  }
}

test('2026-07-28: whoever listens is told of what happens on other replicas', async () => {
  const [one, other] = await pair()
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  }
  const notifications = { toolsListChanged: true, resourceSubscriptions: ['memo://a'] }
  const response = await fetch(one.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: { notifications, _meta: meta },
    }),
  })
  const stream = readEvents(response)
  assert.equal((await stream.next())['method'], 'notifications/subscriptions/acknowledged')
  await delay(20)
  other.server.changed('tools')
  assert.equal((await stream.next())['method'], 'notifications/tools/list_changed')
  other.server.updated('memo://a')
  assert.equal((await stream.next())['method'], 'notifications/resources/updated')
  stream.close()
})

test('a store that goes away while a stream is taken up ends the stream, not the process', async () => {
  const flaky = flakyStore(memoryStore())
  const one = await replica(flaky.store)
  const client = await connect(one, '2025-11-25')
  const stream = await client.stream(one)
  one.server.changed('tools')
  await stream.next()
  stream.close()
  await delay(20)
  flaky.away = 'before'
  const again = await client.stream(one, stream.lastEventId)
  await again.ended
  flaky.away = undefined
  const later = await client.stream(one, stream.lastEventId)
  one.server.changed('tools')
  assert.equal((await later.next())['method'], 'notifications/tools/list_changed')
  later.close()
})

test('while the store is away a session is told that nothing was run, and goes on once it is back', async () => {
  const flaky = flakyStore(memoryStore())
  const one = await replica(flaky.store)
  const client = await connect(one, '2025-11-25')
  const attempts = [
    ['logging/setLevel', { level: 'debug' }],
    ['resources/subscribe', { uri: 'memo://a' }],
    ['resources/unsubscribe', { uri: 'memo://a' }],
    ['tools/call', { name: 'echo' }],
  ] as const
  flaky.away = 'before'
  for (const [at, [method, params]] of attempts.entries()) {
    const { error } = (await client.request(one, 10 + at, method, params)) ?? {}
    assert.match(JSON.stringify(error), /"code":-32603.*Nothing was run/, method)
  }
  flaky.away = undefined
  for (const [at, [method, params]] of attempts.entries())
    assert.equal((await client.request(one, 20 + at, method, params))?.['error'], undefined, method)
})
