// Methods that no revision defines: who finds them, what they take, and how they are refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { answerSampling, method, prompt, Refusal, tool } from '../../src/index.ts'
import type { Sampled } from '../../src/index.ts'
import { clientOf, eras, recorder, revisions, serverOf, settled, sure } from './support.ts'

for (const revision of revisions) {
  test(`${revision}: a custom method is answered, its params checked`, async () => {
    const server = serverOf().method(
      'app/add',
      { params: z.object({ a: z.number(), b: z.number() }) },
      ({ a, b }, ctx) => ({
        sum: a + b,
        on: ctx.revision,
      }),
    )
    const client = await clientOf(server, { revision })
    const { result } = await client.request('app/add', { a: 1, b: 2 })
    assert.equal(result?.['sum'], 3)
    assert.equal(result['on'], revision)
    assert.equal(result['resultType'], revision === '2026-07-28' ? 'complete' : undefined)
    assert.equal((await client.request('app/add', { a: '1' })).error?.code, -32602)
    assert.equal((await client.request('app/other')).error?.code, -32601)
  })

  test(`${revision}: sampling asked of the server: absent, on without a handler, off, answered`, async () => {
    const params = { messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }], maxTokens: 10 }
    const codeOf = async (methods: ReturnType<typeof answerSampling>[], given: object = params) => {
      const client = await clientOf(serverOf({ methods }), { revision })
      return (await client.request('sampling/createMessage', given as typeof params)).error?.code
    }
    assert.equal(await codeOf([]), -32601)
    assert.equal(await codeOf([answerSampling()]), -32603)
    assert.equal(await codeOf([answerSampling(undefined, { enabled: false })]), -32601)
    assert.equal(await codeOf([answerSampling(() => assert.fail(), { enabled: () => false })]), -32601)

    const said: Sampled = {
      role: 'assistant',
      content: { type: 'text', text: 'Hi' },
      model: 'own',
      stopReason: 'endTurn',
    }
    const handled = answerSampling(({ messages, maxTokens }) => {
      assert.deepEqual([messages.length, maxTokens], [1, 10])
      return said
    })
    const client = await clientOf(serverOf({ methods: [handled] }), { revision })
    const { result } = await client.request('sampling/createMessage', params)
    const { role, content, model, stopReason } = result ?? {}
    assert.deepEqual({ role, content, model, stopReason }, said)
    assert.equal(await codeOf([handled], { messages: [{}], maxTokens: 1 }), -32602)
    assert.equal(await codeOf([handled], { messages: [] }), -32602)
    const nonsense = answerSampling(() => ({ role: 'assistant', model: 'own' }) as Sampled)
    assert.equal(await codeOf([nonsense]), -32603)
  })
}

test('a method exists from one revision to another, both included', async () => {
  const server = serverOf()
    .method('app/middle', { revisions: { from: '2025-03-26', to: '2025-11-25' } }, () => ({}))
    .method('app/new', { revisions: { from: '2026-07-28' } }, () => ({}))
  const answered = async (name: string) => {
    const found: string[] = []
    for (const revision of revisions) {
      const { error } = await (await clientOf(server, { revision })).request(name)
      if (error) assert.equal(error.code, -32601)
      else found.push(revision)
    }
    return found
  }
  assert.deepEqual(await answered('app/middle'), ['2025-03-26', '2025-06-18', '2025-11-25'])
  assert.deepEqual(await answered('app/new'), ['2026-07-28'])
})

