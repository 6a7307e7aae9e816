// Defends: a call that is refused until the user has visited URLs (2025-11-25, URL elicitation required) goes on once the
// user agreed and the visits are over, as a new call; else the refusal is thrown as it came.
import assert from 'node:assert/strict'
import { createServer as createSocketServer, type AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type ClientOptions } from '../../src/client.ts'
import { tool, UrlElicitationRequired } from '../../src/index.ts'
import { isRefusal } from '../../src/model/refusal.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { exempt } from '../official/exempt.ts'
import { serverOf } from '../server/support.ts'
import { connected, legacy, modern, quick } from './support.ts'

const keyName = 'dev.dragoman/idempotencyKey'
const complete = 'notifications/elicitation/complete'
const page = (elicitationId: string) => ({
  url: `https://example.com/${elicitationId}`,
  message: 'Visit',
  elicitationId,
})

/** A server whose tool runs once as many visits are over as it asks for; each run is counted. */
function locked(pages: readonly ReturnType<typeof page>[], times = 1, options: Parameters<typeof tool>[1] = {}) {
  let runs = 0
  const opens = tool('opens', options, () => {
    runs += 1
    if (runs <= times) throw new UrlElicitationRequired(pages)
    return 'open'
  })
  return { server: serverOf({ tools: [opens], tasks: { pollIntervalMs: 20 } }), runs: () => runs }
}

/** A client that visits, and whose server says at once that the visit is over. */
async function visiting(door: ReturnType<typeof locked>, options: ClientOptions = {}, tells = true) {
  const visited: string[] = []
  const { client, target, ...rest } = await connected(door.server, {
    revision: legacy,
    serve: { principal: { id: 'ada', scopes: new Set() } },
    elicit: {
      url: ({ url, elicitationId = '' }) => {
        visited.push(url)
        if (tells) setTimeout(() => target.say({ method: complete, params: { elicitationId } }), 5)
        return { action: 'accept' }
      },
    },
    ...options,
  })
  const calls = () =>
    target.crossed.flatMap(([way, { id, method, params }]) =>
      way === '>' && method === 'tools/call' ? [{ id, params: params as JsonObject }] : [],
    )
  return { client, target, calls, visited, [Symbol.asyncDispose]: rest[Symbol.asyncDispose] }
}

test('the call is made again once the visits are over, under a new id and a new key', async () => {
  const door = locked([page('a'), page('b')])
  await using pair = await visiting(door)
  assert.equal((await pair.client.call('opens')).text, 'open')
  assert.deepEqual(pair.visited, ['https://example.com/a', 'https://example.com/b'])
  const [first, second] = pair.calls()
  assert.equal(pair.calls().length, 2)
  assert.notEqual(first?.id, second?.id)
  const keys = [first, second].map((call) => (call?.params._meta as JsonObject)[keyName])
  assert.ok(keys.every((key) => typeof key === 'string'))
  assert.notEqual(keys[0], keys[1])
})

test('a key that was given names each of the runs, the same ones each time', async () => {
  const door = locked([page('a')])
  await using pair = await visiting(door)
  assert.equal((await pair.client.call('opens', {}, { idempotencyKey: 'k' })).text, 'open')
  assert.equal((await pair.client.call('opens', {}, { idempotencyKey: 'k' })).text, 'open')
  assert.equal(door.runs(), 2)
})

test('the key of a later run is none that a user could mean, and no longer than servers take', async () => {
  let visited = true
  let effects = 0
  const pay = tool('opens', {}, () => {
    if (!visited) {
      visited = true
      throw new UrlElicitationRequired([page('a')])
    }
    return `effect ${++effects}`
  })
  await using pair = await visiting({ server: serverOf({ tools: [pay] }), runs: () => effects })
  const run = async (idempotencyKey: string) => (await pair.client.call('opens', {}, { idempotencyKey })).text
  assert.equal(await run('order 1'), 'effect 1')
  visited = false
  assert.equal(await run('order'), 'effect 2')
  visited = false
  assert.equal(await run('k'.repeat(256)), 'effect 3')
})

