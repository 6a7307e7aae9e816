import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { silent } from '../../../src/model/ports.ts'
import { Refusal } from '../../../src/model/refusal.ts'
import { fetchHandler } from '../../../src/transport/serve/fetch.ts'
import { serveHttp } from '../../../src/transport/serve/node.ts'
import { doors, openNode, events, legacyHeaders, messages, modernHeaders, until } from './doors.ts'
import type { Door, Response } from './doors.ts'
import { initialize, modern, modernCall, notification, peerOf, rpc, said, standIn } from './stand-in.ts'

const post = (door: Door, body: Record<string, unknown>, extra: Record<string, string> = {}): Promise<Response> =>
  door.send({ headers: modernHeaders(body, extra), body })
const ask = async (
  door: Door,
  body: Record<string, unknown>,
  extra: Record<string, string> = {},
): Promise<Response> => {
  const response = await post(door, body, extra)
  await response.done
  return response
}

for (const [name, open] of doors) {
  test(`${name}: an answer is JSON, or a stream once something comes before it`, async () => {
    const door = await open()
    const plain = await ask(door, modernCall(1, 'echo', { text: 'é\u2028' }))
    assert.equal(plain.headers.get('content-type'), 'application/json')
    assert.equal(said(messages(plain)[0]), 'é\u2028')
    const streamed = await ask(door, modernCall(2, 'progress', { steps: 2 }))
    assert.equal(streamed.headers.get('content-type'), 'text/event-stream')
    assert.equal(streamed.headers.get('x-accel-buffering'), 'no')
    assert.deepEqual(
      messages(streamed).map((m) => m.id ?? m.params?.['progress']),
      [1, 2, 2],
    )
    const json = await ask(door, modernCall(3, 'progress', { steps: 2 }), { accept: 'application/json' })
    assert.deepEqual(
      messages(json).map((m) => m.id),
      [3],
    )
    const events = await ask(door, modernCall(4, 'echo', { text: 'x' }), { accept: 'text/event-stream' })
    assert.equal(events.headers.get('content-type'), 'text/event-stream')
    assert.equal(said(messages(events)[0]), 'x')
    await door.close()
  })

  test(`${name}: the status tells a refusal, unless a stream has begun`, async () => {
    const door = await open()
    assert.equal((await ask(door, modern(1, 'no/such'))).status, 404)
    assert.equal((await ask(door, modern(1, 'no/such'), { accept: 'text/event-stream' })).status, 404)
    await door.close()
  })

  test(`${name}: bodies that are no message`, async () => {
    const door = await open()
    const bodies: [string, number][] = [
      ['{', -32700],
      ['', -32700],
      ['12', -32600],
      ['[]', -32600],
      ['{}', -32600],
    ]
    for (const [body, code] of [...bodies, [JSON.stringify([modern(1, 'tools/list')]), -32600] as const]) {
      const response = await door.send({ headers: modernHeaders(modern(1, 'tools/list')), body })
      await response.done
      assert.equal(response.status, 400, body)
      assert.equal(messages(response)[0]?.error?.code, code, body)
      assert.equal(messages(response)[0]?.id, undefined)
    }
    await door.close()
  })

  test(`${name}: a coding that is not read is refused with the one that is`, async () => {
    const door = await open()
    const coded = await ask(door, modern(1, 'tools/list'), { 'content-encoding': 'gzip' })
    assert.deepEqual([coded.status, coded.headers.get('accept-encoding')], [415, 'identity'])
    const other = await ask(door, modern(1, 'tools/list'), { 'content-type': 'text/plain' })
    assert.deepEqual([other.status, other.headers.get('accept-encoding')], [415, undefined])
    await door.close()
  })

  test(`${name}: notifications are accepted without a body, responses are refused`, async () => {
    const door = await open()
    const accepted = await ask(door, notification('notifications/cancelled', { requestId: 1 }))
    assert.deepEqual([accepted.status, accepted.text], [202, ''])
    const refused = await ask(door, { jsonrpc: '2.0', id: 1, result: {} })
    assert.equal(refused.status, 400)
    await door.close()
  })

  test(`${name}: the door`, async () => {
    const door = await open({ hosts: ['api.example.com'] })
    const list = modern(1, 'tools/list')
    const status = async (
      extra: Record<string, string>,
      sending: { method?: string; path?: string } = {},
    ): Promise<number> => {
      const { method = 'POST' } = sending
      const body = method === 'POST' || method === 'PUT' ? list : undefined
      const response = await door.send({ headers: modernHeaders(list, extra), body, ...sending })
      await response.done
      if (response.status >= 400) assert.match(response.text, /"error"/)
      return response.status
    }
    assert.equal(await status({}), 200)
    assert.equal(await status({}, { path: '/mcp/' }), 200)
    assert.equal(await status({}, { path: '/mcp?x=1' }), 200)
    assert.equal(await status({}, { path: '/other' }), 404)
    assert.equal(await status({}, { path: '/mcp//' }), 404)
    assert.equal(await status({ host: 'api.example.com' }), 200)
    for (const method of ['POST', 'GET', 'DELETE', 'PUT', 'OPTIONS']) {
      assert.equal(await status({ host: 'evil.example' }, { method }), 403, method)
      assert.equal(await status({ origin: 'http://evil.example' }, { method }), 403, method)
    }
    assert.equal(await status({ host: 'evil.example' }, { path: '/other' }), 403)
    assert.equal(await status({ origin: 'http://localhost:5173' }), 200)
    assert.equal(await status({ 'content-type': 'text/plain' }), 415)
    assert.equal(await status({ 'content-type': 'application/json; charset=utf-8' }), 200)
    assert.equal(await status({ 'content-encoding': 'gzip' }), 415)
    assert.equal(await status({ 'content-encoding': 'Identity' }), 200)
    assert.equal(await status({ accept: 'text/html' }), 406)
    assert.equal(await status({ accept: '*/*' }), 200)
    assert.equal(await status({}, { method: 'PUT' }), 405)
    await door.close()
  })

  test(`${name}: pages on allowed origins may read answers`, async () => {
    const door = await open()
    const origin = 'http://localhost:5173'
    const preflight = await door.send({
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-headers': 'content-type, mcp-method, X-Odd, Mcp-Param-Region' },
    })
    assert.equal(preflight.status, 204)
    assert.equal(preflight.headers.get('access-control-allow-origin'), origin)
    const allowed = preflight.headers.get('access-control-allow-headers')?.split(', ') ?? []
    for (const name of ['content-type', 'authorization', 'last-event-id', 'mcp-session-id', 'mcp-param-region']) {
      assert.ok(allowed.includes(name), name)
    }
    assert.ok(!allowed.includes('x-odd'))
    const answer = await ask(door, modern(1, 'tools/list'), { origin })
    assert.equal(answer.headers.get('access-control-allow-origin'), origin)
    assert.match(answer.headers.get('access-control-expose-headers') ?? '', /mcp-session-id/)
    await door.close()
  })

  test(`${name}: a body over the cap is refused and the server goes on`, async () => {
    const door = await open({ caps: { maxMessageBytes: 1_000 } })
    const big = modernCall(1, 'echo', { text: 'x'.repeat(200_000) })
    assert.equal((await ask(door, big)).status, 413)
    assert.equal((await ask(door, modernCall(2, 'echo', { text: 'alive' }))).status, 200)
    await door.close()
  })

  test(`${name}: going away cancels a call that stands alone`, async () => {
    const door = await open()
    const response = await post(door, modernCall(1, 'progress', { steps: 1, ms: 1 }))
    await response.done
    assert.equal(door.served.aborted, 0)
    const gone = await post(door, modern('l', 'subscriptions/listen', { notifications: {} }))
    await until(() => messages(gone).length === 1)
    gone.abort()
    await door.close({ graceMs: 100 })
  })

  test(`${name}: listen needs a client that takes events`, async () => {
    const door = await open()
    const body = modern('l', 'subscriptions/listen', { notifications: {} })
    assert.equal((await ask(door, body, { accept: 'application/json' })).status, 406)
    await door.close()
  })

  test(`${name}: closing answers what is in flight, ends streams and refuses the rest`, async () => {
    const door = await open()
    const slow = post(door, modernCall(1, 'slow', { ms: 80 }))
    const listening = await post(door, modern('l', 'subscriptions/listen', { notifications: {} }))
    await sleep(20)
    const closed = door.close({ graceMs: 2_000 })
    const answer = await slow
    await Promise.all([answer.done, listening.done, closed])
    assert.equal(said(messages(answer)[0]), 'done')
    assert.deepEqual(
      messages(listening).map((m) => m.method ?? m.id),
      ['notifications/subscriptions/acknowledged', 'l'],
    )
    assert.equal(door.served.listeners, 0)
  })

  test(`${name}: what takes longer than the grace is told so`, async () => {
    const door = await open()
    const slow = post(door, modernCall(1, 'slow', { ms: 5_000 }))
    await sleep(30)
    await Promise.all([door.close({ graceMs: 20 }), slow])
    const answer = await slow
    await answer.done
    assert.equal(messages(answer)[0]?.error?.message, 'The call was started and its outcome is not known.')
    assert.equal(door.served.aborted, 1)
  })

  test(`${name}: a quiet call is kept alive by comments`, async () => {
    const door = await open({ keepAliveMs: 15 })
    const answer = await ask(door, modernCall(1, 'slow', { ms: 100 }))
    assert.equal(answer.headers.get('content-type'), 'text/event-stream')
    assert.ok(events(answer).filter((event) => event.comment === 'keep-alive').length >= 2)
    assert.equal(said(messages(answer).at(-1)), 'done')
    const json = await ask(door, modernCall(2, 'slow', { ms: 100 }), { accept: 'application/json' })
    assert.equal(said(messages(json)[0]), 'done')
    await door.close()
  })

  test(`${name}: a deployment without handshakes has no sessions`, async () => {
    const door = await open({}, ['2026-07-28'])
    for (const method of ['GET', 'DELETE']) {
      const response = await door.send({ method, headers: legacyHeaders() })
      assert.equal(response.status, 405)
      assert.match(response.headers.get('allow') ?? '', /POST/)
    }
    const refused = await door.send({ headers: legacyHeaders(), body: initialize(1, '2025-06-18') })
    await refused.done
    assert.match(JSON.stringify(messages(refused)[0]?.error), /2026-07-28/)
    assert.equal(refused.headers.get('mcp-session-id'), undefined)
    const bare = await door.send({ headers: legacyHeaders(), body: rpc(1, 'tools/list') })
    assert.equal(bare.status, 400)
    await door.close()
  })

  test(`${name}: whoever authenticates nobody lets nobody in`, async () => {
    const door = await open({
      async authenticate({ header }) {
        if (header('authorization') === 'Bearer broken') throw new Error('no')
        return header('authorization') === 'Bearer good'
          ? { id: 'ada', scopes: new Set() }
          : new Refusal('Unauthenticated')
      },
    })
    const list = modern(1, 'tools/list')
    assert.equal((await ask(door, list)).status, 401)
    assert.equal((await ask(door, list, { authorization: 'Bearer broken' })).status, 500)
    assert.equal((await ask(door, list, { authorization: 'Bearer good' })).status, 200)
    await door.close()
  })

  test(`${name}: what authenticate returns by mistake lets nobody in`, async () => {
    const scopes = new Set<string>()
    const mistakes: unknown[] = [null, true, false, 0, '', 'al', [], {}, () => 'al', Promise.resolve(null)]
    for (const id of [undefined, null, 5, {}, '']) mistakes.push({ id, scopes })
    for (const some of [undefined, null, ['admin'], 'admin', {}, new Map()]) mistakes.push({ id: 'al', scopes: some })
    mistakes.push({ id: 'al', scopes, claims: 'all' })
    for (const returned of mistakes) {
      const told: string[] = []
      const door = await open({
        authenticate: () => returned as never,
        logger: { ...silent, error: (message) => void told.push(message) },
      })
      const refused = await ask(door, modern(1, 'tools/list'))
      assert.equal(refused.status, 500, inspect(returned))
      assert.equal(messages(refused)[0]?.error?.code, -32603)
      assert.deepEqual(told, ['nobody could tell who is asking'])
      await door.close()
    }
    const door = await open({ authenticate: null as never })
    assert.equal((await ask(door, modern(1, 'tools/list'))).status, 500)
    await door.close()
  })
}

