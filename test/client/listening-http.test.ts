// Defends: over HTTP sessions hear of changes on a stream of their own, and whoever listens is told so once that is open:
// nothing that changes after that goes unheard. What does not listen never waits for it. Where nothing is heard, no list is
// kept, and whoever listens is told to look for themselves once it is again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type ClientOptions } from '../../src/client.ts'
import { fetchHandler } from '../../src/index.ts'
import { until } from '../transport/dial/support.ts'
import { everything } from './everything.ts'
import { legacy, quick } from './support.ts'

/** A client over HTTP within this process, whose streams of sessions are answered by `get`. */
async function over(get: (request: Request, next: () => Promise<Response>) => Promise<Response>) {
  const server = everything()
  const handler = fetchHandler(server, { revisions: [legacy] })
  const fetch = ((url: string | URL, init?: RequestInit) => {
    const request = new Request(url, init)
    return request.method === 'GET' ? get(request, () => handler(request)) : handler(request)
  }) as typeof globalThis.fetch
  const options: ClientOptions = quick({ http: { fetch, retryMs: 20 } })
  const client = await connect('http://127.0.0.1/mcp', options)
  return {
    server,
    client,
    async [Symbol.asyncDispose]() {
      await client.close()
      await handler.close({ graceMs: 100 })
    },
  }
}

const late = async (_request: Request, next: () => Promise<Response>): Promise<Response> => {
  await delay(100)
  return next()
}
const none = (): Promise<Response> => Promise.resolve(new Response(null, { status: 405 }))
const never = (request: Request): Promise<Response> =>
  new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(new Error('let go'))))

test('what changes right after a subscription is heard', async () => {
  await using pair = await over(late)
  const changes = await pair.client.subscribe('memo://a')
  pair.server.updated('memo://a')
  assert.deepEqual((await changes.next()).value, { kind: 'resource', uri: 'memo://a' })
})

test('what changes right after a list was read is heard, so that it is read anew', async () => {
  await using pair = await over(late)
  assert.equal((await pair.client.tools()).length, 4)
  pair.server.tool('late', {}, () => 'here')
  for (let turn = 0; turn < 100 && (await pair.client.tools()).length < 5; turn++) await delay(5)
  assert.equal((await pair.client.tools()).length, 5)
})

test('a list is watched without a gap', async () => {
  await using pair = await over(late)
  for await (const tools of pair.client.watch('tools')) {
    if (tools.length === 5) break
    pair.server.tool('late', {}, () => 'here')
  }
})

test('calls wait for no stream', async () => {
  await using pair = await over(never)
  const since = performance.now()
  assert.equal((await pair.client.call('add', { a: 1, b: 2 })).isError, false)
  assert.ok(performance.now() - since < 900)
})

test('a server without such a stream slows nothing, and one that never answers only a little', async () => {
  for (const [get, ms] of [
    [none, 900],
    [never, 5_000],
  ] as const) {
    await using pair = await over(get)
    const since = performance.now()
    const changes = await pair.client.subscribe('memo://a')
    assert.equal((await pair.client.tools()).length, 4)
    assert.ok(performance.now() - since < ms)
    await changes.close()
  }
})

test('who gives up while the stream opens is let go', async () => {
  await using pair = await over(never)
  const since = performance.now()
  const stop = new AbortController()
  setTimeout(() => stop.abort(), 20)
  await assert.rejects(pair.client.subscribe('memo://a', { signal: stop.signal }))
  assert.ok(performance.now() - since < 900)
})

/** Streams that can be cut, and had anew while the test lets them. */
function cuttable() {
  let cut = (): void => {}
  const state = { open: true, lateMs: 0, tries: 0, streams: 0 }
  const get = async (request: Request, next: () => Promise<Response>): Promise<Response> => {
    state.tries += 1
    if (!state.open) return new Response(null, { status: 503 })
    await delay(state.lateMs)
    const { body, headers } = await next()
    if (!body) throw new Error('no stream')
    state.streams += 1
    const broken = new TransformStream<Uint8Array, Uint8Array>()
    const stop = new AbortController()
    cut = () => stop.abort(new Error('cut'))
    body.pipeTo(broken.writable, { signal: AbortSignal.any([stop.signal, request.signal]) }).catch(() => {})
    return new Response(broken.readable, { headers })
  }
  return { get, state, cut: () => cut() }
}

test('where there is no stream no list is kept, and none waits', async () => {
  await using pair = await over(none)
  const since = performance.now()
  assert.equal((await pair.client.tools()).length, 4)
  pair.server.tool('unheard', {}, () => 'here')
  assert.equal((await pair.client.tools()).length, 5)
  assert.ok(performance.now() - since < 900)
})

test('a list from before the stream broke is kept no more; one that is read while there is none is not, and does not wait', async () => {
  const { get, state, cut } = cuttable()
  await using pair = await over(get)
  assert.equal((await pair.client.tools()).length, 4)
  state.open = false
  cut()
  await until(() => state.tries > 1)
  const since = performance.now()
  for (const count of [5, 6]) {
    pair.server.tool(`unheard-${count}`, {}, () => 'here')
    assert.equal((await pair.client.tools()).length, count)
  }
  assert.ok(performance.now() - since < 900)
  state.open = true
  await until(() => state.streams === 2)
  assert.equal((await pair.client.tools()).length, 6)
  pair.server.tool('heard', {}, () => 'here')
  await until(async () => (await pair.client.tools()).length === 7)
})

test('of the lists that are read while the stream does not come only the first waits', async () => {
  await using pair = await over(never)
  await pair.client.tools()
  const since = performance.now()
  for (let turn = 0; turn < 5; turn++) await pair.client.tools()
  assert.equal((await pair.client.resources()).length, 1)
  assert.ok(performance.now() - since < 900)
})

test('whoever listens after the stream broke waits for the next', async () => {
  const { get, state, cut } = cuttable()
  await using pair = await over(get)
  await pair.client.tools()
  state.lateMs = 100
  cut()
  await until(() => state.tries > 1)
  const changes = await pair.client.subscribe('memo://a')
  assert.equal(state.streams, 2)
  pair.server.updated('memo://a')
  assert.deepEqual((await changes.next()).value, { kind: 'resource', uri: 'memo://a' })
})

test('whoever listens is told that changes may be missed, each time that the stream is had anew', async () => {
  const { get, state, cut } = cuttable()
  await using pair = await over(get)
  const changes = await pair.client.subscribe('memo://a')
  for (const streams of [2, 3]) {
    cut()
    await until(() => state.streams === streams)
    assert.deepEqual((await changes.next()).value, { kind: 'resumed' })
  }
  pair.server.updated('memo://a')
  assert.deepEqual((await changes.next()).value, { kind: 'resource', uri: 'memo://a' })
  await changes.close()
})

test('a watched list is looked at again once the stream is had anew', async () => {
  const { get, state, cut } = cuttable()
  await using pair = await over(get)
  for await (const tools of pair.client.watch('tools')) {
    if (tools.length === 5) break
    state.open = false
    cut()
    await until(() => state.tries > 1)
    pair.server.tool('unheard', {}, () => 'here')
    state.open = true
  }
})
