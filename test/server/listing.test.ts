import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { prompt, resource, template, tool } from '../../src/index.ts'
import type { ResourceValue, Server, TemplateValue } from '../../src/index.ts'
import { clientOf, key, serverOf, staff } from './support.ts'
import type { TestClient } from '../../src/testing.ts'

const tools = (...names: string[]) => names.map((name) => tool(name, {}, () => name))

interface Page {
  readonly names: string[]
  readonly next: string | undefined
  readonly hints: unknown
  readonly code: number | undefined
}

async function page(client: TestClient, cursor?: string, method = 'tools/list', list = 'tools'): Promise<Page> {
  const { result, error } = await client.request(method, cursor === undefined ? {} : { cursor })
  const nouns = (result?.[list] ?? []) as { name: string }[]
  const next = result?.['nextCursor'] as string | undefined
  return {
    names: nouns.map(({ name }) => name),
    next,
    hints: [result?.['ttlMs'], result?.['cacheScope']],
    code: error?.code,
  }
}

async function walk(client: TestClient): Promise<string[]> {
  const all: string[] = []
  let next: string | undefined
  do {
    const here = await page(client, next)
    all.push(...here.names)
    next = here.next
  } while (next !== undefined)
  return all
}

test('pages join to the whole list, whatever their size', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 1, max: 13 }), async (count, pageSize) => {
      const names = Array.from({ length: count }, (_, at) => `t${at}`)
      const client = await clientOf(serverOf({ tools: tools(...names), pageSize }))
      assert.deepEqual(await walk(client), names)
    }),
    { numRuns: 40 },
  )
})

test('the last page has no cursor, and a list without entries is one page', async () => {
  const client = await clientOf(serverOf({ tools: tools('a', 'b'), pageSize: 2 }))
  assert.deepEqual(await page(client), { names: ['a', 'b'], next: undefined, hints: [0, 'public'], code: undefined })
})

test('a cursor survives changes elsewhere in the list', async () => {
  const server = serverOf({ tools: tools('a', 'b', 'c', 'd'), pageSize: 2 })
  const client = await clientOf(server)
  const { next } = await page(client)
  server.add(...tools('e'))
  server.remove('tool', 'a')
  server.replace(tool('c', { title: 'C' }, () => 'c'))
  assert.deepEqual((await page(client, next)).names, ['c', 'd'])
  assert.deepEqual((await page(client, (await page(client, next)).next)).names, ['e'])
})

test('a cursor whose last entry is gone goes on after where that stood', async () => {
  const server = serverOf({ tools: tools('a', 'b', 'c', 'd', 'e'), pageSize: 2 })
  const client = await clientOf(server)
  const { next } = await page(client)
  server.remove('tool', 'a')
  server.remove('tool', 'b')
  server.remove('tool', 'd')
  assert.deepEqual((await page(client, next)).names, ['c', 'e'])
})

test('whoever walks the list while it changes meets each entry that stays, once', async () => {
  const name = fc.integer({ min: 0, max: 9 }).map(String)
  const change = fc.record({ add: fc.boolean(), name })
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 6 }),
      async (pageSize, changes) => {
        const stays = ['keep1', 'keep2', 'keep3']
        const server = serverOf({ tools: tools('0', 'keep1', '1', '2', 'keep2', '3', 'keep3', '4'), pageSize })
        const client = await clientOf(server)
        const met: string[] = []
        let next: string | undefined
        let round = 0
        do {
          const here = await page(client, next)
          met.push(...here.names)
          next = here.next
          for (const { add, name } of changes[round++] ?? []) {
            server.remove('tool', name)
            if (add) server.add(...tools(name))
          }
        } while (next !== undefined)
        assert.deepEqual(
          met.filter((one) => stays.includes(one)),
          stays,
        )
      },
    ),
    { numRuns: 60 },
  )
})

test('a cursor of another list, another server, another key, or nobody is refused', async () => {
  const server = serverOf({
    tools: tools('a', 'b'),
    prompts: [prompt('a', {}), prompt('b', {})],
    resources: [resource('a://a', { name: 'a' })],
    pageSize: 1,
  })
  const client = await clientOf(server)
  const { next = '' } = await page(client)
  assert.deepEqual((await page(client, next)).names, ['b'])
  assert.equal((await page(client, next, 'prompts/list', 'prompts')).code, -32602)
  assert.equal((await page(client, next, 'resources/list', 'resources')).code, -32602)
  for (const bad of ['', 'a', `${next}x`, next.slice(1), next.toUpperCase(), 'null']) {
    assert.equal((await page(client, bad)).code, -32602, bad)
  }
  const other = await clientOf(serverOf({ tools: tools('a', 'b'), pageSize: 1, keys: [new Uint8Array(32).fill(2)] }))
  assert.equal((await page(other, next)).code, -32602)
})

test('a replica with the same key goes on with the cursor, also after the key was replaced', async () => {
  const make = (keys: Uint8Array[]): Server => serverOf({ tools: tools('a', 'b'), pageSize: 1, keys })
  const { next } = await page(await clientOf(make([key])))
  assert.deepEqual((await page(await clientOf(make([key])), next)).names, ['b'])
  assert.deepEqual((await page(await clientOf(make([new Uint8Array(32).fill(9), key])), next)).names, ['b'])
})