/** What a server answers to bytes on a socket. */
async function raw(port: number, head: string, body: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let heard = ''
  socket.on('data', (chunk: Buffer) => (heard += String(chunk)))
  socket.end(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  await once(socket, 'close')
  return heard
}

test('node: a target with its host is the path of it, and that host counts', async () => {
  const server = await serveHttp(peerOf(standIn()))
  const body = JSON.stringify(initialize(1, '2025-11-25'))
  const post = (target: string, ...hosts: string[]): Promise<string> =>
    raw(
      server.port,
      [
        `POST ${target} HTTP/1.1`,
        ...hosts.map((host) => `Host: ${host}`),
        'content-type: application/json',
        'accept: application/json, text/event-stream',
        'connection: close',
      ].join('\r\n'),
      body,
    )
  assert.match(await post('/mcp', 'localhost'), /^HTTP\/1.1 200 /)
  assert.match(await post('http://localhost:80/mcp?x', 'localhost'), /^HTTP\/1.1 200 /)
  assert.match(await post('HTTP://LOCALHOST/mcp', 'evil.example'), /^HTTP\/1.1 200 /)
  assert.match(await post('http://localhost/elsewhere', 'localhost'), /^HTTP\/1.1 404 /)
  assert.match(await post('http://evil.example/mcp', 'localhost'), /^HTTP\/1.1 403 /)
  assert.match(await post('http://[/mcp', 'localhost'), /^HTTP\/1.1 404 /)
  assert.match(await post('/mcp', 'localhost', 'evil.example'), /^HTTP\/1.1 400 /)
  assert.match(await post('/mcp', 'localhost', 'localhost'), /^HTTP\/1.1 400 /)
  await server.close()
})

test('node: an event that is longer than what may be unread reaches a client that reads', async () => {
  const door = await openNode({ caps: { maxUnreadBytes: 1_000 } })
  const text = 'x'.repeat(3_000_000)
  const answer = await ask(door, modernCall(1, 'echo', { text }), { accept: 'text/event-stream' })
  assert.equal(said(messages(answer)[0])?.length, text.length)
  await door.close()
})

test('fetch: two hosts are refused', async () => {
  const body = initialize(1, '2025-11-25')
  const headers = new Headers(legacyHeaders())
  headers.append('host', 'localhost')
  headers.append('host', 'evil.example')
  const handler = fetchHandler(peerOf(standIn()))
  const request = new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(body) })
  assert.equal((await handler(request)).status, 400)
})

test('node: a client that goes away before the answer has cancelled', async () => {
  const body = modernCall(1, 'slow', { ms: 5_000 })
  const served = standIn()
  const server = await serveHttp(peerOf(served))
  const outgoing = request(server.url, { method: 'POST', headers: modernHeaders(body), agent: false })
  outgoing.on('error', () => {})
  outgoing.end(JSON.stringify(body))
  await sleep(60)
  outgoing.destroy()
  await until(() => served.aborted === 1)
  await server.close()
})

test('fetch: an aborted request has cancelled', async () => {
  const served = standIn()
  const handler = fetchHandler(peerOf(served))
  const aborting = new AbortController()
  const body = modernCall(1, 'slow', { ms: 5_000 })
  const responded = handler(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: modernHeaders(body),
      body: JSON.stringify(body),
      signal: aborting.signal,
    }),
  )
  await sleep(20)
  aborting.abort()
  await until(() => served.aborted === 1)
  await responded
})