test('a call that is refused before it became a task, and once it is one, has a key for each of its runs', async () => {
  const keys: unknown[] = []
  let runs = 0
  const opens = tool('opens', { task: 'always' }, () => {
    runs += 1
    if (runs < 3) throw new UrlElicitationRequired([page('a')])
    return 'open'
  })
  await using pair = await visiting({
    server: serverOf({ tools: [opens], tasks: { pollIntervalMs: 20 } }),
    runs: () => runs,
  })
  const { alter } = pair.target
  pair.target.alter = (message, way) => {
    if (way === '<' || message.method !== 'tools/call') return alter(message, way)
    keys.push(((message.params as JsonObject)._meta as JsonObject)[keyName])
    if (keys.length % 2 === 0) return alter(message, way)
    // The first run of each kind is refused at once.
    const data = { elicitations: [{ mode: 'url', ...page('b') }] }
    const error = { code: -32042, message: 'Visit first', data }
    setImmediate(() => pair.target.answer(message.id as number, error, {}))
    return undefined
  }
  assert.equal((await pair.client.call('opens', {}, { task: true, idempotencyKey: 'k' })).text, 'open')
  assert.equal(keys.length, 6)
  assert.equal(new Set(keys).size, 6)
  assert.equal(keys[0], 'k')
})

test('a call that became a task is made again as one', async () => {
  const door = locked([page('a')], 1, { task: 'always' })
  await using pair = await visiting(door)
  assert.equal((await pair.client.call('opens', {}, { task: true })).text, 'open')
  assert.equal(pair.calls().length, 2)
  assert.deepEqual(pair.visited, ['https://example.com/a'])
})

for (const action of ['decline', 'cancel'] as const) {
  test(`after ${action} nothing more is asked, and the refusal is thrown with its data`, async () => {
    const asked: string[] = []
    const door = locked([page('a'), page('b')])
    await using pair = await visiting(door, {
      elicit: {
        url: ({ url }) => {
          asked.push(url)
          return { action }
        },
      },
    })
    const thrown: unknown = await pair.client.call('opens').catch((error: unknown) => error)
    assert.ok(isRefusal(thrown))
    assert.equal(thrown.kind, 'UrlElicitationRequired')
    assert.equal(thrown.ran, 'unknown')
    assert.deepEqual(thrown.data?.elicitations, [
      { mode: 'url', ...page('a') },
      { mode: 'url', ...page('b') },
    ])
    assert.deepEqual(asked, ['https://example.com/a'])
    assert.equal(door.runs(), 1)
  })
}

test('without a handler for URLs the refusal is thrown as it came', async () => {
  const door = locked([page('a')])
  await using pair = await visiting(door, { elicit: () => ({ action: 'accept' }) })
  await assert.rejects(pair.client.call('opens'), { kind: 'UrlElicitationRequired', ran: 'unknown' })
  assert.equal(door.runs(), 1)
})

test('where no word of the end comes the call is made again after its patience, or once the user says so', async () => {
  const patient = locked([page('a')])
  await using silent = await visiting(patient, {}, false)
  const since = performance.now()
  assert.equal((await silent.client.call('opens', {}, { timeoutMs: 150 })).text, 'open')
  assert.ok(performance.now() - since >= 140)

  const door = locked([page('a')])
  await using told = await visiting(door, { elicit: { url: () => ({ action: 'accept', over: delay(30) }) } }, false)
  const begun = performance.now()
  assert.equal((await told.client.call('opens')).text, 'open')
  assert.ok(performance.now() - begun < 5_000)
})

test('who gives up waiting is let go, and nothing is sent again', async () => {
  const door = locked([page('a')])
  const stop = new AbortController()
  await using pair = await visiting(door, {}, false)
  setTimeout(() => stop.abort(), 30)
  await assert.rejects(pair.client.call('opens', {}, { signal: stop.signal }), { kind: 'Cancelled' })
  assert.equal(door.runs(), 1)
})

