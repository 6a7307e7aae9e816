import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGuard, isLoopback } from '../../../src/transport/serve/guard.ts'

test('loopback names are hosts with any port, and nothing that resembles them is', () => {
  const guard = createGuard()
  for (const host of ['localhost', 'LOCALHOST:3000', '127.0.0.1', '127.0.0.1:65535', '[::1]', '[::1]:80']) {
    assert.equal(guard(host, undefined), undefined, host)
  }
  const foreign = [undefined, '', 'evil.example', 'localhost.evil.example', 'localhost:80:80', 'localhost:port']
  for (const host of [...foreign, '127.0.0.1.evil.example', 'evil@localhost', '[::1', '::1', 'localhost:999999']) {
    assert.equal(guard(host, undefined), 'ForeignHost', String(host))
  }
})

test('a foreign host stays foreign after a good one', () => {
  const guard = createGuard()
  assert.equal(guard('localhost:1', undefined), undefined)
  assert.equal(guard('evil.example', undefined), 'ForeignHost')
  assert.equal(guard('localhost:1', undefined), undefined)
})

test('pages on allowed hosts may call, over http and https, from any port', () => {
  const guard = createGuard({ hosts: ['api.example.com'] })
  for (const origin of ['http://localhost:5173', 'https://127.0.0.1', 'http://[::1]:1', 'https://API.example.com']) {
    assert.equal(guard('localhost', origin), undefined, origin)
  }
  for (const origin of [
    'null',
    '',
    'http://evil.example',
    'file://',
    'ftp://localhost',
    'http://localhost/x',
    'localhost',
  ]) {
    assert.equal(guard('localhost', origin), 'ForeignOrigin', origin)
  }
})

test('hosts and origins that were named are let in, no more', () => {
  const guard = createGuard({ hosts: ['api.example.com:8443'], origins: ['https://app.example.com'] })
  assert.equal(guard('api.example.com:8443', 'https://app.example.com'), undefined)
  assert.equal(guard('api.example.com', undefined), 'ForeignHost')
  assert.equal(guard('api.example.com:8443', 'http://app.example.com'), 'ForeignOrigin')
})

test('loopback addresses are told from others', () => {
  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1']) assert.ok(isLoopback(host), host)
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.0.0.1.evil']) assert.ok(!isLoopback(host), host)
})
