import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectInMemory, createServer, fetchHandler, serveHttp, tool } from '../../../src/index.ts'

// Long enough that the bytes are kept, with characters that take more than one.
const description = 'Übersetzt 翻訳 🐪 '.repeat(20)
const tools = Array.from({ length: 200 }, (_, index) => tool(`tool-${index}`, { description }, () => 'done'))
const server = createServer({ name: 'long', version: '1.0.0', tools, pageSize: 200 })

const request = JSON.stringify({
  jsonrpc: '2.0',
  id: 'ü',
  method: 'tools/list',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
})
const init = {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/list',
  },
  body: request,
}

async function inMemory(): Promise<string> {
  const link = connectInMemory(server)
  link.send(request)
  const { value } = await link.messages().next()
  await link.close()
  return value
}

test('a long list is the same text on every way, the first time and from what is kept', async () => {
  const expected = await inMemory()
  assert.equal(JSON.parse(expected).result.tools.length, 200)
  await using http = await serveHttp(server)
  const handle = fetchHandler(server)
  for (let time = 0; time < 2; time++) {
    const response = await fetch(http.url, init)
    assert.equal(await response.text(), expected)
    assert.equal(response.headers.get('content-length'), String(Buffer.byteLength(expected)))
    assert.equal(await (await handle(new Request(http.url, init))).text(), expected)
    assert.equal(await inMemory(), expected)
  }
})

test('a page of another origin gets it too', async () => {
  await using http = await serveHttp(server)
  const headers = { ...init.headers, origin: 'http://localhost:5173' }
  const response = await fetch(http.url, { ...init, headers })
  assert.equal(await response.text(), await inMemory())
  assert.equal(response.headers.get('access-control-allow-origin'), headers.origin)
})
