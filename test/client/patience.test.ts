// Defends: nobody waits longer than they said for what others wait for, too, nor for a server that says nothing; and what is
// subscribed to is what was asked for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { resource } from '../../src/index.ts'
import { serverOf } from '../server/support.ts'
import { add, connected, legacy, modern } from './support.ts'
import type { MemoryTarget } from './memory-link.ts'

const shelf = () =>
  serverOf({
    tools: [add],
    resources: ['x://item/1', 'x://item/10', 'x://item/1/2'].map((uri) => resource(uri, { name: uri }, () => uri)),
  })

/** Keeps what the server says to a request of `method` from the client. */
function mute(target: MemoryTarget, method: string): void {
  const ids = new Set<unknown>()
  target.alter = (message, way) => {
    if (way === '>' && message.method === method) ids.add(message.id)
    return way === '<' && ids.has(message.id) ? undefined : message
  }
}

/** Milliseconds that `run` takes, whatever it comes to. */
async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const since = performance.now()
  await run().catch(() => {})
  return performance.now() - since
}

test('whoever joins the reading of a list waits as long as they said, and no shorter for another', async () => {
  await using pair = await connected(shelf(), { revision: modern, timeoutMs: 400 })
  mute(pair.target, 'tools/list')
  const first = pair.client.tools({ timeoutMs: 200 })
  first.catch(() => {})
  const late = timeOf(() => pair.client.tools({ timeoutMs: 20 }))
  const stop = new AbortController()
  setTimeout(() => stop.abort(new Error('enough')), 30)
  const given = timeOf(() => pair.client.tools({ signal: stop.signal }))
  await assert.rejects(pair.client.tools({ timeoutMs: 30 }), { kind: 'TimedOut' })
  await assert.rejects(pair.client.tools({ signal: stop.signal }), { kind: 'Cancelled' })
  assert.ok((await late) < 150 && (await given) < 150)
  const patient = pair.client.tools({ timeoutMs: 5_000 })
  await assert.rejects(first, { kind: 'TimedOut' })
  pair.target.alter = (message) => message
  await delay(20)
  assert.equal(pair.target.sent().filter((method) => method === 'tools/list').length, 2)
  pair.target.say({
    id: lastId(pair.target),
    result: { resultType: 'complete', tools: [], ttlMs: 0, cacheScope: 'private' },
  })
  await patient
})

function lastId({ crossed }: MemoryTarget): number {
  return Number(crossed.findLast(([way, { method }]) => way === '>' && method === 'tools/list')?.[1].id)
}

test('a watched list that hangs is left with its signal', async () => {
  for (const revision of [modern, legacy]) {
    await using pair = await connected(shelf(), { revision })
    mute(pair.target, 'tools/list')
    const stop = new AbortController()
    const next = pair.client.watch('tools', { signal: stop.signal }).next()
    setTimeout(() => stop.abort(), 30)
    assert.deepEqual(await next, { done: true, value: undefined })
  }
})

test('a watched list is left at once, also while its next change is waited for', async () => {
  for (const revision of [modern, legacy]) {
    await using pair = await connected(shelf(), { revision })
    const lists = pair.client.watch('tools')
    assert.equal((await lists.next()).done, false)
    const next = lists.next()
    assert.deepEqual(await lists.return(), { done: true, value: undefined })
    assert.deepEqual(await next, { done: true, value: undefined })
  }
})

test('a server that never says what it tells is not waited for any longer than for an answer', async () => {
  await using pair = await connected(shelf(), { revision: modern, timeoutMs: 50 })
  pair.target.alter = (message, way) =>
    way === '<' && message.method === 'notifications/subscriptions/acknowledged' ? undefined : message
  await assert.rejects(pair.client.listen({ toolsListChanged: true }), { kind: 'TimedOut' })
  pair.target.alter = (message) => message
  await using changes = await pair.client.listen({ toolsListChanged: true })
  await delay(100)
  assert.ok(changes.honoured.toolsListChanged)
})

test('in a session neither the signal nor the end of a subscription waits for a server that says nothing', async () => {
  await using pair = await connected(shelf(), { revision: legacy })
  mute(pair.target, 'resources/subscribe')
  const stop = new AbortController()
  setTimeout(() => stop.abort(), 30)
  const { signal } = stop
  await assert.rejects(pair.client.subscribe('x://item/1', { signal }), { kind: 'Cancelled' })
  pair.target.alter = (message) => message
  const changes = await pair.client.subscribe(['x://item/10', 'x://item/1'])
  mute(pair.target, 'resources/unsubscribe')
  assert.ok((await timeOf(() => changes.close())) < 2_000)
})

test('in a session a resource stands for what lies below it, and not for one whose name begins the same', async () => {
  const server = shelf()
  await using pair = await connected(server, { revision: legacy })
  await using changes = await pair.client.subscribe('x://item/1')
  await using other = await pair.client.subscribe('x://item/10')
  server.updated('x://item/10')
  assert.deepEqual((await other.next()).value, { kind: 'resource', uri: 'x://item/10' })
  for (const uri of ['x://item/1/2', 'x://item/1#a', 'x://item/1?b', 'x://item/1']) {
    pair.target.say({ method: 'notifications/resources/updated', params: { uri } })
    assert.deepEqual((await changes.next()).value, { kind: 'resource', uri })
  }
})

test('a subscription that joins one that is refused is refused, too', async () => {
  await using pair = await connected(shelf(), { revision: legacy })
  let refuses = true
  pair.target.alter = (message, way) => {
    if (!refuses || way !== '>' || message.method !== 'resources/subscribe') return message
    setTimeout(() => pair.target.answer(Number(message.id), { code: -32602, message: 'no such' }, {}), 10)
    return undefined
  }
  const both = [1, 2].map(() => pair.client.subscribe('x://item/1'))
  for (const end of await Promise.allSettled(both)) assert.equal(end.status, 'rejected')
  assert.ok(!pair.target.sent().includes('resources/unsubscribe'))
  refuses = false
  const changes = await pair.client.subscribe('x://item/1')
  await changes.close()
  assert.equal(pair.target.sent().at(-1), 'resources/unsubscribe')
})
