import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { prompt, resource, tool } from '../../../src/index.ts'
import { timeouts } from '../../../src/middleware.ts'
import { clientOf, eras, serverOf, sure, textOf, yes } from '../support.ts'

const offerOf = (aborted: string[]) => {
  const wait = async (ms: number, signal: AbortSignal, what: string): Promise<string> => {
    try {
      await sleep(ms, undefined, { signal })
    } catch {
      aborted.push(what)
    }
    return what
  }
  return {
    tools: [
      tool('quick', {}, () => 'quick'),
      tool('slow', {}, (_, ctx) => wait(2_000, ctx.signal, 'slow')),
      tool('slower', {}, (_, ctx) => wait(60, ctx.signal, 'slower')),
      tool('endless', {}, (_, ctx) => wait(60, ctx.signal, 'endless')),
      tool('deaf', {}, () => new Promise<string>(() => {})),
      tool('ask', {}, async (_, ctx) => (await ctx.elicit('sure', sure, 'Sure?')).action),
    ],
    resources: [resource('doc://slow', { name: 'slow' }, (_, ctx) => wait(2_000, ctx.signal, 'read'))],
    prompts: [prompt('slow', {}, (_, ctx) => wait(2_000, ctx.signal, 'get'))],
  }
}

for (const revision of eras) {
  test(`${revision}: what takes too long is answered at once, and its handler is told`, async () => {
    const aborted: string[] = []
    const client = await clientOf(serverOf({ ...offerOf(aborted), middleware: [timeouts({ ms: 20 })] }), { revision })
    const { result } = await client.request('tools/call', { name: 'slow' })
    assert.equal(result?.['isError'], true)
    assert.deepEqual(result['content'], [{ type: 'text', text: 'The tool did not finish within 20 ms' }])
    for (const [method, params] of [
      ['resources/read', { uri: 'doc://slow' }],
      ['prompts/get', { name: 'slow' }],
    ] as const) {
      const { error } = await client.request(method, params)
      assert.deepEqual([error?.code, error?.message], [-32603, 'It did not finish within 20 ms'])
    }
    await sleep(1)
    assert.deepEqual(aborted, ['slow', 'read', 'get'])
  })

  test(`${revision}: a handler that does not listen does not keep the caller`, async () => {
    const client = await clientOf(serverOf({ ...offerOf([]), middleware: [timeouts({ ms: 20 })] }), { revision })
    assert.match(textOf(await client.request('tools/call', { name: 'deaf' })), /within 20 ms/)
    assert.equal(textOf(await client.request('tools/call', { name: 'quick' })), 'quick')
  })

  test(`${revision}: a handler that is timed still asks`, async () => {
    const client = await clientOf(serverOf({ ...offerOf([]), middleware: [timeouts({ ms: 1_000 })] }), {
      revision,
      answer: () => yes,
    })
    assert.equal(textOf(await client.request('tools/call', { name: 'ask' })), 'accept')
  })
}

test('a tool may have a limit of its own, or none', async () => {
  const limits = timeouts({ ms: 20, tools: { slower: 5_000, endless: Infinity } })
  const client = await clientOf(serverOf({ ...offerOf([]), middleware: [limits] }))
  assert.equal(textOf(await client.request('tools/call', { name: 'slower' })), 'slower')
  assert.equal(textOf(await client.request('tools/call', { name: 'endless' })), 'endless')
})

test('a layer within that answers at once, which its type forbids, is in time', async () => {
  const atOnce = { call: () => ({ content: [{ type: 'text', text: 'at once' }] }) as never }
  const tools = [tool('quick', {}, () => 'quick')]
  const client = await clientOf(serverOf({ tools, middleware: [timeouts({ ms: 1_000 }), atOnce] }))
  assert.equal(textOf(await client.request('tools/call', { name: 'quick' })), 'at once')
})

test('a name that every object has is no limit', async () => {
  const client = await clientOf(
    serverOf({ tools: [tool('constructor', {}, () => 'built')], middleware: [timeouts({ tools: {} })] }),
  )
  assert.equal(textOf(await client.request('tools/call', { name: 'constructor' })), 'built')
})

test('a handler that looks at its signal only after the limit finds it aborted, and a cancel still reaches it', async () => {
  const seen: string[] = []
  const server = serverOf({
    tools: [
      tool('late', {}, async (_, ctx) => {
        await sleep(40)
        seen.push(String(ctx.signal.reason))
      }),
      tool('wait', {}, (_, ctx) => {
        ctx.signal.addEventListener('abort', () => seen.push(String(ctx.signal.reason)))
        return new Promise<string>(() => {})
      }),
      tool('look', {}, async (_, ctx) => {
        await sleep(20)
        seen.push(`aborted: ${ctx.signal.aborted}`)
      }),
    ],
    middleware: [timeouts({ ms: 20, tools: { wait: 5_000, look: 5_000 } })],
  })
  const client = await clientOf(server)
  await client.request('tools/call', { name: 'late' })
  await sleep(40)
  assert.deepEqual(seen, ['Error: over the time limit of 20 ms'])
  for (const name of ['wait', 'look']) {
    const requestId = client.nextId()
    void client.request('tools/call', { name })
    await sleep(5)
    client.notify('notifications/cancelled', { requestId, reason: 'enough' })
    await sleep(30)
  }
  assert.deepEqual(seen.slice(1), ['Error: enough', 'aborted: true'])
})
