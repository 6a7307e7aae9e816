// Defends: over HTTP sessions hear of changes on a stream of their own, and whoever listens is told so once that is open:
// nothing that changes after that goes unheard. What does not listen never waits for it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type ClientOptions } from '../../src/client.ts'
import { fetchHandler } from '../../src/index.ts'
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
  const options: ClientOptions = quick({ http: { fetch } })
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
