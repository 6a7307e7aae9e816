// Defends: the calling side settles each request once, by exactly its id; it cancels, times out and hears of progress; what
// is nobody's is reported and harms nobody.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { refusals } from '../../src/codec/refusals.ts'
import { createCodecs } from '../../src/codec/registry.ts'
import { CallFailed } from '../../src/model/failure.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Transport } from '../../src/codec/codec.ts'
import type { Caller, CallerOptions, Request } from '../../src/peer/calling.ts'
import { createCaller } from '../../src/peer/create-caller.ts'
import type { LinkListener, Outgoing, Received } from '../../src/peer/link.ts'

const codecs = createCodecs()
const modern = '2026-07-28'
const legacy = '2025-11-25'

interface Bench {
  readonly caller: Caller
  readonly sent: Outgoing[]
  readonly noise: string[]
  readonly told: JsonObject[]
  say(message: JsonObject, received?: Received): void
  listener: LinkListener
  fail: CallFailed | undefined
}

/** A caller that agreed on `revision` with nobody: the test says what the server would. */
async function bench(
  revision: string,
  transport: Transport = 'memory',
  options: Partial<CallerOptions> = {},
): Promise<Bench> {
  const sent: Outgoing[] = []
  const noise: string[] = []
  const told: JsonObject[] = []
  const made: { listener?: LinkListener; fail?: CallFailed } = {}
  const caller = createCaller(
    {
      transport,
      open: async (listener) => void (made.listener = listener),
      send: (outgoing) => {
        if (made.fail) return Promise.reject(made.fail)
        sent.push(outgoing)
        return Promise.resolve()
      },
      agree: () => {},
      close: () => Promise.resolve(),
    },
    {
      info: { name: 'me', version: '1' },
      capabilities: {},
      logLevel: () => undefined,
      answer: () => Promise.reject(new Error('nobody is there')),
      maxAsks: 2,
      notified: (notification) => told.push(notification as unknown as JsonObject),
      expired: () => {},
      closed: () => {},
      noise: (_from, text) => noise.push(text),
      ...options,
    },
  )
  await caller.open()
  const codec = codecs.get(revision)
  assert.ok(codec)
  await caller.agree(codec, {
    revision,
    supported: [],
    info: undefined,
    capabilities: {},
    instructions: undefined,
    ttlMs: undefined,
  })
  sent.length = 0
  const listener = made.listener
  assert.ok(listener)
  return {
    caller,
    sent,
    noise,
    told,
    listener,
    say: (message, received = {}) => listener.message({ jsonrpc: '2.0', ...message }, received),
    get fail() {
      return made.fail
    },
    set fail(failure) {
      if (failure) made.fail = failure
    },
  }
}

const call = (caller: Caller, more: Partial<Request> = {}): Promise<JsonObject> =>
  caller.call({ method: 'tools/list', ...more })
const state = async (promise: Promise<unknown>): Promise<string> =>
  Promise.race([
    promise.then(
      () => 'resolved',
      () => 'rejected',
    ),
    delay(5, 'pending'),
  ])
const message = ({ text }: Outgoing): JsonObject => JSON.parse(text) as JsonObject

test('law: no other id answers a request, whatever it looks like', async () => {
  const { caller, say, noise } = await bench(modern)
  const pending = call(caller)
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.string(), fc.integer(), fc.constantFrom('1', '1.0', ' 1', '01', '1e0', -1, 0)),
      async (id) => {
        fc.pre(id !== 1)
        const before = noise.length
        say({ id, result: { tools: [{ name: 'wrong' }] } })
        assert.equal(noise.length, before + 1)
      },
    ),
  )
  assert.equal(await state(pending), 'pending')
  say({ id: 1, result: { tools: [] } })
  assert.deepEqual((await pending).tools, [])
})

test('an answer that comes twice is told once, and reported', async () => {
  const { caller, say, noise } = await bench(modern)
  const pending = call(caller)
  say({ id: 1, result: { tools: [] } })
  say({ id: 1, result: { tools: [{ name: 'second' }] } })
  assert.deepEqual((await pending).tools, [])
  assert.deepEqual(noise, ['an answer that nothing waits for: 1'])
})

test('an error without an id is of the request whose response it is, else of the only one, else of none', async () => {
  const one = await bench(legacy)
  const only = call(one.caller)
  one.say({ id: null, error: { code: -32700, message: 'what?' } })
  await assert.rejects(only, { kind: 'ParseError', ran: 'no' })
  const two = await bench(legacy, 'http')
  const [first, second] = [call(two.caller), call(two.caller)]
  two.say({ error: { code: -32700, message: 'what?' } })
  assert.deepEqual([await state(first), await state(second)], ['pending', 'pending'])
  two.say({ error: { code: -32700, message: 'what?' } }, { on: 2, status: 400 })
  await assert.rejects(second, { kind: 'ParseError' })
  assert.equal(await state(first), 'pending')
})

