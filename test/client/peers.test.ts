// Defends: the client works with servers that others wrote, as they come from npm.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { FastMCP } from 'fastmcp'
import { z } from 'zod'
import { connect, type Client } from '../../src/client.ts'
import { newerOfficialServer } from './newer-official.ts'
import { legacy, modern, quick } from './support.ts'

const require = createRequire(import.meta.url)

/** The program of a package that is a server on stdio. */
function programOf(name: string): string {
  const path = require.resolve(`${name}/package.json`)
  const { bin } = require(path) as { bin: string | Record<string, string> }
  return join(dirname(path), typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? ''))
}

async function tryOfficial(client: Client, revision: string): Promise<void> {
  assert.equal(client.revision, revision)
  assert.equal(client.server.instructions, 'add up')
  assert.deepEqual((await client.call('add', { a: 1, b: 2 })).structured, { sum: 3 })
  assert.equal((await client.call('add', { a: 'x', b: 2 })).isError, true)
  assert.equal((await client.read('memo://a')).contents.length, 1)
  assert.equal((await client.get('greet')).messages.length, 1)
  await assert.rejects(client.read('memo://nothing'), { ran: 'no' })
}

for (const [name, options] of Object.entries({ dual: {}, strict: { legacy: 'reject' } } as const)) {
  test(`official server 2.4, ${name}, over HTTP`, async () => {
    const handler = createMcpHandler(newerOfficialServer, options)
    const fetch = ((url: string | URL | Request, init?: RequestInit) =>
      handler.fetch(new Request(url, init))) as typeof globalThis.fetch
    await using client = await connect('http://127.0.0.1/mcp', quick({ http: { fetch } }))
    await tryOfficial(client, modern)
    await handler.close()
  })
}

test('official server 2.4, pinned to a handshake, over HTTP without sessions', async () => {
  const handler = createMcpHandler(newerOfficialServer)
  const fetch = ((url: string | URL | Request, init?: RequestInit) =>
    handler.fetch(new Request(url, init))) as typeof globalThis.fetch
  await using client = await connect('http://127.0.0.1/mcp', quick({ http: { fetch }, revision: legacy }))
  await tryOfficial(client, legacy)
  await handler.close()
})

test('official server 2.4 over stdio: one process, asked once how old it is', async () => {
  const args = ['--import', 'tsx', join(import.meta.dirname, 'newer-official.ts')]
  await using client = await connect({ command: process.execPath, args }, quick({ silenceMs: 20_000 }))
  await tryOfficial(client, modern)
})

test('server-everything over stdio', async () => {
  const args = [programOf('@modelcontextprotocol/server-everything'), 'stdio']
  const asked: string[] = []
  await using client = await connect(
    { command: process.execPath, args },
    quick({
      silenceMs: 20_000,
      elicit: ({ message }) => (asked.push(message), { action: 'decline' }),
      sample: () => ({ role: 'assistant', content: { type: 'text', text: 'sampled' }, model: 'none' }),
      roots: [{ uri: 'file:///tmp', name: 'tmp' }],
    }),
  )
  assert.equal(client.revision, legacy)
  const tools = (await client.tools()).map(({ name }) => name)
  assert.ok(tools.includes('echo'), tools.join())
  assert.equal((await client.call('echo', { message: 'hi' })).text, 'Echo: hi')
  assert.equal((await client.call('get-sum', { a: 2, b: 3 })).text.includes('5'), true)
  const progress: number[] = []
  await client.call(
    'trigger-long-running-operation',
    { duration: 1, steps: 4 },
    { onProgress: (p) => progress.push(p.progress) },
  )
  assert.deepEqual(progress, [1, 2, 3, 4])
  assert.ok((await client.call('trigger-sampling-request', { prompt: 'p', maxTokens: 5 })).text.includes('sampled'))
  await client.call('trigger-elicitation-request')
  assert.equal(asked.length, 1)
  const [resource] = await client.resources()
  assert.ok(resource)
  assert.equal((await client.read(resource.uri)).contents.length, 1)
  assert.ok((await client.prompts()).length > 0)
})

test('server-memory over stdio', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-memory-'))
  try {
    const command = {
      command: process.execPath,
      args: [programOf('@modelcontextprotocol/server-memory')],
      env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
    }
    await using client = await connect(command, quick({ silenceMs: 20_000 }))
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['wrote the first program'] }]
    await client.call('create_entities', { entities })
    assert.deepEqual((await client.call('read_graph')).structured, { entities, relations: [] })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('fastmcp over HTTP', async () => {
  const server = new FastMCP({ name: 'fast', version: '1.0.0' })
  server.addTool({
    name: 'add',
    description: 'adds',
    parameters: z.object({ a: z.number(), b: z.number() }),
    execute: async ({ a, b }) => String(a + b),
  })
  const port = await freePort()
  await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1' } })
  try {
    await using client = await connect(`http://127.0.0.1:${port}/mcp`, quick())
    assert.equal(client.revision, legacy)
    assert.deepEqual(
      (await client.tools()).map(({ name }) => name),
      ['add'],
    )
    assert.equal((await client.call('add', { a: 1, b: 2 })).text, '3')
    assert.equal(
      await client.call('add', { a: 'x' }).then(
        ({ isError }) => isError,
        () => true,
      ),
      true,
    )
  } finally {
    await server.stop()
  }
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => probe.once('listening', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
