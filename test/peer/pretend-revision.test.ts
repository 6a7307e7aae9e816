// A revision that nobody published, added as one file, is negotiated and served with no other change: in memory and
// over HTTP, beside all the others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCodecs, revisions } from '../../src/codec/registry.ts'
import { connectInMemory, result, serveHttp, tool } from '../../src/index.ts'
import type { ContentBlock, Loss, Server } from '../../src/index.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { testClient } from '../../src/testing.ts'
import { pretendRevision } from '../codec/pretend-revision.ts'
import { serverOf, settled } from '../server/support.ts'

const codecs = createCodecs([...revisions(), pretendRevision])
const pretended = pretendRevision.revision

/** What the new revision is about, none of which any type knows: a price on tools, videos, a method, its capability. */
function server(): Server {
  const inner = serverOf({
    tools: [
      tool('film', {}, () =>
        result({ content: [{ type: 'video', data: 'AA==', mimeType: 'video/mp4' } as unknown as ContentBlock] }),
      ),
      tool('slow', {}, (_, ctx) => {
        ctx.progress(1, 1)
        return 'done'
      }),
    ],
  })
  return {
    ...inner,
    describe: (principal) => {
      const { capabilities, ...rest } = inner.describe(principal)
      return { ...rest, capabilities: { ...capabilities, estimates: {} } }
    },
    handle: async (call, context) => {
      if (call.method === 'tools/estimate') return { price: { amount: String(call.params['name']).length } }
      const answer = await inner.handle(call, context)
      if (call.method !== 'tools/list') return answer
      const tools = (answer['tools'] as JsonObject[]).map((listed) => ({ ...listed, price: { amount: 3 } }))
      return { ...answer, tools }
    },
  }
}

test('in memory: everything that is new in it, and the losses of those before it', async () => {
  const losses: Loss[] = []
  const client = await testClient(server(), { codecs, revision: pretended, onLoss: (loss) => losses.push(loss) })
  const { result: discovered } = await client.request('server/discover')
  assert.equal((discovered?.['supportedVersions'] as string[])[0], pretended)
  assert.deepEqual((discovered?.['capabilities'] as JsonObject)['estimates'], {})
  const { result: listed } = await client.request('tools/list')
  assert.deepEqual((listed?.['tools'] as JsonObject[])[0]?.['price'], { amount: 3 })
  const { result: film } = await client.request('tools/call', { name: 'film' })
  assert.equal((film?.['content'] as JsonObject[])[0]?.['type'], 'video')
  assert.deepEqual((await client.request('tools/estimate', { name: 'film' })).result?.['price'], { amount: 4 })
  assert.equal((await client.request('tools/estimate', { name: 5 })).error?.code, -32602)
  assert.deepEqual(losses, [])
})

for (const { revision } of revisions()) {
  test(`in memory: ${revision} beside it gets what it defines and no more`, async () => {
    const rules = new Set<string>()
    const client = await testClient(server(), { codecs, revision, onLoss: ({ rule }) => rules.add(rule) })
    const { result: listed } = await client.request('tools/list')
    assert.equal((listed?.['tools'] as JsonObject[])[0]?.['price'], undefined)
    const { result: film } = await client.request('tools/call', { name: 'film' })
    assert.equal((film?.['content'] as JsonObject[])[0]?.['type'], 'text')
    assert.equal((await client.request('tools/estimate', { name: 'film' })).error?.code, -32601)
    assert.deepEqual([...rules].sort(), ['field-dropped', 'kind-to-text'])
  })
}

test('an offer of it in a handshake is countered, since it has none; pinned, it stands alone', async () => {
  const offer = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: pretended, capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  }
  const said = async (pinned?: readonly string[]): Promise<JsonObject> => {
    const link = connectInMemory(server(), { codecs, graceMs: 0, ...(pinned && { revisions: pinned }) })
    const heard: JsonObject[] = []
    link.onMessage((text) => heard.push(JSON.parse(text)))
    link.send(offer)
    await settled(3)
    return heard[0] ?? {}
  }
  assert.equal(((await said())['result'] as JsonObject)['protocolVersion'], '2025-11-25')
  const { error } = (await said([pretended])) as { error?: { code: number; data: JsonObject } }
  assert.deepEqual([error?.code, error?.data['supported']], [-32022, [pretended]])
})

test('over HTTP: negotiated by header and body, streamed, and served beside a session', async () => {
  const http = await serveHttp(server(), { codecs })
  try {
    const post = async (method: string, params: JsonObject, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(http.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': pretended,
          'mcp-method': method,
          ...headers,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method,
          params: {
            ...params,
            _meta: {
              'io.modelcontextprotocol/protocolVersion': pretended,
              'io.modelcontextprotocol/clientCapabilities': {},
              progressToken: 'p',
            },
          },
        }),
      })
    const discovered = (await (await post('server/discover', {})).json()) as { result: JsonObject }
    assert.equal((discovered.result['supportedVersions'] as string[])[0], pretended)
    const estimated = (await (await post('tools/estimate', { name: 'film' })).json()) as { result: JsonObject }
    assert.deepEqual(estimated.result['price'], { amount: 4 })
    const streamed = await post('tools/call', { name: 'slow' }, { 'mcp-name': 'slow' })
    assert.match(streamed.headers.get('content-type') ?? '', /event-stream/)
    assert.match(await streamed.text(), /notifications\/progress[\s\S]*"resultType":"complete"/)
    assert.equal((await post('tools/call', { name: 'slow' }, { 'mcp-name': 'fast' })).status, 400)
    assert.equal((await post('server/discover', {}, { 'mcp-protocol-version': '2026-07-28' })).status, 400)
    const shaken = await fetch(http.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
      }),
    })
    assert.ok(shaken.headers.get('mcp-session-id'))
    assert.match(await shaken.text(), /"protocolVersion":"2025-06-18"/)
  } finally {
    await http.close({ graceMs: 100 })
  }
})
