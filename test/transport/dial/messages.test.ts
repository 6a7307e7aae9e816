import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { idAtHead, idAtTail, readMessages } from '../../../src/transport/dial/messages.ts'
import { dialCaps } from '../../../src/transport/dial/caps.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)

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

const ids = fc.oneof(fc.integer(), fc.string())

test('an answer shows its id at its beginning or its end, in whatever order its members are', () => {
  fc.assert(
    fc.property(ids, fc.constantFrom(undefined, 2), (id, space) => {
      const result = { content: [{ type: 'text', text: 'x'.repeat(9_999) }] }
      const shown = (message: object) => {
        const text = JSON.stringify(message, undefined, space)
        return idAtHead(bytes(text.slice(0, 256))) ?? idAtTail(bytes(text.slice(-256)))
      }
      fc.pre(JSON.stringify(id).length < 60)
      assert.equal(shown({ jsonrpc: '2.0', id, result }), id)
      assert.equal(shown({ id, jsonrpc: '2.0', result }), id)
      assert.equal(shown({ id, result, jsonrpc: '2.0' }), id)
      assert.equal(shown({ result, jsonrpc: '2.0', id }), id)
      assert.equal(shown({ jsonrpc: '2.0', result, id }), id)
      assert.equal(shown({ result, id, jsonrpc: '2.0' }), id)
    }),
  )
})

test('an id within a message is not its own, and a request is no answer', () => {
  assert.equal(idAtHead(bytes('{"jsonrpc":"2.0","id":7,"method":"x","params":{')), undefined)
  assert.equal(idAtHead(bytes('{"jsonrpc":"2.0","method":"x","params":{"id":7,"result":')), undefined)
  assert.equal(idAtTail(bytes('xxx","id":7}}')), undefined)
  assert.equal(idAtTail(bytes('xxx","id":7}]')), undefined)
  assert.equal(idAtHead(bytes('{"id":"\\uZZZZ","result":')), undefined)
})
