import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tool } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'
import { everything, revisions, serverOf, sure, yes } from '../server/support.ts'

const server = serverOf({
  instructions: 'Ask.',
  tools: [
    tool('who', {}, (_, ctx) => `${ctx.client?.name} ${ctx.revision} ${JSON.stringify(ctx.meta['acme/x'])}`),
    tool('ask', {}, async (_, ctx) => (await ctx.elicit('a', sure, 'A?')).action),
    tool('climb', {}, (_, ctx) => {
      ctx.progress(1)
      return 'there'
    }),
  ],
})

for (const revision of revisions) {
  test(`${revision}: says who it is and what was put into _meta, and hears what comes besides answers`, async () => {
    const client = await testClient(server, { revision, capabilities: everything })
    const { result } = await client.request('tools/call', { name: 'who' }, { 'acme/x': 1 })
    assert.deepEqual(result?.['content'], [{ type: 'text', text: `test client ${revision} 1` }])
    await client.request('tools/call', { name: 'climb' }, { progressToken: 'p' })
    assert.deepEqual(
      client.heard.map(({ method }) => method),
      ['notifications/progress'],
    )
    assert.equal(client.introduction === undefined, revision === '2026-07-28')
    await client.close()
  })
}

test('questions are answered, live or by a retry; without answers they stay', async () => {
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const asked: unknown[] = []
    const client = await testClient(server, {
      revision,
      capabilities: everything,
      answer: (method, params, key) => {
        asked.push([method, params['message'], key])
        return yes
      },
    })
    assert.match(JSON.stringify(await client.request('tools/call', { name: 'ask' })), /"accept"/)
    assert.deepEqual(asked, [['elicitation/create', 'A?', revision === '2026-07-28' ? 'a' : undefined]])
  }
  const silent = await testClient(server, { capabilities: everything })
  assert.equal((await silent.request('tools/call', { name: 'ask' })).result?.['resultType'], 'input_required')
  const failing = await testClient(server, {
    revision: '2025-11-25',
    capabilities: everything,
    answer: () => undefined,
  })
  assert.equal((await failing.request('tools/call', { name: 'ask' })).result?.['isError'], true)
})

test('a revision that is not known, or not served, is told at once', async () => {
  await assert.rejects(testClient(server, { revision: '1999-01-01' }), /1999-01-01/)
  await assert.rejects(testClient(server, { revision: '2025-11-25', revisions: ['2026-07-28'] }), /handshake/)
})
