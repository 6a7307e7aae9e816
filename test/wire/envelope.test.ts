import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { errorText, notificationText, readMessage, requestText, resultText } from '../../src/wire/envelope.ts'

const request = { jsonrpc: '2.0', id: 8, method: 'tools/list' }

test('a request, a notification and both responses are read', () => {
  assert.deepEqual(readMessage({ ...request, params: { a: 1 } }), {
    kind: 'request',
    id: 8,
    method: 'tools/list',
    params: { a: 1 },
  })
  assert.deepEqual(readMessage({ jsonrpc: '2.0', method: 'notifications/x' }), {
    kind: 'notification',
    method: 'notifications/x',
    params: undefined,
  })
  assert.deepEqual(readMessage({ jsonrpc: '2.0', id: 'a', result: {} }), { kind: 'response', id: 'a', result: {} })
  const error = { code: -32603, message: 'no', data: { a: 1 } }
  assert.deepEqual(readMessage({ jsonrpc: '2.0', id: 1, error }), { kind: 'response', id: 1, error })
})

test('an error may come without an id', () => {
  const error = { code: -32600, message: 'no' }
  assert.deepEqual(readMessage({ jsonrpc: '2.0', error }), { kind: 'response', id: undefined, error })
  assert.deepEqual(readMessage({ jsonrpc: '2.0', id: null, error }), { kind: 'response', id: undefined, error })
})

test('unknown members are let pass', () => {
  assert.equal(readMessage({ ...request, extra: true }).kind, 'request')
})

test('unusual but valid ids are kept as they are', () => {
  for (const id of ['', '8', 0, -1, Number.MAX_SAFE_INTEGER]) {
    const message = readMessage({ ...request, id })
    assert.equal(message.kind === 'request' ? message.id : message.kind, id)
  }
})

const refusals: [name: string, value: unknown, id: unknown][] = [
  ['a number', 12, undefined],
  ['null', null, undefined],
  ['an array', [request], undefined],
  ['nothing at all', {}, undefined],
  ['no jsonrpc', { id: 8, method: 'x' }, 8],
  ['another jsonrpc', { ...request, jsonrpc: '1.0' }, 8],
  ['jsonrpc as a number', { ...request, jsonrpc: 2 }, 8],
  ['no method', { jsonrpc: '2.0', id: 'a' }, 'a'],
  ['method not a string', { ...request, method: 5 }, 8],
  ['method null', { ...request, method: null }, 8],
  ['id null', { ...request, id: null }, undefined],
  ['id a fraction', { ...request, id: 1.5 }, undefined],
  ['id an unsafe integer', { ...request, id: 2 ** 53 }, undefined],
  ['id a boolean', { ...request, id: true }, undefined],
  ['id an object', { ...request, id: {} }, undefined],
  ['params an array', { ...request, params: [] }, 8],
  ['params a string', { ...request, params: 'x' }, 8],
  ['params null', { ...request, params: null }, 8],
  ['a notification with an id', { jsonrpc: '2.0', id: 8, method: 'notifications/initialized' }, 8],
  ['method and result', { ...request, result: {} }, 8],
  ['method and error', { ...request, error: { code: 1, message: '' } }, 8],
  ['result and error', { jsonrpc: '2.0', id: 8, result: {}, error: { code: 1, message: '' } }, 8],
  ['result without an id', { jsonrpc: '2.0', result: {} }, undefined],
  ['result not an object', { jsonrpc: '2.0', id: 8, result: [] }, 8],
  ['error null', { jsonrpc: '2.0', id: 8, error: null }, 8],
  ['error without a code', { jsonrpc: '2.0', id: 8, error: { message: '' } }, 8],
  ['error with a fraction for a code', { jsonrpc: '2.0', id: 8, error: { code: 1.5, message: '' } }, 8],
  ['error without a message', { jsonrpc: '2.0', id: 8, error: { code: 1 } }, 8],
  ['error with an unreadable id', { jsonrpc: '2.0', id: {}, error: { code: 1, message: '' } }, undefined],
]

for (const [name, value, id] of refusals) {
  test(`refused, with the id where it can be read: ${name}`, () => {
    const message = readMessage(value)
    assert.equal(message.kind, 'refused')
    assert.ok(message.kind === 'refused')
    assert.equal(message.refusal.kind, 'InvalidRequest')
    assert.equal(message.answers ?? message.id, id)
  })
}

test('a malformed response is refused without the id of what it answers', () => {
  const error = { code: -1, message: 'no' }
  for (const rest of [
    { result: null },
    { result: [] },
    { result: 5 },
    { error: 'x' },
    { error: {} },
    { result: {}, error },
  ]) {
    const message = readMessage({ jsonrpc: '2.0', id: 'ask', ...rest })
    assert.ok(message.kind === 'refused', JSON.stringify(rest))
    assert.deepEqual([message.id, message.answers], [undefined, 'ask'])
  }
})

test('members are never inherited', () => {
  const message = readMessage(Object.create(request))
  assert.equal(message.kind, 'refused')
})

test('reading never throws', () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true }), (value) => {
      assert.ok(['request', 'notification', 'response', 'refused'].includes(readMessage(value).kind))
    }),
  )
})

const ids = fc.oneof(fc.string({ unit: 'binary' }), fc.maxSafeInteger())
const objects = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true })

test('what is written is read back', () => {
  const jsonOf = (value: object): unknown => JSON.parse(JSON.stringify(value))
  fc.assert(
    fc.property(ids, fc.string(), objects, (id, name, params) => {
      const method = `m/${name}`
      const asked = readMessage(JSON.parse(requestText(id, method, params)))
      assert.deepEqual(asked, { kind: 'request', id: same(id), method, params: jsonOf(params) })
      const told = readMessage(JSON.parse(notificationText(method, params)))
      assert.deepEqual(told, { kind: 'notification', method, params: jsonOf(params) })
      const answered = readMessage(JSON.parse(resultText(id, JSON.stringify(params))))
      assert.deepEqual(answered, { kind: 'response', id: same(id), result: jsonOf(params) })
      const failed = readMessage(JSON.parse(errorText(id, { code: -1, message: name, data: params })))
      assert.deepEqual(failed, {
        kind: 'response',
        id: same(id),
        error: { code: -1, message: name, data: jsonOf(params) },
      })
    }),
  )
  // JSON text has no negative zero that an id could keep.
  function same(id: string | number): string | number {
    return id === 0 ? 0 : id
  }
})

test('absent parts leave no trace in the text', () => {
  assert.equal(requestText(1, 'ping', undefined), '{"jsonrpc":"2.0","id":1,"method":"ping"}')
  assert.equal(notificationText('a/b', undefined), '{"jsonrpc":"2.0","method":"a/b"}')
  assert.equal(
    errorText(undefined, { code: -32700, message: 'm' }),
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}',
  )
})
