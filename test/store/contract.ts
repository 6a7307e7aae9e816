import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { isStoreUnavailable } from '../../src/model/store-unavailable.ts'
import type { Store } from '../../src/model/store.ts'
import { checkGroups } from './contract-groups.ts'

export interface StoreUnderTest {
  readonly store: Store
  /** Lets the store's time pass. */
  advance(milliseconds: number): Promise<void> | void
  /** The store's time, in milliseconds since the epoch. */
  now(): number
  /** Milliseconds of the store's time that stand for a second, so that stores by the clock on the wall are not waited for. */
  readonly second: number
  /** A second store over the same data, where the adapter can have one. */
  readonly other?: Store
}

/**
 * What every store must do, whatever is behind it. `open` makes a fresh store for each test; tests use keys of their
 * own, so that one database may serve them all.
 * @param missing why it cannot be checked here
 */
export function storeContract(
  name: string,
  open: () => Promise<StoreUnderTest> | StoreUnderTest,
  missing?: string,
): void {
  // Most of them wait for time to pass, so they wait together.
  describe(name, { skip: missing, concurrency: 6 }, () => {
    let count = 0
    function check(title: string, run: (under: StoreUnderTest, key: string) => Promise<void>): void {
      test(title, async () => {
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
    checkGroups(check)
    checkBus(check)

    test('a closed store rejects everything', async () => {
      const { store, now, other, second } = await open()
      await store.close()
      await other?.close()
      await assert.rejects(store.get('a'), isStoreUnavailable)
      await assert.rejects(store.list('a'), isStoreUnavailable)
      await assert.rejects(store.put('a', 'b'), isStoreUnavailable)
      await assert.rejects(store.delete('a'), isStoreUnavailable)
      await assert.rejects(store.append('a', 'b', { maxEntries: 1, expiresAt: now() + second }), isStoreUnavailable)
      await assert.rejects(store.read('a', 0), isStoreUnavailable)
      await assert.rejects(store.publish('a', 'b'), isStoreUnavailable)
      await assert.rejects(
        store.subscribe('a', () => {}),
        isStoreUnavailable,
      )
    })
  })
}

/** The time of stores that go by the clock on the wall. Under load a second has to be most of one. */
export const wallClock: Pick<StoreUnderTest, 'now' | 'second' | 'advance'> = {
  now: Date.now,
  second: 800,
  async advance(milliseconds) {
    // Timers may fire early, since they count from the start of the loop's turn.
    for (const until = Date.now() + milliseconds; Date.now() < until;) await delay(until - Date.now())
  },
}

/** Defines one test of the contract; `key` is the test's own. */
export type Check = (title: string, run: (under: StoreUnderTest, key: string) => Promise<void>) => void

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

  check('each put has a greater version, also after a deletion', async ({ store }, key) => {
    const versions = new Set<number | undefined>()
    for (let round = 0; round < 3; round++) {
      versions.add(await store.put(key, 'a'))
      versions.add(await store.put(key, 'a'))
      await store.delete(key)
    }
    assert.equal(versions.size, 6)
    assert.ok(!versions.has(undefined) && !versions.has(0))
    assert.deepEqual(
      [...versions].toSorted((one, two) => Number(one) - Number(two)),
      [...versions],
    )
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

  check('ifVersion deletes only that version, and a deletion tells whether it deleted', async ({ store }, key) => {
    const first = (await store.put(key, 'one')) ?? assert.fail()
    const second = (await store.put(key, 'two')) ?? assert.fail()
    assert.equal(await store.delete(key, first), false)
    assert.equal((await store.get(key))?.value, 'two')
    assert.equal(await store.delete(key, second), true)
    assert.equal(await store.delete(key, second), false)
    assert.equal(await store.delete(key), false)
    await store.put(key, 'three')
    assert.equal(await store.delete(key), true)
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
  check('a value goes when its time has come', async ({ store, now, advance, second }, key) => {
    await store.put(key, 'a', { expiresAt: now() + second })
    assert.equal((await store.get(key))?.value, 'a')
    await advance(second + 1)
    assert.equal(await store.get(key), undefined)
    assert.notEqual(await store.put(key, 'b', { ifVersion: 0 }), undefined)
  })

  check('what has expired has no version any more', async ({ store, now, advance, second }, key) => {
    const version = (await store.put(key, 'a', { expiresAt: now() + second })) ?? assert.fail()
    await advance(second + 1)
    assert.equal(await store.delete(key, version), false)
    assert.equal(await store.delete(key), false)
    assert.equal(await store.put(key, 'b', { ifVersion: version }), undefined)
    assert.equal(await store.get(key), undefined)
  })

  check('a version is not used again after its value has expired', async ({ store, now, advance, second }, key) => {
    const version = (await store.put(key, 'a', { expiresAt: now() + second })) ?? assert.fail()
    await advance(second + 1)
    const next = (await store.put(key, 'b', { ifVersion: 0, expiresAt: now() + second })) ?? assert.fail()
    assert.ok(next > version)
    await advance(second + 1)
    assert.ok(Number(await store.put(key, 'c')) > next)
  })

  check('what is put with a time that has passed is not there', async ({ store, now, second }, key) => {
    await store.put(key, 'a')
    assert.notEqual(await store.put(key, 'b', { expiresAt: now() - second }), undefined)
    assert.equal(await store.get(key), undefined)
  })

  check('the last put decides on the expiry', async ({ store, now, advance, second }, key) => {
    await store.put(`${key}:longer`, 'a', { expiresAt: now() + second })
    await store.put(`${key}:longer`, 'b', { expiresAt: now() + 60 * second })
    await store.put(`${key}:ever`, 'a', { expiresAt: now() + second })
    await store.put(`${key}:ever`, 'b')
    await store.put(`${key}:shorter`, 'a')
    await store.put(`${key}:shorter`, 'b', { expiresAt: now() + second })
    await advance(second + 1)
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

  check('entries count up from 1 and are read after any of them', async ({ store, now, second }, key) => {
    const options = { maxEntries: 10, expiresAt: now() + 60 * second }
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

  check('a log keeps its newest entries and tells what it let go', async ({ store, now, second }, key) => {
    for (let at = 1; at <= 5; at++) {
      assert.equal(await store.append(key, `v${at}`, { maxEntries: 3, expiresAt: now() + 60 * second }), at)
    }
    const kept = [3, 4, 5].map((sequence) => ({ sequence, value: `v${sequence}` }))
    assert.deepEqual(await store.read(key, 0), { entries: kept, evictedThrough: 2 })
    assert.deepEqual(await store.read(key, 2), { entries: kept, evictedThrough: 2 })
    assert.deepEqual(await store.read(key, 4), { entries: kept.slice(2), evictedThrough: 2 })
  })

  check('appends at once lose nothing and share no number', async ({ store, other = store, now, second }, key) => {
    const options = { maxEntries: 100, expiresAt: now() + 60 * second }
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

  check('a log goes as a whole, and each append puts that off', async ({ store, now, advance, second }, key) => {
    await store.append(key, 'a', { maxEntries: 10, expiresAt: now() + second })
    await store.append(key, 'b', { maxEntries: 10, expiresAt: now() + 3 * second })
    await advance(2 * second)
    assert.equal((await store.read(key, 0)).entries.length, 2)
    await advance(second + 1)
    assert.deepEqual((await store.read(key, 0)).entries, [])
  })

  check('a log lets go of what is above its bytes, but never of the newest', async ({ store, now, second }, key) => {
    const options = { maxEntries: 10, maxBytes: 10, expiresAt: now() + 60 * second }
    for (const value of ['aaaa', 'éé', 'cc']) await store.append(key, value, options)
    assert.deepEqual((await store.read(key, 0)).evictedThrough, 0)
    assert.equal(await store.append(key, 'd', options), 4)
    assert.deepEqual((await store.read(key, 0)).evictedThrough, 1)
    assert.equal(await store.append(key, 'x'.repeat(20), options), 5)
    assert.deepEqual(await store.read(key, 0), {
      entries: [{ sequence: 5, value: 'x'.repeat(20) }],
      evictedThrough: 4,
    })
    assert.equal(await store.append(key, 'f', options), 6)
    assert.deepEqual((await store.read(key, 0)).evictedThrough, 5)
  })

  check('a log lets go of what is too old', async ({ store, now, advance, second }, key) => {
    const options = { maxEntries: 10, maxAgeMs: 2 * second, expiresAt: now() + 60 * second }
    await store.append(key, 'a', options)
    await advance(second)
    await store.append(key, 'b', options)
    await advance(second + second / 2)
    await store.append(key, 'c', options)
    const { entries, evictedThrough } = await store.read(key, 0)
    assert.equal(evictedThrough, 1)
    assert.deepEqual(
      entries.map((entry) => entry.value),
      ['b', 'c'],
    )
  })

  check('a log that has gone begins anew', async ({ store, now, advance, second }, key) => {
    await store.append(key, 'a', { maxEntries: 10, expiresAt: now() + 60 * second })
    await store.append(key, 'b', { maxEntries: 10, expiresAt: now() + second })
    await advance(second + 1)
    assert.equal(await store.append(key, 'c', { maxEntries: 10, expiresAt: now() + 60 * second }), 1)
    assert.deepEqual(await store.read(key, 0), { entries: [{ sequence: 1, value: 'c' }], evictedThrough: 0 })
  })

  check('any text survives in a log', async ({ store, now, second }, key) => {
    const texts = ['', '\0\n', '\u0001x', 'é世界🌍', 'x'.repeat(300_000)]
    for (const text of texts)
      await store.append(`${key}:é' 🌍`, text, { maxEntries: 9, expiresAt: now() + 60 * second })
    assert.deepEqual(
      (await store.read(`${key}:é' 🌍`, 0)).entries.map((entry) => entry.value),
      texts,
    )
  })

  check('a log and a value may have one name', async ({ store, now, second }, key) => {
    await store.put(key, 'value')
    await store.append(key, 'entry', { maxEntries: 10, expiresAt: now() + 60 * second })
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
