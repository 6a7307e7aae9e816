// Defends: what is tried again, how often, and how long is waited; a server that breaks down is left alone for a while.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CallFailed, connect, Refusal } from '../../src/client.ts'
import { createBreaker } from '../../src/client/breaker.ts'
import { defaultRetry, isBreakdown, nextAttempt } from '../../src/client/retrying.ts'
import { refusals } from '../../src/codec/refusals.ts'
import { asUnknown } from '../../src/model/as-unknown.ts'
import type { FailureKind } from '../../src/model/failure.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { serverOf } from '../server/support.ts'
import { memoryTarget } from './memory-link.ts'
import { add, connected, modern, quick, toolOf } from './support.ts'

const kinds: readonly FailureKind[] = [
  'Unreachable',
  'ConnectionLost',
  'TimedOut',
  'Cancelled',
  'HttpStatus',
  'Unauthorized',
  'NoCommonRevision',
  'ProtocolViolation',
  'InvalidResult',
  'TooLarge',
  'TooManyRounds',
  'CircuitOpen',
  'ServerExited',
]
const ran = fc.constantFrom('no', 'yes', 'unknown')
const failure = fc
  .record({
    kind: fc.constantFrom(...kinds),
    ran,
    status: fc.option(fc.constantFrom(400, 401, 403, 404, 408, 429, 500, 502, 503, 504), { nil: undefined }),
    retryAfter: fc.option(fc.nat(100), { nil: undefined }),
  })
  .map(
    ({ kind, ran, status, retryAfter }) =>
      new CallFailed(kind, {
        ran,
        ...(status !== undefined && { status }),
        ...(retryAfter !== undefined && { retryAfter }),
      }),
  )
const refusal = fc
  .record({
    kind: fc.constantFrom('RateLimited', 'Overloaded', 'DuplicateInFlight', 'MalformedParams', 'InternalError'),
    ran,
  })
  .map(({ kind, ran }) => new Refusal(kind, { ran }))
const attempted = fc.record({
  attempts: fc.integer({ min: 1, max: 6 }),
  repeatable: fc.boolean(),
  keyed: fc.boolean(),
  random: fc.double({ min: 0, max: 1, noNaN: true }),
})

test('law: what may have run and may not run twice is never tried again', () => {
  fc.assert(
    fc.property(fc.oneof(failure, refusal), attempted, (error, input) => {
      const wait = nextAttempt(error, { ...input, repeatable: false, keyed: false }, defaultRetry)
      if (error.ran !== 'no') assert.equal(wait, undefined)
    }),
  )
})

test('law: attempts and waits are bounded, and no wait is shorter than the server asked for', () => {
  fc.assert(
    fc.property(fc.oneof(failure, refusal), attempted, (error, input) => {
      const wait = nextAttempt(error, input, defaultRetry)
      if (wait === undefined) return
      const waits = error.kind === 'DuplicateInFlight'
      assert.ok(waits || input.attempts < defaultRetry.attempts)
      assert.ok(wait >= (error.retryAfter ?? 0) * 1000)
      assert.ok(wait <= 2 * defaultRetry.maxDelayMs)
    }),
  )
})

test('law: after an attempt that may have run, no failure says that nothing ran', () => {
  fc.assert(
    fc.property(fc.oneof(failure, refusal), (error) => {
      const told = asUnknown(error) as CallFailed
      assert.notEqual(told.ran, 'no')
      assert.equal(told.kind, error.kind)
      assert.equal(told.message, error.message)
    }),
  )
})

test('a server that asks for more patience than there is gets no second try', () => {
  const input = { attempts: 1, repeatable: true, keyed: false, random: 0 }
  assert.equal(nextAttempt(new Refusal('RateLimited', { retryAfter: 31 }), input, defaultRetry), undefined)
  assert.equal(nextAttempt(new Refusal('RateLimited', { retryAfter: 2 }), input, defaultRetry), 2000)
})

test('law: a breaker opens after breakdowns in a row, lets one through after a while, and closes when that works', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('ok', 'broken', 'left', 'wait'), { maxLength: 60 }), (steps) => {
      let now = 0
      const breaker = createBreaker({ failures: 3, coolMs: 100 }, () => now)
      let inRow = 0
      let openUntil: number | undefined
      for (const step of steps) {
        if (step === 'wait') {
          now += 60
          continue
        }
        const closed = openUntil === undefined || now >= openUntil
        if (!closed) {
          assert.throws(() => breaker.enter(), { kind: 'CircuitOpen', ran: 'no' })
          continue
        }
        breaker.enter()
        if (step === 'ok') {
          breaker.succeeded()
          inRow = 0
          openUntil = undefined
        } else if (step === 'broken') {
          breaker.failed()
          inRow += 1
          if (inRow >= 3) openUntil = now + 100
        } else breaker.left()
      }
    }),
  )
})

