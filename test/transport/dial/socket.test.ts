import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createSocketLink } from '../../../src/transport/dial/socket.ts'
import { serveSocket } from '../../../src/transport/serve/socket.ts'
import { call, modernCall, peerOf, rpc, said, standIn } from '../serve/stand-in.ts'
import { failureOf, talk, until } from './support.ts'

test('a Unix socket and a TCP port carry both eras', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'dial-'))
  const path = join(directory, 's')
  for (const where of [{ path }, {}]) {
    const server = await serveSocket(peerOf(standIn()), where)
    const link = createSocketLink(server.port === undefined ? { path } : { port: server.port })
    const { agree, ask, heard } = await talk(link)
    await agree('2025-06-18')
    assert.equal(said(await ask(call(1, 'echo', { text: 'a'.repeat(1 << 20) }))), 'a'.repeat(1 << 20))
    assert.equal(said(await ask(modernCall('m', 'echo', { text: 'ünï' }))), 'ünï')
    await link.close()
    assert.deepEqual(heard.ends, [])
    await server.close()
  }
  await rm(directory, { recursive: true })
})

async function listening(serve: (socket: Socket) => void): Promise<{ readonly port: number; close(): void }> {
  const server = createServer(serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

test('a server that goes away is told once; noise before that too', async () => {
  for (const [how, end] of [
    ['end', (socket: Socket) => void socket.end()],
    ['reset', (socket: Socket) => void socket.resetAndDestroy()],
  ] as const) {
    const server = await listening((socket) => {
      socket.on('error', () => {}).write('HELLO\n{"jsonrpc":"2.0","method":"a"}\n')
      socket.once('data', () => end(socket))
    })
    const { heard, send, link } = await talk(createSocketLink({ port: server.port }))
    await until(() => heard.messages.length > 0)
    assert.deepEqual(heard.noises, [{ from: 'stream', text: 'HELLO' }])
    await send(rpc(1, 'ping'))
    await until(() => heard.ends.length > 0)
    assert.deepEqual(
      heard.ends.map(({ kind, ran }) => [kind, ran]),
      [['ConnectionLost', 'unknown']],
      how,
    )
    const late = await failureOf(send(rpc(2, 'ping')))
    assert.deepEqual([late.kind, late.ran], ['ConnectionLost', 'no'])
    await link.close()
    server.close()
  }
})

test('nobody there, and nobody who answers in time, are unreachable', async () => {
  const server = await listening(() => {})
  server.close()
  const refused = await failureOf(talk(createSocketLink({ port: server.port })))
  assert.deepEqual([refused.kind, refused.ran], ['Unreachable', 'no'])
  assert.match(refused.message, /ECONNREFUSED/)
  const absent = await failureOf(talk(createSocketLink({ path: '/no/such/socket' })))
  assert.equal(absent.kind, 'Unreachable')
  // An address of documentation (RFC 5737): nobody has it.
  const silent = await failureOf(talk(createSocketLink({ host: '192.0.2.1', port: 9, connectTimeoutMs: 50 })))
  assert.equal(silent.kind, 'Unreachable')
})

test('a server that does not read cannot hold up the close', async () => {
  const sockets: Socket[] = []
  const server = await listening((socket) => void sockets.push(socket.pause()))
  const { send, link, heard } = await talk(createSocketLink({ port: server.port, graceMs: 50 }))
  const stuck = failureOf(send(rpc(1, 'ping', { text: 'x'.repeat(16 << 20) })))
  await link.close()
  assert.equal((await stuck).ran, 'unknown')
  assert.deepEqual(heard.ends, [])
  for (const socket of sockets) socket.destroy()
  server.close()
})
