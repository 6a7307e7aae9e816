// Defends: a call ends when its caller gives it up, or its time is over, also while a user is asked by a handler that heeds
// no signal; what that says later is nobody's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { ClientOptions } from '../../src/client.ts'
import { answered } from '../../src/client/answered.ts'
import { deferred } from '../../src/client/deferred.ts'
import type { CallOptions } from '../../src/client/options.ts'
import { tool, UrlElicitationRequired } from '../../src/index.ts'
import { CallFailed } from '../../src/model/failure.ts'
import { until } from '../transport/dial/support.ts'
import { serverOf, sure } from '../server/support.ts'
import { connected, legacy, modern } from './support.ts'

const page = (elicitationId: string) => ({
  url: `https://example.com/${elicitationId}`,
  message: 'Visit',
  elicitationId,
})
const asks = tool('asks', {}, async (_args, ctx) => JSON.stringify(await ctx.elicit('sure', sure, 'Sure?')))
const locked = tool('locked', {}, () => {
  throw new UrlElicitationRequired([page('a'), page('b')])
})
const job = tool('job', { task: 'always' }, async (_args, ctx) => JSON.stringify(await ctx.elicit('s', sure, 'Sure?')))

/** A handler for which nothing comes to an end before the test says so. */
function deaf(action: 'accept' | 'decline') {
  const said = deferred()
  const asked: AbortSignal[] = []
  const answer = async (_params: unknown, { signal }: { readonly signal: AbortSignal }) => {
    asked.push(signal)
    await said.promise
    return { action, content: { sure: true } }
  }
  return { asked, answer, say: () => said.resolve() }
}

const ways: readonly (readonly [name: string, revision: string, more: CallOptions])[] = [
  ['asks', modern, {}],
  ['locked', legacy, {}],
  ['job', modern, { task: true }],
]
const ends = [
  ['aborted', 'Cancelled', ({ signal }: AbortController) => ({ signal })],
  ['out of time', 'TimedOut', () => ({ maxTimeoutMs: 500 })],
] as const

for (const [name, revision, more] of ways) {
  for (const [how, kind, given] of ends) {
    test(`${name}: ${how} while the user is asked, it ends, and a late answer goes nowhere`, async () => {
      const handler = deaf('accept')
      const elicit: ClientOptions['elicit'] = { form: handler.answer, url: handler.answer }
      const server = serverOf({ tools: [asks, locked, job], tasks: { pollIntervalMs: 20 } })
      const serve = { principal: { id: 'ada', scopes: new Set<string>() } }
      await using pair = await connected(server, { revision, serve, elicit })
      const stop = new AbortController()
      const reason = new Error('enough')
      const outcome = pair.client.call(name, {}, { ...more, ...given(stop) }).then(
        () => 'done',
        (error: unknown) => error,
      )
      await until(() => handler.asked.length === 1)
      if (kind === 'Cancelled') stop.abort(reason)
      const enough = new AbortController()
      const hangs = delay(2_000, 'still hangs', { signal: enough.signal }).catch(() => 'ended')
      const failure = await Promise.race([outcome, hangs])
      enough.abort()
      assert.ok(failure instanceof CallFailed, String(failure))
      assert.deepEqual([failure.kind, failure.ran], [kind, 'unknown'])
      if (kind === 'Cancelled') assert.equal(failure.cause, reason)
      assert.equal(handler.asked[0]?.aborted, true)

      await delay(20)
      const sent = pair.target.sent().length
      handler.say()
      await delay(30)
      assert.equal(pair.target.sent().length, sent)
      assert.equal(handler.asked.length, 1)
    })
  }
}

test('the time of a call counts over all that it asks', async () => {
  let rounds = 0
  const again = tool('again', {}, async (_args, ctx) => {
    for (let turn = 0; ; turn++) await ctx.elicit(`turn ${turn}`, sure, 'Sure?')
  })
  await using pair = await connected(serverOf({ tools: [again] }), {
    revision: modern,
    maxRounds: 1_000,
    elicit: async () => {
      rounds += 1
      await delay(40)
      return { action: 'accept', content: { sure: true } }
    },
  })
  await assert.rejects(pair.client.call('again', {}, { maxTimeoutMs: 200 }), { kind: 'TimedOut', ran: 'unknown' })
  assert.ok(rounds <= 6, `${rounds}`)
})

test('answers: what a handler says in time is taken, its failures too; who is late is not asked at all', async () => {
  const limits = { signal: new AbortController().signal, until: performance.now() + 10_000 }
  assert.equal(await answered(async () => 'yes', limits), 'yes')
  const broken = (): never => {
    throw new Error('broken')
  }
  await assert.rejects(answered(broken, limits), { kind: 'Cancelled', message: /broken/ })
  const own = new CallFailed('TooManyRounds', { ran: 'no' })
  await assert.rejects(
    answered(() => Promise.reject(own), limits),
    own,
  )
  let asked = 0
  const ask = async () => (asked += 1)
  await assert.rejects(answered(ask, { ...limits, signal: AbortSignal.abort() }), { kind: 'Cancelled' })
  await assert.rejects(answered(ask, { ...limits, until: performance.now() - 1 }), { kind: 'TimedOut' })
  assert.equal(asked, 0)
  assert.equal(await answered(ask, { signal: undefined, until: Infinity }), 1)
})

test('answers: where one of several questions fails, the others are taken back', async () => {
  const seen: AbortSignal[] = []
  const both = answered(
    (signal) => {
      seen.push(signal)
      return Promise.all([Promise.reject(new Error('broken')), new Promise(() => {})])
    },
    { signal: undefined, until: Infinity },
  )
  await assert.rejects(both, { kind: 'Cancelled' })
  assert.equal(seen[0]?.aborted, true)
})
