// The headers that repeat the body of a request which stands alone, over a real socket.
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, test } from 'node:test'
import { resource, serveHttp, tool } from '../../src/index.ts'
import type { HttpServer } from '../../src/index.ts'
import { serverOf } from '../server/support.ts'

const version = '2026-07-28'

let http: HttpServer
before(async () => {
  const mirrored = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      n: { type: 'integer', 'x-mcp-header': 'N' },
      ok: { type: 'boolean', 'x-mcp-header': 'Ok' },
    },
    required: ['region'],
  } as const
  const server = serverOf({
    tools: [
      tool('echo', { input: { type: 'object' } }, (args) => JSON.stringify(args)),
      tool('region', { input: mirrored }, (args) => JSON.stringify(args)),
      tool('polluted', {}, () => ('polluted' in {} ? 'yes' : 'no')),
    ],
    resources: [
      resource('memo://hello', { name: 'hello' }, () => 'hello'),
      resource('memo://wörld', { name: 'w' }, () => 'world'),
    ],
  })
  http = await serveHttp(server)
})
after(() => http.close({ graceMs: 100 }))

interface Answer {
  readonly status: number
  readonly text: string
  readonly code: number | undefined
}

/** Sends raw headers, as `fetch` would not. */
function send(body: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      http.url,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => {
          const parsed = (text === '' ? {} : JSON.parse(text)) as { error?: { code: number } }
          resolve({ status: response.statusCode ?? 0, text, code: parsed.error?.code })
        })
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A sound request, with some of its headers replaced, or left out where `undefined`. */
function ask(
  method: string,
  params: Record<string, unknown>,
  headers: Record<string, string | undefined> = {},
): Promise<Answer> {
  const meta = { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': {} }
  const named = params['name'] ?? params['uri']
  const all: Record<string, string | undefined> = {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof named === 'string' && { 'mcp-name': named }),
    ...headers,
  }
  const kept = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return send(
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
    Object.fromEntries(kept),
  )
}