test('what looks like an answer and is none breaks the protocol', async () => {
  for (const broken of [
    {},
    { result: 5 },
    { error: 'no' },
    { result: {}, error: { code: 1, message: '' } },
    { error: { code: 'x' } },
  ]) {
    const { caller, say } = await bench(legacy)
    const pending = call(caller)
    say({ id: 1, ...broken })
    await assert.rejects(pending, { kind: 'ProtocolViolation', ran: 'unknown' }, JSON.stringify(broken))
  }
})

test('HTTP statuses say more than codes', async () => {
  for (const [status, kind, ran] of [
    [401, 'Unauthenticated', 'no'],
    [403, 'InsufficientScope', 'no'],
    [429, 'RateLimited', 'unknown'],
    [503, 'HttpStatus', 'unknown'],
    [500, 'HttpStatus', 'unknown'],
    [200, 'InternalError', 'unknown'],
  ] as const) {
    const { caller, say } = await bench(legacy, 'http')
    const pending = call(caller)
    say({ id: 1, error: { code: -32603, message: 'm' } }, { on: 1, status, retryAfter: 3 })
    const error = (await pending.catch((thrown: unknown) => thrown)) as CallFailed
    assert.deepEqual([error.kind, error.ran], [kind, ran])
    if (status !== 200) assert.equal(error.retryAfter, 3)
  }
})

test('a busy server refused a call only where it says so in our own words', async () => {
  for (const [status, kind, otherwise] of [
    [429, 'RateLimited', 'RateLimited'],
    [503, 'Overloaded', 'HttpStatus'],
  ] as const) {
    const { message, session } = refusals[kind]
    for (const [error, told, ran] of [
      [{ code: session.code, message }, kind, 'no'],
      [{ code: -32000, message }, otherwise, 'unknown'],
      [{ code: session.code, message: 'upstream connect error' }, otherwise, 'unknown'],
    ] as const) {
      for (const revision of [legacy, modern]) {
        const { caller, say } = await bench(revision, 'http')
        const pending = call(caller)
        say({ id: 1, error }, { on: 1, status, retryAfter: 3 })
        await assert.rejects(pending, { kind: told, ran, retryAfter: 3 })
      }
    }
  }
})

test('a cancelled call is cancelled on the wire, each era in its way', async () => {
  for (const [revision, transport, notified, aborted] of [
    [modern, 'memory', true, false],
    [modern, 'http', false, true],
    [legacy, 'memory', true, false],
    [legacy, 'http', true, true],
  ] as const) {
    const { caller, sent } = await bench(revision, transport)
    const stop = new AbortController()
    const pending = call(caller, { signal: stop.signal })
    const carrier = sent[0]?.signal
    stop.abort(new Error('enough'))
    await assert.rejects(pending, { kind: 'Cancelled', ran: 'unknown' })
    await delay(1)
    const said = sent.slice(1).map(message)
    assert.deepEqual(
      said.map(({ method }) => method),
      notified ? ['notifications/cancelled'] : [],
    )
    if (notified) assert.deepEqual((said[0]?.params as JsonObject).requestId, 1)
    assert.equal(carrier?.aborted ?? false, aborted)
    await assert.rejects(call(caller, { signal: stop.signal }), { kind: 'Cancelled', ran: 'no' })
  }
})

test('a handshake and a probe are not cancelled on the wire', async () => {
  const { caller, sent } = await bench(legacy)
  const codec = codecs.get(legacy)
  const newest = codecs.newest
  assert.ok(codec)
  await assert.rejects(caller.initialize(codec, { timeoutMs: 5 }), { kind: 'TimedOut' })
  await assert.rejects(caller.discover(newest, { timeoutMs: 5 }), { kind: 'TimedOut' })
  assert.deepEqual(
    sent.map((one) => message(one).method),
    ['initialize', 'server/discover'],
  )
})

test('an answer that takes too long is given up; progress gives it more time, but not for ever', async () => {
  const { caller, say, sent } = await bench(modern)
  await assert.rejects(call(caller, { timeoutMs: 10 }), { kind: 'TimedOut', ran: 'unknown' })
  assert.equal(message(sent[1] ?? { text: '{}' }).method, 'notifications/cancelled')
  const heard: number[] = []
  const lively = call(caller, {
    timeoutMs: 60,
    maxTimeoutMs: 5_000,
    onProgress: ({ progress }) => heard.push(progress),
  })
  for (let progress = 1; progress <= 5; progress++) {
    await delay(25)
    say({ method: 'notifications/progress', params: { progressToken: 2, progress } })
  }
  assert.equal(await state(lively), 'pending')
  say({ id: 2, result: { tools: [] } })
  await lively
  assert.deepEqual(heard, [1, 2, 3, 4, 5])
  const talkative = call(caller, { timeoutMs: 40, maxTimeoutMs: 100, keepAlive: true })
  const timer = setInterval(
    () => say({ method: 'notifications/progress', params: { progressToken: 3, progress: 1 } }),
    10,
  )
  await assert.rejects(talkative, { kind: 'TimedOut' })
  clearInterval(timer)
})

