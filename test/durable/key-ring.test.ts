import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createServer, form, memoryStore, tool } from '../../src/index.ts'
import type { Store } from '../../src/index.ts'
import { createStoredSeal, loadKeys } from '../../src/durable/key-ring.ts'
import { isRefusal } from '../../src/model/refusal.ts'
import { sqlite } from '../../src/sqlite.ts'
import { overHttp, overMemory, toldBy } from '../once/speakers.ts'
import { flakyStore, recorder } from './fakes.ts'

const random = randomBytes
const options = (store: Store) => ({ store, random, clock: Date.now, logger: recorder().logger })

test('all who share a store have one key, whoever comes first', async () => {
  const store = memoryStore()
  const rings = await Promise.all(Array.from({ length: 10 }, () => loadKeys({ store, random })))
  for (const ring of rings) assert.deepEqual(ring, rings[0])
  assert.equal(rings[0]?.length, 1)
  assert.equal(rings[0]?.[0]?.length, 32)
})

test('what one seals the other opens', async () => {
  const store = memoryStore()
  const [one, other] = [createStoredSeal(options(store)), createStoredSeal(options(store))]
  assert.ok(one.loading)
  await Promise.all([one.loading, other.loading])
  assert.equal(one.loading, undefined)
  assert.deepEqual(other.open('state', one.seal('state', { a: 1 }, Date.now() + 1_000)), { a: 1 })
})

test('until the keys are there it refuses, and they are fetched once the store is back', async () => {
  const flaky = flakyStore(memoryStore())
  const seal = createStoredSeal(options(flaky.store))
  flaky.away = 'before'
  await assert.rejects(seal.loading ?? Promise.resolve())
  await assert.rejects(seal.loading ?? Promise.resolve())
  assert.throws(
    () => seal.open('state', 'x'),
    (error) => isRefusal(error) && error.kind === 'Overloaded',
  )
  flaky.away = undefined
  await assert.rejects(seal.loading ?? Promise.resolve(), 'not tried again at once')
  await delay(1_050)
  await seal.loading
  assert.equal(seal.open('state', 'x'), undefined)
})

test('a question waits for keys that cannot be had just now', async () => {
  const flaky = flakyStore(memoryStore())
  const store = { ...flaky.store, durable: true }
  const ask = tool('ask', {}, async (_, ctx) => (await ctx.elicit('sure', sure, 'Sure?')).action)
  const speaker = await overMemory(createServer({ name: 'shop', version: '1', store, tools: [ask] }), '2026-07-28')
  flaky.away = 'before'
  const asked = speaker.call('ask', {})
  const alive = setTimeout(() => {}, 5_000)
  await delay(300)
  flaky.away = undefined
  assert.equal((await asked).result?.['resultType'], 'input_required')
  clearTimeout(alive)
  await speaker.close()
})

const sure = form({ type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] })
const yes = { action: 'accept', content: { sure: true } }

/** A server that is told no key, but where its file is. */
function shop(path: string, long = '') {
  const { logger, at } = recorder()
  const store = sqlite({ path })
  const ask = tool('ask', {}, async (_, ctx) => {
    await ctx.step('long', () => long)
    const answer = await ctx.elicit('sure', sure, 'Sure?')
    return answer.action
  })
  const server = createServer({
    name: 'shop',
    version: '1',
    store,
    logger,
    tools: [ask, tool('ping', {}, () => 'pong')],
  })
  return { server, store, at }
}

function inFolder(run: (path: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-keys-'))
    await run(join(folder, 'shop.db')).finally(() => rmSync(folder, { recursive: true, force: true }))
  }
}

for (const [what, long] of [
  ['', ''],
  [' that is too long for the client', 'x'.repeat(20_000)],
] as const) {
  test(
    `a state${what} is good after a restart, without any configuration`,
    inFolder(async (path) => {
      const before = shop(path, long)
      const first = await overMemory(before.server, '2026-07-28')
      const { result } = await first.call('ask', {})
      assert.ok(String(result?.['requestState']).length < 10_000)
      await first.close()
      await before.store.close()
      const after = shop(path, long)
      const second = await overMemory(after.server, '2026-07-28')
      const params = { requestState: String(result?.['requestState']), inputResponses: { sure: yes } }
      assert.equal(toldBy(await second.call('ask', {}, { params })), 'accept')
      await second.close()
      await after.store.close()
    }),
  )
}

test(
  'a server over HTTP answers at once, sessions included, and warns of nothing when its store is durable',
  inFolder(async (path) => {
    const { server, store, at } = shop(path)
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const speaker = await overHttp(server, revision)
      assert.equal(toldBy(await speaker.call('ping', {})), 'pong')
      await speaker.close()
    }
    assert.deepEqual(at('warn'), [])
    await store.close()
  }),
)

test('a server over HTTP with a store in memory warns once', async () => {
  const { logger, at } = recorder()
  const server = createServer({ name: 'shop', version: '1', logger })
  for (let doors = 0; doors < 2; doors++) await (await overHttp(server, '2026-07-28')).close()
  assert.equal(at('warn').length, 1)
})
