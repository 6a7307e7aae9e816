// Defends: lists are whole, bounded, kept only while they are good and only for whom they are, and never broken by one
// bad entry.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { connect } from '../../src/client.ts'
import { memoryListCache } from '../../src/client/list-cache.ts'
import { readPages } from '../../src/client/paging.ts'
import { prompt, resource, template, tool } from '../../src/index.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { silent, type LogFields } from '../../src/model/ports.ts'
import { serverOf } from '../server/support.ts'
import { memoryTarget, type MemoryTarget } from './memory-link.ts'
import { add, connected, eras, legacy, modern, quick, revisions } from './support.ts'

const many = Array.from({ length: 7 }, (_, i) => tool(`t${i}`, {}, () => ''))
const asked = (target: MemoryTarget, method: string): number => target.sent().filter((sent) => sent === method).length

for (const revision of revisions) {
  test(`${revision}: every kind, from all pages`, async () => {
    const server = serverOf({
      pageSize: 3,
      tools: many,
      resources: [
        ...[1, 2, 3, 4].map((i) => resource(`memo://${i}`, { name: `r${i}` }, () => '')),
        template('memo://{x}', { name: 'x' }, () => ''),
      ],
      prompts: [prompt('p', {}, () => 'p')],
    })
    await using pair = await connected(server, { revision })
    const { client, target } = pair
    assert.deepEqual(
      (await client.tools()).map(({ name }) => name),
      many.map(({ name }) => name),
    )
    assert.equal(asked(target, 'tools/list'), 3)
    assert.equal((await client.resources()).length, 4)
    assert.deepEqual(
      (await client.resourceTemplates()).map(({ uriTemplate }) => uriTemplate),
      ['memo://{x}'],
    )
    assert.deepEqual(
      (await client.list('prompts')).map(({ name }) => name),
      ['p'],
    )
  })
}

test('a list that the server does not have is empty, and not asked for', async () => {
  await using pair = await connected()
  assert.deepEqual(await pair.client.prompts(), [])
  assert.equal(asked(pair.target, 'prompts/list'), 0)
})

test('those who want a list at once read it once', async () => {
  await using pair = await connected()
  await Promise.all([pair.client.tools(), pair.client.tools(), pair.client.tools()])
  assert.equal(asked(pair.target, 'tools/list'), 1)
})

test('in a session a list is kept until it changes', async () => {
  const server = serverOf({ tools: [add] })
  await using pair = await connected(server, { revision: legacy })
  await pair.client.tools()
  await pair.client.tools()
  assert.equal(asked(pair.target, 'tools/list'), 1)
  server.add(many[0] ?? add)
  await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal((await pair.client.tools()).length, 2)
})

test('where requests stand alone a list is kept as long as it says, and no longer', async () => {
  await using never = await connected(serverOf({ tools: [add] }), { revision: modern })
  await never.client.tools()
  await never.client.tools()
  assert.equal(asked(never.target, 'tools/list'), 2)
  await using kept = await connected(serverOf({ tools: [add], cache: { tools: { ttlMs: 60 } } }), { revision: modern })
  await kept.client.tools()
  await kept.client.tools()
  assert.equal(asked(kept.target, 'tools/list'), 1)
  await new Promise((resolve) => setTimeout(resolve, 80))
  await kept.client.tools()
  assert.equal(asked(kept.target, 'tools/list'), 2)
})

test('what is public is shared by all who use a cache; what is private by none but the same context', async () => {
  for (const [cacheScope, contexts, requests] of [
    ['public', ['ada', 'ben'], 1],
    ['private', ['ada', 'ben'], 2],
    ['private', ['ada', 'ada'], 1],
    ['private', [undefined, undefined], 2],
    ['public', [undefined, 'ada'], 1],
  ] as const) {
    const cache = memoryListCache()
    const server = serverOf({ tools: [add], cache: { tools: { ttlMs: 60_000, cacheScope } } })
    let sent = 0
    for (const context of contexts) {
      const target = memoryTarget(server, { key: 'one', ...(context !== undefined && { context }) })
      await using client = await connect(target, quick({ cache }))
      assert.equal((await client.tools()).length, 1)
      sent += asked(target, 'tools/list')
    }
    assert.equal(sent, requests, `${cacheScope} ${contexts.join()}`)
  }
})

test('a cache or a store of verdicts that fails is as good as none', async () => {
  const broken = (): never => {
    throw new Error('away')
  }
  const away = { get: broken, set: () => Promise.reject(new Error('away')), delete: broken }
  const server = serverOf({ tools: [add], cache: { tools: { ttlMs: 60_000 } } })
  for (const revision of eras) {
    await using pair = await connected(server, { revision, cache: away, verdicts: away })
    assert.equal((await pair.client.tools()).length, 1)
    assert.equal((await pair.client.call('add', { a: 1, b: 2 })).isError, false)
    pair.target.say({ method: 'notifications/tools/list_changed' })
    assert.equal((await pair.client.tools()).length, 1)
  }
})