test('progress is of the request whose token it names, and of none otherwise', async () => {
  const { caller, say, noise } = await bench(modern)
  const heard: unknown[] = []
  const pending = call(caller, { onProgress: (progress) => heard.push(progress.progress) })
  for (const progressToken of ['1', 2, null, {}])
    say({ method: 'notifications/progress', params: { progressToken, progress: 9 } })
  say({ method: 'notifications/progress', params: { progressToken: 1 } })
  say({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })
  say({ id: 1, result: { tools: [] } })
  await pending
  say({ method: 'notifications/progress', params: { progressToken: 1, progress: 2 } })
  assert.deepEqual(heard, [1])
  assert.equal(noise.length, 6)
})

test('a notification that the revision does not have is noise; others are handed on', async () => {
  const { say, noise, told } = await bench(modern)
  say({ method: 'notifications/elicitation/complete', params: { elicitationId: '1' } })
  say({ method: 'notifications/nothing' })
  say({ method: 'notifications/tools/list_changed' })
  assert.equal(noise.length, 2)
  assert.deepEqual(
    told.map(({ method }) => method),
    ['notifications/tools/list_changed'],
  )
})

test('what cannot be sent rejects with what the link says of it', async () => {
  const made = await bench(modern)
  made.fail = new CallFailed('Unreachable', { ran: 'no' })
  await assert.rejects(call(made.caller), { kind: 'Unreachable', ran: 'no' })
  assert.equal(made.caller.size, 0)
})

test('when the link ends, everything in flight is told why, and nothing more is sent', async () => {
  const { caller, listener, sent } = await bench(modern)
  const pending = [call(caller), call(caller)]
  listener.closed(new CallFailed('ServerExited', { ran: 'unknown' }))
  for (const one of pending) await assert.rejects(one, { kind: 'ServerExited', ran: 'unknown' })
  const before = sent.length
  await assert.rejects(call(caller))
  assert.equal(sent.length, before)
})

test('the headers that repeat the body are sent where the revision has them', async () => {
  const plan = { params: [{ path: ['to', 'region'], header: 'mcp-param-region', type: 'string' as const }] }
  const params = { name: 'naïve', arguments: { to: { region: 'süd' } } }
  const http = await bench(modern, 'http')
  void call(http.caller, { method: 'tools/call', params, headerPlan: plan }).catch(() => {})
  assert.deepEqual(http.sent[0]?.headers, {
    'mcp-protocol-version': modern,
    'mcp-method': 'tools/call',
    'mcp-name': '=?base64?bmHDr3Zl?=',
    'mcp-param-region': '=?base64?c8O8ZA==?=',
  })
  const older = await bench(legacy, 'http')
  void call(older.caller, { method: 'tools/call', params, headerPlan: plan }).catch(() => {})
  assert.equal(older.sent[0]?.headers, undefined)
  await http.caller.close()
  await older.caller.close()
})

test('a request says what the client is, where each stands alone, and nothing of it elsewhere', async () => {
  const alone = await bench(modern, 'memory', {
    capabilities: { roots: {}, sampling: { context: {} } },
    logLevel: () => 'warning',
  })
  void call(alone.caller, {
    capabilities: { sampling: { tools: {} }, extensions: { x: {} } },
    meta: { mine: 1 },
  }).catch(() => {})
  const meta = (message(alone.sent[0] ?? { text: '{}' }).params as JsonObject)._meta
  assert.deepEqual(meta, {
    mine: 1,
    'io.modelcontextprotocol/protocolVersion': modern,
    'io.modelcontextprotocol/clientCapabilities': {
      roots: {},
      sampling: { context: {}, tools: {} },
      extensions: { x: {} },
    },
    'io.modelcontextprotocol/clientInfo': { name: 'me', version: '1' },
    'io.modelcontextprotocol/logLevel': 'warning',
  })
  const session = await bench(legacy)
  void call(session.caller).catch(() => {})
  assert.deepEqual(message(session.sent[0] ?? { text: '{}' }), { jsonrpc: '2.0', id: 1, method: 'tools/list' })
  await alone.caller.close()
  await session.caller.close()
})

test('law: whatever a server says, every request is settled once the link ends, and nothing throws', async () => {
  const anyMessage = fc.dictionary(
    fc.constantFrom('id', 'method', 'params', 'result', 'error', 'jsonrpc'),
    fc.oneof(
      fc.constantFrom(1, 2, '1', null, 'notifications/progress', 'ping', 'elicitation/create', '2.0'),
      fc.jsonValue(),
    ),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyMessage, { maxLength: 8 }),
      fc.constantFrom(modern, legacy),
      async (messages, revision) => {
        const { caller, say, listener } = await bench(revision)
        const pending = [call(caller), call(caller, { method: 'tools/call', params: { name: 'x' } })]
        for (const one of messages) say(one, { on: 1 })
        listener.closed(new CallFailed('ConnectionLost', { ran: 'unknown' }))
        await Promise.allSettled(pending)
        assert.equal(caller.size, 0)
      },
    ),
  )
})
