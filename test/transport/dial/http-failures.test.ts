import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dialCaps } from '../../../src/transport/dial/caps.ts'
import { retryAfterOf, statusFailure } from '../../../src/transport/dial/http-failures.ts'

const headers = (all: Record<string, string>) => (name: string) => all[name]

test('Retry-After is seconds, or a date that counts from now', () => {
  const read = (value: string) => retryAfterOf(headers({ 'retry-after': value }))
  assert.equal(read(' 120 '), 120)
  assert.equal(read('0'), 0)
  const minute = read(new Date(Date.now() + 60_000).toUTCString()) ?? 0
  assert.ok(minute >= 58 && minute <= 60, String(minute))
  assert.equal(read('Wed, 21 Oct 2015 07:28:00 GMT'), 0)
  for (const nonsense of ['', 'soon', '-x', '99999999999999']) assert.equal(read(nonsense), undefined, nonsense)
  assert.equal(retryAfterOf(headers({})), undefined)
})

test('what a refusal says is told where a program can tell, on one short line', () => {
  const said = (body: string): string =>
    statusFailure(400, headers({}), Buffer.from(body), dialCaps).message.replace(
      'the server answered with HTTP status 400',
      '',
    )
  assert.equal(said(''), '')
  assert.equal(said('<html><h1>Bad</h1></html>'), '')
  assert.equal(said('  <!doctype html>'), '')
  assert.equal(said('plain\r\n\t words'), ': plain words')
  assert.equal(said('{"jsonrpc":"2.0","error":{"code":1,"message":"rpc"}}'), ': rpc')
  assert.equal(said('{"error":"invalid_token","error_description":"x"}'), ': invalid_token')
  assert.equal(said('{"title":"t","detail":"problem"}'), ': problem')
  assert.equal(said('{"message":"m"}'), ': m')
  assert.equal(said('{"a":1}'), '')
  assert.equal(said(`bell\u0007 and ${'x'.repeat(999)}`).length, 2 + 200)
})

test('only what found out before anything ran says that nothing ran', () => {
  const ran = (status: number) => statusFailure(status, headers({}), new Uint8Array(0), dialCaps).ran
  for (const status of [301, 400, 401, 403, 404, 405, 413, 429]) assert.equal(ran(status), 'no', String(status))
  for (const status of [100, 408, 500, 502, 503, 504]) assert.equal(ran(status), 'unknown', String(status))
})
