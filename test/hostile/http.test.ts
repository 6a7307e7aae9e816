// What a hostile client can do to an HTTP endpoint besides sending messages: heads, streams that stay open, slowness.
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer, fetchHandler, serveHttp, tool } from '../../src/index.ts'
import type { HttpDoorOptions, ServeHttpOptions } from '../../src/index.ts'
import { serveSocket } from '../../src/socket.ts'
import { defaultCaps } from '../../src/wire/caps.ts'
import { byToken, headersFor } from './doors.ts'
import { modern, modernCall, target, text } from './requests.ts'

const message = text(modernCall(1, 'echo'))

async function open(t: TestContext, options: ServeHttpOptions = {}) {
  const { server, release } = target()
  const http = await serveHttp(server, options)
  t.after(() => http.close({ graceMs: 0 }))
  return { ...http, release }
}

/** What comes back on a raw connection until it is closed, or for `ms`. */
function raw(
  t: TestContext,
  port: number,
  bytes: string | readonly string[],
  ms = 4_000,
): Promise<{ said: string; closed: boolean }> {
  return new Promise((resolve) => {
    let said = ''
    const socket: Socket = connect(port, '127.0.0.1', () => {
      for (const part of typeof bytes === 'string' ? [bytes] : bytes) socket.write(part)
    })
    const limit = setTimeout(() => resolve({ said, closed: false }), ms)
    t.after(() => socket.destroy())
    socket.on('data', (chunk) => (said += chunk.toString('latin1'))).on('error', () => {})
    socket.on('close', () => {
      clearTimeout(limit)
      resolve({ said, closed: true })
    })
  })
}

const head = (path: string, lines: readonly string[] = [], method = 'POST', host = 'localhost'): string =>
  [`${method} ${path} HTTP/1.1`, `host: ${host}`, 'connection: close', ...lines, '', ''].join('\r\n')

const plain = Object.entries(headersFor(message, undefined)).map(([name, value]) => `${name}: ${value}`)
const withBody = (lines: readonly string[] = [], path = '/mcp'): string =>
  head(path, [...plain, ...lines, `content-length: ${message.length}`]) + message
const statusOf = (said: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(said)?.[1])

test('http: maxHeaders: exactly so many pass, one more does not, wherever Origin stands', async (t) => {
  const maxHeaders = 20
  const { port } = await open(t, { caps: { maxHeaders } })
  const fixed = withBody().split('\r\n\r\n')[0]?.split('\r\n').length ?? 0
  const filler = (count: number): string[] => Array.from({ length: count }, (_, at) => `x-${at}: 1`)
  const spare = maxHeaders - (fixed - 1)
  assert.equal(statusOf((await raw(t, port, withBody(filler(spare)))).said), 200)
  assert.equal(statusOf((await raw(t, port, withBody(filler(spare + 1)))).said), 431)
  const { said } = await raw(t, port, withBody([...filler(200), 'origin: https://evil.example']))
  assert.equal(statusOf(said), 431)
})

test('http: maxHeaderBytes: exactly so many bytes pass, one more is refused by Node before anything is made of it', async (t) => {
  const maxHeaderBytes = 2_048
  const { port } = await open(t, { caps: { maxHeaderBytes } })
  const lines = withBody(['x-pad: ']).split('\r\n\r\n')[0]?.split('\r\n').slice(1) ?? []
  const bytes = lines.reduce((sum, line) => sum + line.length - ': '.length, '/mcp'.length)
  const spare = maxHeaderBytes - bytes
  assert.equal(statusOf((await raw(t, port, withBody([`x-pad: ${'x'.repeat(spare)}`]))).said), 200)
  assert.equal(statusOf((await raw(t, port, withBody([`x-pad: ${'x'.repeat(spare + 1)}`]))).said), 431)
  const path = (more: number): string => `/mcp?${'x'.repeat(spare - 1 + more)}`
  assert.equal(statusOf((await raw(t, port, withBody(['x-pad: '], path(0)))).said), 200)
  assert.equal(statusOf((await raw(t, port, withBody(['x-pad: '], path(1)))).said), 431)
})

