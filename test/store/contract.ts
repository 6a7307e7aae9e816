import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../src/model/store.ts'

export interface StoreUnderTest {
  readonly store: Store
  /** Lets the store's time pass. */
  advance(milliseconds: number): Promise<void> | void
  /** The store's time, in milliseconds since the epoch. */
  now(): number
  /** A second store over the same data, where the adapter can have one. */
  readonly other?: Store
}

/**
 * What every store must do, whatever is behind it. `open` makes a fresh store for each test; tests use keys of their
 * own, so that one database may serve them all.
 */
export function storeContract(name: string, open: () => Promise<StoreUnderTest> | StoreUnderTest): void {
  let count = 0
  function check(title: string, run: (under: StoreUnderTest, key: string) => Promise<void>): void {
    test(`${name}: ${title}`, async () => {
      const under = await open()
      try {
        await run(under, `contract:${process.pid}:${Date.now()}:${count++}`)
      } finally {
        await under.other?.close()
        await under.store.close()
      }
    })
  }

  checkValues(check)
  checkExpiry(check)
  checkLogs(check)
  checkBus(check)

  test(`${name}: a closed store rejects everything`, async () => {
    const { store, now, other } = await open()
    await store.close()
    await other?.close()
    await assert.rejects(store.get('a'))
    await assert.rejects(store.put('a', 'b'))
    await assert.rejects(store.delete('a'))
    await assert.rejects(store.append('a', 'b', { maxEntries: 1, expiresAt: now() + 1000 }))
    await assert.rejects(store.read('a', 0))
    await assert.rejects(store.publish('a', 'b'))
    await assert.rejects(store.subscribe('a', () => {}))
  })
}

type Check = (title: string, run: (under: StoreUnderTest, key: string) => Promise<void>) => void

function checkValues(check: Check): void {
  check('an absent key is undefined, and deleting it is no error', async ({ store }, key) => {
    assert.equal(await store.get(key), undefined)
    await store.delete(key)
  })

  check('what is put is got, with its version, until it is deleted', async ({ store }, key) => {
    const version = await store.put(key, 'one')
    assert.ok(Number.isSafeInteger(version))
    assert.deepEqual(await store.get(key), { value: 'one', version })
    await store.delete(key)
    assert.equal(await store.get(key), undefined)
  })

  check('any text survives', async ({ store }, key) => {
    for (const value of ['', '\0\n"\\\'', 'é世界🌍', '{"a":1}', 'x'.repeat(300_000)]) {
      await store.put(`${key}:é' 🌍`, value)
      assert.equal((await store.get(`${key}:é' 🌍`))?.value, value)
    }
  })

  check('keys that differ in case or blanks differ', async ({ store }, key) => {
    await store.put(key, 'lower')
    assert.equal(await store.get(key.toUpperCase()), undefined)
    assert.equal(await store.get(`${key} `), undefined)
  })

  check('each put has another version, also after a deletion', async ({ store }, key) => {
    const versions = new Set<number | undefined>()
    for (let round = 0; round < 3; round++) {
      versions.add(await store.put(key, 'a'))
      versions.add(await store.put(key, 'a'))
      await store.delete(key)
    }
    assert.equal(versions.size, 6)
    assert.ok(!versions.has(undefined) && !versions.has(0))
  })

  check('ifVersion 0 puts only what is absent', async ({ store }, key) => {
    assert.notEqual(await store.put(key, 'first', { ifVersion: 0 }), undefined)
    assert.equal(await store.put(key, 'second', { ifVersion: 0 }), undefined)
    assert.equal((await store.get(key))?.value, 'first')
  })

  check('ifVersion puts only over that version', async ({ store }, key) => {
    assert.equal(await store.put(key, 'x', { ifVersion: 7 }), undefined)
    assert.equal(await store.get(key), undefined)
    const first = (await store.put(key, 'one')) ?? assert.fail()
    const second = (await store.put(key, 'two', { ifVersion: first })) ?? assert.fail()
    assert.equal(await store.put(key, 'late', { ifVersion: first }), undefined)
    assert.deepEqual(await store.get(key), { value: 'two', version: second })
    await store.delete(key)
    assert.equal(await store.put(key, 'late', { ifVersion: second }), undefined)
  })

  check('of many who put the absent at once, one succeeds', async ({ store, other = store }, key) => {
    const put = (at: number): Promise<number | undefined> =>
      (at % 2 ? store : other).put(key, String(at), { ifVersion: 0 })
    const versions = (await Promise.all(range(20).map(put))).filter((version) => version !== undefined)
    assert.equal(versions.length, 1)
    assert.equal((await other.get(key))?.version, versions[0])
  })

  check('of many who replace one version at once, one succeeds', async ({ store, other = store }, key) => {
    const version = (await store.put(key, 'old')) ?? assert.fail()
    const put = (at: number): Promise<number | undefined> =>
      (at % 2 ? store : other).put(key, String(at), { ifVersion: version })
    assert.equal((await Promise.all(range(20).map(put))).filter((next) => next !== undefined).length, 1)
  })
}

