import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLater, valuesOf } from '../../src/model/at-once.ts'
import { memoryStore } from '../../src/store/memory.ts'

test('a store in memory answers at once, and as it does later', async () => {
  const store = memoryStore()
  const values = valuesOf(store)
  assert.equal(values.put('a', '1', { ifVersion: 0 }), 1)
  assert.equal(values.put('a', '2', { ifVersion: 0 }), undefined)
  assert.deepEqual(values.get('a'), { value: '1', version: 1 })
  assert.deepEqual(await store.get('a'), { value: '1', version: 1 })
  assert.equal(values.delete('a', 1), true)
  assert.equal(await store.get('a'), undefined)
  await store.close()
  assert.throws(() => values.get('a'), /closed/)
  await assert.rejects(store.get('a'), /closed/)
})

test('what is put around a store is not passed by', () => {
  const inner = memoryStore()
  let puts = 0
  const values = valuesOf({ ...inner, put: (...args) => (puts++, inner.put(...args)) })
  assert.ok(isLater(values.put('a', '1')))
  assert.equal(puts, 1)
})