test('fetch: maxHeaders and maxHeaderBytes: at the limit, and one past it', async () => {
  const at = async (caps: HttpDoorOptions['caps'], headers: Record<string, string>): Promise<number> => {
    const handler = fetchHandler(target().server, { ...(caps && { caps }) })
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { ...headersFor(message, undefined), ...headers },
      body: message,
    })
    return (await handler(request)).status
  }
  const own = Object.keys(headersFor(message, undefined)).length
  const bytes = Object.entries(headersFor(message, undefined)).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    '/mcp'.length,
  )
  assert.equal(await at({ maxHeaders: own + 1 }, { x: '1' }), 200)
  assert.equal(await at({ maxHeaders: own + 1 }, { x: '1', y: '1' }), 431)
  assert.equal(await at({ maxHeaderBytes: bytes + 11 }, { x: '1'.repeat(10) }), 200)
  assert.equal(await at({ maxHeaderBytes: bytes + 11 }, { x: '1'.repeat(11) }), 431)
})

/** Opens a stream and leaves it open. @returns its status */
async function stream(t: TestContext, url: string, init: RequestInit): Promise<number> {
  const aborting = new AbortController()
  t.after(() => aborting.abort())
  const response = await fetch(url, { ...init, signal: aborting.signal })
  void response.body
    ?.getReader()
    .read()
    .catch(() => {})
  return response.status
}

const listening = (id: number, as?: string): RequestInit => {
  const body = text(modern(id, 'subscriptions/listen', { notifications: { toolsListChanged: true } }))
  return {
    method: 'POST',
    body,
    headers: { ...headersFor(body, undefined), ...(as && { authorization: `Bearer ${as}` }) },
  }
}

test('http: maxListeners: so many streams stay open, of every kind together, and a seat that was left is free', async (t) => {
  const { url, port } = await open(t, { caps: { maxListeners: 3 } })
  const sse = { headers: { accept: 'text/event-stream' } }
  assert.equal(await stream(t, url, listening(1)), 200)
  const leaving = new AbortController()
  const left = await fetch(`http://127.0.0.1:${port}/sse`, { ...sse, signal: leaving.signal })
  assert.equal(left.status, 200)
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  })
  const session =
    (await fetch(url, { method: 'POST', body, headers: headersFor(body, undefined) })).headers.get('mcp-session-id') ??
    ''
  assert.equal(await stream(t, url, { headers: { ...sse.headers, 'mcp-session-id': session } }), 200)
  assert.equal(await stream(t, url, listening(2)), 503)
  assert.equal(await stream(t, `http://127.0.0.1:${port}/sse`, sse), 503)
  leaving.abort()
  await sleep(100)
  assert.equal(await stream(t, url, listening(3)), 200)
})

test('http: maxListenersEach: one principal takes its own seats and nobody else’s', async (t) => {
  const { url } = await open(t, { caps: { maxListenersEach: 2 }, authenticate: byToken })
  assert.equal(await stream(t, url, listening(1, 'ada')), 200)
  assert.equal(await stream(t, url, listening(2, 'ada')), 200)
  assert.equal(await stream(t, url, listening(3, 'ada')), 503)
  assert.equal(await stream(t, url, listening(4, 'bob')), 200)
})

test('http: maxOpen: more requests than that at once are told to come back', async (t) => {
  const { url, release } = await open(t, { caps: { maxOpen: 2 } })
  const post = (id: number, tool: string): Promise<Response> => {
    const body = text(modernCall(id, tool))
    return fetch(url, { method: 'POST', body, headers: headersFor(body, undefined) })
  }
  const waiting = [post(1, 'wait'), post(2, 'wait')]
  let third = await post(3, 'echo')
  for (let tries = 0; third.status !== 503 && tries < 50; tries++) third = await post(3, 'echo')
  assert.equal(third.status, 503)
  assert.equal(third.headers.get('retry-after'), '1')
  release()
  for (const response of await Promise.all(waiting)) assert.equal(response.status, 200)
  assert.equal((await post(4, 'echo')).status, 200)
})

test('http: maxConnections: one connection more than that is closed at once', async (t) => {
  const { port } = await open(t, { maxConnections: 1 })
  const keptOpen = withBody().replace('connection: close', 'connection: keep-alive')
  const first = raw(t, port, keptOpen, 600)
  await sleep(100)
  assert.deepEqual(await raw(t, port, withBody()), { said: '', closed: true })
  const { said, closed } = await first
  assert.deepEqual([statusOf(said), closed], [200, false])
})

test('http: slow heads and slow bodies are cut off', async (t) => {
  const { port } = await open(t, { caps: { headersTimeoutMs: 200, messageTimeoutMs: 400 } })
  const slowHead = await raw(t, port, 'POST /mcp HTTP/1.1\r\nhost: localhost\r\nx: ')
  assert.ok(slowHead.closed)
  assert.equal(statusOf(slowHead.said), 408)
  const slowBody = await raw(t, port, head('/mcp', [...plain, 'content-length: 1000']) + '{"jsonrpc"')
  assert.ok(slowBody.closed)
  assert.match(slowBody.said, /^(HTTP\/1\.1 408|$)/)
})

