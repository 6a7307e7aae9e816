import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fetchHandler, tool } from '../../../src/index.ts'
import { concurrency, rateLimit } from '../../../src/middleware.ts'
import type { CallContext } from '../../../src/model/served.ts'
import { isRefusal } from '../../../src/model/refusal.ts'
import { clientOf, eras, serverOf, settled, staff, textOf } from '../support.ts'

function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

for (const revision of eras)
  test(`${revision}: at most so many operations of one caller run at once; what is over is refused, nothing waits`, async () => {
    const { opened, open } = gate()
    const server = serverOf({
      tools: [tool('wait', {}, async () => (await opened, 'done'))],
      middleware: [concurrency({ max: 2 })],
    })
    const client = await clientOf(server, { revision })
    const running = [1, 2].map(() => client.request('tools/call', { name: 'wait' }))
    await settled()
    const { error } = await client.request('tools/call', { name: 'wait' })
    assert.equal(error?.code, -32600)
    const other = await clientOf(server, { revision, principal: staff })
    assert.equal((await other.request('tools/list')).error, undefined)
    open()
    for (const response of await Promise.all(running)) assert.equal(textOf(response), 'done')
    assert.equal(textOf(await client.request('tools/call', { name: 'wait' })), 'done')
  })

test('an operation that fails makes room again', async () => {
  const server = serverOf({
    tools: [tool('no', {}, () => Promise.reject(new Error('no')))],
    middleware: [concurrency({ max: 1 })],
  })
  const client = await clientOf(server)
  for (let turn = 0; turn < 3; turn++) {
    assert.equal(textOf(await client.request('tools/call', { name: 'no' })), 'no')
    assert.equal((await client.request('tools/call', { name: 'absent' })).error?.code, -32602)
  }
})

test('a caller with something running stays counted, however many others come and go', async () => {
  const { all } = concurrency({ max: 1, by: ({ principal }) => principal?.id ?? '' })
  const enter = (id: string, run: () => Promise<object>): Promise<unknown> => {
    const context = { principal: { id, scopes: new Set() } } as unknown as CallContext
    return all?.({ method: 'm', params: {}, meta: {} }, context, async () => ({ ...(await run()) })) ?? assert.fail()
  }
  const { opened, open } = gate()
  const running = enter('ada', async () => (await opened, {}))
  for (let others = 0; others < 5_000; others++) await enter(`other ${others}`, async () => ({}))
  await assert.rejects(
    enter('ada', async () => ({})),
    isRefusal,
  )
  open()
  await running
  await enter('ada', async () => ({}))
})

test('streams that listen take no place', async () => {
  const client = await clientOf(
    serverOf({ tools: [tool('echo', {}, () => 'echo')], middleware: [concurrency({ max: 1 })] }),
  )
  void client.request('subscriptions/listen', { notifications: { toolsListChanged: true } })
  await settled()
  assert.equal(textOf(await client.request('tools/call', { name: 'echo' })), 'echo')
})

test('who is counted together can be told', async () => {
  const { opened, open } = gate()
  const server = serverOf({
    tools: [tool('wait', {}, async () => (await opened, 'done'))],
    middleware: [concurrency({ max: 1, by: () => 'everybody' })],
  })
  const one = await clientOf(server)
  const other = await clientOf(server, { principal: staff })
  const running = one.request('tools/call', { name: 'wait' })
  await settled()
  assert.equal((await other.request('tools/list')).error?.code, -32600)
  open()
  await running
})

test('over HTTP a limit is told as 503 or 429, with when to come back', async () => {
  let now = 0
  const { opened, open } = gate()
  const tools = [tool('wait', {}, async () => (await opened, 'done')), tool('echo', {}, () => 'echo')]
  const post = (handler: (request: Request) => Promise<Response>, name: string) => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    return handler(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': name,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, _meta } }),
      }),
    )
  }
  const crowded = fetchHandler(serverOf({ tools, middleware: [concurrency({ max: 1 })] }))
  const running = post(crowded, 'wait')
  await settled()
  const over = await post(crowded, 'echo')
  assert.deepEqual([over.status, over.headers.get('retry-after')], [503, '1'])
  open()
  assert.equal((await running).status, 200)

  const rated = fetchHandler(serverOf({ tools, middleware: [rateLimit({ perMinute: 2, burst: 1, clock: () => now })] }))
  assert.equal((await post(rated, 'echo')).status, 200)
  const soon = await post(rated, 'echo')
  assert.deepEqual([soon.status, soon.headers.get('retry-after')], [429, '30'])
  now += 29_999
  assert.equal((await post(rated, 'echo')).headers.get('retry-after'), '1')
  now += 1
  assert.equal((await post(rated, 'echo')).status, 200)
})

test('each caller has a share of its own', async () => {
  const server = serverOf({ tools: [], middleware: [rateLimit({ perMinute: 1, burst: 1, clock: () => 0 })] })
  const [anonymous, ada] = [await clientOf(server), await clientOf(server, { principal: staff })]
  for (const client of [anonymous, ada]) {
    assert.equal((await client.request('tools/list')).error, undefined)
    assert.equal((await client.request('tools/list')).error?.code, -32600)
  }
})

test('a principal cannot take the name of those without one', async () => {
  const server = serverOf({ tools: [], middleware: [rateLimit({ perMinute: 1, burst: 1, clock: () => 0 })] })
  const [anonymous, impostor] = [
    await clientOf(server),
    await clientOf(server, { principal: { id: 'anonymous', scopes: new Set() } }),
  ]
  for (const client of [anonymous, impostor]) assert.equal((await client.request('tools/list')).error, undefined)
})

test('law: no caller gets more than the burst and its rate, and whoever waits as told gets in', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 600 }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 }),
      async (perMinute, burst, pauses) => {
        let now = 0
        const { all } = rateLimit({ perMinute, burst, clock: () => now })
        const enter = async (): Promise<number> => {
          try {
            await all?.({ method: 'm', params: {}, meta: {} }, {} as CallContext, async () => ({}))
            return 0
          } catch (thrown) {
            return isRefusal(thrown) ? (thrown.retryAfter ?? NaN) : NaN
          }
        }
        let passed = 0
        for (const pause of pauses) {
          now += pause
          const wait = await enter()
          if (wait === 0) passed++
          assert.ok(passed <= burst + (now * perMinute) / 60_000 + 1e-6)
          if (wait === 0) continue
          now += wait * 1000
          assert.equal(await enter(), 0)
          passed++
        }
      },
    ),
    { numRuns: 200 },
  )
})

test('a caller is remembered among 50,000 others, also the one that is one too many, and forgotten behind 100,000', async () => {
  const { all } = rateLimit({
    perMinute: 1,
    burst: 1,
    clock: () => 0,
    by: ({ principal }) => principal?.id ?? '',
  })
  const enter = async (id: string): Promise<boolean> => {
    const context = { principal: { id, scopes: new Set() } } as unknown as CallContext
    try {
      await all?.({ method: 'm', params: {}, meta: {} }, context, async () => ({}))
      return true
    } catch {
      return false
    }
  }
  let others = 0
  const crowd = async (size: number): Promise<void> => {
    for (const end = others + size; others < end; others++) assert.ok(await enter(`other ${others}`))
  }
  assert.ok(await enter('ada'))
  await crowd(49_999)
  // Those are as many as one half holds; another half, and whoever comes next is the one that is too many.
  await crowd(50_000)
  assert.equal(await enter('ada'), false)
  await crowd(100_000)
  assert.ok(await enter('ada'))
})