for (const revision of eras) {
  test(`${revision}: off answers as absent, byte by byte, and can be switched while the server runs`, async () => {
    let on = false
    const server = serverOf().method('app/ping', { enabled: () => on }, () => ({}))
    const client = await clientOf(server, { revision })
    const off = await client.request('app/ping')
    const absent = await client.request('app/absent')
    assert.deepEqual(off.error, absent.error)
    on = true
    assert.equal((await client.request('app/ping')).error, undefined)
  })

  test(`${revision}: what a handler throws is a fault without its words; a refusal is passed on`, async () => {
    const server = serverOf()
      .method('app/break', {}, () => {
        throw new Error('a secret')
      })
      .method('app/refuse', {}, () => {
        throw new Refusal('MalformedParams')
      })
    const client = await clientOf(server, { revision })
    const { error } = await client.request('app/break')
    assert.equal(error?.code, -32603)
    assert.doesNotMatch(error.message, /secret/)
    assert.equal((await client.request('app/refuse')).error?.code, -32602)
  })
}

test('a custom method that returns no object cannot be answered, and the log knows why', async () => {
  for (const value of [undefined, null, 5, 'x', [{}]]) {
    const { logger, at } = recorder()
    const client = await clientOf(serverOf({ logger }).method('app/odd', {}, () => value as never))
    const { error } = await client.request('app/odd')
    assert.deepEqual([error?.code, error?.message], [-32603, 'The result cannot be sent.'], JSON.stringify(value))
    assert.match(String((at('error')[0]?.fields as { error: Error }).error), /app\/odd returned no object/)
  }
})

test('a custom method reports progress, is cancelled, and reads _meta', async () => {
  let aborted = false
  const server = serverOf().method('app/long', {}, async (_, ctx) => {
    ctx.progress(1)
    assert.equal(ctx.meta['app/note'], 'x')
    await new Promise<void>((resolve) =>
      ctx.signal.addEventListener('abort', () => {
        aborted = true
        resolve()
      }),
    )
    return {}
  })
  const client = await clientOf(server)
  const requestId = client.nextId()
  void client.request('app/long', {}, { progressToken: 'p', 'app/note': 'x' })
  await settled()
  assert.equal(client.heard.at(-1)?.method, 'notifications/progress')
  client.notify('notifications/cancelled', { requestId })
  await settled()
  assert.ok(aborted)
})

test('2025-11-25: a custom method asks a client that is asked while the call waits; in rounds it cannot', async () => {
  const server = serverOf().method('app/ask', {}, async (_, ctx) => ({
    action: (await ctx.elicit('sure', sure, 'Sure?')).action,
  }))
  const decline = () => ({ action: 'decline' })
  const live = await clientOf(server, { revision: '2025-11-25', answer: decline })
  assert.equal((await live.request('app/ask')).result?.['action'], 'decline')
  const rounds = await clientOf(server, { answer: decline })
  assert.equal((await rounds.request('app/ask')).error?.code, -32603)
})

test('a name that is taken, by a method or by the protocol, is refused by name', () => {
  const server = serverOf().method('app/ping', {}, () => ({}))
  assert.throws(() => server.method('app/ping', {}, () => ({})), /"app\/ping" already/)
  assert.throws(() => serverOf({ methods: [method('a/b', {}), method('a/b', {})] }), /"a\/b" already/)
})

test('the protocol keeps its own methods', async () => {
  const server = serverOf({ tools: [tool('echo', {}, () => 'echo')] }).method('app/x', {}, () => ({}))
  for (const name of [
    ...['tools/list', 'initialize', 'server/discover', 'ping'],
    // Nobody could call these.
    ...['', 'rpc.x', 'notifications/x', 'notifications/initialized', 'roots/list', 'elicitation/create'],
  ])
    assert.throws(() => server.method(name, {}, () => ({})), /the protocol's own/, name)
  const client = await clientOf(server)
  assert.equal((await client.request('tools/list')).error, undefined)
})

test('params that cannot be compiled are refused with the name of the method', () => {
  assert.throws(() => serverOf().method('app/bad', { params: { type: 'nonsense' } }, () => ({})), /method "app\/bad": /)
})

test('methods need no other primitive, and other primitives no method', async () => {
  const client = await clientOf(serverOf({ prompts: [prompt('p', {}, () => 'p')] }))
  assert.equal((await client.request('app/ping')).error?.code, -32601)
})