test('fetch: a slow body is refused', async () => {
  const handler = fetchHandler(target().server, { caps: { messageTimeoutMs: 100 } })
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) })
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: headersFor(message, undefined),
    body,
    duplex: 'half',
  })
  assert.equal((await handler(request)).status, 408)
})

/** Says more than any client has room for, and waits then. */
const flood = tool('flood', {}, async (_args, ctx) => {
  for (let step = 1; step <= 100; step++) ctx.progress(step, 100, 'x'.repeat(200_000))
  await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
  return 'over'
})

for (const caps of [{ maxUnreadBytes: 1_000_000 }, { stallTimeoutMs: 300 }]) {
  test(`http: ${Object.keys(caps)[0]}: a client that does not read its stream is cut off`, async (t) => {
    const { port, server } = await serveHttp(createServer({ name: 'flood', version: '1', tools: [flood] }), { caps })
    t.after(() => server.closeAllConnections())
    t.after(() => server.close())
    const { params } = modernCall(1, 'flood') as { params: { _meta: object } }
    const body = text({
      ...modernCall(1, 'flood'),
      params: { ...params, _meta: { ...params._meta, progressToken: 1 } },
    })
    const lines = Object.entries(headersFor(body, undefined)).map(([name, value]) => `${name}: ${value}`)
    const deaf = connect(port, '127.0.0.1').on('error', () => {})
    deaf.pause().write(head('/mcp', [...lines, `content-length: ${body.length}`]) + body)
    t.after(() => deaf.destroy())
    const cut = new Promise<string>((resolve) =>
      server.once('connection', (socket: Socket) => socket.once('close', () => resolve('cut'))),
    )
    assert.equal(await Promise.race([cut, sleep(5_000, 'held')]), 'cut')
  })
}

test('http: a client that does not read its answers is cut off', async (t) => {
  const { port, server } = await open(t, { caps: { stallTimeoutMs: 300 } })
  const body = text(modernCall(1, 'echo', { text: 'x'.repeat(200_000) }))
  const lines = Object.entries(headersFor(body, undefined)).map(([name, value]) => `${name}: ${value}`)
  const request = ['POST /mcp HTTP/1.1', 'host: localhost', ...lines, `content-length: ${body.length}`, '', body].join(
    '\r\n',
  )
  const deaf = connect(port, '127.0.0.1').on('error', () => {})
  t.after(() => deaf.destroy())
  deaf.pause()
  const cut = new Promise<string>((resolve) =>
    server.once('connection', (socket: Socket) => socket.once('close', () => resolve('cut'))),
  )
  for (let sent = 0; sent < 40; sent++) deaf.write(request)
  assert.equal(await Promise.race([cut, sleep(5_000, 'held')]), 'cut')
})

test('fetch: a stream that nobody reads ends, by bytes and by time', async () => {
  for (const caps of [{ maxUnreadBytes: 200 }, { stallTimeoutMs: 60 }]) {
    const { server } = target()
    const handler = fetchHandler(server, { caps, keepAliveMs: 20 })
    const body = text(modern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } }))
    const response = await handler(
      new Request('http://localhost/mcp', { method: 'POST', headers: headersFor(body, undefined), body }),
    )
    assert.equal(response.status, 200)
    for (let at = 0; at < 20; at++) {
      server.changed('tools')
      await sleep(10)
    }
    assert.equal(server.changed('tools').peers, 0)
    await assert.rejects(async () => {
      for await (const _part of response.body ?? []);
    })
    await handler.close({ graceMs: 0 })
  }
})

test('socket: a client that never ends its line, or never reads, is cut off', async (t) => {
  const { server } = target()
  const listener = await serveSocket(server, {
    graceMs: 0,
    caps: { messageTimeoutMs: 150, stallTimeoutMs: 150, maxUnreadBytes: 50_000_000 },
  })
  t.after(() => listener.close())
  const midway = await raw(t, listener.port ?? 0, '{"jsonrpc"')
  assert.deepEqual(midway, { said: '', closed: true })

  const deaf = connect(listener.port ?? 0, '127.0.0.1')
  deaf.on('error', () => {}).pause()
  const big = text(modernCall(1, 'echo', { text: 'x'.repeat(1_000_000) }))
  // More than the buffers of both ways hold, so that some of it is unread when the connection is cut, which the client is told.
  for (let sent = 0; sent < 60; sent++) deaf.write(`${big}\n`)
  const cut = await Promise.race([
    new Promise((resolve) => deaf.once('close', () => resolve('cut'))),
    sleep(4_000, 'held'),
  ])
  deaf.destroy()
  assert.equal(cut, 'cut')
})