test('a server that goes on asking for visits is left', async () => {
  const door = locked([page('a')], 100)
  await using pair = await visiting(door, { maxRounds: 3 })
  await assert.rejects(pair.client.call('opens'), (error: Error & { kind?: string }) => {
    assert.equal(error.kind, 'TooManyRounds')
    return isRefusal(error.cause) && error.cause.kind === 'UrlElicitationRequired'
  })
  assert.equal(door.runs(), 4)
})

test('the word of an end that nobody waits for is no news', async () => {
  const door = locked([page('a')])
  await using pair = await visiting(door)
  pair.target.say({ method: complete, params: { elicitationId: 'nobody' } })
  pair.target.say({ method: complete })
  assert.equal((await pair.client.call('opens')).text, 'open')
})

/** A server of 2025-11-25 by hand: refuses each method once with this data, and answers after that. */
async function peer(data: unknown) {
  const seen: JsonObject[] = []
  const refused = new Set<unknown>()
  const door = createSocketServer((socket) => {
    const say = (message: object): void => void socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    socket.on('error', () => {})
    createInterface({ input: socket }).on('line', (line) => {
      const { id, method } = JSON.parse(line) as JsonObject
      if (id === undefined) return
      if (method === 'initialize') {
        const result = {
          protocolVersion: legacy,
          capabilities: { tools: {}, prompts: {}, resources: {} },
          serverInfo: { name: 'peer', version: '1' },
        }
        return say({ id, result })
      }
      seen.push({ id: id ?? null, method: method ?? null })
      if (!refused.has(method)) {
        refused.add(method)
        return say({ id, error: { code: -32042, message: 'Visit first', data } })
      }
      if (method === 'prompts/get') return say({ id, result: { messages: [] } })
      say({ id, result: { content: [{ type: 'text', text: 'done' }] } })
    })
  })
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  const { port } = door.address() as AddressInfo
  return { where: `tcp:127.0.0.1:${port}`, seen, close: () => door.close() }
}

test('prompts and tools of a server that others wrote', async () => {
  const { where, seen, close } = await peer({ elicitations: [{ mode: 'url', ...page('x') }] })
  const urls: string[] = []
  const client = await connect(
    where,
    quick({
      revision: legacy,
      elicit: {
        url: ({ url }) => {
          urls.push(url)
          return { action: 'accept', over: Promise.resolve() }
        },
      },
    }),
  )
  assert.deepEqual((await client.get('any')).messages, [])
  assert.equal((await client.call('any')).text, 'done')
  assert.deepEqual(urls, [page('x').url, page('x').url])
  const ids = seen.map(({ id }) => id)
  assert.equal(new Set(ids).size, 4)
  await client.close()
  close()
})

test('what is no list of URLs to visit is nothing to hand on', async () => {
  exempt(({ error }) => (error as JsonObject | undefined)?.code === -32042)
  for (const data of [
    undefined,
    {},
    { elicitations: [] },
    { elicitations: 'none' },
    { elicitations: [{ mode: 'url', ...page('x') }, 7] },
    { elicitations: [{ ...page('x') }] },
    { elicitations: [{ mode: 'url', url: 'https://example.com', message: 'm' }] },
    { elicitations: [{ mode: 'url', ...page('x'), url: 'javascript:alert(1)' }] },
    { elicitations: [{ mode: 'form', message: 'm', requestedSchema: { type: 'object', properties: {} } }] },
  ]) {
    const { where, close } = await peer(data)
    const visit = (): never => assert.fail('handed on')
    const client = await connect(where, quick({ revision: legacy, elicit: { url: visit } }))
    const thrown: unknown = await client.call('any').catch((error: unknown) => error)
    assert.ok(isRefusal(thrown) && thrown.kind === 'UrlElicitationRequired', JSON.stringify(data))
    assert.deepEqual(thrown.data, data)
    await client.close()
    close()
  }
})

test('where requests stand alone the URL is asked for in the result, as ever', async () => {
  const door = locked([page('a')])
  await using pair = await visiting(door, { revision: modern }, false)
  assert.equal((await pair.client.call('opens')).text, 'open')
  assert.deepEqual(pair.visited, [page('a').url])
})
