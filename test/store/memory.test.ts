import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { isRefusal } from '../../src/model/refusal.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { storeContract } from './contract.ts'
import type { StoreUnderTest } from './contract.ts'

function open(): StoreUnderTest {
  let time = 1_000_000
  return {
    store: memoryStore({ clock: () => time }),
    now: () => time,
    second: 1000,
    advance: (milliseconds) => void (time += milliseconds),
  }
}

storeContract('memory', open)

const isFull = (error: unknown): boolean => isRefusal(error) && error.kind === 'StoreFull'

test('it does not call itself durable', () => assert.equal(memoryStore().durable, false))

test('a full store refuses what is new and takes what replaces', async () => {
  let time = 0
  const store = memoryStore({ maxKeys: 2, clock: () => time })
  await store.put('a', '1', { expiresAt: 10 })
  await store.append('log', '1', { maxEntries: 1, expiresAt: 1000 })
  await assert.rejects(store.put('b', '1'), isFull)
  await assert.rejects(store.append('log2', '1', { maxEntries: 1, expiresAt: 1000 }), isFull)
  await store.put('a', '2', { expiresAt: 10 })
  await store.append('log', '2', { maxEntries: 1, expiresAt: 1000 })
  time = 10
  await store.put('b', '1')
  await assert.rejects(store.put('c', '1'), isFull)
  await store.delete('b')
  await store.put('c', '1')
})

test('its length is bounded, and what goes gives way', async () => {
  let time = 0
  const store = memoryStore({ maxLength: 20, clock: () => time })
  await store.put('a', 'x'.repeat(9))
  await store.append('l', 'x'.repeat(4), { maxEntries: 1, expiresAt: 10 })
  await assert.rejects(store.put('b', 'x'.repeat(5)), isFull)
  await assert.rejects(store.put('a', 'x'.repeat(15)), isFull)
  assert.equal((await store.get('a'))?.value, 'x'.repeat(9))
  await store.append('l', 'y'.repeat(5), { maxEntries: 1, expiresAt: 10 })
  assert.equal((await store.read('l', 0)).entries[0]?.value, 'yyyyy')
  time = 10
  await store.put('b', 'x'.repeat(9))
  await store.delete('a')
  await store.put('c', 'x'.repeat(9))
  await assert.rejects(store.put('d', ''), isFull)
})

test('what may go makes room, that of the heaviest group first', async () => {
  const store = memoryStore({ maxLength: 100, maxKeys: 8 })
  const put = (key: string, length: number, evict: 'never' | 'first' | 'last'): Promise<number | undefined> =>
    store.put(key, 'x'.repeat(length - key.length), { evict })
  const kept = async (): Promise<string> =>
    (await Promise.all(['a', 'b', 'c'].map((group) => store.list(group))))
      .flat()
      .map(({ key }) => key)
      .join()
  await put('a/1', 30, 'first')
  await put('b/1', 20, 'first')
  await put('a/2', 20, 'last')
  await put('c/1', 10, 'never')
  await put('b/2', 20, 'first')
  assert.equal(await kept(), 'a/1,a/2,b/1,b/2,c/1')
  await put('b/3', 10, 'first')
  assert.equal(await kept(), 'a/1,a/2,b/2,b/3,c/1')
  await store.append('log', 'x'.repeat(27), { maxEntries: 1, expiresAt: Infinity })
  assert.equal(await kept(), 'a/2,b/2,b/3,c/1')
  await assert.rejects(put('c/2', 61, 'never'), isFull)
  assert.equal(await kept(), 'a/2,b/2,b/3,c/1')
  await put('c/2', 60, 'never')
  assert.equal(await kept(), 'c/1,c/2')
})

test('a value that grows gives way to no others and is not let go for itself', async () => {
  const store = memoryStore({ maxLength: 20 })
  await store.put('a/1', 'x', { evict: 'first' })
  await store.put('a/2', 'x', { evict: 'first' })
  await store.put('a/1', 'x'.repeat(17), { evict: 'first' })
  assert.deepEqual(
    (await store.list('a')).map(({ key }) => key),
    ['a/1'],
  )
  await assert.rejects(store.put('a/1', 'x'.repeat(18), { evict: 'first' }), isFull)
  assert.equal((await store.get('a/1'))?.value.length, 17)
})

test('where there are too many keys, what may go makes room too', async () => {
  const store = memoryStore({ maxKeys: 2 })
  await store.put('a/1', 'x', { evict: 'last' })
  await store.put('b/1', 'x', { evict: 'never' })
  await store.put('c/1', 'x')
  assert.equal(await store.get('a/1'), undefined)
  await assert.rejects(store.put('c/2', 'x'), isFull)
})

test('replacing one value over and over holds no memory', async () => {
  let time = 0
  const store = memoryStore({ clock: () => time, maxKeys: 1 })
  for (time = 0; time < 200_000; time++) await store.put('a', 'x', { expiresAt: time + 1e9 })
  globalThis.gc?.()
  const started = performance.now()
  time = 2e9
  assert.equal(await store.get('a'), undefined)
  assert.ok(performance.now() - started < 20)
})

test('many values with many expiries go in time', async () => {
  let time = 0
  const store = memoryStore({ clock: () => time })
  const order = Array.from({ length: 20_000 }, (_, at) => (at * 7919) % 20_000)
  for (const at of order) await store.put(`k${at}`, 'x', { expiresAt: at + 1 })
  for (const at of [0, 1, 777, 10_000, 19_999]) {
    time = at
    assert.notEqual(await store.get(`k${at}`), undefined)
    time = at + 1
    assert.equal(await store.get(`k${at}`), undefined)
    assert.equal(await store.get(`k${Math.max(0, at - 1)}`), undefined)
  }
})

/** Runs a module in a process of its own, from the repository's root; returns what it prints. */
function runAlone(script: string): string {
  const flags = ['--import', 'tsx', '--input-type=module', '-e', script]
  return execFileSync(process.execPath, flags, { timeout: 10_000, encoding: 'utf8' })
}

test('a listener that throws takes nothing from the others, and is not silenced', () => {
  assert.equal(
    runAlone(`
    import { memoryStore } from './src/store/memory.ts'
    process.on('uncaughtException', (error) => console.log('uncaught', error.message))
    const store = memoryStore()
    await store.subscribe('c', () => { throw new Error('mine') })
    await store.subscribe('c', (message) => console.log('heard', message))
    await store.publish('c', 'a')
  `),
    'uncaught mine\nheard a\n',
  )
})

test('it keeps no process alive', () => {
  assert.equal(
    runAlone(`
    import { memoryStore } from './src/store/memory.ts'
    const store = memoryStore()
    await store.put('a', 'b', { expiresAt: Date.now() + 3600_000 })
    await store.subscribe('c', () => {})
    console.log('over')
  `),
    'over\n',
  )
})
