import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServer, fetchHandler, tool } from '../../src/index.ts'
import { headerOfCall } from '../../src/peer/header-of-call.ts'
import { headersFor } from '../hostile/doors.ts'
import { modernCall, text } from '../hostile/requests.ts'

test('a key in quotes is what they enclose, and anything else stands for itself', () => {
  const read = (value: string | undefined, name = 'idempotency-key') => headerOfCall(() => value)(name)
  for (const [given, key] of [
    ['"abc"', 'abc'],
    ['abc', 'abc'],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['""', ''],
    ['"', '"'],
    ['"a', '"a'],
    ['"a"b"', '"a"b"'],
    ['"a\\b"', '"a\\b"'],
    ['"é"', '"é"'],
    ['"a"; p=1', '"a"; p=1'],
    [undefined, undefined],
  ])
    assert.equal(read(given), key, given)
  assert.equal(read('"abc"', 'if-match'), '"abc"')
})

test('a key is the same one with quotes, without, and in _meta', async () => {
  let ran = 0
  const pay = tool('pay', {}, () => `paid ${(ran += 1)}`)
  const handler = fetchHandler(createServer({ name: 'shop', version: '1', tools: [pay] }))
  const call = async (key: Record<string, string>, meta: object = {}): Promise<string> => {
    const request = modernCall(1, 'pay') as { params: { _meta: object } }
    Object.assign(request.params._meta, meta)
    const body = text(request)
    const headers = { ...headersFor(body, undefined), ...key }
    return (await handler(new Request('http://localhost/mcp', { method: 'POST', headers, body }))).text()
  }
  assert.match(await call({ 'idempotency-key': '"abc"' }), /paid 1/)
  assert.match(await call({ 'idempotency-key': 'abc' }), /paid 1/)
  assert.match(await call({}, { 'dev.dragoman/idempotencyKey': 'abc' }), /paid 1/)
  assert.match(await call({ 'idempotency-key': '"abd"' }), /paid 2/)
  assert.match(await call({ 'idempotency-key': '""' }), /-32602/)
  assert.equal(ran, 2)
})
