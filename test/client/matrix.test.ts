// Defends: the client against a server of each single revision and of all, on every transport that carries it.
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connect, type Client, type ClientOptions } from '../../src/client.ts'
import { serveHttp } from '../../src/index.ts'
import { serveSocket } from '../../src/socket.ts'
import { everything } from './everything.ts'
import { legacy, modern, quick, revisions } from './support.ts'

interface Way {
  readonly name: string
  /** The revisions that it carries. */
  readonly carries: readonly string[]
  /** Serves `served` revisions, and connects. */
  connect(
    served: readonly string[],
    options: ClientOptions,
  ): Promise<{ readonly client: Client; close(): Promise<void> }>
}

const http = async (path: string, served: readonly string[], options: ClientOptions) => {
  const server = await serveHttp(everything(), { port: 0, revisions: served })
  const client = await connect(new URL(path, server.url), options).catch(async (error: unknown) => {
    await server.close()
    throw error
  })
  return {
    client,
    async close() {
      await client.close()
      await server.close()
    },
  }
}

let sockets = 0
const ways: readonly Way[] = [
  { name: 'http', carries: revisions.slice(1), connect: (served, options) => http('/mcp', served, options) },
  {
    name: 'http+sse',
    carries: revisions.slice(0, 4),
    connect: (served, options) => http('/sse', served, { ...options, http: { transports: ['http+sse'] } }),
  },
  {
    name: 'socket',
    carries: revisions,
    async connect(served, options) {
      const path = join(tmpdir(), `dragoman-client-${process.pid}-${++sockets}.sock`)
      const server = await serveSocket(everything(), { path, revisions: served })
      const client = await connect(`unix:${path}`, options)
      return {
        client,
        async close() {
          await client.close()
          await server.close()
        },
      }
    },
  },
  {
    name: 'stdio',
    carries: revisions,
    async connect(served, options) {
      const args = ['--import', 'tsx', fileURLToPath(new URL('./server-process.ts', import.meta.url)), ...served]
      // The process takes longer to start than anybody stays silent who is there.
      const client = await connect({ command: process.execPath, args }, { ...options, silenceMs: 100 })
      return { client, close: () => client.close() }
    },
  },
]

async function tryEverything(client: Client, revision: string): Promise<void> {
  assert.equal(client.revision, revision)
  assert.equal((await client.tools()).length, 4)
  assert.deepEqual(JSON.parse((await client.call('add', { a: 1, b: 2 })).text), { sum: 3 })
  const heard: number[] = []
  await client.call('climbs', {}, { onProgress: ({ progress }) => heard.push(progress) })
  assert.deepEqual(heard, [1, 2, 3])
  assert.equal((await client.read('memo://a')).contents.length, 1)
  assert.equal((await client.get('greet', { name: 'Ada' })).messages.length, 1)
  const completion = { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: '' } } as const
  assert.deepEqual((await client.complete(completion)).values, ['Ada', 'Ben'])
  if (!client.features.has('elicitation')) return
  assert.deepEqual(JSON.parse((await client.call('asks')).text), { action: 'accept', content: { sure: true } })
}

const options = (): ClientOptions => quick({ elicit: () => ({ action: 'accept', content: { sure: true } }) })

for (const way of ways) {
  for (const revision of way.carries) {
    test(`${way.name}, a server of ${revision} alone`, async () => {
      const { client, close } = await way.connect([revision], options())
      await tryEverything(client, revision)
      await close()
    })
  }
  test(`${way.name}, a server of all`, async () => {
    const { client, close } = await way.connect(revisions, options())
    await tryEverything(client, way.carries.at(-1) ?? '')
    await close()
  })
}

for (const [older, newer] of revisions.flatMap((older, i) =>
  revisions.slice(i + 1).map((newer) => [older, newer] as const),
)) {
  test(`http, a server of ${older} and ${newer}`, async () => {
    const { client, close } = await http('/mcp', [older, newer], options())
    assert.equal(client.revision, newer)
    assert.equal((await client.call('add', { a: 1, b: 2 })).isError, false)
    await close()
  })
}

test('a URL of the older transport is found by itself', async () => {
  const { client, close } = await http('/sse', [legacy, '2024-11-05'], options())
  assert.equal(client.revision, legacy)
  assert.equal((await client.call('add', { a: 1, b: 2 })).isError, false)
  await close()
})

test('arguments are repeated as headers, once the tool is known or the server misses them', async () => {
  for (const listed of [true, false]) {
    const { client, close } = await http('/mcp', [modern], options())
    if (listed) await client.tools()
    const answer = await client.call('mirrors', { region: 'süd', n: 3 })
    assert.deepEqual(JSON.parse(answer.text), ['süd', '=?base64?c8O8ZA==?='])
    await close()
  }
})

test('changes are told over HTTP in both eras', async () => {
  for (const revision of [legacy, modern]) {
    const server = everything()
    const door = await serveHttp(server, { port: 0, revisions: [revision] })
    const client = await connect(door.url, options())
    const changes = await client.listen({ toolsListChanged: true, resourceSubscriptions: ['memo://a'] })
    // The stream of a session may open after the subscription was answered.
    const told = changes.next()
    const timer = setInterval(() => server.updated('memo://a'), 20)
    assert.deepEqual((await told).value, { kind: 'resource', uri: 'memo://a' })
    clearInterval(timer)
    await client.close()
    await door.close()
  }
})

test('a server that restarts is found again, with its subscriptions', async () => {
  for (const revision of [legacy, modern]) {
    const server = everything()
    const door = await serveHttp(server, { port: 0, revisions: [revision] })
    const client = await connect(door.url, quick({ retry: { delayMs: 50 } }))
    const changes = await client.subscribe('memo://a')
    const { port } = new URL(door.url)
    await door.close()
    // With other keys it knows nothing of the sessions before.
    const again = await serveHttp(everything({ keys: [new Uint8Array(32).fill(2)] }), {
      port: Number(port),
      revisions: [revision],
    })
    assert.equal((await client.call('add', { a: 1, b: 2 })).isError, false)
    assert.equal((await changes.next()).value?.kind, 'resumed')
    await client.close()
    await again.close()
  }
})
