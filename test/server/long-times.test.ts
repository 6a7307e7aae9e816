// Times that no timer of the runtime can wait for: it would make a millisecond of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { tool } from '../../src/index.ts'
import { timeouts } from '../../src/middleware.ts'
import { clientOf, eras, serverOf, settled, sure, textOf, yes } from './support.ts'

const slow = async (): Promise<string> => {
  await delay(30)
  return 'done'
}

for (const ms of [2 ** 31, 3e9, Infinity]) {
  for (const revision of eras) {
    test(`${revision}: a call may take ${ms} ms`, async () => {
      const server = serverOf({ middleware: [timeouts({ ms })], tools: [tool('t', {}, slow)] })
      const client = await clientOf(server, { revision })
      assert.equal(textOf(await client.request('tools/call', { name: 't' })), 'done')
    })
  }

  test(`a client may take ${ms} ms to answer`, async () => {
    const server = serverOf({ tools: [tool('t', {}, async (_, ctx) => (await ctx.elicit('a', sure, 'A?')).action)] })
    const client = await clientOf(server, { revision: '2025-11-25', askTimeoutMs: ms })
    const calling = client.request('tools/call', { name: 't' })
    await settled()
    await delay(30)
    client.send({ jsonrpc: '2.0', id: client.heard[0]?.id, result: yes })
    assert.equal(textOf(await calling), 'accept')
  })
}

test('a call may become a task after 3e9 ms', async () => {
  const server = serverOf({ tools: [tool('t', { task: { after: 3e9 } }, slow)] })
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const client = await clientOf(server, { capabilities })
  assert.equal(textOf(await client.request('tools/call', { name: 't' })), 'done')
})