const routes = ['/mcp', '/mcp/', '/sse', '/messages', '/sse?id=x', '/', '/no/such', '/mcp/../mcp', '//mcp']
const verbs = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH']

test('CVE-2025-66414 and its kin: a foreign Host or Origin is refused on every route and verb, whoever asks', async (t) => {
  const { port } = await open(t, { authenticate: byToken })
  for (const path of routes) {
    for (const verb of verbs) {
      const foreign = [
        head(path, ['authorization: Bearer ada'], verb, 'evil.example'),
        head(path, ['authorization: Bearer ada'], verb, `localhost.evil.example:${port}`),
        head(path, ['authorization: Bearer ada', 'origin: https://evil.example'], verb),
        head(path, ['authorization: Bearer ada', 'origin: null'], verb),
        head(path, ['authorization: Bearer ada', 'origin: http://localhost', 'origin: https://evil.example'], verb),
      ]
      for (const request of foreign) {
        const { said } = await raw(t, port, request)
        assert.equal(statusOf(said), 403, `${verb} ${path}\n${request}`)
        assert.doesNotMatch(said, /access-control|evil/i)
      }
    }
  }
})

test('only the two paths are served; what resembles them is not', async (t) => {
  const { port } = await open(t)
  for (const path of [
    '/messages',
    '/',
    '/no/such',
    '/mcp/../mcp',
    '//mcp',
    '/MCP',
    '/mcp//',
    'http://localhost/messages',
  ]) {
    assert.equal(statusOf((await raw(t, port, withBody([], path))).said), 404, path)
  }
})

test('preflights are answered before anybody is asked who they are, and to allowed origins only', async (t) => {
  let asked = 0
  const { url, port } = await open(t, {
    origins: ['https://app.example'],
    authenticate: () => {
      asked += 1
      return undefined
    },
  })
  const ask = (origin: string, path = url): Promise<Response> =>
    fetch(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'mcp-param-region, x-evil, mcp-param-a\tb',
      },
    })
  for (const path of [url, `http://127.0.0.1:${port}/sse`]) {
    const allowed = await ask('https://app.example', path)
    assert.equal(allowed.status, 204)
    assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://app.example')
    const names = allowed.headers.get('access-control-allow-headers')?.split(', ') ?? []
    for (const name of [
      'mcp-method',
      'mcp-name',
      'mcp-param-region',
      'mcp-protocol-version',
      'mcp-session-id',
      'last-event-id',
      'authorization',
      'content-type',
    ]) {
      assert.ok(names.includes(name), name)
    }
    assert.ok(!names.includes('x-evil') && !names.some((name) => name.includes('\t')))
    assert.match(allowed.headers.get('access-control-allow-methods') ?? '', /POST/)
    for (const origin of [
      'https://app.example.evil.example',
      'https://app.example:8443',
      'http://app.example',
      'https://APP.example/',
    ]) {
      assert.equal((await ask(origin, path)).status, 403, origin)
    }
  }
  assert.equal(asked, 0)
  const answer = await fetch(url, {
    method: 'POST',
    body: message,
    headers: { ...headersFor(message, undefined), origin: 'https://app.example' },
  })
  const exposed = answer.headers.get('access-control-expose-headers') ?? ''
  for (const name of ['mcp-session-id', 'mcp-protocol-version', 'www-authenticate', 'retry-after'])
    assert.ok(exposed.includes(name), name)
  assert.equal(answer.headers.get('vary'), 'origin')
  assert.equal(answer.headers.get('access-control-allow-credentials'), null)
})

test('a wide bind without auth does not start unless told, over HTTP and TCP', async (t) => {
  const { server } = target()
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.com', '127.0.0.1.evil.example']) {
    await assert.rejects(serveHttp(server, { host }), /lets others in/, host)
    await assert.rejects(serveSocket(server, { host }), /lets others in/, host)
  }
  const wide = await serveHttp(server, { host: '0.0.0.0', allowUnauthenticated: true })
  t.after(() => wide.close({ graceMs: 0 }))
})

test('slowness and silence have bounds by default', () => {
  const { headersTimeoutMs, messageTimeoutMs, stallTimeoutMs, maxUnreadBytes } = defaultCaps
  for (const cap of [headersTimeoutMs, messageTimeoutMs, stallTimeoutMs, maxUnreadBytes])
    assert.ok(cap > 0 && Number.isFinite(cap))
})
