// Frameworks read bodies before a handler sees the request; none of their ways leaves the client waiting.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { fetchHandler } from '../../../src/transport/serve/fetch.ts'
import type { HttpReply, HttpRequest } from '../../../src/transport/serve/http-types.ts'
import { createHttpEndpoint } from '../../../src/transport/serve/http.ts'
import { nodeHandler } from '../../../src/transport/serve/node.ts'
import { initialize, peerOf, standIn } from './stand-in.ts'

/** The status of an `initialize` whose body was read before, and left as `leave` says. */
async function statusAfter(leave: (text: string) => unknown): Promise<number> {
  const handler = nodeHandler(peerOf(standIn()))
  const server = createServer((request: IncomingMessage & { body?: unknown }, response) => {
    let text = ''
    request.on('data', (chunk) => (text += String(chunk)))
    request.on('end', () => {
      request.body = leave(text)
      setImmediate(() => handler(request, response))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  try {
    const { status } = await fetch(`http://localhost:${(server.address() as AddressInfo).port}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        connection: 'close',
      },
      body: JSON.stringify(initialize(1, '2025-11-25')),
      signal: AbortSignal.timeout(5_000),
    })
    return status
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

test('a body that was parsed, kept as text or kept as bytes is taken', async () => {
  assert.equal(await statusAfter((text) => JSON.parse(text)), 200)
  assert.equal(await statusAfter((text) => text), 200)
  assert.equal(await statusAfter((text) => Buffer.from(text)), 200)
})

test('what was left of a body and is no JSON is refused', async () => {
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  for (const left of [{ big: 10n }, cyclic, () => 1, Symbol('x')]) assert.equal(await statusAfter(() => left), 400)
})

test('a body that was read and thrown away is refused, not waited for', async () => {
  assert.equal(await statusAfter(() => undefined), 400)
})

test('fetch: a body that was read before, or is being read, is refused', async () => {
  const handler = fetchHandler(peerOf(standIn()))
  const fresh = (): Request =>
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(initialize(1, '2025-11-25')),
    })
  const read = fresh()
  await read.text()
  assert.equal((await handler(read)).status, 400)
  const locked = fresh()
  locked.body?.getReader()
  assert.equal((await handler(locked)).status, 400)
})

test('whatever a request does when it is looked at, it is answered', async () => {
  const fails = (): never => {
    throw new Error('a framework of one’s own')
  }
  const sound: HttpRequest = {
    method: 'POST',
    path: '/mcp',
    header: (name) => ({ host: 'localhost', 'content-type': 'application/json', accept: '*/*' })[name],
    fault: () => undefined,
    body: async () => Buffer.from(JSON.stringify(initialize(1, '2025-11-25'))),
  }
  for (const odd of [
    { header: fails },
    { fault: fails },
    { body: fails },
    { body: async () => fails() },
    { body: async () => 5 as never },
    { body: async () => undefined as never },
  ]) {
    const endpoint = createHttpEndpoint(peerOf(standIn()))
    const status = await new Promise((full) => {
      const reply: HttpReply = { full, head: full, write: fails, end: fails, onClose: () => {}, closed: false }
      endpoint.handle({ ...sound, ...odd }, reply)
    })
    assert.equal(status, 500)
  }
})
