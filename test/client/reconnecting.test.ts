// Defends: a way to a server that ended is made anew, once for all, and takes nothing along that may still be answered;
// whoever waits for it waits no longer than they said, and nothing waits once the client is closed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { CallFailed, connect, connectAll, type CallOptions, type ClientOptions } from '../../src/client.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { serverOf } from '../server/support.ts'
import { respond, result, scripted, type Scripted } from '../transport/dial/scripted.ts'
import { until } from '../transport/dial/support.ts'
import { memoryTarget, type MemoryTarget } from './memory-link.ts'
import { add, legacy, quick } from './support.ts'

interface Sessions {
  inits: number
  /** The only session that is served. */
  session: string
  /** Calls that came in. */
  calls: number
}

/** A server with sessions whose tool takes a while when it is called `slow`. */
async function sessions(): Promise<{ readonly server: Scripted; readonly state: Sessions }> {
  const state: Sessions = { inits: 0, session: '', calls: 0 }
  const server = await scripted(({ method, headers, body }, r) => {
    if (method !== 'POST') return respond(r, 405)
    const { id, method: asked, params } = JSON.parse(body) as { id?: number; method: string; params?: JsonObject }
    if (asked === 'initialize') {
      state.inits += 1
      state.session = `s${state.inits}`
      const said = { protocolVersion: legacy, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
      return respond(r, 200, result(id, said), { 'mcp-session-id': state.session })
    }
    if (id === undefined) return respond(r, 202)
    if (headers['mcp-session-id'] !== state.session) {
      const gone = { jsonrpc: '2.0', id, error: { code: -32001, message: 'gone' } }
      return void setTimeout(() => respond(r, 404, gone), id % 20)
    }
    state.calls += 1
    setTimeout(() => respond(r, 200, result(id, { content: [] })), params?.['name'] === 'slow' ? 300 : 0)
  })
  return { server, state }
}

test('a session that is gone is opened once more, for all who meet that, one after the other', async () => {
  const { server, state } = await sessions()
  await using _ = server
  await using client = await connect(server.url, quick({ revision: legacy }))
  state.session = 'lost'
  await Promise.all(Array.from({ length: 30 }, () => client.call('any')))
  assert.deepEqual([state.inits, state.calls], [2, 30])
})

test('what a session took before it was gone is answered', async () => {
  const { server, state } = await sessions()
  await using _ = server
  await using client = await connect(server.url, quick({ revision: legacy }))
  const slow = client.call('slow')
  await until(() => state.calls === 1)
  state.session = 'lost'
  await client.call('any')
  assert.deepEqual((await slow).content, [])
  assert.deepEqual([state.inits, state.calls], [2, 2])
})

test('closing gives up what a session that is gone still runs', async () => {
  const { server, state } = await sessions()
  await using _ = server
  const client = await connect(server.url, quick({ revision: legacy }))
  const slow = client.call('slow')
  const failed = assert.rejects(slow, { kind: 'Cancelled', ran: 'unknown' })
  await until(() => state.calls === 1)
  state.session = 'lost'
  await client.call('any')
  await client.close()
  await failed
})

/** A server that goes away when it is told the level of logs, as often as a test says. */
function fragile(): { readonly target: MemoryTarget; times: number } {
  const target = memoryTarget(serverOf({ tools: [add] }))
  const state = { target, times: 1 }
  target.alter = (message, way) => {
    if (way === '<' || message.method !== 'logging/setLevel' || state.times === 0) return message
    state.times -= 1
    queueMicrotask(() => target.drop(new CallFailed('ServerExited', { ran: 'unknown' })))
    return undefined
  }
  return state
}

test('a server that goes away while it is connected is connected anew by the next call', async () => {
  const { target } = fragile()
  await using client = await connect(target, quick({ revision: legacy, logLevel: 'info' }))
  assert.deepEqual((await client.call('add', { a: 1, b: 2 })).structured, { sum: 3 })
  assert.equal(target.links, 2)
})

test('so is one that goes away while it is connected again, by the same call', async () => {
  const state = fragile()
  state.times = 0
  await using client = await connect(state.target, quick({ revision: legacy, logLevel: 'info' }))
  state.times = 1
  state.target.drop()
  assert.deepEqual((await client.call('add', { a: 1, b: 2 })).structured, { sum: 3 })
  assert.equal(state.target.links, 3)
})

/** A server that is gone, and then silent whoever comes back. */
async function silent(options: ClientOptions = {}) {
  const target = memoryTarget(serverOf({ tools: [add] }))
  const client = await connect(target, quick({ revision: legacy, ...options }))
  target.alter = (message, way) => (way === '>' ? undefined : message)
  target.drop()
  return { client, target }
}

const impatient: Readonly<Record<string, () => CallOptions>> = {
  signal: () => ({ signal: AbortSignal.timeout(50) }),
  timeoutMs: () => ({ timeoutMs: 50 }),
  maxTimeoutMs: () => ({ maxTimeoutMs: 50 }),
}

for (const [name, patience] of Object.entries(impatient)) {
  test(`${name} ends a call also while its server is connected again`, async () => {
    const { client } = await silent()
    const since = performance.now()
    const kind = name === 'signal' ? 'Cancelled' : 'TimedOut'
    await assert.rejects(client.call('add', {}, patience()), { kind, ran: 'no' })
    await assert.rejects(client.tools(patience()), { kind, ran: 'no' })
    assert.ok(performance.now() - since < 2_000)
    await client.close()
  })

  test(`${name} ends a call among many servers, whatever its server is at`, async () => {
    const { target } = await silent()
    const late = memoryTarget(serverOf({ tools: [add] }))
    const all = connectAll({ never: target, late }, quick({ revision: legacy }))
    const tools = await all.tools({ timeoutMs: 300 })
    assert.deepEqual(
      tools.map((tool) => tool.name),
      ['late_add'],
    )
    late.alter = (message, way) => (way === '>' ? undefined : message)
    late.drop()
    const since = performance.now()
    const kind = name === 'signal' ? 'Cancelled' : 'TimedOut'
    for (const called of ['never_add', 'late_add']) await assert.rejects(all.call(called, {}, patience()), { kind })
    assert.ok(performance.now() - since < 2_000)
    await all.close()
    assert.ok(performance.now() - since < 2_000)
  })
}

test('a list of many servers waits for none that is connected again', async () => {
  const [fine, lost] = [memoryTarget(serverOf({ tools: [add] })), memoryTarget(serverOf({ tools: [add] }))]
  await using all = connectAll({ fine, lost }, quick({ revision: legacy }))
  assert.equal((await all.tools()).length, 2)
  lost.alter = (message, way) => (way === '>' ? undefined : message)
  lost.drop()
  const since = performance.now()
  const tools = await all.tools({ timeoutMs: 50 })
  assert.deepEqual(
    tools.map((tool) => tool.server),
    ['fine'],
  )
  assert.ok(performance.now() - since < 2_000)
})

test('closing ends what waits for a server, and the attempt to reach it', async () => {
  const { client, target } = await silent()
  const calls = [client.call('add'), client.tools()].map((call) =>
    assert.rejects(call, { kind: 'Cancelled', ran: 'no' }),
  )
  await until(() => target.links === 2)
  const since = performance.now()
  await client.close()
  await Promise.all(calls)
  assert.ok(performance.now() - since < 2_000)
  await delay(100)
  assert.equal(target.links, 2)
})
