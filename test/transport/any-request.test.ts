// Whatever request comes to an HTTP door: it is answered, by a status that means something, and the server goes on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fetchHandler } from '../../src/index.ts'
import { goldenServer } from '../golden/server.ts'

const version = '2026-07-28'
const meta = { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': {} }
const statuses = new Set([200, 202, 204, 400, 401, 403, 404, 405, 406, 413, 415, 429, 500, 503])

/** A header value as a request may carry it. */
const value = fc.oneof(
  fc.constantFrom(
    'application/json',
    'text/event-stream',
    '*/*',
    'text/plain',
    version,
    '2025-11-25',
    '2031-01-01',
    'x',
    '',
    '=?base64?eA==?=',
    '=?base64?%?=',
  ),
  fc.string({ maxLength: 12 }).map((text) => text.replace(/[^\x21-\x7e]/g, '')),
)
const headers = fc.dictionary(
  fc.constantFrom(
    'content-type',
    'accept',
    'origin',
    'mcp-protocol-version',
    'mcp-method',
    'mcp-name',
    'mcp-param-region',
    'mcp-session-id',
    'last-event-id',
    'idempotency-key',
    'content-encoding',
    'authorization',
  ),
  value,
  { maxKeys: 6 },
)
const method = fc.constantFrom(
  'tools/list',
  'tools/call',
  'server/discover',
  'initialize',
  'resources/read',
  'ping',
  'no/such',
  'subscriptions/listen',
  'notifications/cancelled',
)
const params = fc.oneof(
  fc.record(
    {
      name: fc.constantFrom('add', 'kinds', 'cyclic', 'deploy', 'climb', 'nope', 5),
      uri: fc.constantFrom('memo://hello', 'memo://nope'),
      arguments: fc.constantFrom({}, { a: 1, b: 2 }, { to: 2 }, []),
      notifications: fc.constantFrom({ toolsListChanged: true }, 5),
      protocolVersion: fc.constantFrom('2025-06-18', '2024-11-05', 'x'),
      capabilities: fc.constantFrom({}, { elicitation: {} }),
      clientInfo: fc.constantFrom({ name: 'c', version: '1' }),
      _meta: fc.constantFrom(meta, { ...meta, progressToken: 'p' }, {}, 5),
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue({ maxDepth: 2 }),
)
const body = fc.oneof(
  fc
    .record(
      { jsonrpc: fc.constantFrom('2.0', '2.0', '1.0'), id: fc.constantFrom(1, 'a', null, 1.5), method, params },
      { requiredKeys: ['jsonrpc'] },
    )
    .map((one) => JSON.stringify(one)),
  fc
    .array(fc.record({ jsonrpc: fc.constant('2.0'), id: fc.nat(3), method }), { maxLength: 3 })
    .map((all) => JSON.stringify(all)),
  fc.jsonValue().map((one) => JSON.stringify(one)),
  fc.string(),
)
const request = fc.record({
  method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'DELETE', 'PUT', 'OPTIONS', 'HEAD'),
  path: fc.constantFrom('/mcp', '/mcp', '/mcp', '/sse', '/', '/mcp/', '/mcp?x=1', '/../mcp'),
  headers,
  body,
})
type Sent = typeof request extends fc.Arbitrary<infer Value> ? Value : never

const sound = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** The response's text so far; a stream that stays open is let go. */
async function textOf(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 15))
    const part = await Promise.race([reader.read(), late])
    if (!part || part.done) break
    text += decoder.decode(part.value as Uint8Array, { stream: true })
  }
  await reader.cancel()
  return text
}

async function judge(handler: (request: Request) => Promise<Response>, sent: Sent, session: string): Promise<void> {
  const bare = sent.method === 'GET' || sent.method === 'HEAD'
  const own = Object.fromEntries(
    Object.entries(sent.headers).map(([name, text]) => [
      name,
      name === 'mcp-session-id' && text.length % 2 === 0 ? session : text,
    ]),
  )
  const response = await handler(
    new Request(`http://localhost${sent.path}`, {
      method: sent.method,
      headers: { ...sound, ...own },
      ...(!bare && { body: sent.body }),
    }),
  )
  assert.ok(statuses.has(response.status), String(response.status))
  const text = await textOf(response)
  assert.doesNotMatch(text, /\.ts:\d+|node_modules/, 'no stack leaves')
  const type = response.headers.get('content-type') ?? ''
  if (response.status >= 400 && text !== '' && type.startsWith('application/json')) {
    const [first] = [JSON.parse(text)].flat() as { jsonrpc?: string; error?: { code: number; message: string } }[]
    assert.equal(first?.jsonrpc, '2.0')
    assert.ok(first?.error && Number.isInteger(first.error.code) && first.error.message !== '', text)
  }
  if (response.status === 202) assert.equal(text, '')
}

test('any request is answered, and the server goes on', async () => {
  const handler = fetchHandler(goldenServer())
  const post = (message: object, more: Record<string, string> = {}): Promise<Response> =>
    handler(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { ...sound, ...more },
        body: JSON.stringify(message),
      }),
    )
  const shaken = await post({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'c', version: '1' },
    },
  })
  const session = shaken.headers.get('mcp-session-id')
  await shaken.text()
  assert.ok(session)
  await fc.assert(
    fc.asyncProperty(request, (sent) => judge(handler, sent, session)),
    { numRuns: 300 },
  )
  const alive = await post(
    { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: meta } },
    { 'mcp-protocol-version': version, 'mcp-method': 'server/discover' },
  )
  assert.equal(alive.status, 200)
  await alive.text()
  await handler.close({ graceMs: 100 })
})
