import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster, Redis } from 'ioredis'
import { createClient } from 'redis'
import { isRefusal } from '../../src/model/refusal.ts'
import { isStoreUnavailable } from '../../src/model/store-unavailable.ts'
import { redis } from '../../src/store/redis.ts'
import { redisMissing, startRedis } from '../../tools/redis-server.ts'
import { hearsItself, outageContract } from './outages.ts'
import { addressOf, byPort, reachRedis } from './servers.ts'

const { url, missing } = reachRedis()
const noBinary = redisMissing()

for (const driver of ['ioredis', 'redis'] as const) {
  const remote = {
    target: () => addressOf(url(), 6379),
    open: (port: number, timeoutMs: number) => redis({ url: byPort(url(), port), driver, timeoutMs }),
  }
  outageContract(`redis by ${driver}`, remote, missing)
}

test('what was put is there after a crash of the server, and scripts are sent again', { skip: noBinary }, async () => {
  const server = await startRedis()
  const store = redis({ url: server.url })
  const version = await store.put('crash', 'kept')
  await store.append('crash', 'kept', { maxEntries: 5, expiresAt: Date.now() + 60_000 })
  await server.kill()
  await assert.rejects(store.get('crash'), isStoreUnavailable)
  await server.restart()
  for (;;) {
    if (
      await store.get('recovered').then(
        () => true,
        () => false,
      )
    )
      break
  }
  assert.deepEqual(await store.get('crash'), { value: 'kept', version })
  assert.equal(await store.append('crash', 'next', { maxEntries: 5, expiresAt: Date.now() + 60_000 }), 2)
  await store.close()
  await server.stop()
})

test('clients of either package can be handed in, and stay as they are', { skip: missing }, async () => {
  const io = new Redis(url(), { lazyConnect: true })
  const node = createClient({ url: url() })
  for (const client of [io, node]) {
    const store = redis(client)
    assert.notEqual(await store.put('handed', 'in'), undefined)
    await hearsItself(store)
    await store.close()
  }
  assert.equal(io.status, 'wait')
  assert.equal(node.isOpen, false)
})

test('a full server refuses as StoreFull, and goes on answering', { skip: noBinary }, async () => {
  const server = await startRedis()
  const admin = new Redis(server.url)
  const store = redis({ url: server.url })
  await store.put('kept', 'a')
  await admin.config('SET', 'maxmemory', '1')
  await assert.rejects(store.put('new', 'a'), { kind: 'StoreFull' })
  await assert.rejects(store.put('new/grouped', 'a', { maxInGroup: 3 }), { kind: 'StoreFull' })
  await assert.rejects(store.append('new', 'a', { maxEntries: 3, expiresAt: Date.now() + 60_000 }), {
    kind: 'StoreFull',
  })
  assert.equal((await store.get('kept'))?.value, 'a')
  await admin.config('SET', 'maxmemory', '0')
  assert.equal(await store.get('new'), undefined)
  await store.close()
  admin.disconnect()
  await server.stop()
})

for (const driver of ['ioredis', 'redis'] as const) {
  test(`by ${driver}, a text that is longer than Redis takes is refused as StoreFull, and harms nobody`, async (context) => {
    if (noBinary !== undefined) return context.skip(noBinary)
    const server = await startRedis()
    const admin = new Redis(server.url)
    const store = redis({ url: server.url, driver })
    await store.put('kept', 'a')
    await admin.config('SET', 'proto-max-bulk-len', '2mb')
    const [long, most] = ['é'.repeat(2 ** 20 + 1), 'é'.repeat(2 ** 20)]
    const options = { maxEntries: 3, expiresAt: Date.now() + 60_000 }
    const refused = [
      store.put('new', long),
      store.put('new/grouped', long, { maxInGroup: 3 }),
      store.append('new', long, options),
    ]
    const beside = Promise.all([store.get('kept'), store.put('beside', 'b')])
    await Promise.all(refused.map((each) => assert.rejects(each, { kind: 'StoreFull' })))
    assert.equal((await beside)[0]?.value, 'a')
    assert.notEqual(await store.put('new', most), undefined)
    assert.equal((await store.get('new'))?.value, most)
    assert.equal(await store.append('new', most, options), 1)
    await store.close()
    admin.disconnect()
    await server.stop()
  })
}

test('where Redis does not tell how long a text may be, its refusal does', { skip: noBinary }, async () => {
  const server = await startRedis()
  const admin = new Redis(server.url)
  await admin.config('SET', 'proto-max-bulk-len', '1mb')
  await admin.call('ACL', 'SETUSER', 'default', '-config')
  const store = redis({ url: server.url })
  await store.put('kept', 'a')
  // It breaks the connection with that, so that its words may be lost.
  for (let attempts = 0; ; attempts++) {
    const thrown = await store.put('new', 'a'.repeat(2 ** 20 + 1)).catch((error: unknown) => error)
    if (isRefusal(thrown) && thrown.kind === 'StoreFull') break
    assert.ok(isStoreUnavailable(thrown) && attempts < 200, String(thrown))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await store.close()
  admin.disconnect()
  await server.stop()
})

test('the names of a group go with its values', { skip: missing }, async () => {
  const admin = new Redis(url())
  const store = redis({ url: url(), prefix: 'tidy:' })
  await store.put('group/a', 'x', { expiresAt: Date.now() + 100, evict: 'first' })
  await store.put('group/b', 'x', { expiresAt: Date.now() + 300 })
  await store.put('other/a', 'x')
  await store.delete('other/a')
  for (const last = Date.now() + 5000; (await admin.keys('tidy:*')).length > 0 && Date.now() < last;);
  assert.deepEqual(await admin.keys('tidy:*'), [])
  await store.close()
  admin.disconnect()
})

test('in a cluster, each script keeps to one slot', { skip: noBinary }, async () => {
  const alone = await startRedis({ cluster: true })
  const { hostname: host, port } = new URL(alone.url)
  const store = redis(new Cluster([{ host, port: Number(port) }], { lazyConnect: true }))
  for (const key of ['plain', 'odd{}/a', '}{/a', 'group/a', 'group/b', 'a{b}c', '/a']) {
    assert.notEqual(
      await store.put(key, key, { maxInGroup: 5, evict: 'last', expiresAt: Date.now() + 60_000 }),
      undefined,
    )
    assert.equal((await store.get(key))?.value, key)
    if (key.includes('/')) assert.ok((await store.list(key.slice(0, key.indexOf('/')))).length > 0)
    assert.equal(await store.append(key, 'x', { maxEntries: 2, expiresAt: Date.now() + 60_000 }), 1)
    assert.equal((await store.read(key, 0)).entries.length, 1)
    assert.equal(await store.delete(key), true)
  }
  await hearsItself(store)
  await store.close()
  await alone.stop()
})

test('what cannot be told apart is refused', () => {
  assert.throws(() => redis({}), TypeError)
  assert.throws(() => redis({ url: 'redis://127.0.0.1', prefix: 'a{b}' }), TypeError)
})
