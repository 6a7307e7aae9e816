import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseChallenges, readDemand } from '../../../src/auth/flow/challenge.ts'

const plain = (header: string): unknown =>
  parseChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)])

test('challenges are told apart, in whatever way they are written', () => {
  assert.deepEqual(plain('Bearer'), [['bearer', {}]])
  assert.deepEqual(plain('Bearer realm="a, b", scope="x y"'), [['bearer', { realm: 'a, b', scope: 'x y' }]])
  assert.deepEqual(plain('bearer SCOPE=x,error = "say \\"no\\""'), [['bearer', { scope: 'x', error: 'say "no"' }]])
  assert.deepEqual(plain('Basic, Bearer scope=a'), [
    ['basic', {}],
    ['bearer', { scope: 'a' }],
  ])
  assert.deepEqual(plain('Negotiate YWJj/+==, DPoP algs="ES256", Bearer'), [
    ['negotiate', {}],
    ['dpop', { algs: 'ES256' }],
    ['bearer', {}],
  ])
})

test('what is malformed hides nothing behind it', () => {
  assert.deepEqual(readDemand('Digest ==;;; x, Bearer scope="a"').scope, 'a')
  assert.deepEqual(readDemand('"Bearer scope=no", Bearer scope="a').scope, 'a')
  assert.deepEqual(readDemand('@@@ Bearer scope="a", scope="b"').scope, 'a')
  assert.equal(readDemand('Bearer scope="Bearer error=x"').error, undefined)
})

test('a demand is read from the challenges that concern OAuth, wherever they stand', () => {
  const header = 'Negotiate, Basic realm="x", scope="no", Bearer error="invalid_token", resource_metadata="https://a/b"'
  assert.deepEqual(readDemand(header), {
    dpop: false,
    resourceMetadata: 'https://a/b',
    scope: undefined,
    error: 'invalid_token',
  })
  assert.equal(readDemand('DPoP algs="ES256"').dpop, true)
  assert.equal(readDemand('DPoP algs="ES256", Bearer').dpop, false)
  assert.equal(readDemand(undefined).dpop, false)
  assert.equal(readDemand('Basic').dpop, false)
})

test('any text is read, in linear time', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'aB=" ,\\;/+-\t'.split('')) }), (text) => void plain(text)),
  )
  const started = performance.now()
  for (const part of ['a', '=', '"', ' ', 'a ', 'a=', 'a =', '\\"', 'a, ']) parseChallenges(part.repeat(100_000))
  assert.ok(performance.now() - started < 1000)
})
