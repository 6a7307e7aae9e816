// Defends: layers stand around what a client sends, by group, outermost first; logs and notifications reach who asked.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRefusal, tool } from '../../src/index.ts'
import type { ClientMiddleware } from '../../src/client.ts'
import { serverOf } from '../server/support.ts'
import { add, connected, eras, legacy, modern } from './support.ts'

const logs = tool('logs', {}, (_args, ctx) => {
  ctx.log('debug', 'small')
  ctx.log('error', 'big')
  return ''
})

test('layers see what is sent, may change it, and stand in order', async () => {
  const order: string[] = []
  const around = (name: string): ClientMiddleware => ({
    all: async (call, context, next) => {
      order.push(`${name} ${call.method}`)
      return next(call, context)
    },
    call: async (call, context, next) => {
      order.push(`${name} call`)
      const args = call.params.arguments as { a: number }
      const result = await next(
        { ...call, params: { ...call.params, arguments: { ...args, a: args.a * 10 } } },
        { ...context },
      )
      order.push(`${name} back`)
      return result
    },
  })
  await using pair = await connected(serverOf({ tools: [add] }), { middleware: [around('outer'), around('inner')] })
  await pair.client.tools()
  assert.deepEqual((await pair.client.call('add', { a: 1, b: 1 })).structured, { sum: 101 })
  assert.deepEqual(order, [
    'outer tools/list',
    'inner tools/list',
    'outer tools/call',
    'outer call',
    'inner tools/call',
    'inner call',
    'inner back',
    'outer back',
  ])
})

test('a layer may answer, and may do it again', async () => {
  let tries = 0
  await using pair = await connected(serverOf({ tools: [add] }), {
    middleware: [
      { read: () => Promise.resolve({ contents: [{ uri: 'memo://x', text: 'by the layer' }] }) },
      {
        custom: async (call, context, next) => {
          tries += 1
          return next(call, context).catch(() => next(call, context))
        },
      },
    ],
  })
  assert.deepEqual((await pair.client.read('memo://x')).contents, [{ uri: 'memo://x', text: 'by the layer' }])
  await assert.rejects(pair.client.request('own/method'), isRefusal)
  assert.equal(tries, 1)
  assert.equal(pair.target.sent().filter((method) => method === 'own/method').length, 2)
})

for (const revision of eras) {
  test(`${revision}: logs are heard from the severity on that was asked for`, async () => {
    const heard: unknown[] = []
    await using pair = await connected(serverOf({ tools: [logs] }), {
      revision,
      logLevel: 'warning',
      onLog: ({ level, data }) => heard.push([level, data]),
    })
    await pair.client.call('logs')
    assert.deepEqual(heard, [['error', 'big']])
    await pair.client.setLogLevel('debug')
    await pair.client.call('logs')
    assert.equal(heard.length, 3)
    pair.target.drop()
    await pair.client.call('logs')
    assert.equal(heard.length, 5)
  })
}

test('a method that no revision defines is called with what the server makes of it', async () => {
  const server = serverOf({ tools: [add] }).method('shop/count', {}, () => ({ count: 3 }))
  for (const revision of eras) {
    await using pair = await connected(server, { revision })
    assert.equal((await pair.client.request('shop/count')).count, 3)
  }
})

test('extensions are declared, and those that both sides have are features', async () => {
  const server = serverOf({ tools: [add] }).use({ identifier: 'example.com/own' })
  await using pair = await connected(server, {
    revision: modern,
    extensions: { 'example.com/own': {}, 'example.com/other': {} },
  })
  assert.equal(pair.client.features.has('extensions.example.com/own'), true)
  assert.equal(pair.client.features.has('extensions.example.com/other'), false)
})

test('changed roots are told where the revision has that', async () => {
  await using pair = await connected(serverOf({ tools: [add] }), { revision: legacy, roots: [] })
  await pair.client.rootsChanged()
  assert.equal(pair.target.sent().at(-1), 'notifications/roots/list_changed')
  await using other = await connected(serverOf({ tools: [add] }), { revision: modern, roots: [] })
  await other.client.rootsChanged()
  assert.equal(other.target.sent().at(-1), 'server/discover')
})