test('a cursor is no secret kept by who asked: it starts after the same entry for whoever sees less', async () => {
  const server = serverOf({
    tools: [...tools('a'), tool('s', { scopes: ['staff'] }, () => 's'), ...tools('b', 'c')],
    pageSize: 2,
  })
  const insider = await clientOf(server, { principal: staff })
  const { names, next } = await page(insider)
  assert.deepEqual(names, ['a', 's'])
  assert.deepEqual((await page(await clientOf(server), next)).names, ['b', 'c'])
})

test('empty lists answer with their own pages, on every server', async () => {
  const empty = { tools: [], prompts: [], resources: [] }
  const lists = [
    ['tools/list', 'tools'],
    ['prompts/list', 'prompts'],
    ['resources/list', 'resources'],
    ['resources/templates/list', 'resourceTemplates'],
  ] as const
  for (const cache of [{}, { prompts: { ttlMs: 7 }, tools: { ttlMs: 9 } }]) {
    const client = await clientOf(serverOf({ ...empty, cache }))
    for (const [method, list] of [...lists, ...lists.toReversed()]) {
      const { result } = await client.request(method)
      assert.deepEqual(result?.[list], [], method)
      assert.equal(result?.['ttlMs'], (cache as Record<string, { ttlMs: number }>)[list]?.ttlMs ?? 0, method)
    }
  }
})

test('a page that is asked for again and again never hands out a cursor that is about to end', async () => {
  let now = 1_000_000_000_000
  const day = 24 * 3600_000
  const client = await clientOf(serverOf({ tools: tools('a', 'b'), pageSize: 1, clock: () => now }))
  const first = await page(client)
  now += 10 * day
  assert.equal((await page(client)).next, first.next, 'kept while it is good')
  for (let days = 0; days < 90; days += 6) {
    now += 6 * day
    const { next } = await page(client)
    assert.notEqual(next, undefined)
    now += 14 * day
    assert.deepEqual((await page(client, next)).names, ['b'], `${days}`)
    now -= 14 * day
  }
})

test('hints are what was said, on every page', async () => {
  const server = serverOf({
    tools: tools('a', 'b'),
    pageSize: 1,
    cache: { tools: { ttlMs: 5000, cacheScope: 'public' } },
  })
  const client = await clientOf(server)
  const first = await page(client)
  assert.deepEqual(first.hints, [5000, 'public'])
  assert.deepEqual((await page(client, first.next)).hints, [5000, 'public'])
})

test('a list is private wherever it depends on who asks, on every page', async () => {
  const cache = { tools: { ttlMs: 5000, cacheScope: 'public' } } as const
  const scoped = serverOf({
    tools: [...tools('a', 'b'), tool('s', { scopes: ['staff'] }, () => 's')],
    pageSize: 1,
    cache,
  })
  const stranger = await clientOf(scoped)
  const first = await page(stranger)
  assert.deepEqual(first.hints, [5000, 'private'])
  assert.deepEqual((await page(stranger, first.next)).hints, [5000, 'private'])
  const known = await clientOf(serverOf({ tools: tools('a'), cache }), { principal: staff })
  assert.deepEqual((await page(known)).hints, [5000, 'private'])
})

test('older revisions hear of no hints', async () => {
  const client = await clientOf(serverOf({ tools: tools('a') }), { revision: '2025-11-25' })
  assert.deepEqual((await page(client)).hints, [undefined, undefined])
})

test('reading is private and kept by nobody, unless told', async () => {
  const server = serverOf({
    resources: [
      resource('a://a', { name: 'a' }, () => 'a'),
      resource('a://b', { name: 'b', cache: { ttlMs: 10, cacheScope: 'public' } }, () => 'b'),
    ],
  })
  const client = await clientOf(server)
  const hints = async (uri: string): Promise<unknown> => {
    const { result } = await client.request('resources/read', { uri })
    return [result?.['ttlMs'], result?.['cacheScope']]
  }
  assert.deepEqual(await hints('a://a'), [0, 'private'])
  assert.deepEqual(await hints('a://b'), [10, 'public'])
})

test('what scopes decide is read as private, whatever is said of it', async () => {
  const cache = { ttlMs: 10, cacheScope: 'public' } as const
  const scope = async (uri: string, ...resources: (ResourceValue | TemplateValue)[]): Promise<unknown> => {
    const client = await clientOf(serverOf({ resources }), { principal: staff })
    return (await client.request('resources/read', { uri })).result?.['cacheScope']
  }
  const read = () => 'x'
  const scopes = ['staff']
  const open = template('a://{id}', { name: 'a', cache }, read)
  assert.equal(await scope('a://1', open), 'public')
  assert.equal(await scope('a://1', resource('a://1', { name: 'a', cache }, read)), 'public')
  assert.equal(await scope('a://1', resource('a://1', { name: 'a', cache, scopes }, read)), 'private')
  assert.equal(await scope('a://1', template('a://{id}', { name: 'a', cache, scopes }, read)), 'private')
  const elsewhere = resource('a://1', { name: 'a', scopes: ['night'] }, read)
  assert.equal(await scope('a://1', open, elsewhere), 'private', 'others read something else there')
  assert.equal(await scope('a://1', open, template('a:{+id}', { name: 'a', scopes }, read)), 'private')
})
