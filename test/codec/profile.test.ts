import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { resolveFeatures } from '../../src/codec/profile.ts'
import { createCodecs } from '../../src/codec/registry.ts'
import { features } from '../../src/model/feature.ts'
import { columns, matchGolden } from './golden.ts'
import type { Codec, Transport } from '../../src/codec/codec.ts'
import type { ClientCapabilities, ServerCapabilities } from '../../src/model/nouns.ts'

const codecs = createCodecs()
const transports: Transport[] = ['stdio', 'http', 'http+sse', 'memory', 'socket']
const everyClient = {
  experimental: {},
  roots: { listChanged: true },
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
  tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
  extensions: { 'acme/x': {}, 'io.modelcontextprotocol/tasks': {} },
}
const everyServer = {
  experimental: {},
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
  extensions: { 'acme/x': {}, 'io.modelcontextprotocol/tasks': {} },
}

const profile = (codec: Codec, client: object, server: object, transport: Transport = 'memory'): ReadonlySet<string> =>
  resolveFeatures({
    codec,
    clientCapabilities: client as ClientCapabilities,
    serverCapabilities: server as ServerCapabilities,
    transport,
  })

for (const codec of codecs.all) {
  test(`the features of ${codec.revision} are those they always were`, () => {
    const on = transports.map((transport) => profile(codec, everyClient, everyServer, transport))
    const extensions = [...(on[0] ?? [])].filter((feature) => feature.startsWith('extensions.'))
    const owner = (feature: string): string => {
      const by = codec.owners.get(feature as 'tools')
      return by === undefined ? 'both' : typeof by === 'object' ? `with ${by.with}` : by
    }
    const carriers = (feature: string): string => {
      const over = transports.filter((_, at) => on[at]?.has(feature))
      return over.length === transports.length ? 'every transport' : over.join(', ') || '-'
    }
    const rows = [...features, ...extensions].map((feature) => {
      const defined = codec.owners.has(feature as 'tools') || feature.startsWith('extensions.')
      return [feature, defined ? owner(feature) : '-', carriers(feature)]
    })
    matchGolden(`matrix/${codec.revision}.txt`, columns([['feature', 'waits for', 'carried by'], ...rows]))
  })
}

test('what nobody declared is off, what the revision alone defines is on', () => {
  for (const codec of codecs.all) {
    const on = profile(codec, {}, {})
    for (const [feature, owner] of codec.owners)
      assert.equal(on.has(feature), owner === 'revision', `${codec.revision} ${feature}`)
  }
})

test('elicitation without a mode means forms', () => {
  const modes = (elicitation: object, revision: string): string =>
    [...profile(codecs.get(revision)!, { elicitation }, {})].filter((name) => name.startsWith('elicitation')).join(' ')
  for (const revision of ['2025-11-25', '2026-07-28']) {
    assert.equal(modes({}, revision), 'elicitation elicitation.form')
    assert.equal(modes({ form: {} }, revision), 'elicitation elicitation.form')
    assert.equal(modes({ url: {} }, revision), 'elicitation elicitation.url')
    assert.equal(modes({ form: {}, url: {} }, revision).split(' ').length, 3)
  }
  assert.equal(modes({ url: {} }, '2025-06-18'), 'elicitation elicitation.form')
  assert.equal(modes({}, '2025-03-26'), '')
})

test('an extension is on when both sides declare it, and the revision does not forbid it', () => {
  const extensions = (codec: Codec, client: object, server: object): string[] =>
    [...profile(codec, { extensions: client }, { extensions: server })].filter((name) => name.startsWith('extensions.'))
  const tasks = 'io.modelcontextprotocol/tasks'
  const both = { 'acme/x': {}, [tasks]: {} }
  assert.deepEqual(extensions(codecs.newest, both, both), ['extensions.acme/x', `extensions.${tasks}`])
  assert.deepEqual(extensions(codecs.newest, both, { 'acme/y': {} }), [])
  assert.deepEqual(extensions(codecs.newest, {}, both), [])
  for (const codec of codecs.all.filter(({ lifecycle }) => lifecycle === 'session'))
    assert.deepEqual(extensions(codec, both, both), ['extensions.acme/x'], codec.revision)
  assert.deepEqual(extensions(codecs.newest, JSON.parse('{"__proto__":{"acme/x":{}}}') as object, { 'acme/x': {} }), [])
})

test('a capability of the wrong type declares nothing', () => {
  for (const wrong of [null, 'yes', 1, [], false]) {
    const on = profile(
      codecs.newest,
      { roots: wrong, sampling: wrong, elicitation: wrong, extensions: wrong },
      { tools: wrong },
    )
    for (const feature of ['roots', 'sampling', 'elicitation', 'elicitation.form', 'tools'])
      assert.equal(on.has(feature), false, `${feature} ${String(wrong)}`)
  }
})

const capabilities = fc.dictionary(
  fc.constantFrom(
    'roots',
    'sampling',
    'elicitation',
    'tools',
    'resources',
    'logging',
    'tasks',
    'extensions',
    'experimental',
    '__proto__',
  ),
  fc.jsonValue({ maxDepth: 3 }),
)

test('resolving never throws, depends on its input alone, and stays within the revision', () => {
  fc.assert(
    fc.property(
      capabilities,
      capabilities,
      fc.constantFrom(...codecs.supported),
      fc.constantFrom(...transports),
      (client, server, revision, transport) => {
        const codec = codecs.get(revision)!
        const on = profile(codec, client, server, transport)
        assert.deepEqual(profile(codec, structuredClone(client), structuredClone(server), transport), on)
        for (const feature of on)
          assert.ok(codec.features.has(feature as 'tools') || feature.startsWith('extensions.'), feature)
      },
    ),
  )
})

test('declaring more switches nothing off, but that forms have to be named beside URLs', () => {
  const pick = (from: Record<string, unknown>): fc.Arbitrary<Record<string, unknown>> =>
    fc.subarray(Object.keys(from)).map((keys) => Object.fromEntries(keys.map((key) => [key, from[key]])))
  fc.assert(
    fc.property(
      pick(everyClient),
      pick(everyServer),
      fc.constantFrom(...codecs.supported),
      (client, server, revision) => {
        const codec = codecs.get(revision)!
        const all = profile(codec, everyClient, everyServer)
        for (const feature of profile(codec, client, server)) assert.ok(all.has(feature), feature)
      },
    ),
  )
  const named = profile(codecs.newest, { elicitation: {} }, {})
  const urlOnly = profile(codecs.newest, { elicitation: { url: {} } }, {})
  assert.deepEqual(
    [...named].filter((feature) => !urlOnly.has(feature)),
    ['elicitation.form'],
  )
})

test('equal capabilities share a profile, however many clients there are', () => {
  const server = {}
  const first = profile(codecs.newest, { roots: {} }, server)
  assert.equal(profile(codecs.newest, { roots: {} }, server), first)
  for (let at = 0; at < 1000; at++) profile(codecs.newest, { experimental: { [`x${at}`]: {} } }, server)
  assert.deepEqual(profile(codecs.newest, { roots: {} }, server), first)
  assert.notDeepEqual(profile(codecs.newest, {}, server), first)
})
