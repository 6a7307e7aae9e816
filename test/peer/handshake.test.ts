// What a handshake agrees, what the session that it opens begins with, and how little of what a client says is kept.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCodecs } from '../../src/codec/registry.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { ServerCapabilities } from '../../src/model/nouns.ts'
import type { Principal } from '../../src/model/notification.ts'
import { isRefusal, type Refusal } from '../../src/model/refusal.ts'
import type { Description, Served } from '../../src/model/served.ts'
import { createPeer } from '../../src/peer/create.ts'
import { createInFlight } from '../../src/peer/in-flight.ts'
import { agree, briefId, discovery, introduction, openSession } from '../../src/peer/handshake.ts'
import type { PeerOptions, Session } from '../../src/peer/peer.ts'

const codecs = createCodecs()
const revision = '2025-11-25'
const modern = '2026-07-28'
const info = { name: 's', version: '1' }
const hints = { ttlMs: 5, cacheScope: 'private' } as const

function servedAs(describe: (principal: Principal | undefined) => Description): Served {
  return { handle: async () => ({}), describe, onChange: () => () => {}, headerPlan: () => undefined }
}

const plain: Description = { info, capabilities: { tools: {} }, hints }

function optionsFor(served: Served = servedAs(() => plain), known = codecs): PeerOptions {
  return {
    served,
    codecs: known,
    refusals: 'spec',
    strict: false,
    onLoss: () => {},
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    clock: () => 0,
    random: (bytes) => new Uint8Array(bytes),
    askTimeoutMs: 1000,
    maxPendingAsks: 1,
    maxSubscriptions: 2,
  }
}

function refusal(run: () => unknown): Refusal | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

const offer = (params: JsonObject | undefined, known = codecs) =>
  agree({ kind: 'request', id: 1, method: 'initialize', params }, optionsFor(undefined, known))

const good: JsonObject = { protocolVersion: revision, capabilities: { roots: {} }, clientInfo: { name: 'c' } }

test('a revision that is spoken is agreed to, and every other day countered', () => {
  assert.deepEqual(offer(good), { revision, capabilities: { roots: {} }, client: { name: 'c' } })
  assert.equal(offer({ ...good, protocolVersion: '2024-11-05' }).revision, '2024-11-05')
  assert.equal(offer({ ...good, protocolVersion: '1999-01-01' }).revision, revision)
})

test('without a version, capabilities or the name of a client nothing is agreed', () => {
  const bad: readonly (JsonObject | undefined)[] = [
    undefined,
    {},
    { ...good, protocolVersion: 'latest' },
    { ...good, protocolVersion: undefined },
    { ...good, capabilities: undefined },
    { ...good, capabilities: [] },
    { ...good, clientInfo: undefined },
    { ...good, clientInfo: null },
    { ...good, clientInfo: 'c' },
    { ...good, clientInfo: {} },
    { ...good, clientInfo: { name: 7 } },
    Object.create(good) as JsonObject,
  ]
  for (const params of bad)
    assert.equal(refusal(() => offer(params))?.kind, 'MalformedInitialize', JSON.stringify(params))
})

test('where no revision has a handshake, the answer names what was asked for and what is served', () => {
  const pinned = codecs.pin([modern])
  for (const [protocolVersion, requested] of [
    [revision, revision],
    [undefined, ''],
    [7, ''],
  ] as const) {
    const refused = refusal(() => offer({ ...good, protocolVersion }, pinned))
    assert.equal(refused?.kind, 'UnsupportedVersion')
    assert.deepEqual(refused.data, { requested, supported: [modern] })
  }
})

/** A session, on this revision unless told otherwise, of a client that declares `capabilities`. */
function sessionOf(served: Served, capabilities: JsonObject = {}, agreed = revision): Session {
  const names = { key: 'k', initializeId: 'i' }
  const client = { name: 'c', version: '1' }
  return openSession({ revision: agreed, capabilities, client }, names, 'memory', createInFlight(), optionsFor(served))
}

test('a session begins with what was agreed, and hears of logs from info up', () => {
  const { codec, client, key, initializeId, asks, subscriptions, maxSubscriptions, logLevel, initialized } = sessionOf(
    servedAs(() => plain),
  )
  assert.equal(codec.revision, revision)
  assert.deepEqual(
    { client, key, initializeId, maxSubscriptions, logLevel, initialized },
    {
      client: { name: 'c', version: '1' },
      key: 'k',
      initializeId: 'i',
      maxSubscriptions: 2,
      logLevel: 'info',
      initialized: false,
    },
  )
  assert.deepEqual([asks.size, subscriptions.size], [0, 0])
})

test('a session on a revision that is not served any more, or has no handshake, is not opened', () => {
  for (const agreed of ['1999-01-01', modern]) {
    assert.equal(
      refusal(() =>
        sessionOf(
          servedAs(() => plain),
          {},
          agreed,
        ),
      )?.kind,
      'UnnegotiableVersion',
    )
  }
})

