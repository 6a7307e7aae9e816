// One exchange: ids in flight, cancellation, live questions, draining, losses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { peerFor, type SpeakOptions } from '../../src/defaults.ts'
import { connectInMemory, result, tool } from '../../src/index.ts'
import type { Context, Loss, Server } from '../../src/index.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { createInFlight } from '../../src/peer/in-flight.ts'
import type { Exchange, Peer, Session } from '../../src/peer/peer.ts'
import { clientOf, eras, everything, recorder, serverOf, settled, sure, textOf } from '../server/support.ts'

const versionKey = 'io.modelcontextprotocol/protocolVersion'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

interface Gate {
  readonly server: Server
  go(): void
  readonly aborted: () => number
}

/** A server whose tool waits until it is let go, and counts how often it was told to stop. */
function gate(): Gate {
  const waiting: (() => void)[] = []
  let aborted = 0
  const wait = tool('wait', {}, (_, ctx) => {
    ctx.signal.addEventListener('abort', () => aborted++)
    return new Promise<string>((resolve) => waiting.push(() => resolve('let go')))
  })
  return {
    server: serverOf({ tools: [wait, tool('quick', {}, () => 'quick')] }),
    go: () => waiting.splice(0).forEach((one) => one()),
    aborted: () => aborted,
  }
}

/** Both ways into one peer, with what each says on its way. */
function open(server: Server, options: SpeakOptions = {}) {
  const peer: Peer = peerFor(server, options)
  const inFlight = createInFlight()
  const said: JsonObject[] = []
  const outlet = { send: (text: string) => void said.push(JSON.parse(text)) }
  const modern = (id: string | number, method: string, params: object = {}): Exchange =>
    peer.answerSelfContained(
      {
        kind: 'request',
        id,
        method,
        params: { ...params, _meta: { progressToken: id, [versionKey]: '2026-07-28', [capabilitiesKey]: everything } },
      },
      { principal: undefined, outlet, inFlight, transport: 'memory' },
    )
  const shake = (revision = '2025-11-25', capabilities: object = everything): Session => {
    const params = { protocolVersion: revision, capabilities, clientInfo: { name: 'c', version: '1' } } as never
    const { session } = peer.initialize(
      { kind: 'request', id: 'init', method: 'initialize', params },
      undefined,
      'memory',
      inFlight,
    )
    assert.ok(session)
    return session
  }
  const legacy = (session: Session, id: string | number, method: string, params: object = {}): Exchange =>
    peer.answerInSession({ kind: 'request', id, method, params: params as never }, session, outlet, undefined)
  return { peer, modern, shake, legacy, said, inFlight }
}

async function answerOf(
  exchange: Exchange,
): Promise<{ result?: JsonObject; error?: { code: number; message: string } } | undefined> {
  const answer = await exchange.answer
  return answer && (JSON.parse(answer.text) as { result?: JsonObject; error?: { code: number; message: string } })
}

test('one id is in flight once on a connection, whichever way it came; the first is answered', async () => {
  const { server, go } = gate()
  const { modern, legacy, shake } = open(server)
  const session = shake()
  const first = legacy(session, 1, 'tools/call', { name: 'wait' })
  assert.equal((await answerOf(modern(1, 'tools/call', { name: 'quick' })))?.error?.code, -32600)
  assert.equal((await answerOf(legacy(session, 1, 'tools/call', { name: 'quick' })))?.error?.code, -32600)
  assert.ok((await answerOf(modern('1', 'tools/call', { name: 'quick' })))?.result, 'a text is another id')
  go()
  assert.ok((await answerOf(first))?.result)
  await settled(1)
  assert.ok((await answerOf(modern(1, 'tools/call', { name: 'quick' })))?.result, 'the id is free again')
})

test('without a scope of ids, equal ones do not meet', async () => {
  const { server, go } = gate()
  const peer = peerFor(server, {})
  const call = (name: string): Exchange =>
    peer.answerSelfContained(
      {
        kind: 'request',
        id: 1,
        method: 'tools/call',
        params: { name, _meta: { [versionKey]: '2026-07-28', [capabilitiesKey]: {} } },
      },
      { principal: undefined, outlet: { send: () => {} }, transport: 'http', header: headerOf(name) },
    )
  const first = call('wait')
  assert.ok((await answerOf(call('quick')))?.result)
  go()
  assert.ok((await answerOf(first))?.result)
})

