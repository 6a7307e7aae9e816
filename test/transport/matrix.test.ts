// Every revision over every way to carry it, against the golden server: what comes back is the same, byte for byte.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectInMemory, fetchHandler, serveHttp } from '../../src/index.ts'
import type { Server } from '../../src/index.ts'
import { goldenServer } from '../golden/server.ts'

const versionKey = 'io.modelcontextprotocol/protocolVersion'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'
const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
const isModern = (revision: string): boolean => revision === '2026-07-28'

/** What is asked of every revision; ids differ, since on older revisions an id names its call. */
const asked: readonly (readonly [method: string, params: Record<string, unknown>])[] = [
  ['tools/list', {}],
  ['tools/call', { name: 'add', arguments: { a: 1, b: 2 } }],
  ['tools/call', { name: 'kinds' }],
  ['tools/call', { name: 'measure', arguments: { text: 'four' } }],
  ['tools/call', { name: 'boom' }],
  ['tools/call', { name: 'nope' }],
  ['tools/call', { name: 'add', arguments: { a: 'x' } }],
  ['tools/call', { name: 'climb', arguments: { to: 2 } }],
  ['resources/list', {}],
  ['resources/read', { uri: 'memo://hello' }],
  ['resources/read', { uri: 'memo://nope' }],
  ['prompts/get', { name: 'greet', arguments: { name: 'Ada' } }],
  ['prompts/get', { name: 'greet' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'style', value: 'f' } }],
  ['no/such', {}],
]

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: Record<string, unknown>
  readonly error?: unknown
}

/** Asks everything on one way; what came of each, and what came before it. */
type Way = (server: Server, revision: string) => Promise<Message[][]>

function message(id: number, method: string, params: object, revision: string): Record<string, unknown> {
  const meta = { progressToken: 'p', ...(isModern(revision) && { [versionKey]: revision, [capabilitiesKey]: {} }) }
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }
}

const initialize = (revision: string): Record<string, unknown> => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'c', version: '1' } },
})
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }

const memory: Way = async (server, revision) => {
  const link = connectInMemory(server, { graceMs: 0 })
  const stream = link.messages()
  const next = async (): Promise<Message> => JSON.parse((await stream.next()).value as string) as Message
  const upTo = async (id: number): Promise<Message[]> => {
    const all: Message[] = []
    for (;;) {
      all.push(await next())
      if (all.at(-1)?.id === id) return all
    }
  }
  const answers: Message[][] = []
  if (!isModern(revision)) {
    link.send(initialize(revision))
    answers.push(await upTo(0))
    link.send(initialized)
  }
  for (const [at, [method, params]] of asked.entries()) {
    link.send(message(at + 1, method, params, revision))
    answers.push(await upTo(at + 1))
  }
  await link.close()
  return answers
}

/** Over Streamable HTTP, by whatever takes a request. */
async function overHttp(
  send: (request: Request) => Promise<Response>,
  url: string,
  revision: string,
): Promise<Message[][]> {
  let session: string | null = null
  const post = async (body: Record<string, unknown>): Promise<Message[]> => {
    const { name, uri } = (body['params'] ?? {}) as { name?: string; uri?: string }
    const method = String(body['method'])
    const named = /^(tools\/call|prompts\/get|resources\/read)$/.test(method) ? (name ?? uri) : undefined
    const response = await send(
      new Request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session !== null && { 'mcp-session-id': session, 'mcp-protocol-version': revision }),
          ...(isModern(revision) && {
            'mcp-protocol-version': revision,
            'mcp-method': method,
            ...(named && { 'mcp-name': named }),
          }),
        },
        body: JSON.stringify(body),
      }),
    )
    session ??= response.headers.get('mcp-session-id')
    const text = await response.text()
    if (text === '') return []
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return [JSON.parse(text) as Message]
    return [...text.matchAll(/^data: ?(\{.*)$/gm)].map(([, data]) => JSON.parse(String(data)) as Message)
  }
  const answers: Message[][] = []
  if (!isModern(revision)) {
    answers.push(await post(initialize(revision)))
    assert.deepEqual(await post(initialized), [])
  }
  for (const [at, [method, params]] of asked.entries())
    answers.push(await post(message(at + 1, method, params, revision)))
  return answers
}

const socket: Way = async (server, revision) => {
  const http = await serveHttp(server)
  try {
    return await overHttp(fetch, http.url, revision)
  } finally {
    await http.close({ graceMs: 100 })
  }
}

const fetched: Way = async (server, revision) => {
  const handler = fetchHandler(server)
  try {
    return await overHttp((request) => handler(request), 'http://localhost/mcp', revision)
  } finally {
    await handler.close({ graceMs: 100 })
  }
}

/** Cursors are sealed anew each time. */
function withoutCursors(answers: readonly Message[][]): unknown {
  return JSON.parse(JSON.stringify(answers, (key, value: unknown) => (key === 'nextCursor' ? 'cursor' : value)))
}

for (const revision of revisions) {
  test(`${revision}: in memory, over a socket and over fetch`, async () => {
    const inMemory = await memory(goldenServer(), revision)
    assert.equal(inMemory.length, asked.length + (isModern(revision) ? 0 : 1))
    const climbed = inMemory.find((all) => all.length > 1)
    assert.deepEqual(
      climbed?.map(({ method }) => method),
      ['notifications/progress', 'notifications/progress', undefined],
    )
    assert.deepEqual(withoutCursors(await socket(goldenServer(), revision)), withoutCursors(inMemory))
    assert.deepEqual(withoutCursors(await fetched(goldenServer(), revision)), withoutCursors(inMemory))
  })
}

test('all revisions at once on one endpoint do not meet', async () => {
  const server = goldenServer()
  const http = await serveHttp(server)
  try {
    const all = await Promise.all(revisions.map((revision) => overHttp(fetch, http.url, revision)))
    for (const [at, revision] of revisions.entries()) {
      assert.deepEqual(withoutCursors(all[at] ?? []), withoutCursors(await memory(goldenServer(), revision)), revision)
    }
  } finally {
    await http.close({ graceMs: 100 })
  }
})
