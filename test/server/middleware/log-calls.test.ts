import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resource, tool, ToolError } from '../../../src/index.ts'
import { logCalls } from '../../../src/middleware.ts'
import { clientOf, eras, recorder, serverOf, staff, sure } from '../support.ts'

function logged() {
  const { lines, logger } = recorder()
  let now = 0
  const server = serverOf({
    middleware: [logCalls({ logger, clock: () => (now += 5) })],
    tools: [
      tool('echo', {}, () => 'echo'),
      tool('no', {}, () => {
        throw new ToolError('no')
      }),
      tool('ask', {}, async (_, ctx) => (await ctx.elicit('sure', sure, 'Sure?')).action),
    ],
    resources: [resource('doc://one', { name: 'one' }, () => '1')],
  })
  return { server, fields: () => lines.map((line) => line.fields as Record<string, unknown>) }
}

for (const revision of eras)
  test(`${revision}: one line per operation, with what, for whom, how long and how it ended`, async () => {
    const { server, fields } = logged()
    const client = await clientOf(server, { revision, principal: staff })
    await client.request('tools/call', { name: 'echo' })
    await client.request('tools/call', { name: 'no' })
    await client.request('tools/call', { name: 'absent' })
    await client.request('resources/read', { uri: 'doc://one' })
    const about = { method: 'tools/call', revision, principal: 'ada', client: 'test client', ms: 5 }
    assert.deepEqual(fields(), [
      { ...about, target: 'echo', outcome: 'complete' },
      { ...about, target: 'no', outcome: 'isError' },
      { ...about, target: 'absent', outcome: 'UnknownTool' },
      { ...about, method: 'resources/read', target: 'doc://one', outcome: 'complete' },
    ])
  })

test('2026-07-28: a question is an outcome of its own', async () => {
  const { server, fields } = logged()
  await (await clientOf(server)).request('tools/call', { name: 'ask' })
  assert.equal(fields()[0]?.['outcome'], 'input_required')
})

test('a layer within that comes to nothing is logged as the failure that it is', async () => {
  const { lines, logger } = recorder()
  const nothing = { all: () => Promise.resolve(undefined as never) }
  const client = await clientOf(
    serverOf({ middleware: [logCalls({ logger }), nothing], tools: [tool('echo', {}, () => 'echo')] }),
  )
  assert.equal((await client.request('tools/call', { name: 'echo' })).error?.code, -32603)
  assert.deepEqual(
    lines.map(({ fields }) => (fields as Record<string, unknown>)['outcome']),
    ['InternalError'],
  )
})

test('a layer within that answers at once, which its type forbids, is logged like any other', async () => {
  const { lines, logger } = recorder()
  const atOnce = { all: () => ({ tools: [] }) as never }
  const tools = [tool('echo', {}, () => 'echo')]
  const client = await clientOf(serverOf({ middleware: [logCalls({ logger }), atOnce], tools }))
  assert.deepEqual((await client.request('tools/list')).result?.['tools'], [])
  assert.equal((lines[0]?.fields as Record<string, unknown>)['outcome'], 'complete')
})

test("a caller's text stands in the line escaped and cut", async () => {
  const { server, fields } = logged()
  const client = await clientOf(server)
  await client.request('tools/call', { name: `x\nlevel=error ${'y'.repeat(1_000)}` })
  const target = String(fields()[0]?.['target'])
  assert.match(target, /^"x\\nlevel=error y+…"$/)
  assert.ok(target.length < 80)
})
