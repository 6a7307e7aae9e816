// A live server changes: who is told, over which door, and what calls in flight go on with.
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { connectInMemory, fetchHandler, resource, serveStdio, tool } from '../src/index.ts'
import type { JsonObject, Server } from '../src/index.ts'
import { clientOf, eras, serverOf, settled, staff, textOf } from './server/support.ts'

const late = tool('late', {}, () => 'late')
const offer = {
  tools: [tool('echo', {}, () => 'echo')],
  resources: [resource('doc://one', { name: 'one' }, () => '1')],
  prompts: [],
}

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const listenTo = (notifications: JsonObject) => ({
  jsonrpc: '2.0',
  id: 'listen',
  method: 'subscriptions/listen',
  params: { notifications, _meta: modernMeta },
})
const hello = (protocolVersion: string) => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '1' } },
})

/** A fetch client of one server: posts, and reads streams as they come. */
function httpOf(server: Server) {
  const handler = fetchHandler(server)
  const send = (method: string, headers: Record<string, string>, body?: unknown) =>
    handler(
      new Request('http://localhost/mcp', {
        method,
        headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
  const modern = (body: { method: string; params: object; jsonrpc: string; id: unknown }) => {
    const { name } = body.params as { name?: string }
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': body.method,
      ...(name !== undefined && { 'mcp-name': name }),
    }
    return send('POST', headers, body)
  }
  return { send, modern, close: () => handler.close({ graceMs: 0 }) }
}

/** The methods of the messages of an event stream, as they come in. */
function methodsOf(response: Response): string[] {
  const heard: string[] = []
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const read = async (): Promise<void> => {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      for (const [, data] of part.value.matchAll(/^data: (\{.*\})$/gm))
        heard.push(String((JSON.parse(data ?? '') as JsonObject)['method']))
    }
  }
  void read()
  return heard
}

/** What every change says came of it, where `peers` are told. */
function changeEverything(server: Server, peers: number): void {
  assert.deepEqual(server.add(late), { kinds: ['tools'], peers })
  assert.deepEqual(server.replace(tool('late', { description: 'anew' }, () => 'anew')), { kinds: ['tools'], peers })
  assert.deepEqual(server.remove('tool', 'late'), { kinds: ['tools'], peers })
  assert.deepEqual(server.remove('tool', 'late'), { kinds: [], peers: 0 })
  assert.deepEqual(server.changed('resources'), { kinds: ['resources'], peers })
  assert.deepEqual(server.updated('doc://one'), { kinds: ['resource'], peers })
}
const everything = [
  'notifications/tools/list_changed',
  'notifications/tools/list_changed',
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
]

test('nobody listens: nobody is told', () => changeEverything(serverOf(offer), 0))

for (const revision of eras)
  test(`${revision}: in memory, a client is told of each change once`, async () => {
    const server = serverOf(offer)
    const client = await clientOf(server, { revision })
    if (revision === '2025-11-25') await client.request('resources/subscribe', { uri: 'doc://one' })
    else {
      const notifications = { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['doc://one'] }
      void client.request('subscriptions/listen', { notifications })
      await settled()
    }
    const before = client.heard.length
    changeEverything(server, 1)
    await settled()
    assert.deepEqual(
      client.heard.slice(before).map(({ method }) => method),
      everything,
    )
    await client.close()
    changeEverything(server, 0)
  })

test('over stdio, one process tells its session and its streams', async () => {
  const server = serverOf(offer)
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const told: string[] = []
  stdout.on('data', (line: Buffer) => {
    for (const text of String(line).split('\n').filter(Boolean))
      told.push(String((JSON.parse(text) as JsonObject)['method']))
  })
  const serving = serveStdio(server, { stdin, stdout })
  const write = (message: object): void => void stdin.write(`${JSON.stringify(message)}\n`)
  write(hello('2025-06-18'))
  write({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'doc://one' } })
  await settled(20)
  changeEverything(server, 1)
  write(listenTo({ toolsListChanged: true }))
  await settled(20)
  assert.deepEqual(server.add(late), { kinds: ['tools'], peers: 2 })
  await settled(20)
  const changes = told.filter((method) => method.endsWith('list_changed') || method.endsWith('updated'))
  assert.deepEqual(changes, [...everything, 'notifications/tools/list_changed', 'notifications/tools/list_changed'])
  stdin.end()
  await serving
  assert.deepEqual(server.remove('tool', 'late'), { kinds: ['tools'], peers: 0 })
})

test('over HTTP, the stream of a session is told, and a session that has none is not', async () => {
  const server = serverOf(offer)
  const { send, close } = httpOf(server)
  const open = async () => {
    const opened = await send('POST', {}, hello('2025-11-25'))
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    await send('POST', session, { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'doc://one' } })
    return session
  }
  const [listening] = [await open(), await open()]
  changeEverything(server, 0)
  const heard = methodsOf(await send('GET', listening))
  await settled()
  changeEverything(server, 1)
  await settled(20)
  assert.deepEqual(
    heard.filter((method) => method !== 'undefined'),
    everything,
  )
  await close()
})

