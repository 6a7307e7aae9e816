// Headers of HTTP requests, as handlers and layers read them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetchHandler, tool } from '../../src/index.ts'
import type { JsonObject, Middleware } from '../../src/index.ts'
import { clientOf, revisions, serverOf, textOf } from './support.ts'

/** Tells what a handler and a layer read of the same headers. */
const reading = () => {
  const seen: (string | undefined)[] = []
  const layer: Middleware = {
    call: (call, context, next) => {
      seen.push(context.header?.('idempotency-key'), context.header?.('authorization'))
      return next(call, context)
    },
  }
  const names = ['X-Asks', 'idempotency-key', 'Authorization', 'cookie', 'PROXY-authorization']
  const server = serverOf({
    tools: [tool('read', {}, (_, ctx) => names.map((name) => String(ctx.header(name))).join())],
    middleware: [layer],
  })
  return { server, seen }
}

const given = {
  'x-asks': 'ada',
  'idempotency-key': 'k1',
  authorization: 'Bearer secret',
  cookie: 'sid=1',
  'proxy-authorization': 'Basic secret',
}

function posting(handler: (request: Request) => Promise<Response>) {
  return (body: unknown, headers: Record<string, string>) =>
    handler(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    )
}

const call = (id: number, _meta?: JsonObject) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'read', ...(_meta && { _meta }) },
})

async function sessionOf(post: ReturnType<typeof posting>, protocolVersion: string) {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const opened = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, {})
  return { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
}

const textIn = (message: unknown): string =>
  (message as { result: { content: { text: string }[] } }).result.content[0]?.text ?? ''

test('a request that stands alone: handlers read its headers, but no credentials; layers read all', async () => {
  const { server, seen } = reading()
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const routing = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'read' }
  const answer = await posting(fetchHandler(server))(call(1, _meta), { ...routing, ...given })
  assert.equal(textIn(await answer.json()), 'ada,k1,undefined,undefined,undefined')
  assert.deepEqual(seen, ['k1', 'Bearer secret'])
})

test('a session: the headers are those of the request, not of the handshake', async () => {
  const { server, seen } = reading()
  const post = posting(fetchHandler(server))
  const session = await sessionOf(post, '2025-06-18')
  assert.equal(
    textIn(await (await post(call(1), { ...session, ...given })).json()),
    'ada,k1,undefined,undefined,undefined',
  )
  const bare = 'undefined,undefined,undefined,undefined,undefined'
  assert.equal(textIn(await (await post(call(2), session)).json()), bare)
  assert.deepEqual(seen, ['k1', 'Bearer secret', undefined, undefined])
})

test('a batch shares its headers, but not the key of a single call', async () => {
  const { server, seen } = reading()
  const post = posting(fetchHandler(server))
  const session = await sessionOf(post, '2025-03-26')
  const answers = (await (await post([call(1), call(2)], { ...session, ...given })).json()) as unknown[]
  const read = 'ada,undefined,undefined,undefined,undefined'
  assert.deepEqual(answers.map(textIn), [read, read])
  assert.deepEqual(seen, [undefined, 'Bearer secret', undefined, 'Bearer secret'])
})

for (const revision of revisions)
  test(`${revision}: where there is no HTTP request there are no headers`, async () => {
    const { server, seen } = reading()
    const client = await clientOf(server, { revision })
    const none = 'undefined,undefined,undefined,undefined,undefined'
    assert.equal(textOf(await client.request('tools/call', { name: 'read' })), none)
    assert.deepEqual(seen, [undefined, undefined])
  })
