import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPrincipal } from '../../src/model/notification.ts'

test('a principal has an id that is text, and its scopes as a set', () => {
  const scopes = new Set(['read'])
  assert.equal(isPrincipal({ id: 'ada', scopes }), true)
  assert.equal(isPrincipal({ id: 'ada', scopes, claims: { iss: 'x' } }), true)
  for (const odd of [undefined, null, 'ada', [], { id: '', scopes }, { id: 5, scopes }, { id: 'ada' }]) {
    assert.equal(isPrincipal(odd), false)
  }
  for (const not of [['read'], new Map(), {}, 'read', null, { has: () => true }]) {
    assert.equal(isPrincipal({ id: 'ada', scopes: not }), false)
  }
  assert.equal(isPrincipal({ id: 'ada', scopes, claims: 'x' }), false)
})