function headerOf(name: string): (header: string) => string | undefined {
  const headers: Record<string, string> = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
  }
  return (header) => headers[header]
}

test('cancelled: the handler is told once, and nothing more is said', async () => {
  for (const way of ['modern', 'legacy'] as const) {
    const { server, go, aborted } = gate()
    const { modern, legacy, shake, peer, said } = open(server)
    const session = shake()
    const exchange =
      way === 'modern' ? modern(1, 'tools/call', { name: 'wait' }) : legacy(session, 1, 'tools/call', { name: 'wait' })
    await settled(2)
    if (way === 'modern') exchange.cancel('enough')
    else peer.notified('notifications/cancelled', { requestId: 1, reason: 'enough' }, session)
    exchange.cancel('again')
    assert.equal(await exchange.answer, undefined)
    assert.equal(aborted(), 1)
    go()
    await settled()
    assert.deepEqual(said, [])
  }
})

test('a handler that was cancelled before it looked finds its signal aborted', async () => {
  let seen: boolean | undefined
  const server = serverOf({
    tools: [
      tool('t', {}, async (_, ctx) => {
        await new Promise((resolve) => setImmediate(resolve))
        seen = ctx.signal.aborted
        ctx.progress(1)
        return 'late'
      }),
    ],
  })
  const { modern, said } = open(server)
  const exchange = modern(1, 'tools/call', { name: 't' })
  exchange.cancel()
  assert.equal(await exchange.answer, undefined)
  await settled()
  assert.equal(seen, true)
  assert.deepEqual(said, [])
})

test('to cancel what is over, or what nobody asked, changes nothing', async () => {
  const { server } = gate()
  const { modern, peer, shake } = open(server)
  const session = shake()
  const exchange = modern(1, 'tools/call', { name: 'quick' })
  const answer = await exchange.answer
  exchange.cancel()
  assert.equal(await exchange.answer, answer)
  for (const params of [undefined, null, 5, {}, { requestId: null }, { requestId: {} }, { requestId: 99 }]) {
    peer.notified('notifications/cancelled', params, session)
  }
})

test('what a handler freezes is written anew each time, since it may change further down', async () => {
  for (const era of eras) {
    const content = [{ type: 'text' as const, text: 'first' }]
    const fixed = Object.freeze(result({ content }))
    const client = await clientOf(serverOf({ tools: [tool('t', {}, () => fixed)] }), { revision: era })
    assert.equal(textOf(await client.request('tools/call', { name: 't' })), 'first')
    content[0] = { type: 'text', text: 'second' }
    assert.equal(textOf(await client.request('tools/call', { name: 't' })), 'second', era)
  }
})

const asking = (handler?: (ctx: Context) => Promise<string>): Server =>
  serverOf({
    tools: [
      tool('t', {}, (_, ctx) => (handler ? handler(ctx) : ctx.elicit('a', sure, 'A?').then(({ action }) => action))),
    ],
  })

test('a question that nobody answers is given up after its time, and taken back', async () => {
  const { shake, legacy, said } = open(asking(), { askTimeoutMs: 20 })
  const session = shake()
  const answer = await answerOf(legacy(session, 1, 'tools/call', { name: 't' }))
  assert.equal(answer?.result?.['isError'], true)
  assert.deepEqual(
    said.map(({ method }) => method),
    ['elicitation/create', 'notifications/cancelled'],
  )
  assert.equal((said[1]?.['params'] as JsonObject)['requestId'], said[0]?.['id'])
  assert.equal(session.asks.size, 0)
})

