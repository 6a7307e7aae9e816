// The official client's own way to have a call as a task (2025-11-25): it lists, calls, polls, is asked and collects.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { createServer, form, serveHttp, tool } from '../../src/index.ts'

const sure = form({ type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] })

test('@modelcontextprotocol/sdk has calls as tasks', { timeout: 30_000 }, async () => {
  const server = createServer({
    name: 'office',
    version: '1',
    tasks: { pollIntervalMs: 20 },
    tools: [
      tool('report', { task: { after: 10 } }, () => 'reported'),
      tool('purge', { task: 'always' }, async (_, ctx) => {
        const { action } = await ctx.elicit('sure', sure, 'Sure?')
        return `purge: ${action}`
      }),
    ],
  })
  await using http = await serveHttp(server, { port: 0 })
  const client = new Client({ name: 'tester', version: '1' }, { capabilities: { elicitation: { form: {} } } })
  let asked = 0
  client.setRequestHandler(ElicitRequestSchema, () => {
    asked += 1
    return { action: 'accept', content: { sure: true } }
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(http.url)))
  await client.listTools()
  for (const [name, text] of [
    ['report', 'reported'],
    ['purge', 'purge: accept'],
  ] as const) {
    const seen: string[] = []
    const stream = client.experimental.tasks.callToolStream({ name, arguments: {} }, CallToolResultSchema, {
      task: { ttl: 60_000 },
    })
    for await (const message of stream) {
      seen.push(message.type)
      if (message.type === 'result') assert.deepEqual(message.result.content, [{ type: 'text', text }])
      if (message.type === 'error') throw message.error
    }
    assert.equal(seen[0], 'taskCreated')
    assert.equal(seen.at(-1), 'result')
  }
  assert.equal(asked, 1)
  await client.close()
})