test('a resource is kept as long as it says, and until it changes', async () => {
  const memo = resource('memo://a', { name: 'a', cache: { ttlMs: 60_000 } }, () => 'a')
  const server = serverOf({ resources: [memo] })
  await using pair = await connected(server, { revision: modern })
  pair.target.alter = (message, way) => {
    const result = message.result as JsonObject | undefined
    return way === '<' && result?.contents ? { ...message, result: { ...result, ttlMs: 60_000 } } : message
  }
  await pair.client.read('memo://a')
  await pair.client.read('memo://a')
  assert.equal(asked(pair.target, 'resources/read'), 1)
  await using changes = await pair.client.subscribe('memo://a')
  server.updated('memo://a')
  await changes.next()
  await pair.client.read('memo://a')
  assert.equal(asked(pair.target, 'resources/read'), 2)
})

for (const revision of eras) {
  test(`${revision}: an old code for what is not there is understood`, async () => {
    await using pair = await connected(serverOf({ resources: [resource('memo://a', { name: 'a' }, () => 'a')] }), {
      revision,
    })
    await assert.rejects(pair.client.read('memo://nothing'), { kind: 'UnknownResource', ran: 'no' })
    pair.target.alter = (message, way) =>
      way === '<' && message.error ? { ...message, error: { code: -32002, message: 'gone' } } : message
    await assert.rejects(pair.client.read('memo://nothing'), { kind: 'UnknownResource', code: -32002 })
  })
}

test('output schemas: checked where they can be, never fetched, never in the way of a list', async () => {
  const warned: unknown[] = []
  const logger = { ...silent, warn: (_message: string, fields?: LogFields) => void warned.push(fields?.tool) }
  await using pair = await connected(serverOf({ tools: [add] }), { revision: modern, logger })
  let schema: JsonObject = { type: 'object', properties: { sum: { type: 'string' } }, required: ['sum'] }
  pair.target.alter = (message, way) => {
    const result = message.result as JsonObject | undefined
    if (way === '>' || !result?.tools) return message
    const [listed] = result.tools as JsonObject[]
    return { ...message, result: { ...result, tools: [{ ...listed, outputSchema: schema }, { name: 5 }, null] } }
  }
  assert.equal((await pair.client.tools()).length, 1)
  await assert.rejects(pair.client.call('add', { a: 1, b: 2 }), { kind: 'InvalidResult', ran: 'yes', message: /sum/ })
  for (const bad of [{ $ref: 'https://example.com/schema.json' }, { type: 'nonsense' }, { $ref: '#/nowhere' }]) {
    schema = bad
    assert.equal((await pair.client.tools()).length, 1)
    assert.deepEqual((await pair.client.call('add', { a: 1, b: 2 })).structured, { sum: 3 })
  }
  assert.deepEqual(warned.filter((one) => one === 'add').length, 3)
})

test('results are not checked for who does not want that', async () => {
  await using pair = await connected(serverOf({ tools: [add] }), { validate: false })
  pair.target.alter = (message, way) => {
    const result = message.result as JsonObject | undefined
    return way === '<' && result?.structuredContent
      ? { ...message, result: { ...result, structuredContent: {} } }
      : message
  }
  await pair.client.tools()
  assert.deepEqual((await pair.client.call('add', { a: 1, b: 2 })).structured, {})
})

const limits = { maxPages: 5, maxItems: 12 }
const entry = fc.oneof(fc.record({ name: fc.string() }), fc.constant(null), fc.constant({ other: 1 }))
const page = fc.record(
  {
    tools: fc.oneof(fc.array(entry, { maxLength: 6 }), fc.constant('none')),
    nextCursor: fc.oneof(fc.constantFrom('', 'a', 'b', 'c', 'd', 'e', 'f'), fc.integer()),
    ttlMs: fc.integer({ min: -5, max: 5 }),
    cacheScope: fc.constantFrom('public', 'private'),
  },
  { requiredKeys: ['tools'] },
)

test('law: whatever the pages are, reading ends within the limits, with named entries alone', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(page, { minLength: 1, maxLength: 9 }), fc.boolean(), async (pages, emptyMeansMore) => {
      let fetched = 0
      const fetch = async (): Promise<JsonObject> => pages[fetched++ % pages.length] ?? {}
      const whole = await readPages(fetch, { member: 'tools', named: 'name' }, emptyMeansMore, limits, silent)
      assert.ok(fetched <= limits.maxPages)
      assert.ok(whole.items.length <= limits.maxItems)
      assert.ok(whole.items.every(({ name }) => typeof name === 'string'))
      const seen = Array.from({ length: fetched }, (_, i) => pages[i % pages.length])
      const ttls = seen.flatMap((one) => (one?.ttlMs === undefined ? [] : [Math.max(0, one.ttlMs)]))
      assert.equal(whole.ttlMs, ttls.length > 0 ? Math.min(...ttls) : undefined)
      assert.equal(
        whole.isPublic,
        seen.every((one) => one?.cacheScope === 'public'),
      )
    }),
  )
})
