// Defends: a client knows a server's own tools by its type, and takes anything where it has none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { connect, type Client } from '../../src/client.ts'
import { createServer, result, tool } from '../../src/index.ts'
import type { Json } from '../../src/model/json.ts'

const refund = tool(
  'refund',
  { input: z.object({ order: z.string(), cents: z.number().int() }), output: z.object({ refunded: z.number() }) },
  ({ cents }) => ({ refunded: cents }),
)
const shop = createServer({ name: 'shop', version: '1', tools: [refund] }).tool('ping', {}, () => 'pong')

test('arguments and structured results have the types of the tool', async () => {
  await using client = await connect(shop)
  const { refunded } = (await client.call('refund', { order: 'A-7', cents: 500 })).structured
  const doubled: number = refunded * 2
  assert.equal(doubled, 1000)
  assert.equal((await client.call('ping')).text, 'pong')
})

test('structured content that is not there throws, also where no schema tells whether it should be', async () => {
  const both = createServer({ name: 'both', version: '1' })
    .tool('none', {}, () => 'text')
    .tool('some', {}, () => result({ structuredContent: { n: 1 } }))
  await using client = await connect(both)
  const none = await client.call('none')
  assert.throws(() => none.structured, { kind: 'InvalidResult', ran: 'yes' })
  assert.equal(none.structuredContent, undefined)
  assert.deepEqual((await client.call('some')).structuredContent, { n: 1 })
})

/** Never run: each line has to be an error, or none. */
export async function types(client: Client<typeof shop>, open: Client): Promise<void> {
  // @ts-expect-error there is no such tool
  await client.call('refnud', {})
  // @ts-expect-error cents is a number
  await client.call('refund', { order: 'A-7', cents: '500' })
  // @ts-expect-error arguments are required
  await client.call('refund')
  // @ts-expect-error the tool takes nothing
  await client.call('ping', { a: 1 })
  // A tool without an output promises nothing structured.
  const nothing: never = (await client.call('ping')).structured
  assert.ok(nothing)
  const perhaps: Json | undefined = (await client.call('ping')).structuredContent
  const anything: Json = (await open.call('anything')).structured
  assert.ok(perhaps ?? anything)
  await open.call('anything', { a: 1 })
  await open.call('anything')
  const named = await connect<typeof shop>('http://127.0.0.1:1')
  const total: number = (await named.call('refund', { order: 'A-7', cents: 1 })).structured.refunded
  assert.ok(total)
}