test('a session is told about so many resources, and any of them may come again', () => {
  const { subscriptions } = sessionOf(servedAs(() => plain))
  subscriptions.add('a:1').add('a:2').add('a:1')
  assert.equal(refusal(() => subscriptions.add('a:3'))?.kind, 'Overloaded')
  assert.deepEqual([...subscriptions], ['a:1', 'a:2'])
  subscriptions.delete('a:1')
  subscriptions.add('a:3')
  assert.deepEqual([...subscriptions], ['a:2', 'a:3'])
})

test('features follow what the server says of itself to who asks, and are else the same object', () => {
  let capabilities: ServerCapabilities = { tools: {} }
  // So many that they are kept nowhere else.
  const declared = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`capability-${at}`, {}]))
  const others: ServerCapabilities = { prompts: {} }
  const served = servedAs((who) => ({ ...plain, capabilities: who ? others : capabilities }))
  const { features } = sessionOf(served, { sampling: {}, ...declared })
  const first = features(undefined)
  assert.deepEqual([first.has('tools'), first.has('prompts'), first.has('sampling')], [true, false, true])
  assert.equal(features(undefined), first)
  const second = features({ id: 'ada', scopes: new Set() })
  assert.deepEqual([second.has('tools'), second.has('prompts'), second.has('sampling')], [false, true, true])
  capabilities = { resources: {} }
  const third = features(undefined)
  assert.deepEqual([third.has('tools'), third.has('resources')], [false, true])
})

test('a server introduces itself with what it says of itself, to each in the words of the lifecycle', () => {
  const codec = codecs.get(revision)!
  const told = { ...plain, instructions: '' }
  const options = optionsFor(servedAs((who) => (who ? told : plain)))
  const ada: Principal = { id: 'ada', scopes: new Set() }
  const introduced = { protocolVersion: revision, capabilities: { tools: {} }, serverInfo: info }
  assert.deepEqual(introduction(codec, undefined, options), introduced)
  assert.deepEqual(introduction(codec, ada, options), { ...introduced, instructions: '' })
  const discovered = {
    supportedVersions: codecs.supported,
    capabilities: { tools: {} },
    serverInfo: info,
    ttlMs: 5,
    cacheScope: 'private',
  }
  assert.deepEqual(discovery(undefined, options), discovered)
  assert.deepEqual(discovery(ada, options), { ...discovered, instructions: '' })
})

function shake(client: object, capabilities: object, id: string | number = 'i') {
  const peer = createPeer(optionsFor())
  const params = { protocolVersion: revision, capabilities, clientInfo: client } as never
  const made = peer.initialize({ kind: 'request', id, method: 'initialize', params }, undefined, 'http')
  assert.ok(made.session && made.agreed, made.answer.text)
  return { session: made.session, agreed: made.agreed }
}

test('a client that says much of itself is served, and little of it is kept', () => {
  const long = 'x'.repeat(4_000_000)
  const many = Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`name-${at}`, {}]))
  const capabilities = {
    elicitation: { form: {}, url: {} },
    roots: { listChanged: true },
    sampling: { tools: {}, junk: long },
    ...many,
    [long]: {},
    experimental: { [long]: many },
  }
  const client = { name: `n${long}`, version: `v${long}`, title: `t${long}`, description: long, icons: [long] }
  const { session, agreed } = shake(client, capabilities, long)
  assert.equal(JSON.stringify(agreed).length < 10_000, true)
  assert.equal(JSON.stringify(session.client).length < 2_000, true)
  assert.equal(String(session.initializeId).length, 256)
  const kept = 'x'.repeat(255)
  assert.deepEqual(session.client, { name: `n${kept}`, version: `v${kept}`, title: `t${kept}` })
  for (const feature of ['elicitation', 'roots', 'sampling', 'elicitation.url'] as const) {
    assert.equal(session.features(undefined).has(feature), true, feature)
  }
})

test('what a client usually says of itself is kept whole', () => {
  const client = { name: 'c', version: '1', title: 'A client' }
  const { session, agreed } = shake(client, { elicitation: {}, roots: { listChanged: true } })
  assert.deepEqual(session.client, client)
  assert.deepEqual(agreed.capabilities, { elicitation: {}, roots: { listChanged: true } })
  assert.equal(session.initializeId, 'i')
  assert.deepEqual(shake({ name: '', version: 1, title: null }, {}).session.client, { name: '' })
})

test('what is short enough is kept as it came, to be known again', () => {
  // Half of a pair, which no encoding has, is a text in JSON all the same.
  for (const id of [0, 7, '', '\ud800', `\ud800${'x'.repeat(255)}`]) assert.equal(briefId(id), id)
  assert.equal(briefId('x'.repeat(257)), 'x'.repeat(256))
})