const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`
const echo = { name: 'echo', arguments: {} }
const region = (args: object): Record<string, unknown> => ({ name: 'region', arguments: args })

const cases: readonly (readonly [
  what: string,
  method: string,
  params: Record<string, unknown>,
  headers: Record<string, string | undefined>,
  ok: boolean,
])[] = [
  ['nothing amiss', 'tools/list', {}, {}, true],
  ['header and body name different revisions', 'tools/list', {}, { 'mcp-protocol-version': '2025-11-25' }, false],
  ['no version header', 'tools/list', {}, { 'mcp-protocol-version': undefined }, false],
  ['no Mcp-Method', 'tools/list', {}, { 'mcp-method': undefined }, false],
  ['Mcp-Method is another', 'tools/list', {}, { 'mcp-method': 'tools/call' }, false],
  ['Mcp-Method in other case', 'tools/list', {}, { 'mcp-method': 'Tools/List' }, false],
  ['Mcp-Method in base64', 'tools/list', {}, { 'mcp-method': base64('tools/list') }, true],
  ['no Mcp-Name', 'tools/call', echo, { 'mcp-name': undefined }, false],
  ['Mcp-Name is another', 'tools/call', echo, { 'mcp-name': 'region' }, false],
  ['Mcp-Name in base64', 'tools/call', echo, { 'mcp-name': base64('echo') }, true],
  ['Mcp-Name in base64 of another', 'tools/call', echo, { 'mcp-name': base64('region') }, false],
  ['Mcp-Name in broken base64', 'tools/call', echo, { 'mcp-name': '=?base64?ZWNobw=?=' }, false],
  ['Mcp-Name of a list, which has none', 'tools/list', {}, { 'mcp-name': 'whatever' }, true],
  ['Mcp-Name of a resource is its URI', 'resources/read', { uri: 'memo://hello' }, {}, true],
  [
    'Mcp-Name of a resource is another URI',
    'resources/read',
    { uri: 'memo://hello' },
    { 'mcp-name': 'memo://other' },
    false,
  ],
  ['Mcp-Name beyond ASCII', 'resources/read', { uri: 'memo://wörld' }, { 'mcp-name': base64('memo://wörld') }, true],
  [
    'mirrored, all of them',
    'tools/call',
    region({ region: 'eu', n: 42, ok: true }),
    { 'mcp-param-region': 'eu', 'mcp-param-n': '42', 'mcp-param-ok': 'true' },
    true,
  ],
  ['mirrored, the header is missing', 'tools/call', region({ region: 'eu' }), {}, false],
  ['mirrored, the header differs', 'tools/call', region({ region: 'eu' }), { 'mcp-param-region': 'us' }, false],
  [
    'mirrored, an integer written as a number',
    'tools/call',
    region({ region: 'eu', n: 42 }),
    { 'mcp-param-region': 'eu', 'mcp-param-n': '42.0' },
    true,
  ],
  [
    'mirrored, another integer',
    'tools/call',
    region({ region: 'eu', n: 42 }),
    { 'mcp-param-region': 'eu', 'mcp-param-n': '43' },
    false,
  ],
  [
    'mirrored, a flag in other case',
    'tools/call',
    region({ region: 'eu', ok: true }),
    { 'mcp-param-region': 'eu', 'mcp-param-ok': 'True' },
    false,
  ],
  ['mirrored, beyond ASCII', 'tools/call', region({ region: '世界' }), { 'mcp-param-region': base64('世界') }, true],
  ['mirrored, left out in the body', 'tools/call', region({ region: 'eu' }), { 'mcp-param-region': 'eu' }, true],
  ['a header that mirrors nothing', 'tools/call', echo, { 'mcp-param-zzz': 'y' }, true],
]
for (const [what, method, params, headers, ok] of cases) {
  test(`${what}: ${ok ? 'served' : 'refused'}`, async () => {
    const answer = await ask(method, params, headers)
    if (ok) assert.equal(answer.status, 200, answer.text)
    else assert.deepEqual([answer.status, answer.code], [400, -32020], answer.text)
  })
}

const meta =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
const sound = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'echo' }

test('__proto__ in the arguments stays a member and reaches no prototype', async () => {
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"__proto__":{"polluted":1}},${meta}}}`
  const { status, text } = await send(body, sound)
  assert.equal(status, 200)
  assert.match(text, /__proto__/)
  assert.match((await ask('tools/call', { name: 'polluted' })).text, /"no"/)
})

test('JSON nested 200,000 deep is refused at once, and the server goes on', async () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000)
  const started = performance.now()
  const { status } = await send(
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":${deep}},${meta}}}`,
    sound,
  )
  assert.equal(status, 400)
  assert.ok(performance.now() - started < 3000)
  assert.equal((await ask('tools/list', {})).status, 200)
})

test('text beyond ASCII and line separators come back as they went', async () => {
  const word = 'héllo \u2028 🙂'
  const { text } = await ask('tools/call', { name: 'echo', arguments: { word } })
  const { result } = JSON.parse(text) as { result: { content: { text: string }[] } }
  assert.deepEqual(JSON.parse(String(result.content[0]?.text)), { word })
})

test('an id keeps its type', async () => {
  for (const id of [1, '1', 0, -7, '', 9007199254740991]) {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'tools/list',
      params: { _meta: JSON.parse(`{${meta}}`)._meta as object },
    })
    const { text } = await send(body, { 'mcp-protocol-version': version, 'mcp-method': 'tools/list' })
    assert.equal((JSON.parse(text) as { id: unknown }).id, id)
  }
})

test('what the peer named is never in a refusal', async () => {
  const odd = 'evil\nmethod-8f2'
  const answers = [
    await ask(odd, {}, { 'mcp-method': base64(odd) }),
    await ask('tools/call', { name: odd, arguments: {} }, { 'mcp-name': base64(odd) }),
    await ask('prompts/get', { name: odd }, { 'mcp-name': base64(odd) }),
    await ask('tools/list', { cursor: odd }),
    await ask('tools/list', {}, { 'mcp-method': base64(odd) }),
  ]
  for (const { text, code } of answers) {
    assert.ok(code !== undefined, text)
    assert.doesNotMatch(text, /method-8f2/)
  }
})
