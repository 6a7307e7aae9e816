import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createResponseReader, type HttpResponse } from '../../bench/response-reader.ts'

const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'
const chunked =
  'HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\nc\r\nlo, \r\nthere!\r\n0\r\n\r\n'
const empty = 'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n'

test('a response is read however its bytes are cut', () => {
  fc.assert(
    fc.property(fc.constantFrom(plain, chunked, empty), fc.array(fc.nat(60), { maxLength: 6 }), (text, cuts) => {
      const reader = createResponseReader()
      const bytes = Buffer.from(text)
      const edges = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length]
      const responses = edges
        .slice(1)
        .map((end, at) => bytes.subarray(edges[at], end))
        .filter((piece) => piece.length > 0)
        .map((piece) => reader.push(piece))
      const whole = responses.filter((response): response is HttpResponse => response !== undefined)
      assert.deepEqual(
        whole.map(({ status, body }) => [status, body]),
        [expected(text)],
      )
    }),
  )
})

function expected(text: string): readonly [number, string] {
  if (text === plain) return [200, 'hello']
  return text === chunked ? [404, 'hello, \r\nthere!'] : [202, '']
}

test('one connection carries many responses, and bodies only when they are wanted', () => {
  const reader = createResponseReader()
  assert.equal(reader.push(Buffer.from(plain))?.body, 'hello')
  reader.keepBodies(false)
  assert.equal(reader.push(Buffer.from(chunked))?.body, '')
  reader.keepBodies(true)
  assert.equal(reader.push(Buffer.from(plain))?.headers.get('content-length'), '5')
})
