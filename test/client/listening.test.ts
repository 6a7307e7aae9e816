// Defends: one way to hear of changes, in either era, kept up when the connection breaks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../src/client.ts'
import { resource, tool } from '../../src/index.ts'
import type { Server } from '../../src/index.ts'
import { serverOf } from '../server/support.ts'
import { add, connected, eras, legacy, modern } from './support.ts'

function shelf(): Server {
  return serverOf({
    tools: [add],
    resources: [resource('memo://a', { name: 'a' }, () => 'a'), resource('memo://b', { name: 'b' }, () => 'b')],
  })
}

const other = tool('other', {}, () => 'other')

/** The next change, or what was there instead after a while. */
async function next(subscription: Awaited<ReturnType<Client['listen']>>): Promise<unknown> {
  const { value } = (await Promise.race([subscription.next(), delay(500, { value: 'silence' })])) as { value: unknown }
  return value
}

for (const revision of eras) {
  test(`${revision}: tells of lists and resources that were asked for, and of no others`, async () => {
    const server = shelf()
    await using pair = await connected(server, { revision })
    await using changes = await pair.client.listen({ toolsListChanged: true, resourceSubscriptions: ['memo://a'] })
    assert.deepEqual(changes.honoured, { toolsListChanged: true, resourceSubscriptions: ['memo://a'] })
    server.add(other)
    assert.deepEqual(await next(changes), { kind: 'tools' })
    server.updated('memo://b')
    server.updated('memo://a')
    assert.deepEqual(await next(changes), { kind: 'resource', uri: 'memo://a' })
    server.remove('tool', 'other')
    assert.deepEqual(await next(changes), { kind: 'tools' })
  })

  test(`${revision}: changes of one thing that wait are one`, async () => {
    const server = shelf()
    await using pair = await connected(server, { revision })
    await using changes = await pair.client.subscribe(['memo://a', 'memo://b'])
    for (let i = 0; i < 5; i++) server.updated('memo://a')
    server.updated('memo://b')
    await delay(20)
    assert.deepEqual(
      [await next(changes), await next(changes)],
      [
        { kind: 'resource', uri: 'memo://a' },
        { kind: 'resource', uri: 'memo://b' },
      ],
    )
    server.updated('memo://b')
    assert.deepEqual(await next(changes), { kind: 'resource', uri: 'memo://b' })
  })

  test(`${revision}: is made again on another connection, and says so`, async () => {
    const server = shelf()
    await using pair = await connected(server, { revision })
    await using changes = await pair.client.subscribe('memo://a')
    pair.target.drop()
    assert.deepEqual(await next(changes), { kind: 'resumed' })
    assert.equal(pair.target.links, 2)
    server.updated('memo://a')
    assert.deepEqual(await next(changes), { kind: 'resource', uri: 'memo://a' })
  })

  test(`${revision}: ends with the loop, by its signal, and with the client`, async () => {
    const server = shelf()
    await using pair = await connected(server, { revision })
    const stop = new AbortController()
    const bySignal = await pair.client.listen({ toolsListChanged: true }, { signal: stop.signal })
    const pending = bySignal.next()
    stop.abort()
    assert.equal((await pending).done, true)
    const byLoop = await pair.client.listen({ toolsListChanged: true })
    setTimeout(() => server.add(other), 5)
    for await (const change of byLoop) {
      assert.deepEqual(change, { kind: 'tools' })
      break
    }
    assert.equal((await byLoop.next()).done, true)
    const byClient = await pair.client.subscribe('memo://a')
    const last = byClient.next()
    await pair.client.close()
    assert.equal(await Promise.race([last.then(({ done }) => done), delay(500, 'silence')]), true)
  })

  test(`${revision}: what the server does not tell of is not honoured`, async () => {
    await using pair = await connected(serverOf({ tools: [add] }), { revision })
    await using changes = await pair.client.listen({ promptsListChanged: true, resourceSubscriptions: ['memo://a'] })
    assert.deepEqual(changes.honoured, {})
  })
}

test('in a session a resource is subscribed to once, however many want it', async () => {
  await using pair = await connected(shelf(), { revision: legacy })
  const first = await pair.client.subscribe('memo://a')
  const second = await pair.client.subscribe('memo://a')
  await first.close()
  assert.equal(
    pair.target
      .sent()
      .filter((method) => method.startsWith('resources/'))
      .join(),
    'resources/subscribe',
  )
  await second.close()
  assert.equal(pair.target.sent().at(-1), 'resources/unsubscribe')
})

test('a subscription that was refused takes nothing from another', async () => {
  await using pair = await connected(shelf(), { revision: legacy })
  const first = await pair.client.subscribe('memo://a')
  pair.target.alter = (message, way) => {
    const { uri } = (message.params ?? {}) as { uri?: string }
    return way === '>' && uri === 'memo://nope' ? { ...message, method: 'nope' } : message
  }
  await assert.rejects(pair.client.subscribe(['memo://nope', 'memo://a']), { kind: 'UnknownMethod' })
  const left = pair.target.crossed.filter(([, { method }]) => method === 'resources/unsubscribe')
  assert.deepEqual(left, [])
  await first.close()
})

test('a stream that is closed is cancelled on the wire', async () => {
  await using pair = await connected(shelf(), { revision: modern })
  const changes = await pair.client.subscribe('memo://a')
  const asked = pair.target.crossed.find(([, { method }]) => method === 'subscriptions/listen')
  await changes.close()
  await delay(5)
  const cancelled = pair.target.crossed.find(([, { method }]) => method === 'notifications/cancelled')
  assert.deepEqual((cancelled?.[1].params as { requestId: unknown }).requestId, asked?.[1].id)
})

test('a server that refuses to be listened to is heard', async () => {
  await using pair = await connected(shelf(), { revision: modern })
  pair.target.alter = (message, way) => {
    if (way === '<' || message.method !== 'subscriptions/listen') return message
    queueMicrotask(() => pair.target.say({ id: message.id, error: { code: -32601, message: 'no' } }))
    return undefined
  }
  await assert.rejects(pair.client.subscribe('memo://a'), { kind: 'UnknownMethod' })
})

test('a stream that the server ends at once is asked for once more, and no more', async () => {
  await using pair = await connected(shelf(), { revision: modern })
  let asked = 0
  pair.target.alter = (message, way) => {
    if (way === '<' || message.method !== 'subscriptions/listen') return message
    asked += 1
    queueMicrotask(() => {
      pair.target.say({
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: {}, _meta: { 'io.modelcontextprotocol/subscriptionId': message.id } },
      })
      pair.target.say({ id: message.id, result: { resultType: 'complete' } })
    })
    return undefined
  }
  const changes = await pair.client.subscribe('memo://a')
  assert.deepEqual((await changes.next()).value, { kind: 'resumed' })
  assert.equal((await changes.next()).done, true)
  assert.equal(asked, 2)
})

for (const revision of eras) {
  test(`${revision}: a watched list is there at once, and again once changes stop`, async () => {
    const server = shelf()
    await using pair = await connected(server, { revision, debounceMs: 30 })
    const lists = pair.client.watch('tools')
    assert.deepEqual(
      (await lists.next()).value?.map(({ name }) => name),
      ['add'],
    )
    const before = pair.target.sent().filter((method) => method === 'tools/list').length
    server.add(other)
    server.remove('tool', 'add')
    server.add(add)
    server.remove('tool', 'add')
    assert.deepEqual(
      (await lists.next()).value?.map(({ name }) => name),
      ['other'],
    )
    assert.equal(pair.target.sent().filter((method) => method === 'tools/list').length, before + 1)
    await lists.return()
  })
}
