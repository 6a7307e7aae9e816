// Defends: the client works with the official server of the older package, on each of its transports.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { connect, type Client, type ClientOptions } from '../../src/client.ts'
import { officialServer } from './official-server.ts'
import { legacy, quick } from './support.ts'

const options = (): ClientOptions => quick({ elicit: () => ({ action: 'accept' }) })

async function tryEverything(client: Client): Promise<void> {
  assert.equal(client.revision, legacy)
  assert.equal(client.server.instructions, 'add up')
  assert.deepEqual(
    (await client.tools()).map(({ name }) => name),
    ['add', 'asks'],
  )
  assert.deepEqual((await client.call('add', { a: 1, b: 2 })).structured, { sum: 3 })
  assert.deepEqual(JSON.parse((await client.call('asks')).text), { action: 'accept', content: { sure: true } })
  assert.equal((await client.read('memo://a')).contents.length, 1)
  assert.equal((await client.call('add', { a: 'x', b: 2 })).isError, true)
  await assert.rejects(client.read('memo://nothing'), { ran: 'no' })
}

/** Listens on any port, by `answer`. */
async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Sessions over Streamable HTTP; `forget` has the server know none of them any more. */
async function sessions(): Promise<{ url: string; forget(): void; close(): void }> {
  const known = new Map<string, StreamableHTTPServerTransport>()
  const door = await serve(async (request, response) => {
    const id = request.headers['mcp-session-id']
    const there = typeof id === 'string' ? known.get(id) : undefined
    if (there) return there.handleRequest(request, response)
    if (id !== undefined) return response.writeHead(404).end()
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (fresh) => void known.set(fresh, transport),
    })
    await officialServer().connect(transport)
    return transport.handleRequest(request, response)
  })
  return { ...door, forget: () => known.clear() }
}

test('over stdio', async () => {
  const args = ['--import', 'tsx', join(import.meta.dirname, 'official-server.ts')]
  await using client = await connect({ command: process.execPath, args }, options())
  await tryEverything(client)
})

test('over Streamable HTTP, in a session', async () => {
  const door = await sessions()
  const client = await connect(door.url, options())
  await tryEverything(client)
  await client.close()
  door.close()
})

test('a session that the server forgot is opened anew', async () => {
  const door = await sessions()
  const client = await connect(door.url, options())
  door.forget()
  assert.deepEqual((await client.call('add', { a: 1, b: 2 })).structured, { sum: 3 })
  await client.close()
  door.close()
})

test('over HTTP+SSE, found by itself', async () => {
  const streams = new Map<string, SSEServerTransport>()
  const door = await serve(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    if (request.method === 'GET') {
      const transport = new SSEServerTransport('/messages', response)
      streams.set(transport.sessionId, transport)
      return officialServer().connect(transport)
    }
    const stream = streams.get(url.searchParams.get('sessionId') ?? '')
    return stream ? stream.handlePostMessage(request, response) : response.writeHead(405).end()
  })
  const client = await connect(`${door.url}/sse`, options())
  await tryEverything(client)
  await client.close()
  door.close()
})
