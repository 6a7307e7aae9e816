// Defends: what changes while it is being read is read again: an answer from before a change is kept for nobody.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReadings } from '../../src/client/readings.ts'
import { memoryListCache } from '../../src/client/list-cache.ts'
import { resource, tool } from '../../src/index.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { until } from '../transport/dial/support.ts'
import { serverOf } from '../server/support.ts'
import { add, connected, legacy, modern } from './support.ts'

const list = 'tools/list'
const changed = { method: 'notifications/tools/list_changed' }
const names = (tools: readonly { readonly name: string }[]): string[] => tools.map(({ name }) => name)

/** Holds back the answers to `method`, to be let through in any order. */
function holding(pair: Awaited<ReturnType<typeof connected>>, method: string) {
  const asked = new Set<unknown>()
  const held: { readonly message: JsonObject; let(): void }[] = []
  let holds = true
  pair.target.alter = (message, way) => {
    if (way === '>' && message.method === method) asked.add(message.id)
    if (!holds || way === '>' || !asked.has(message.id) || message.method !== undefined) return message
    const { jsonrpc: _, ...rest } = message
    held.push({ message, let: () => pair.target.say(rest) })
    return undefined
  }
  return { held, release: () => (holds = false) }
}

for (const [revision, ttlMs] of [
  [legacy, undefined],
  [modern, 60_000],
] as const) {
  test(`${revision}: a list that changes while it is read is not kept`, async () => {
    await using pair = await connected(serverOf({ tools: [add] }), { revision })
    const { client, target } = pair
    let now = ['before']
    const hold = holding(pair, list)
    const { alter } = target
    target.alter = (message, way) => {
      const result = message.result as JsonObject | undefined
      const listed = now.map((name) => ({ name, inputSchema: { type: 'object' } }))
      const whole = { ...result, tools: listed, ...(ttlMs !== undefined && { ttlMs }) }
      return alter(way === '<' && result?.tools ? { ...message, result: whole } : message, way)
    }
    const first = client.tools()
    await until(() => hold.held.length === 1)
    now = ['after']
    target.say(changed)
    const second = client.tools()
    await until(() => hold.held.length === 2)
    // The newer answer comes first: the older one takes nothing back.
    hold.held[1]?.let()
    assert.deepEqual(names(await second), ['after'])
    hold.held[0]?.let()
    assert.deepEqual(names(await first), ['before'])
    assert.deepEqual(names(await client.tools()), ['after'])
    assert.equal(hold.held.length, 2)

    target.say(changed)
    const third = client.tools()
    await until(() => hold.held.length === 3)
    now = ['last']
    target.say(changed)
    hold.held[2]?.let()
    assert.deepEqual(names(await third), ['after'])
    hold.release()
    assert.deepEqual(names(await client.tools()), ['last'])
  })
}

test('what a list says of a tool is known although it changed meanwhile, until it is read again', async () => {
  await using pair = await connected(
    serverOf({ tools: [tool('x', { annotations: { idempotentHint: true } }, () => '')] }),
  )
  const hold = holding(pair, list)
  const reading = pair.client.tools()
  await until(() => hold.held.length === 1)
  pair.target.say(changed)
  hold.held[0]?.let()
  assert.equal((await reading).length, 1)
  hold.release()
  assert.equal((await pair.client.call('x')).isError, false)
})

test('a resource that changes while it is read is not kept', async () => {
  const cache = memoryListCache()
  const memo = resource('memo://a', { name: 'a', cache: { ttlMs: 60_000 } }, () => 'a')
  await using pair = await connected(serverOf({ resources: [memo] }), { revision: modern, cache })
  const hold = holding(pair, 'resources/read')
  const read = () => pair.client.read('memo://a')
  for (const [at, says] of [
    { method: 'notifications/resources/updated', params: { uri: 'memo://a' } },
    undefined,
  ].entries()) {
    const reading = read()
    await until(() => hold.held.length === at + 1)
    if (says) pair.target.say(says)
    hold.held[at]?.let()
    await reading
  }
  // The second was kept, and so it is not asked for again.
  await read()
  assert.equal(hold.held.length, 2)
})

test('readings: each change makes those old that had begun, of its own name alone', () => {
  const readings = createReadings()
  const [one, other] = [readings.begin('a'), readings.begin('b')]
  readings.changed('a')
  const next = readings.begin('a')
  assert.deepEqual([one.isOld, other.isOld, next.isOld], [true, false, false])
  readings.reset()
  assert.deepEqual([one.isOld, other.isOld, next.isOld], [true, true, true])
  for (const reading of [one, other, next]) reading.end()
  assert.equal(readings.size, 0)
})