test('a question whose call is cancelled is taken back, and its answer comes to nobody', async () => {
  const { shake, legacy, said, peer } = open(asking())
  const session = shake()
  const exchange = legacy(session, 1, 'tools/call', { name: 't' })
  await settled(2)
  exchange.cancel()
  assert.deepEqual(
    said.map(({ method }) => method),
    ['elicitation/create', 'notifications/cancelled'],
  )
  peer.responded(
    { kind: 'response', id: said[0]?.['id'] as string, result: { action: 'accept', content: { sure: true } } },
    session,
  )
  await settled()
  assert.equal(said.length, 2)
  assert.equal(session.asks.size, 0)
})

test('a call that is cancelled asks nothing any more', async () => {
  const { shake, legacy, said } = open(
    asking(async (ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      return (await ctx.elicit('a', sure, 'A?')).action
    }),
  )
  const exchange = legacy(shake(), 1, 'tools/call', { name: 't' })
  await settled(2)
  exchange.cancel()
  await settled()
  assert.deepEqual(said, [])
})

test('a call that was answered asks nothing any more', async () => {
  let later: Promise<unknown> = Promise.resolve()
  const { shake, legacy, said } = open(
    asking(async (ctx) => {
      later = new Promise((resolve) => setTimeout(resolve, 10)).then(() => ctx.elicit('a', sure, 'A?'))
      later.catch(() => {})
      return 'done'
    }),
  )
  const answer = await answerOf(legacy(shake(), 1, 'tools/call', { name: 't' }))
  assert.ok(answer?.result)
  await assert.rejects(later)
  assert.deepEqual(said, [])
})

test('ids of questions are never used twice, and only one answer counts', async () => {
  const { shake, legacy, said, peer } = open(asking())
  const session = shake()
  const calls = [1, 2, 3].map((id) => legacy(session, id, 'tools/call', { name: 't' }))
  await settled(2)
  const ids = said.map(({ id }) => id as string)
  assert.equal(new Set(ids).size, 3)
  for (const id of ids.toReversed()) {
    peer.responded({ kind: 'response', id, result: { action: 'decline' } }, session)
    peer.responded({ kind: 'response', id, result: { action: 'accept', content: { sure: true } } }, session)
  }
  for (const call of calls) assert.match(JSON.stringify(await answerOf(call)), /decline/)
  peer.responded({ kind: 'response', id: undefined, error: { code: 1, message: 'x' } }, session)
})

test('no more questions wait than may', async () => {
  const many = serverOf({
    tools: [
      tool('t', {}, async (_, ctx) => {
        const all = Array.from({ length: 150 }, (_, n) => ctx.elicit(`q${n}`, sure, `Q${n}?`))
        const settledAll = await Promise.race([
          Promise.allSettled(all),
          new Promise<'waiting'>((resolve) => setTimeout(() => resolve('waiting'), 20)),
        ])
        return settledAll === 'waiting' ? 'waiting' : 'settled'
      }),
    ],
  })
  const { shake, legacy, said } = open(many)
  const session = shake()
  await answerOf(legacy(session, 1, 'tools/call', { name: 't' }))
  assert.equal(said.filter(({ method }) => method === 'elicitation/create').length, 100)
})

test('where the client cannot be reached the question is refused', async () => {
  const peer = peerFor(asking(), {})
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: everything,
    clientInfo: { name: 'c', version: '1' },
  } as never
  const { session } = peer.initialize({ kind: 'request', id: 0, method: 'initialize', params }, undefined, 'http')
  assert.ok(session)
  const exchange = peer.answerInSession(
    { kind: 'request', id: 1, method: 'tools/call', params: { name: 't' } },
    session,
    { send: () => assert.fail('sent'), ask: () => false },
    undefined,
  )
  assert.equal((await answerOf(exchange))?.error?.code, -32603)
})

test('draining ends what has no end of its own with its result, waits for the rest, then gives up', async () => {
  const { server, go, aborted } = gate()
  const { peer, modern, said } = open(server)
  const listening = modern('l', 'subscriptions/listen', { notifications: { toolsListChanged: true } })
  const first = modern(1, 'tools/call', { name: 'wait' })
  await settled(2)
  setTimeout(go, 20)
  await peer.drain(2000)
  assert.deepEqual((await answerOf(listening))?.result?.['resultType'], 'complete')
  assert.ok((await answerOf(first))?.result)
  assert.equal(aborted(), 0)
  const second = modern(2, 'tools/call', { name: 'wait' })
  await settled(2)
  await peer.drain(20)
  assert.ok((await answerOf(second))?.error)
  assert.equal(aborted(), 1)
  assert.equal(said.length, 1)
  await peer.drain(0)
})

