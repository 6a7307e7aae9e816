import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMessages } from '../../../src/transport/dial/messages.ts'
import { dialCaps } from '../../../src/transport/dial/caps.ts'

test('what names the protocol is a message, alone or in a batch; anything else is not', () => {
  const read = (text: string): readonly [boolean, readonly unknown[]] => {
    const found: unknown[] = []
    return [readMessages(text, dialCaps, ({ method }) => void found.push(method)), found]
  }
  const message = (method: string): string => JSON.stringify({ jsonrpc: '2.0', method })
  assert.deepEqual(read(message('a')), [true, ['a']])
  assert.deepEqual(read(`[${message('a')},${message('b')}]`), [true, ['a', 'b']])
  assert.deepEqual(read(`[${message('a')},{"level":"info"}]`), [false, ['a']])
  for (const text of ['', 'x', '7', 'null', '[]', '{}', '{"jsonrpc":"1.0"}', '{"jsonrpc":"2.0"']) {
    assert.deepEqual(read(text), [false, []], text)
  }
})
