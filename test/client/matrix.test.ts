// Defends: the client against a server of each single revision, of each two and of all, on every transport that carries it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, type Client, type ClientOptions } from '../../src/client.ts'
import { serveHttp } from '../../src/index.ts'
import { everything } from './everything.ts'
import { legacy, modern, quick, revisions } from './support.ts'
import { overHttp, ways } from './ways.ts'

async function tryEverything(client: Client, revision: string): Promise<void> {
  assert.equal(client.revision, revision)
  assert.equal((await client.tools()).length, 4)
  assert.deepEqual(JSON.parse((await client.call('add', { a: 1, b: 2 })).text), { sum: 3 })
  const heard: number[] = []
  await client.call('climbs', {}, { onProgress: ({ progress }) => heard.push(progress) })
  assert.deepEqual(heard, [1, 2, 3])
  assert.equal((await client.read('memo://a')).contents.length, 1)
  assert.equal((await client.get('greet', { name: 'Ada' })).messages.length, 1)
  const completion = { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: '' } } as const
  assert.deepEqual((await client.complete(completion)).values, ['Ada', 'Ben'])
  if (!client.features.has('elicitation')) return
  assert.deepEqual(JSON.parse((await client.call('asks')).text), { action: 'accept', content: { sure: true } })
}

const options = (): ClientOptions => quick({ elicit: () => ({ action: 'accept', content: { sure: true } }) })

const pairs = revisions.flatMap((older, i) => revisions.slice(i + 1).map((newer) => [older, newer] as const))

for (const way of ways) {
  for (const revision of way.carries) {
    test(`${way.name}, a server of ${revision} alone`, async () => {
      await using met = await way.connect([revision], options())
      await tryEverything(met.client, revision)
    })
  }
  for (const pair of pairs) {
    test(`${way.name}, a server of ${pair.join(' and ')}`, async () => {
      await using met = await way.connect(pair, options())
      await tryEverything(met.client, pair.findLast((revision) => way.carries.includes(revision)) ?? '')
    })
  }
  test(`${way.name}, a server of all`, async () => {
    await using met = await way.connect(revisions, options())
    await tryEverything(met.client, way.carries.at(-1) ?? '')
  })
}

for (const revision of revisions) {
  test(`a client of ${revision} alone speaks with a server of all, at whichever path has it`, async () => {
    for (const path of revision === modern ? ['/mcp'] : ['/mcp', '/sse']) {
      await using met = await overHttp(path, revisions, { ...options(), revision })
      await tryEverything(met.client, revision)
    }
  })
}

test('a URL of the older transport is found by itself', async () => {
  await using met = await overHttp('/sse', [legacy, '2024-11-05'], options())
  assert.equal(met.client.revision, legacy)
  assert.equal((await met.client.call('add', { a: 1, b: 2 })).isError, false)
})

test('arguments are repeated as headers, once the tool is known or the server misses them', async () => {
  for (const listed of [true, false]) {
    await using met = await overHttp('/mcp', [modern], options())
    if (listed) await met.client.tools()
    const answer = await met.client.call('mirrors', { region: 'süd', n: 3 })
    assert.deepEqual(JSON.parse(answer.text), ['süd', '=?base64?c8O8ZA==?='])
  }
})

test('changes are told over HTTP in both eras', async () => {
  for (const revision of [legacy, modern]) {
    const server = everything()
    const door = await serveHttp(server, { port: 0, revisions: [revision] })
    const client = await connect(door.url, options())
    const changes = await client.listen({ toolsListChanged: true, resourceSubscriptions: ['memo://a'] })
    server.updated('memo://a')
    assert.deepEqual((await changes.next()).value, { kind: 'resource', uri: 'memo://a' })
    await client.close()
    await door.close()
  }
})

test('a server that restarts is found again, with its subscriptions', async () => {
  for (const revision of [legacy, modern]) {
    const server = everything()
    const door = await serveHttp(server, { port: 0, revisions: [revision] })
    const client = await connect(door.url, quick({ retry: { delayMs: 50 } }))
    const changes = await client.subscribe('memo://a')
    const { port } = new URL(door.url)
    await door.close()
    // With other keys it knows nothing of the sessions before.
    const again = await serveHttp(everything({ keys: [new Uint8Array(32).fill(2)] }), {
      port: Number(port),
      revisions: [revision],
    })
    assert.equal((await client.call('add', { a: 1, b: 2 })).isError, false)
    assert.equal((await changes.next()).value?.kind, 'resumed')
    await client.close()
    await again.close()
  }
})
