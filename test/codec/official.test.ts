import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCodecs } from '../../src/codec/registry.ts'
import { fromWire, toWire } from '../../src/codec/refuse.ts'
import { Refusal } from '../../src/model/refusal.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { asks, handle, notifications, questions, results } from './samples.ts'
import { schemaOrSkip } from './official-schema.ts'

const codecs = createCodecs()
const ignore = (): void => {}

for (const codec of codecs.all) {
  const { revision } = codec

  test(`${revision}: every result and notification is valid by the official schema once encoded`, (context) => {
    const schema = schemaOrSkip(revision, context)
    if (!schema) return
    const left = new Set(codec.requests.keys())
    for (const [method, samples] of Object.entries(results)) {
      const request = codec.requests.get(method)
      if (!request || request.extension) continue
      left.delete(method)
      for (const [definition, model] of samples) {
        const wire = request.result.encode(model, ignore)
        assert.deepEqual(schema.faults(definition, wire), [], `${method} ${JSON.stringify(wire)}`)
      }
    }
    const extensions = [...codec.requests].filter(([, { extension }]) => extension).map(([method]) => method)
    assert.deepEqual(
      [...left].filter((method) => method !== 'subscriptions/listen'),
      extensions,
    )
    for (const [method, { params }] of codec.notifications) {
      if (method === 'notifications/tasks') continue
      const [definition, model] = notifications[method] ?? assert.fail(method)
      const message = { jsonrpc: '2.0', method, params: params.encode(model, ignore) }
      assert.deepEqual(schema.faults(definition, message), [], JSON.stringify(message))
    }
  })

  test(`${revision}: what a server says of itself is valid`, (context) => {
    const schema = schemaOrSkip(revision, context)
    if (!schema) return
    const wire = codec.description.encode(
      {
        protocolVersion: revision,
        supportedVersions: codecs.supported,
        serverInfo: {
          name: 's',
          version: '1',
          title: 'S',
          icons: [{ src: 'https://a.example' }],
          websiteUrl: 'https://a.example',
        },
        capabilities: {
          tools: { listChanged: true },
          completions: {},
          logging: {},
          tasks: { list: {} },
          experimental: { a: {} },
          extensions: { 'a/b': {} },
        },
        instructions: 'i',
      },
      ignore,
    )
    assert.deepEqual(schema.faults(codec.lifecycle === 'session' ? 'InitializeResult' : 'DiscoverResult', wire), [])
  })

  test(`${revision}: every ask that it does not refuse is valid`, (context) => {
    const schema = schemaOrSkip(revision, context)
    if (!schema) return
    for (const [method, samples] of Object.entries(asks)) {
      const ask = codec.asks.get(method)
      if (!ask) continue
      for (const [definition, model] of samples) {
        if (ask.refuses(model)) continue
        const params: JsonObject = ask.params.encode(model, ignore)
        const message = { jsonrpc: '2.0', id: 1, method, params }
        assert.deepEqual(schema.faults(definition, message), [], JSON.stringify(message))
        assert.equal(ask.check(params), undefined)
      }
    }
  })

  test(`${revision}: refusals are valid`, (context) => {
    const schema = schemaOrSkip(revision, context)
    if (!schema) return
    const definition =
      ['JSONRPCErrorResponse', 'JSONRPCError'].find((name) => name in schema.definitions) ?? assert.fail()
    const error = toWire(new Refusal('UnknownResource', { data: { uri: 'a:b' } }), codec, 'spec').error
    assert.deepEqual(schema.faults(definition, { jsonrpc: '2.0', id: 1, error }), [])
    assert.equal(fromWire(error as never, codec).kind, 'UnknownResource')
  })
}

test('the refusals that have a definition of their own match it', (context) => {
  const modern = schemaOrSkip('2026-07-28', context)
  const session = schemaOrSkip('2025-11-25', context)
  if (!modern || !session) return
  const answer = (refusal: Refusal, revision: string): object => ({
    jsonrpc: '2.0',
    id: 1,
    error: toWire(refusal, codecs.get(revision)!, 'spec').error,
  })
  const missing = new Refusal('MissingClientCapability', {
    data: { requiredCapabilities: { elicitation: { url: {} } } },
  })
  const version = new Refusal('UnsupportedVersion', { data: { requested: 'x', supported: ['2026-07-28'] } })
  const url = new Refusal('UrlElicitationRequired', {
    data: { elicitations: [{ mode: 'url', message: 'm', url: 'https://a.example', elicitationId: 'e' }] },
  })
  assert.deepEqual(modern.faults('MissingRequiredClientCapabilityError', answer(missing, '2026-07-28')), [])
  assert.deepEqual(modern.faults('UnsupportedProtocolVersionError', answer(version, '2026-07-28')), [])
  assert.deepEqual(modern.faults('HeaderMismatchError', answer(new Refusal('HeaderMismatch'), '2026-07-28')), [])
  assert.deepEqual(session.faults('URLElicitationRequiredError', answer(url, '2025-11-25')), [])
})

test('questions, handles and listening are valid where they exist', (context) => {
  const modern = schemaOrSkip('2026-07-28', context)
  const session = schemaOrSkip('2025-11-25', context)
  if (!modern || !session) return
  for (const method of ['tools/call', 'prompts/get', 'resources/read']) {
    const wire = codecs.newest.requests.get(method)!.result.encode(questions, ignore)
    assert.deepEqual(modern.faults('InputRequiredResult', wire), [])
  }
  const task = codecs.get('2025-11-25')!.requests.get('tools/call')!.result.encode(handle, ignore)
  assert.deepEqual(session.faults('CreateTaskResult', task), [])
  const { envelope, requests } = codecs.newest
  const ended = envelope!.sign(envelope!.tag(requests.get('subscriptions/listen')!.result.encode({}, ignore), 'l-1'), {
    name: 's',
    version: '1',
  })
  assert.deepEqual(modern.faults('SubscriptionsListenResult', ended), [])
})

test('a request’s envelope is valid', (context) => {
  const schema = schemaOrSkip('2026-07-28', context)
  if (!schema) return
  const meta = codecs.newest.envelope!.write(
    {},
    {
      version: '2026-07-28',
      capabilities: { roots: { listChanged: true }, elicitation: {} },
      client: { name: 'c', version: '1' },
      logLevel: 'info',
    },
  )
  assert.deepEqual(schema.faults('RequestMetaObject', meta), [])
})

test('the schemas do find faults', (context) => {
  const schema = schemaOrSkip('2026-07-28', context)
  if (!schema) return
  assert.notDeepEqual(schema.faults('CallToolResult', { content: [] }), [])
  assert.notDeepEqual(schema.faults('CallToolResult', { resultType: 'complete' }), [])
})
