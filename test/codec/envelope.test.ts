import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCodecs } from '../../src/codec/registry.ts'
import { metaKeys } from '../../src/codec/envelope.ts'
import { logLevels } from '../../src/model/nouns.ts'
import type { JsonObject } from '../../src/model/json.ts'

const codecs = createCodecs()
const envelope = codecs.newest.envelope!
const meta = { [metaKeys.version]: '2026-07-28', [metaKeys.capabilities]: {} }

test('only requests that stand alone have an envelope', () => {
  assert.deepEqual(
    codecs.all.map((codec) => codec.envelope !== undefined),
    [true, false, false, false, false],
  )
})

test('what a request says of itself', () => {
  const client = { name: 'c', version: '1', title: 'C' }
  const read = envelope.read({ ...meta, [metaKeys.client]: client, [metaKeys.logLevel]: 'error', progressToken: 5 })
  assert.deepEqual(read, { version: '2026-07-28', capabilities: {}, client, logLevel: 'error' })
  assert.deepEqual(envelope.read(meta), {
    version: '2026-07-28',
    capabilities: {},
    client: undefined,
    logLevel: undefined,
  })
  assert.equal(envelope.version(meta), '2026-07-28')
  assert.equal(envelope.version({}), undefined)
  for (const level of logLevels) assert.notEqual(envelope.read({ ...meta, [metaKeys.logLevel]: level }), 'BadLogLevel')
})

test('a required key that is missing, and any key of the wrong type, is malformed', () => {
  const patches: JsonObject[] = [
    { [metaKeys.version]: undefined },
    { [metaKeys.version]: 20260728 },
    { [metaKeys.version]: null },
    { [metaKeys.capabilities]: undefined },
    { [metaKeys.capabilities]: 'all' },
    { [metaKeys.capabilities]: [] },
    { [metaKeys.client]: 'me' },
    { [metaKeys.client]: {} },
    { [metaKeys.client]: { name: 'c', version: 1 } },
    { [metaKeys.client]: null },
  ]
  for (const patch of patches)
    assert.equal(envelope.read({ ...meta, ...patch }), 'MalformedRequestMeta', JSON.stringify(patch))
  assert.equal(envelope.read(JSON.parse(JSON.stringify({ __proto__: meta }))), 'MalformedRequestMeta')
})

test('a level that is none of the eight is a refusal of its own', () => {
  for (const level of ['loud', 'ERROR', '', 5, null, 'toString']) {
    assert.equal(envelope.read({ ...meta, [metaKeys.logLevel]: level }), 'BadLogLevel')
  }
})

test('what is written is read back, and what was there stays', () => {
  const said = {
    version: '2026-07-28',
    capabilities: { elicitation: { form: {} } },
    client: { name: 'c', version: '1' },
    logLevel: 'debug',
  } as const
  const written = envelope.write({ progressToken: 7 }, said)
  assert.deepEqual(envelope.read(written), said)
  assert.equal(written['progressToken'], 7)
  const bare = envelope.write({}, { version: 'v', capabilities: {}, client: undefined, logLevel: undefined })
  assert.deepEqual(Object.keys(bare), [metaKeys.version, metaKeys.capabilities])
  const trimmed = envelope.write({}, { ...said, capabilities: { roots: { listChanged: true }, tasks: {} } })
  assert.deepEqual(trimmed[metaKeys.capabilities], { roots: {} })
})

test('a result is signed and a notification tagged without touching the original', () => {
  const server = { name: 's', version: '1' }
  const result = Object.freeze({ resultType: 'complete', _meta: Object.freeze({ a: 1 }) })
  assert.deepEqual(envelope.sign(result, server), {
    resultType: 'complete',
    _meta: { a: 1, [metaKeys.server]: server },
  })
  assert.deepEqual(envelope.sign({ a: 1 }, server), { a: 1, _meta: { [metaKeys.server]: server } })
  assert.deepEqual(envelope.sign({ _meta: { [metaKeys.server]: 'another' } }, server), {
    _meta: { [metaKeys.server]: server },
  })
  assert.deepEqual(envelope.tag({ uri: 'u' }, '5'), { uri: 'u', _meta: { [metaKeys.subscription]: '5' } })
  assert.deepEqual(envelope.tag({ _meta: { a: 1 } }, 5), { _meta: { a: 1, [metaKeys.subscription]: 5 } })
})

test('the methods whose target is repeated as a header', () => {
  assert.deepEqual(Object.fromEntries(envelope.named), {
    'tools/call': 'name',
    'prompts/get': 'name',
    'resources/read': 'uri',
    'tasks/get': 'taskId',
    'tasks/update': 'taskId',
    'tasks/cancel': 'taskId',
  })
})
