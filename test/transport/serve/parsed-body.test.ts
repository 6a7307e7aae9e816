// Frameworks read bodies before a handler sees the request; none of their ways leaves the client waiting.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
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

test('a body that was read and thrown away is refused, not waited for', async () => {
  assert.equal(await statusAfter(() => undefined), 400)
})
