import assert from 'node:assert/strict'
import { isRefusal } from '../../src/model/refusal.ts'
import type { Listed } from '../../src/model/store.ts'
import type { Check } from './contract.ts'

const keysOf = (listed: readonly Listed[]): string[] => listed.map(({ key }) => key.slice(key.indexOf('/') + 1))
const isFull = (error: unknown): boolean => isRefusal(error) && error.kind === 'StoreFull'

/** What every store must do with keys that belong together. */
export function checkGroups(check: Check): void {
  check('a group is listed page by page, in the order of the bytes of its keys', async ({ store }, group) => {
    const names = ['10', '9', 'B', 'a', 'a/b', 'é', '\uffee', '🌍']
    for (const name of names.toReversed()) await store.put(`${group}/${name}`, `v${name}`)
    await store.put(group, 'not in it')
    await store.put(`${group}0`, 'not in it')
    await store.put(`${group}x/1`, 'not in it')
    const all = await store.list(group)
    assert.deepEqual(keysOf(all), names)
    assert.deepEqual(all[3], { key: `${group}/a`, ...(await store.get(`${group}/a`)) })
    const first = await store.list(group, { limit: 3 })
    assert.deepEqual(keysOf(first), names.slice(0, 3))
    assert.deepEqual(keysOf(await store.list(group, { limit: 3, after: `${group}/B` })), names.slice(3, 6))
    assert.deepEqual(keysOf(await store.list(group, { limit: 3, after: `${group}/é` })), names.slice(6))
    assert.deepEqual(keysOf(await store.list(group, { after: `${group}/9a` })), names.slice(2))
    assert.deepEqual(await store.list(group, { after: `${group}/🌍` }), [])
  })

  check('what is deleted or has expired is not listed', async ({ store, now, advance, second }, group) => {
    await store.put(`${group}/deleted`, '1')
    await store.put(`${group}/expired`, '1', { expiresAt: now() + second })
    await store.put(`${group}/stays`, '1', { expiresAt: now() + 60 * second })
    await store.delete(`${group}/deleted`)
    await advance(second + 1)
    assert.deepEqual(keysOf(await store.list(group)), ['stays'])
    assert.deepEqual(await store.list(`${group}none`), [])
  })

  check('a full group refuses what is new and takes what replaces', async ({ store, now, advance, second }, group) => {
    await store.put(`${group}/a`, '1', { maxInGroup: 2 })
    const version = await store.put(`${group}/b`, '1', { maxInGroup: 2, ifVersion: 0, expiresAt: now() + second })
    await assert.rejects(store.put(`${group}/c`, '1', { maxInGroup: 2 }), isFull)
    await assert.rejects(store.put(`${group}/c`, '1', { maxInGroup: 2, ifVersion: 0 }), isFull)
    assert.equal(await store.put(`${group}/b`, '2', { maxInGroup: 2, ifVersion: 0 }), undefined)
    assert.equal(await store.put(`${group}/c`, '1', { maxInGroup: 2, ifVersion: 9 }), undefined)
    await store.put(`${group}/a`, '2', { maxInGroup: 2 })
    await store.put(`${group}/b`, '2', { maxInGroup: 2, ifVersion: version ?? -1, expiresAt: now() + second })
    assert.deepEqual(keysOf(await store.list(group)), ['a', 'b'])
    await store.delete(`${group}/a`)
    assert.notEqual(await store.put(`${group}/c`, '1', { maxInGroup: 2, ifVersion: 0 }), undefined)
    await advance(second + 1)
    assert.notEqual(await store.put(`${group}/d`, '1', { maxInGroup: 2, ifVersion: 0 }), undefined)
    await assert.rejects(store.put(`${group}/e`, '1', { maxInGroup: 2 }), isFull)
    await store.put(`${group}elsewhere/e`, '1', { maxInGroup: 2 })
    await store.put(`${group}/e`, '1')
  })

  check('a full group lets go of the evictable, first ones first, oldest first', async ({ store }, group) => {
    const put = (name: string, evict: 'never' | 'first' | 'last'): Promise<number | undefined> =>
      store.put(`${group}/${name}`, 'x', { evict, maxInGroup: 5, ifVersion: 0 })
    await put('last1', 'last')
    await put('first1', 'first')
    await put('never', 'never')
    await put('first2', 'first')
    await put('last2', 'last')
    await store.put(`${group}/first1`, 'younger than first2 now', { evict: 'first', maxInGroup: 5 })
    await put('new1', 'never')
    assert.deepEqual(keysOf(await store.list(group)), ['first1', 'last1', 'last2', 'never', 'new1'])
    await put('new2', 'never')
    await put('new3', 'never')
    assert.deepEqual(keysOf(await store.list(group)), ['last2', 'never', 'new1', 'new2', 'new3'])
    await store.put(`${group}/last2`, 'kept now', { maxInGroup: 5 })
    await assert.rejects(put('new4', 'never'), isFull)
    await store.put(`${group}/new1`, 'finished', { evict: 'first', maxInGroup: 5 })
    await put('new4', 'never')
    assert.deepEqual(keysOf(await store.list(group)), ['last2', 'never', 'new2', 'new3', 'new4'])
  })

  check('a group of many stays within its bound', async ({ store, other = store }, group) => {
    const put = (at: number): Promise<number | undefined> =>
      (at % 2 ? store : other).put(`${group}/${at}`, 'x', { evict: 'first', maxInGroup: 64 })
    for (let at = 0; at < 200; at++) await put(at)
    const left = await store.list(group, { limit: 1000 })
    assert.ok(left.length >= 48 && left.length <= 72, `${left.length} left`)
    assert.ok(left.some(({ key }) => key === `${group}/199`))
    assert.ok(!left.some(({ key }) => key === `${group}/0`))
  })
}
