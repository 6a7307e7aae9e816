// A link that is closed while it opens lets go of what it was about to have.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Link } from '../../../src/peer/link.ts'
import { createHttpLink } from '../../../src/transport/dial/http.ts'
import { createHttpSseLink } from '../../../src/transport/dial/http-sse.ts'
import { createMemoryLink } from '../../../src/transport/dial/memory.ts'
import { createSocketLink } from '../../../src/transport/dial/socket.ts'
import { createStdioLink } from '../../../src/transport/dial/stdio.ts'
import { rpc } from '../serve/stand-in.ts'
import { scripted, stream } from './scripted.ts'
import { failureOf, outgoing, recorder, until } from './support.ts'

/** Opens and closes in one breath. @returns what `open` came to */
async function hasty(link: Link): Promise<string> {
  const opening = failureOf(link.open(recorder()))
  await link.close()
  const { kind, ran } = await opening
  assert.equal((await failureOf(link.send(outgoing(rpc(1, 'ping'))))).ran, 'no')
  return `${kind} ${ran}`
}

test('stdio: the process is ended', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'early-'))
  const code = `require('node:fs').writeFileSync(${JSON.stringify(directory)} + '/' + process.pid, ''); setInterval(() => {}, 1e6)`
  assert.equal(
    await hasty(createStdioLink({ command: process.execPath, args: ['-e', code], graceMs: 100 })),
    'Cancelled no',
  )
  await sleep(300)
  for (const pid of await readdir(directory)) assert.throws(() => process.kill(Number(pid), 0))
  await rm(directory, { recursive: true })
})

test('socket: the connection is closed', async () => {
  let closed = 0
  const server = createServer((socket) => socket.resume().on('close', () => (closed += 1))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  assert.equal(await hasty(createSocketLink({ port })), 'Cancelled no')
  assert.equal(await hasty(createSocketLink({ port })), 'Cancelled no')
  await until(() => closed === 2)
  server.close()
})

test('memory: the other end is closed', async () => {
  let closed = 0
  const end = { send() {}, onMessage() {}, close: () => void (closed += 1) }
  assert.equal(await hasty(createMemoryLink(() => sleep(10).then(() => end))), 'Cancelled no')
  await until(() => closed === 1)
})

test('HTTP and HTTP+SSE: nothing is waited for', async () => {
  await using server = await scripted((_, r) => stream(r))
  const begun = Date.now()
  assert.equal(await hasty(createHttpLink(server.url)), 'Cancelled no')
  assert.equal(await hasty(createHttpSseLink(server.url)), 'Cancelled no')
  const waiting = createHttpSseLink(server.url)
  const opening = failureOf(waiting.open(recorder()))
  await until(() => server.seen.length === 1)
  await waiting.close()
  assert.equal((await opening).kind, 'Cancelled')
  await until(() => server.gone.length === 1)
  assert.ok(Date.now() - begun < 5_000)
})
