// Opens as many sessions as the first argument says and leaves them; sends back the KiB that the process grew by.
// Started with --expose-gc.
import { Agent, request } from 'node:http'
import { createServer, serveHttp } from '../../dist/index.js'

const count = Number(process.argv[2])
const http = await serveHttp(createServer({ name: 'bench', version: '1' }), { port: 0 })
const agent = new Agent({ keepAlive: true, maxSockets: 16 })
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const body = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
})

// The first ones warm up what every session shares.
await openMany(2_000)
const before = await settledBytes()
await openMany(count)
process.send({ kib: Math.max(0, ((await settledBytes()) - before) / 1024) })
agent.destroy()
await http.close({ graceMs: 0 })
process.disconnect()

function open() {
  return new Promise((resolve, reject) => {
    const sent = request(http.url, { method: 'POST', headers, agent }, (response) => {
      if (response.headers['mcp-session-id'] === undefined) reject(new Error(`status ${response.statusCode}`))
      response.resume().once('end', resolve)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

async function openMany(many) {
  let left = many
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (left-- > 0) await open()
    }),
  )
}

async function settledBytes() {
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
