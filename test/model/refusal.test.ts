import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRefusal, Refusal } from '../../src/model/refusal.ts'

const like = (members: object): Error => Object.assign(new Error('x'), members)
const throwing = (name: string): Error =>
  Object.defineProperty(new Error('x'), name, {
    get() {
      throw new Error('inner')
    },
  })

test('a refusal is one whose kind is in the table, also from another copy of this package', () => {
  assert.equal(isRefusal(new Refusal('UnknownTool')), true)
  assert.equal(isRefusal(like({ name: 'Refusal', kind: 'UnknownTool' })), true)
  for (const kind of ['PaymentDeclined', '__proto__', 'toString', '', 5, null, undefined]) {
    assert.equal(isRefusal(like({ name: 'Refusal', kind })), false, String(kind))
  }
})

test('whatever is asked of is told without throwing', () => {
  const proxy = Proxy.revocable(new Error('x'), {})
  proxy.revoke()
  for (const odd of [
    throwing('name'),
    Object.assign(throwing('kind'), { name: 'Refusal' }),
    proxy.proxy,
    undefined,
    5,
  ]) {
    assert.equal(isRefusal(odd), false)
  }
})

test('Overloaded asks to come back in a second, unless it says otherwise', () => {
  assert.equal(new Refusal('Overloaded').retryAfter, 1)
  assert.equal(new Refusal('Overloaded', { retryAfter: 5 }).retryAfter, 5)
  assert.equal(new Refusal('RateLimited').retryAfter, undefined)
})