test('the result of a listen is tagged with its id', async () => {
  const { server } = gate()
  const { peer, modern } = open(server)
  const listening = modern('l', 'subscriptions/listen', { notifications: {} })
  await settled(1)
  await peer.drain(1000)
  const { _meta: meta } = (await answerOf(listening))?.result ?? {}
  assert.equal((meta as JsonObject)['io.modelcontextprotocol/subscriptionId'], 'l')
})

const link = tool('link', {}, () =>
  result({ content: [{ type: 'resource_link', uri: 'a://a', name: 'a' }], structuredContent: { n: 1 } }),
)
const plain = tool('plain', { title: 'Plain', icons: [{ src: 'https://a.example/i.png' }] }, () => 'plain')

test('each loss is told, by its rule, method and revision; nothing where nothing is lost', async () => {
  const losses: Loss[] = []
  const server = serverOf({ tools: [link, plain] })
  const at = async (revision: string, name: string): Promise<string[]> => {
    const client = await clientOf(server, { revision, onLoss: (loss) => losses.push(loss) })
    losses.length = 0
    await client.request('tools/call', { name })
    for (const loss of losses) assert.deepEqual([loss.revision, loss.method], [revision, 'tools/call'])
    return losses.map(({ rule }) => rule).sort()
  }
  assert.deepEqual(await at('2024-11-05', 'link'), ['link-to-text', 'structured-content-to-text'])
  assert.deepEqual(await at('2025-06-18', 'link'), [])
  assert.deepEqual(await at('2026-07-28', 'link'), [])
  assert.deepEqual(await at('2024-11-05', 'plain'), [])
})

test('strict refuses a result that loses, not a list that loses decoration', async () => {
  const server = serverOf({ tools: [link, plain] })
  const old = await clientOf(server, { revision: '2024-11-05', strict: true })
  assert.equal((await old.request('tools/call', { name: 'link' })).error?.code, -32603)
  assert.equal(textOf(await old.request('tools/call', { name: 'plain' })), 'plain')
  assert.equal(((await old.request('tools/list')).result?.['tools'] as unknown[]).length, 2)
  const current = await clientOf(server, { revision: '2025-11-25', strict: true })
  assert.ok((await current.request('tools/call', { name: 'link' })).result)
})

test('anything unexpected is answered with a fixed text, and told to the log alone', async () => {
  const { logger, at } = recorder()
  const broken: Server = {
    ...serverOf({ tools: [plain] }),
    handle: () => Promise.reject(new Error('secret inner life')),
  }
  for (const revision of eras) {
    const client = await clientOf(broken, { revision, logger })
    const { error } = await client.request('tools/list')
    assert.deepEqual([error?.code, error?.message], [-32603, 'Something unexpected went wrong.'])
  }
  assert.equal(at('error').length, 2)
})

test('a served value that throws at once is answered too', async () => {
  const broken: Server = {
    ...serverOf({ tools: [plain] }),
    handle: () => {
      throw new Error('at once')
    },
  }
  const client = await clientOf(broken)
  assert.equal((await client.request('tools/list')).error?.code, -32603)
})

test('closing a link answers what is in flight, then nothing', async () => {
  const { server } = gate()
  const door = connectInMemory(server, { graceMs: 10 })
  const heard: JsonObject[] = []
  door.onMessage((text) => heard.push(JSON.parse(text)))
  const meta = { [versionKey]: '2026-07-28', [capabilitiesKey]: {} }
  door.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait', _meta: meta } })
  await settled(2)
  const holding = setTimeout(() => {}, 5000)
  await door.close()
  clearTimeout(holding)
  await settled(2)
  assert.deepEqual(
    heard.map(({ id, error }) => [id, typeof error]),
    [[1, 'object']],
  )
  door.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'quick', _meta: meta } })
  await settled()
  assert.equal(heard.length, 1)
})
