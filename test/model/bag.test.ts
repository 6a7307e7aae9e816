import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createBag, nowhere, type Placed } from '../../src/model/bag.ts'

interface Item extends Placed {
  readonly name: number
}

test('law: a bag holds what a set would, however things come and go', () => {
  const step = fc.record({ adds: fc.boolean(), name: fc.nat(9) })
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const items = Array.from({ length: 10 }, (_, name): Item => ({ name, place: nowhere }))
      const bag = createBag<Item>()
      const set = new Set<Item>()
      for (const { adds, name } of steps) {
        const item = items[name] ?? assert.fail()
        if (!adds) {
          bag.remove(item)
          set.delete(item)
        } else if (!set.has(item)) {
          bag.add(item)
          set.add(item)
        }
        assert.equal(bag.size, set.size)
        assert.deepEqual(new Set(bag.all()), set)
        for (const one of items) assert.equal(one.place !== nowhere, set.has(one))
      }
    }),
  )
})

test('what is told is what was there, whatever leaves meanwhile', () => {
  const bag = createBag<Item>()
  for (const name of [1, 2, 3]) bag.add({ name, place: nowhere })
  const told: number[] = []
  for (const item of bag.all()) {
    told.push(item.name)
    bag.remove(item)
  }
  assert.deepEqual(told, [1, 2, 3])
  assert.equal(bag.size, 0)
})
