import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Store } from '../../src/model/store.ts'
import { isStoreUnavailable } from '../../src/model/store-unavailable.ts'
import { startProxy, type TcpProxy } from '../../tools/tcp-proxy.ts'

/** A store behind a network. */
export interface Remote {
  /** Where the server is. */
  target(): { readonly host: string; readonly port: number }
  /** A store that reaches the server by this port of 127.0.0.1. */
  open(port: number, timeoutMs: number): Store
}

/** What a store gives a call at most, here. */
const timeoutMs = 800
/** A call may take this long: once the timeout for a connection, once for an answer, and what a loaded machine adds. */
const boundMs = 2 * timeoutMs + 2500

/** What every store over a network must do while the network fails, and afterwards. */
export function outageContract(name: string, remote: Remote, missing?: string): void {
  describe(name, { skip: missing }, () => {
    let proxy: TcpProxy
    let store: Store
    let count = 0
    const newKey = (): string => `outage:${process.pid}:${Date.now()}:${count++}`
    before(async () => {
      proxy = await startProxy(remote.target())
      store = remote.open(proxy.port, timeoutMs)
    })
    after(async () => {
      await store.close()
      await proxy.close()
    })

    test('a store opened during an outage rejects, and works once it is over', async () => {
      await proxy.down()
      const early = remote.open(proxy.port, timeoutMs)
      await rejectsInTime(early.get('a'))
      await proxy.up()
      await recovered(early)
      await early.close()
    })

    test('while nobody answers the door, every method rejects in time and nothing has happened', async () => {
      const key = newKey()
      await recovered(store)
      await proxy.down()
      await everythingRejects(store, key)
      await proxy.up()
      await recovered(store)
      assert.equal(await store.get(key), undefined)
      assert.deepEqual((await store.read(key, 0)).entries, [])
    })

    test('while nothing comes through, every method rejects in time', async () => {
      await recovered(store)
      proxy.freeze()
      await everythingRejects(store, newKey())
      proxy.thaw()
      await recovered(store)
    })

    test('when connections break, what was in flight is told from what was done', async () => {
      const keys = Array.from({ length: 60 }, newKey)
      await recovered(store)
      const results = keys.map(async (key, at) => {
        if (at >= 20) await delay(at)
        return store.put(key, 'x').catch((error: unknown) => error)
      })
      await delay(40)
      proxy.cut()
      const outcomes = await Promise.all(results)
      await recovered(store)
      for (const [at, outcome] of outcomes.entries()) {
        const found = await store.get(keys[at] ?? '')
        if (typeof outcome === 'number') assert.equal(found?.version, outcome)
        else assert.ok(isStoreUnavailable(outcome), String(outcome))
        if (isStoreUnavailable(outcome) && outcome.attempted === 'no') assert.equal(found, undefined)
      }
    })

    test('subscriptions are made anew, and listeners are told that they may have missed something', async () => {
      const channel = newKey()
      const heard: string[] = []
      let missed = 0
      await recovered(store)
      const stop = await store.subscribe(
        channel,
        (message) => heard.push(message),
        () => missed++,
      )
      await store.publish(channel, 'before')
      await until(() => heard.length === 1)
      for (const [at, fail] of [proxy.cut, downForAWhile].entries()) {
        await fail()
        await until(() => missed > at)
        await recovered(store)
        await store.publish(channel, `after ${at}`)
        await until(() => heard.length === at + 2)
      }
      assert.deepEqual(heard, ['before', 'after 0', 'after 1'])
      assert.equal(missed, 2)
      await stop()
    })

    test('connections that died without a word are given up', async () => {
      const channel = newKey()
      let [heard, missed] = [0, 0]
      await recovered(store)
      const stop = await store.subscribe(
        channel,
        () => heard++,
        () => missed++,
      )
      await store.publish(channel, 'a')
      await until(() => heard === 1)
      proxy.strand()
      await rejectsInTime(store.get('a'))
      await recovered(store)
      await until(() => missed === 1)
      await store.publish(channel, 'b')
      await until(() => heard === 2)
      await stop()
    })

    test('a subscription that was rejected hears nothing afterwards', async () => {
      const channel = newKey()
      await recovered(store)
      await proxy.down()
      await rejectsInTime(store.subscribe(channel, () => assert.fail('heard')))
      await proxy.up()
      await recovered(store)
      await store.publish(channel, 'a')
      const stop = await untilDone(() => store.subscribe(channel, () => {}))
      await stop()
    })

    async function downForAWhile(): Promise<void> {
      await proxy.down()
      await delay(300)
      await proxy.up()
    }
  })
}

/** Publishes, and waits until the same store has heard it. */
export async function hearsItself(store: Store): Promise<void> {
  const heard: string[] = []
  const stop = await store.subscribe('itself', (message) => heard.push(message))
  await store.publish('itself', 'a')
  await until(() => heard.length === 1)
  await stop()
}

async function everythingRejects(store: Store, key: string): Promise<void> {
  await Promise.all([
    rejectsInTime(store.get(key)),
    rejectsInTime(store.put(key, 'a')),
    rejectsInTime(store.put(`${key}/a`, 'a', { maxInGroup: 5 })),
    rejectsInTime(store.delete(key)),
    rejectsInTime(store.list(key)),
    rejectsInTime(store.append(key, 'a', { maxEntries: 5, expiresAt: Date.now() + 60_000 })),
    rejectsInTime(store.read(key, 0)),
    rejectsInTime(store.publish(key, 'a')),
    rejectsInTime(store.subscribe(key, () => {})),
  ])
}

async function rejectsInTime(call: Promise<unknown>): Promise<void> {
  const started = performance.now()
  await assert.rejects(call, isStoreUnavailable)
  assert.ok(performance.now() - started < boundMs, `rejected after ${performance.now() - started} ms`)
}

/** Resolves once the store works again, which may take some tries. */
async function recovered(store: Store): Promise<void> {
  await untilDone(() => store.get('recovered'))
}

async function untilDone<Result>(call: () => Promise<Result>): Promise<Result> {
  for (const last = Date.now() + 10_000; ; await delay(50)) {
    try {
      return await call()
    } catch (error) {
      if (!isStoreUnavailable(error) || Date.now() > last) throw error
    }
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (const last = Date.now() + 10_000; !condition(); await delay(20)) assert.ok(Date.now() < last, 'waited too long')
}