test('over HTTP+SSE, a connection is told', async () => {
  const server = serverOf(offer)
  const handler = fetchHandler(server)
  const stream = await handler(new Request('http://localhost/sse', { headers: { accept: 'text/event-stream' } }))
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
  const first = (await reader?.read())?.value ?? ''
  const path = /data: (\S+)/.exec(first)?.[1] ?? ''
  await handler(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(hello('2024-11-05')),
    }),
  )
  await reader?.read()
  assert.deepEqual(server.add(late), { kinds: ['tools'], peers: 1 })
  assert.match((await reader?.read())?.value ?? '', /notifications\/tools\/list_changed/)
  await handler.close({ graceMs: 0 })
})

test('over stateless HTTP, a change within a call reaches open listeners', async () => {
  const counts: number[] = []
  const server = serverOf(offer).tool('grow', {}, (_, ctx) => {
    const { peers } = ctx.server.add(late)
    counts.push(peers)
    return `told ${peers}`
  })
  const { modern, close } = httpOf(server)
  const heard = methodsOf(await modern(listenTo({ toolsListChanged: true })))
  const deaf = methodsOf(await modern(listenTo({ promptsListChanged: true })))
  await settled(20)
  const answer = await modern({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'grow', _meta: modernMeta },
  })
  assert.match(await answer.text(), /told 1/)
  await settled(20)
  assert.deepEqual(heard, ['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed'])
  assert.deepEqual(deaf, ['notifications/subscriptions/acknowledged'])
  const list = await modern({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta: modernMeta } })
  assert.match(await list.text(), /"late"/)
  await close()
})

test('several peers are counted, and only those who may know are told', async () => {
  const server = serverOf({ tools: [] })
  const clients = [
    await clientOf(server, { revision: '2025-11-25' }),
    await clientOf(server, { revision: '2025-11-25', principal: staff }),
  ]
  assert.deepEqual(server.add(tool('open', {}, () => '')), { kinds: ['tools'], peers: 2 })
  assert.deepEqual(server.add(tool('staff', { scopes: ['staff'] }, () => '')), { kinds: ['tools'], peers: 1 })
  assert.deepEqual(server.add(tool('root', { scopes: ['root'] }, () => '')), { kinds: ['tools'], peers: 0 })
  await settled()
  assert.deepEqual(
    clients.map(({ heard }) => heard.length),
    [1, 2],
  )
})

for (const revision of eras)
  test(`${revision}: a call in flight finishes on what it started with, while others see the change`, async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const slow = (text: string) => tool('slow', {}, async () => (await held, text))
    const server = serverOf({
      tools: [slow('old')],
      resources: [resource('doc://slow', { name: 'slow' }, async () => (await held, 'old'))],
    })
    const client = await clientOf(server, { revision })
    const running = [
      client.request('tools/call', { name: 'slow' }),
      client.request('resources/read', { uri: 'doc://slow' }),
    ] as const
    await settled()
    server.replace(tool('slow', {}, () => 'new'))
    server.remove('resource', 'doc://slow')
    assert.equal(textOf(await client.request('tools/call', { name: 'slow' })), 'new')
    assert.ok((await client.request('resources/read', { uri: 'doc://slow' })).error)
    release()
    assert.equal(textOf(await running[0]), 'old')
    assert.deepEqual((await running[1]).result?.['contents'], [{ uri: 'doc://slow', text: 'old' }])
  })

test('a tool that removes itself still answers', async () => {
  const server = serverOf({ tools: [] }).tool('once', {}, (_, ctx) => {
    ctx.server.remove('tool', 'once')
    return 'for the last time'
  })
  const client = await clientOf(server)
  assert.equal(textOf(await client.request('tools/call', { name: 'once' })), 'for the last time')
  assert.equal((await client.request('tools/call', { name: 'once' })).error?.code, -32602)
})

test('what is announced is there already: whoever is told and asks finds it', async () => {
  const server = serverOf({ tools: [] })
  const link = connectInMemory(server)
  const seen: string[] = []
  link.onMessage((text) => {
    const message = JSON.parse(text) as { method?: string; result?: { tools?: { name: string }[] } }
    if (message.method !== undefined)
      link.send({ jsonrpc: '2.0', id: 'after', method: 'tools/list', params: { _meta: modernMeta } })
    if (message.result?.tools) seen.push(message.result.tools.map(({ name }) => name).join())
  })
  link.send(listenTo({ toolsListChanged: true }))
  await settled()
  server.add(late)
  await settled()
  assert.deepEqual(seen, ['', 'late'])
  await link.close()
})