test('while one call finds out, others are told that the circuit is open', () => {
  let now = 0
  const breaker = createBreaker({ failures: 1, coolMs: 10 }, () => now)
  breaker.failed()
  now = 10
  breaker.enter()
  assert.throws(() => breaker.enter(), { kind: 'CircuitOpen' })
  breaker.left()
  breaker.enter()
  breaker.succeeded()
  breaker.enter()
})

test('breakdowns are not what a server answers', () => {
  for (const kind of kinds) {
    const expected = ['Unreachable', 'ConnectionLost', 'ServerExited'].includes(kind)
    assert.equal(isBreakdown(new CallFailed(kind, { ran: 'no' })), expected, kind)
  }
  assert.equal(isBreakdown(new CallFailed('HttpStatus', { ran: 'no', status: 502 })), true)
  assert.equal(isBreakdown(new CallFailed('HttpStatus', { ran: 'no', status: 404 })), false)
  assert.equal(isBreakdown(new Refusal('InternalError')), false)
})

test('a limit that passes is waited out, whatever the call does', async () => {
  const error = (kind: 'Overloaded' | 'RateLimited'): JsonObject => ({
    code: refusals[kind].session.code,
    message: refusals[kind].message,
  })
  await using pair = await connected(serverOf({ tools: [add] }), { revision: modern })
  let refused = 0
  const listened = pair.target
  pair.target.alter = (message, way) => {
    if (way === '<' || message.method !== 'tools/call' || refused === 2) return message
    refused += 1
    // As over HTTP, where the status says so.
    queueMicrotask(() => listened.answer(message.id as number, error('Overloaded'), { status: 503 }))
    return undefined
  }
  assert.deepEqual((await pair.client.call('add', { a: 1, b: 2 })).structured, { sum: 3 })
  refused = 0
  pair.target.alter = (message, way) => {
    if (way === '<' || message.method !== 'tools/call') return message
    refused += 1
    queueMicrotask(() => listened.answer(message.id as number, error('RateLimited'), { status: 429, retryAfter: 0 }))
    return undefined
  }
  await assert.rejects(pair.client.call('add', { a: 1, b: 2 }), { kind: 'RateLimited', ran: 'no', retryAfter: 0 })
  assert.equal(refused, 3)
})

/** What a server says of itself, but that it heeds keys. */
function withoutKeys(message: JsonObject): JsonObject {
  const result = message.result as JsonObject
  if (result.capabilities === undefined) return message
  const { experimental: _, ...capabilities } = result.capabilities as JsonObject
  return { ...message, result: { ...result, capabilities } }
}

for (const [status, kind] of [
  [429, 'RateLimited'],
  [503, 'HttpStatus'],
] as const) {
  test(`HTTP ${status} in the words of somebody else says nothing of whether the call ran`, async () => {
    let refused = 0
    const none = {}
    for (const [annotations, times] of [
      [none, 1],
      [{ readOnlyHint: true }, 3],
    ] as const) {
      const target = memoryTarget(serverOf({ tools: [toolOf('effect', () => 'done', annotations)] }))
      target.alter = (message, way) => {
        if (way === '<') return message.result === undefined ? message : withoutKeys(message)
        if (message.method !== 'tools/call') return message
        refused += 1
        const error = { code: -32000, message: 'upstream connect error' }
        queueMicrotask(() => target.answer(message.id as number, error, { status }))
        return undefined
      }
      await using client = await connect(target, quick({ revision: modern }))
      refused = 0
      await assert.rejects(client.call('effect'), { kind, ran: 'unknown' })
      assert.equal(refused, times)
    }
  })
}

test('a server that is away opens the circuit; when it is back, one call closes it', async () => {
  const target = memoryTarget(serverOf({ tools: [add] }))
  const client = await connect(target, quick({ retry: { attempts: 1 }, breaker: { failures: 2, coolMs: 50 } }))
  const { link } = target
  const away = { ...link('memory'), open: () => Promise.reject(new CallFailed('Unreachable', { ran: 'no' })) }
  target.drop()
  Object.assign(target, { link: () => away })
  await assert.rejects(client.call('add', { a: 1, b: 1 }), { kind: 'Unreachable', ran: 'no' })
  await assert.rejects(client.call('add', { a: 1, b: 1 }), { kind: 'Unreachable' })
  await assert.rejects(client.call('add', { a: 1, b: 1 }), { kind: 'CircuitOpen', ran: 'no' })
  Object.assign(target, { link })
  await assert.rejects(client.call('add', { a: 1, b: 1 }), { kind: 'CircuitOpen' })
  await new Promise((resolve) => setTimeout(resolve, 60))
  assert.equal((await client.call('add', { a: 1, b: 1 })).isError, false)
  await client.close()
})