function checkExpiry(check: Check): void {
  check('a value goes when its time has come', async ({ store, now, advance }, key) => {
    await store.put(key, 'a', { expiresAt: now() + 1000 })
    assert.equal((await store.get(key))?.value, 'a')
    await advance(1001)
    assert.equal(await store.get(key), undefined)
    assert.notEqual(await store.put(key, 'b', { ifVersion: 0 }), undefined)
  })

  check('what has expired has no version any more', async ({ store, now, advance }, key) => {
    const version = (await store.put(key, 'a', { expiresAt: now() + 1000 })) ?? assert.fail()
    await advance(1001)
    assert.equal(await store.put(key, 'b', { ifVersion: version }), undefined)
  })

  check('the last put decides on the expiry', async ({ store, now, advance }, key) => {
    await store.put(`${key}:longer`, 'a', { expiresAt: now() + 1000 })
    await store.put(`${key}:longer`, 'b', { expiresAt: now() + 60_000 })
    await store.put(`${key}:ever`, 'a', { expiresAt: now() + 1000 })
    await store.put(`${key}:ever`, 'b')
    await store.put(`${key}:shorter`, 'a')
    await store.put(`${key}:shorter`, 'b', { expiresAt: now() + 1000 })
    await advance(1001)
    assert.equal((await store.get(`${key}:longer`))?.value, 'b')
    assert.equal((await store.get(`${key}:ever`))?.value, 'b')
    assert.equal(await store.get(`${key}:shorter`), undefined)
  })
}

function checkLogs(check: Check): void {
  check('an absent log is empty', async ({ store }, key) => {
    assert.deepEqual(await store.read(key, 0), { entries: [], evictedThrough: 0 })
    assert.deepEqual(await store.read(key, 5), { entries: [], evictedThrough: 0 })
  })

  check('entries count up from 1 and are read after any of them', async ({ store, now }, key) => {
    const options = { maxEntries: 10, expiresAt: now() + 60_000 }
    assert.equal(await store.append(key, 'a', options), 1)
    assert.equal(await store.append(key, 'b', options), 2)
    assert.equal(await store.append(key, 'c', options), 3)
    assert.deepEqual(await store.read(key, 1), {
      entries: [
        { sequence: 2, value: 'b' },
        { sequence: 3, value: 'c' },
      ],
      evictedThrough: 0,
    })
    assert.deepEqual(await store.read(key, 3), { entries: [], evictedThrough: 0 })
  })

  check('a log keeps its newest entries and tells what it let go', async ({ store, now }, key) => {
    for (let at = 1; at <= 5; at++) {
      assert.equal(await store.append(key, `v${at}`, { maxEntries: 3, expiresAt: now() + 60_000 }), at)
    }
    const kept = [3, 4, 5].map((sequence) => ({ sequence, value: `v${sequence}` }))
    assert.deepEqual(await store.read(key, 0), { entries: kept, evictedThrough: 2 })
    assert.deepEqual(await store.read(key, 2), { entries: kept, evictedThrough: 2 })
    assert.deepEqual(await store.read(key, 4), { entries: kept.slice(2), evictedThrough: 2 })
  })

  check('appends at once lose nothing and share no number', async ({ store, other = store, now }, key) => {
    const options = { maxEntries: 100, expiresAt: now() + 60_000 }
    const append = (at: number): Promise<number> => (at % 2 ? store : other).append(key, String(at), options)
    const sequences = await Promise.all(range(20).map(append))
    const upTo20 = range(20).map((at) => at + 1)
    assert.deepEqual(
      sequences.toSorted((one, two) => one - two),
      upTo20,
    )
    const { entries } = await other.read(key, 0)
    assert.deepEqual(
      entries.map((entry) => entry.sequence),
      upTo20,
    )
    assert.deepEqual(new Set(entries.map((entry) => entry.value)), new Set(upTo20.map((at) => String(at - 1))))
  })

  check('a log goes as a whole, and each append puts that off', async ({ store, now, advance }, key) => {
    await store.append(key, 'a', { maxEntries: 10, expiresAt: now() + 1000 })
    await store.append(key, 'b', { maxEntries: 10, expiresAt: now() + 3000 })
    await advance(2000)
    assert.equal((await store.read(key, 0)).entries.length, 2)
    await advance(1001)
    assert.deepEqual((await store.read(key, 0)).entries, [])
  })

  check('a log and a value may have one name', async ({ store, now }, key) => {
    await store.put(key, 'value')
    await store.append(key, 'entry', { maxEntries: 10, expiresAt: now() + 60_000 })
    await store.delete(key)
    assert.equal((await store.read(key, 0)).entries.length, 1)
  })
}

function checkBus(check: Check): void {
  check('what is published is heard by all who listen, in order, and not at once', async (under, channel) => {
    const { store, other = store } = under
    const heard: string[][] = [[], []]
    await store.subscribe(channel, (message) => heard[0]?.push(message))
    await other.subscribe(channel, (message) => heard[1]?.push(message))
    await store.subscribe(`${channel}:other`, () => assert.fail('another channel'))
    const messages = ['one', 'two', '', 'é\n世界', 'five']
    const published = Promise.all(messages.map((message) => store.publish(channel, message)))
    assert.deepEqual(heard, [[], []])
    await published
    await until(() => heard.every((list) => list.length >= messages.length))
    assert.deepEqual(heard, [messages, messages])
  })

  check('who has stopped listening hears nothing more, the others do', async ({ store }, channel) => {
    const heard: string[] = []
    const listener = (message: string): void => void heard.push(message)
    const stop = await store.subscribe(channel, listener)
    await store.subscribe(channel, listener)
    await stop()
    await stop()
    await store.publish(channel, 'a')
    await store.publish(channel, 'b')
    await until(() => heard.length >= 2)
    assert.deepEqual(heard, ['a', 'b'])
  })

  check('publishing to nobody is no error', async ({ store }, channel) => {
    await store.publish(channel, 'a')
  })
}

function range(length: number): number[] {
  return Array.from({ length }, (_, at) => at)
}

/** Waits up to five seconds for `condition`; the assertion that follows says what is wrong. */
async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; waited < 5000 && !condition(); waited += 5) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
