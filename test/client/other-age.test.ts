// Defends: a client whose server is replaced by one of another age finds that out by what is refused, once, and sends again
// only what cannot have run; a refusal that says nothing of age changes nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/client.ts'
import { isObject, type JsonObject } from '../../src/model/json.ts'
import { respond, result, scripted, type Scripted, type Script } from '../transport/dial/scripted.ts'
import { legacy, modern, quick } from './support.ts'

type Age = 'modern' | 'legacy'
type Response = Parameters<Script>[1]

interface Replaced {
  readonly server: Scripted
  age: Age
  /** Calls that ran. */
  runs: number
  /** Methods that came in, in order. */
  readonly asked: string[]
  /** Calls are refused, whoever makes them. */
  isPicky: boolean
  /** How a call is refused that came to the wrong age. */
  refuse: (response: Response, id: unknown) => void
}

const error = (id: unknown, code: number): object => ({ jsonrpc: '2.0', id, error: { code, message: 'no' } })
const info = { name: 's', version: '1' }

/** A server that is of one age until the test makes it one of the other. */
async function replaced(age: Age): Promise<Replaced> {
  const server = await scripted(({ method, headers, body }, r) => {
    if (method !== 'POST') return respond(r, 405)
    const { id, method: asked, params = {} } = JSON.parse(body) as { id?: number; method: string; params?: JsonObject }
    state.asked.push(asked)
    const said = state.age === 'modern' ? modernAnswer(asked, params) : legacyAnswer(asked, headers)
    if (asked === 'tools/call' && state.isPicky) return respond(r, 400, error(id, -32000))
    if (said === undefined) return id === undefined ? respond(r, 202) : state.refuse(r, id)
    if (asked === 'tools/call') state.runs += 1
    respond(r, 200, result(id, said), asked === 'initialize' ? { 'mcp-session-id': 's' } : {})
  })
  const state: Replaced = {
    server,
    age,
    runs: 0,
    asked: [],
    isPicky: false,
    refuse: (r, id) => respond(r, 400, error(id, state.age === 'modern' ? -32602 : -32000)),
  }
  return state
}

function modernAnswer(method: string, params: JsonObject): object | undefined {
  if (!isObject(params['_meta'] ?? null)) return undefined
  const said = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', _meta: {} }
  if (method === 'server/discover') return { ...said, supportedVersions: [modern], capabilities: { tools: {} } }
  return Object.keys(params['_meta'] as object).length > 1 ? { ...said, content: [], tools: [] } : undefined
}

function legacyAnswer(method: string, headers: Readonly<Record<string, unknown>>): object | undefined {
  if (method === 'initialize') return { protocolVersion: legacy, capabilities: { tools: {} }, serverInfo: info }
  if (method.startsWith('notifications/')) return undefined
  return headers['mcp-session-id'] === 's' ? { content: [], tools: [] } : undefined
}

for (const [from, to] of [
  ['modern', 'legacy'],
  ['legacy', 'modern'],
] as const) {
  test(`${from} to ${to}: what was refused is sent again, once it is known what the server is`, async () => {
    const state = await replaced(from)
    await using _ = state.server
    await using client = await connect(state.server.url, quick())
    await client.call('any')
    state.age = to
    await Promise.all(Array.from({ length: 5 }, () => client.call('any')))
    await client.call('any')
    assert.equal(client.revision, to === 'modern' ? modern : legacy)
    assert.equal(state.runs, 7)
    assert.equal(state.asked.filter((method) => method === 'server/discover').length, 2)
  })

  test(`${from} to ${to}: what may have run is not sent again, and the next call goes on`, async () => {
    const state = await replaced(from)
    await using _ = state.server
    await using client = await connect(state.server.url, quick())
    state.age = to
    state.refuse = (r, id) => respond(r, 400, error(id, -32603))
    await assert.rejects(client.call('any'), { kind: 'InternalError', ran: 'unknown' })
    assert.equal(state.runs, 0)
    await client.call('any')
    assert.equal(state.runs, 1)
  })

  test(`${from} to ${to}: a status alone is enough`, async () => {
    for (const status of [400, 404, 405]) {
      const state = await replaced(from)
      await using _ = state.server
      await using client = await connect(state.server.url, quick())
      state.age = to
      state.refuse = (r) => respond(r, status)
      await client.call('any')
      assert.equal(state.runs, 1, String(status))
    }
  })
}

for (const age of ['modern', 'legacy'] as const) {
  test(`${age}: a refusal of a server that is the same is told, and its age not doubted again soon`, async () => {
    const state = await replaced(age)
    await using _ = state.server
    await using client = await connect(state.server.url, quick())
    state.isPicky = true
    for (const _again of [1, 2]) await assert.rejects(client.call('any'), { kind: 'InternalError', ran: 'unknown' })
    state.isPicky = false
    await client.call('any')
    assert.equal(state.runs, 1)
    // One to connect, and one in doubt.
    assert.equal(state.asked.filter((method) => method === 'server/discover').length, 2)
  })
}

test('a revision that was pinned stays', async () => {
  const state = await replaced('legacy')
  await using _ = state.server
  await using client = await connect(state.server.url, quick({ revision: legacy }))
  state.age = 'modern'
  await assert.rejects(client.call('any'), { kind: 'MalformedParams', ran: 'no' })
  assert.equal(state.runs, 0)
})
