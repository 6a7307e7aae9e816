import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServer } from '../../src/index.ts'

test('a server has a name and a version', () => {
  for (const options of [
    {},
    { name: 's' },
    { version: '1' },
    { name: 5, version: '1' },
    { name: 's', version: null },
  ]) {
    assert.throws(() => createServer(options as never), /name and a version/)
  }
  assert.ok(createServer({ name: 's', version: '1' }))
})
