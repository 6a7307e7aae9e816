import assert from 'node:assert/strict'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import type { NetConnectOpts } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../../../src/model/refusal.ts'
import { serveSocket } from '../../../src/transport/serve/socket.ts'
import type { ServeSocketOptions } from '../../../src/transport/serve/socket.ts'
import { until } from './doors.ts'
import { call, initialize, modernCall, peerOf, said, standIn } from './stand-in.ts'
import type { Heard } from './stand-in.ts'

function client(to: NetConnectOpts) {
  const socket = connect(to)
  const heard = { text: '', closed: false }
  socket.on('data', (chunk: Buffer) => (heard.text += chunk.toString()))
  socket.on('close', () => (heard.closed = true)).on('error', () => {})
  const answers = (): Heard[] =>
    heard.text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  return {
    socket,
    heard,
    answers,
    write: (message: unknown) => socket.write(`${JSON.stringify(message)}\n`),
    answer: (id: unknown) => until(() => answers().find((message) => message.id === id)),
  }
}

async function open(options: ServeSocketOptions = {}) {
  const served = standIn()
  const server = await serveSocket(peerOf(served), options)
  return { served, server, client: () => client({ port: server.port ?? 0 }) }
}

test('whoever authenticate makes a mistake about is not let in', async () => {
  for (const returned of [
    null,
    true,
    'al',
    { id: 'al' },
    { id: 'al', scopes: ['admin'] },
    { id: {}, scopes: new Set() },
  ]) {
    const { server, client } = await open({ authenticate: () => returned as never })
    const { heard, write } = client()
    write(initialize(1, '2025-11-25'))
    await until(() => heard.closed)
    assert.equal(heard.text, '')
    await server.close()
  }
})

test('every connection is a scope of its own, for every era', async () => {
  const { server, client: join_ } = await open()
  const [a, b] = [join_(), join_()]
  a.write(initialize(1, '2025-11-25'))
  assert.ok((await a.answer(1)).result)
  a.write(call(2, 'slow', { ms: 30 }))
  b.write(call(2, 'echo', { text: 'b' }))
  assert.equal((await b.answer(2)).error?.code, -32000)
  b.write(modernCall(3, 'echo', { text: 'b' }))
  assert.equal(said(await b.answer(3)), 'b')
  assert.equal(said(await a.answer(2)), 'done')
  await server.close()
  await until(() => a.heard.closed && b.heard.closed)
})

test('what does not begin as JSON ends the connection, whatever follows', async () => {
  const { server, client: join_, served } = await open()
  const c = join_()
  const body = JSON.stringify(modernCall(1, 'slow', { ms: 0 }))
  let calls = 0
  const plain = served.handle
  served.handle = (...args) => {
    calls += 1
    return plain(...args)
  }
  c.socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}\n`)
  await until(() => c.heard.closed)
  assert.equal(calls, 0)
  assert.deepEqual(
    c.answers().map(({ error }) => error?.code),
    [-32700],
  )
  await server.close()
})

test('blanks before a message are no harm', async () => {
  const { server, client: join_ } = await open()
  const c = join_()
  c.socket.write(` \t${JSON.stringify(modernCall(1, 'echo', { text: 'x' }))}\n`)
  assert.equal(said(await c.answer(1)), 'x')
  await server.close()
})

test('closing does not wait for a client that keeps its half open', async () => {
  const { server } = await open()
  const socket = connect({ port: server.port ?? 0, allowHalfOpen: true })
  let heard = ''
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString())).on('error', () => {})
  socket.write(`${JSON.stringify(modernCall(1, 'echo', { text: 'x' }))}\n`)
  await until(() => heard !== '')
  const before = Date.now()
  await server.close()
  assert.ok(Date.now() - before < 2_000)
  socket.destroy()
})

test('nobody holds a server open by not telling who is connecting', { timeout: 5_000 }, async () => {
  let asked = 0
  const authenticate = (): Promise<undefined> => {
    asked += 1
    return new Promise(() => {})
  }
  const closing = await open({ authenticate })
  closing.client()
  await until(() => asked === 1)
  await closing.server.close()
  const timed = await open({ authenticate, caps: { headersTimeoutMs: 50 } })
  const c = timed.client()
  await until(() => asked === 2)
  await until(() => c.heard.closed)
  await timed.server.close()
})

test('a client that has said everything still gets its answers', async () => {
  const { server, client: join_ } = await open()
  const c = join_()
  c.socket.end(JSON.stringify(modernCall(1, 'slow', { ms: 40 })))
  assert.equal(said(await c.answer(1)), 'done')
  await until(() => c.heard.closed)
  await server.close()
})

test('closing answers what is in flight', async () => {
  const { server, client: join_ } = await open()
  const c = join_()
  c.write(modernCall(1, 'slow', { ms: 60 }))
  await sleep(30)
  await server.close()
  assert.equal(said(await c.answer(1)), 'done')
})

test('others are let in only where that is meant, and only as authenticated', async () => {
  await assert.rejects(open({ host: '0.0.0.0' }), /authenticate/)
  const { server, client: join_ } = await open({ authenticate: () => new Refusal('Unauthenticated') })
  const c = join_()
  await until(() => c.heard.closed)
  await server.close()
})

test(
  'a Unix socket is its owner’s, and takes the place of a dead one',
  { skip: process.platform === 'win32' },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dragoman-'))
    const path = join(folder, 's')
    const first = await open({ path })
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    await assert.rejects(open({ path }), /EADDRINUSE/)
    const c = client({ path })
    c.write(modernCall(1, 'echo', { text: 'x' }))
    assert.equal(said(await c.answer(1)), 'x')
    await first.server.close()
    await rm(folder, { recursive: true })
  },
)

test('an answer that is longer than what may be unread reaches a client that reads', async () => {
  const { server, client: join_ } = await open({ caps: { maxUnreadBytes: 1_000 } })
  const c = join_()
  const text = 'x'.repeat(3_000_000)
  c.write(modernCall(1, 'echo', { text }))
  assert.equal(said(await c.answer(1))?.length, text.length)
  await server.close()
})

test('a client is cut off that reads nothing, not one that reads slowly', async () => {
  const { server, client: join_ } = await open({ caps: { stallTimeoutMs: 400, maxMessageBytes: 16_000_000 } })
  const text = 'x'.repeat(12_000_000)
  const slow = connect({ port: server.port ?? 0 })
  let read = 0
  slow.on('data', (chunk: Buffer) => {
    read += chunk.length
    slow.pause()
    setTimeout(() => slow.resume(), 10)
  })
  slow.write(`${JSON.stringify(modernCall(1, 'echo', { text }))}\n`)
  const idle = join_()
  idle.socket.pause()
  idle.write(modernCall(1, 'echo', { text }))
  const began = Date.now()
  for (; read < text.length && Date.now() - began < 30_000;) await sleep(20)
  assert.ok(read > text.length, `${read}`)
  assert.ok(Date.now() - began > 800, 'it was slow')
  idle.socket.resume()
  await until(() => idle.heard.closed)
  assert.ok(idle.heard.text.length < text.length)
  slow.destroy()
  await server.close()
})
