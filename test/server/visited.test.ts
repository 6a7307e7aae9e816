import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServer, tool } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'

const pay = tool('pay', { description: 'Pays on a page' }, async (_args, ctx) => {
  const visit = await ctx.elicitUrl('pay', 'https://pay.example/7', 'Pay there')
  visit.done()
  return visit.action
})
const server = createServer({ name: 'till', version: '1.0.0', tools: [pay] })
const capabilities = { elicitation: { url: {} } }
const completed = 'notifications/elicitation/complete'

test('a page that is done is told where the revision has a word for it', async () => {
  const client = await testClient(server, {
    revision: '2025-11-25',
    capabilities,
    answer: () => ({ action: 'accept' }),
  })
  const { result } = await client.request('tools/call', { name: 'pay' })
  assert.deepEqual(result?.content, [{ type: 'text', text: 'accept' }])
  await client.close()
  const told = client.heard.filter(({ method }) => method === completed)
  const asked = client.heard.find(({ method }) => method === 'elicitation/create')
  assert.equal(told.length, 1)
  if (asked) assert.equal(told[0]?.params?.elicitationId, asked.params?.elicitationId)
})

test('and nothing is told where it has none', async () => {
  const client = await testClient(server, {
    revision: '2026-07-28',
    capabilities,
    answer: () => ({ action: 'accept' }),
  })
  await client.request('tools/call', { name: 'pay' })
  await client.close()
  assert.deepEqual(
    client.heard.filter(({ method }) => method === completed),
    [],
  )
})
