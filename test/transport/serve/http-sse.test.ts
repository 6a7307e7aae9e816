import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import express from 'express'
import type { Principal } from '../../../src/model/notification.ts'
import { silent } from '../../../src/model/ports.ts'
import { doors, events, messages, modernHeaders, until } from './doors.ts'
import type { Door } from './doors.ts'
import { nodeHandler } from '../../../src/transport/serve/node.ts'
import { call, initialize, modern, notification, peerOf, rpc, said, standIn } from './stand-in.ts'

async function connect(door: Door, extra: Record<string, string> = {}) {
  const stream = await door.send({ method: 'GET', path: '/sse', headers: { accept: 'text/event-stream', ...extra } })
  assert.equal(stream.status, 200)
  const endpoint = await until(() => events(stream).find((event) => event.event === 'endpoint')?.data)
  const post = async (body: unknown, headers: Record<string, string> = {}): Promise<number> => {
    const response = await door.send({
      path: endpoint,
      headers: { 'content-type': 'application/json', ...extra, ...headers },
      body,
    })
    await response.done
    return response.status
  }
  const answer = (id: string | number | null) =>
    until(() => messages(stream).find((message) => message.id === id && (message.result || message.error)))
  return { stream, endpoint, post, answer }
}

for (const [name, open] of doors) {
  test(`${name}: HTTP+SSE: a handshake, a call, two connections that do not meet`, async () => {
    const door = await open()
    const [a, b] = [await connect(door), await connect(door)]
    assert.notEqual(a.endpoint, b.endpoint)
    for (const c of [a, b]) {
      assert.equal(await c.post(initialize(1, '2024-11-05')), 202)
      assert.equal((await c.answer(1)).result?.['protocolVersion'], '2024-11-05')
      assert.equal(await c.post(notification('notifications/initialized')), 202)
    }
    await Promise.all([a.post(call(7, 'echo', { text: 'a' })), b.post(call(7, 'echo', { text: 'b' }))])
    assert.equal(said(await a.answer(7)), 'a')
    assert.equal(said(await b.answer(7)), 'b')
    assert.equal(await a.post('{'), 202)
    assert.equal((await a.answer(null)).error?.code, -32700)
    assert.ok(
      events(a.stream)
        .slice(1)
        .every((event) => event.event === 'message'),
    )
    a.stream.abort()
    await until(async () => (await a.post(rpc(8, 'ping'))) === 404)
    assert.equal(await b.post(rpc(8, 'ping')), 202)
    await door.close({ graceMs: 50 })
    await until(() => b.stream.ended)
  })

  test(`${name}: HTTP+SSE: no request stands alone where the revision of those has no such transport`, async () => {
    const door = await open()
    const { stream, post, answer } = await connect(door)
    const alone = ['tools/list', 'server/discover', 'initialize', 'ping'].map((method) => modern(method, method))
    for (const revision of [undefined, '2024-11-05']) {
      if (revision !== undefined) await post(initialize('i', revision))
      for (const request of alone) {
        assert.equal(await post({ ...request, id: `${request['id']} ${revision}` }, modernHeaders(request)), 202)
        const { error } = await answer(`${request['id']} ${revision}`)
        assert.equal(error?.code, -32600)
      }
    }
    assert.ok((await answer('i')).result)
    await post(rpc('l', 'tools/list'))
    assert.deepEqual((await answer('l')).result, { tools: [] })
    assert.doesNotMatch(stream.text, /resultType|-3202/)
    await door.close({ graceMs: 50 })
  })

  test(`${name}: HTTP+SSE: the same door`, async () => {
    const door = await open()
    const { post, endpoint } = await connect(door)
    assert.equal(await post(rpc(1, 'ping'), { origin: 'http://evil.example' }), 403)
    assert.equal(await post(rpc(1, 'ping'), { 'content-type': 'text/plain' }), 415)
    const status = async (method: string, path: string, headers = {}): Promise<number> =>
      (await door.send({ method, path, headers })).status
    assert.equal(await status('GET', '/sse', { accept: 'application/json' }), 406)
    const odd = await door.send({ method: 'DELETE', path: endpoint })
    assert.deepEqual([odd.status, odd.headers.get('allow')], [405, 'GET, POST, OPTIONS'])
    assert.equal(await status('GET', '/sse', { host: 'evil.example', accept: 'text/event-stream' }), 403)
    const stranger = await door.send({
      path: '/sse?id=x',
      headers: { 'content-type': 'application/json' },
      body: rpc(1, 'ping'),
    })
    assert.equal(stranger.status, 404)
    await door.close({ graceMs: 50 })
    const without = await open({ ssePath: false })
    const absent = await without.send({ method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } })
    assert.equal(absent.status, 404)
    await without.close()
  })

  test(`${name}: HTTP+SSE: a connection belongs to its principal`, async () => {
    const people: Record<string, Principal> = {
      ada: { id: 'ada', scopes: new Set() },
      eve: { id: 'eve', scopes: new Set() },
    }
    const door = await open({ authenticate: ({ header }) => people[header('authorization') ?? ''] })
    const { post } = await connect(door, { authorization: 'ada' })
    assert.equal(await post(rpc(1, 'ping')), 202)
    assert.equal(await post(rpc(1, 'ping'), { authorization: 'eve' }), 404)
    await door.close({ graceMs: 50 })
  })

  test(`${name}: HTTP+SSE: closing answers what is in flight`, async () => {
    const door = await open()
    const c = await connect(door)
    await c.post(initialize(1, '2024-11-05'))
    await c.post(call(2, 'slow', { ms: 60 }))
    await sleep(10)
    await door.close({ graceMs: 2_000 })
    assert.equal(said(await c.answer(2)), 'done')
  })

  test(`${name}: HTTP+SSE: each post brings its own headers and grants, a batch no key of a single call`, async () => {
    const door = await open({
      authenticate: ({ header }) => ({ id: 'ada', scopes: new Set([header('x-scope') ?? 'none']) }),
    })
    const { post, answer } = await connect(door)
    await post(initialize(1, '2025-03-26'))
    await answer(1)
    await post(call(2, 'surroundings'), { 'idempotency-key': 'k', 'x-scope': 'write' })
    assert.equal(said(await answer(2)), 'k write')
    await post([call(3, 'surroundings')], { 'idempotency-key': 'k' })
    assert.equal(said(await answer(3)), 'undefined none')
    await door.close({ graceMs: 50 })
  })

  test(`${name}: HTTP+SSE: the log is told once that it is deprecated`, async () => {
    const warned: unknown[] = []
    const door = await open({ logger: { ...silent, warn: (message, fields) => warned.push([message, fields]) } })
    await connect(door)
    await connect(door)
    assert.deepEqual(warned, [['deprecated by the specification', { feature: 'HTTP+SSE' }]])
    await door.close({ graceMs: 50 })
  })
}

for (const mounted of [false, true]) {
  test(`the official client finds its way back to ${mounted ? 'a door under a router' : 'the door'}`, async () => {
    const handler = nodeHandler(peerOf(standIn()), mounted ? { path: '*' } : {})
    const app = express()
    if (mounted) app.use('/api', handler)
    else app.use(handler)
    const server = createServer(app)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const client = new Client({ name: 'c', version: '1' })
    const url = new URL(`http://127.0.0.1:${port}${mounted ? '/api' : ''}/sse`)
    await client.connect(new SSEClientTransport(url))
    assert.deepEqual((await client.listTools()).tools, [])
    await client.close()
    await handler.close({ graceMs: 10 })
    server.closeAllConnections()
    server.close()
  })
}
