// Defends: closing a client ends at once whatever it waits for, and one signal may be given to any number of calls.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type ClientOptions } from '../../src/client.ts'
import { deferred } from '../../src/client/deferred.ts'
import type { CallOptions } from '../../src/client/options.ts'
import { tool, UrlElicitationRequired } from '../../src/index.ts'
import { CallFailed } from '../../src/model/failure.ts'
import { serverOf, sure } from '../server/support.ts'
import { until } from '../transport/dial/support.ts'
import { isObject } from '../../src/model/json.ts'
import { add, connected, legacy, modern, quick, toolOf } from './support.ts'

const principal = { id: 'ada', scopes: new Set<string>() }
const asks = tool('asks', {}, async (_args, ctx) => JSON.stringify(await ctx.elicit('sure', sure, 'Sure?')))
const locked = tool('locked', {}, () => {
  throw new UrlElicitationRequired([{ url: 'https://example.com/', message: 'Visit', elicitationId: 'a' }])
})
const job = tool('job', { task: 'always' }, (_args, { signal }) => {
  const over = deferred<string>()
  signal.addEventListener('abort', () => over.resolve('stopped'))
  return over.promise
})
const server = () => serverOf({ tools: [asks, locked, job, add], tasks: { pollIntervalMs: 30_000 } })

/** What `outcome` came to, if soon. */
async function soon(outcome: Promise<unknown>): Promise<unknown> {
  const enough = new AbortController()
  const hangs = delay(1_000, 'still hangs', { signal: enough.signal }).catch(() => {})
  const came = outcome.then(
    (value) => value,
    (error: unknown) => error,
  )
  return Promise.race([came, hangs]).finally(() => enough.abort())
}

const never = deferred<never>().promise
const cases: readonly (readonly [what: string, name: string, revision: string, CallOptions, 'deaf' | 'yes'])[] = [
  ['a round', 'asks', modern, {}, 'deaf'],
  ['a live question', 'asks', legacy, {}, 'deaf'],
  ['a question about a visit', 'locked', legacy, {}, 'deaf'],
  ['the end of a visit', 'locked', legacy, { timeoutMs: 20_000 }, 'yes'],
  ['a task', 'job', modern, { task: true }, 'deaf'],
  ['a task of a session', 'job', legacy, { task: true }, 'deaf'],
]

for (const [what, name, revision, options, says] of cases) {
  test(`a call that waits for ${what} ends when the client closes, and so does its handler`, async () => {
    const asked: AbortSignal[] = []
    const answer = async (_params: unknown, { signal }: { readonly signal: AbortSignal }) => {
      asked.push(signal)
      return says === 'yes' ? { action: 'accept' as const } : never
    }
    const elicit: ClientOptions['elicit'] = { form: answer, url: answer }
    const pair = await connected(server(), { revision, serve: { principal }, elicit })
    const outcome = pair.client.call(name, {}, options)
    outcome.catch(() => {})
    if (name === 'job') await until(() => pair.target.sent().includes('tools/call') && delay(50, true))
    else await until(() => asked.length === 1)
    await delay(10)
    assert.equal(await soon(pair.client.close()), undefined)
    const failure = await soon(outcome)
    assert.ok(failure instanceof CallFailed, String(failure))
    assert.deepEqual([failure.kind, failure.ran, failure.message], ['Cancelled', 'unknown', 'The client was closed'])
    if (says === 'deaf') assert.ok(asked.every(({ aborted }) => aborted))
  })
}

test('a call that waits to be tried again ends when the client closes', async () => {
  await using pair = await connected(server(), { revision: modern, retry: { delayMs: 60_000, maxDelayMs: 600_000 } })
  pair.target.alter = (message, way) => {
    if (way !== '>' || message.method !== 'tools/call') return message
    queueMicrotask(() =>
      pair.target.answer(Number(message.id), { code: -32603, message: 'busy' }, { status: 503, retryAfter: 60 }),
    )
    return undefined
  }
  const outcome = pair.client.call('add', { a: 1, b: 2 })
  outcome.catch(() => {})
  await delay(20)
  await pair.client.close()
  assert.equal(Object(await soon(outcome)).message, 'The client was closed')
})

test('a list that is watched by the clock is watched no more once the client closes', async () => {
  const kept = serverOf({ tools: [add], cache: { tools: { ttlMs: 60_000, cacheScope: 'private' } } })
  await using pair = await connected(kept, { revision: modern })
  pair.target.alter = (message, way) => {
    const { result } = message
    return way === '<' && isObject(result)
      ? { ...message, result: { ...result, capabilities: { tools: {} } } }
      : message
  }
  await using other = { client: await connect(pair.target, quick()), [Symbol.asyncDispose]: () => other.client.close() }
  const lists = other.client.watch('tools')
  assert.equal((await lists.next()).done, false)
  const next = lists.next()
  await delay(10)
  await other.client.close()
  assert.deepEqual(await soon(next), { done: true, value: undefined })
})

test('a signal that many calls share has one listener, and none once they are over', async () => {
  const slow = toolOf('slow', () => delay(20, 'done'))
  await using pair = await connected(serverOf({ tools: [slow] }), { revision: modern })
  await using other = await connected(serverOf({ tools: [slow] }), { revision: legacy })
  const { signal } = new AbortController()
  const calls = Array.from({ length: 50 }, () => [pair, other].map(({ client }) => client.call('slow', {}, { signal })))
  const changes = await Promise.all(
    Array.from({ length: 20 }, () => other.client.listen({ toolsListChanged: true }, { signal })),
  )
  assert.equal(getEventListeners(signal, 'abort').length, 1)
  await Promise.all(calls.flat())
  await Promise.all(changes.map((change) => change.close()))
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('whoever gives up one call of many that share a signal gives up all, and nobody else', async () => {
  const forever = toolOf('forever', (ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)))
  await using pair = await connected(serverOf({ tools: [forever, add] }), { revision: modern })
  const stop = new AbortController()
  const reason = new Error('enough')
  const { signal } = stop
  const calls = [1, 2, 3].map(() => pair.client.call('forever', {}, { signal }))
  const ends = Promise.allSettled(calls)
  await delay(10)
  stop.abort(reason)
  for (const end of await ends) assert.equal(end.status === 'rejected' && Object(end.reason).cause, reason)
  assert.deepEqual((await pair.client.call('add', { a: 1, b: 2 })).structured, { sum: 3 })
})
