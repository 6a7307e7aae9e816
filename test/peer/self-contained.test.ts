// What a request that says everything itself is spoken in, and each way in which it does not say enough.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCodecs, type Codecs } from '../../src/codec/registry.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { isRefusal, type Refusal } from '../../src/model/refusal.ts'
import type { Principal } from '../../src/model/notification.ts'
import type { Served } from '../../src/model/served.ts'
import type { Dialect } from '../../src/peer/answering.ts'
import type { PeerOptions } from '../../src/peer/peer.ts'
import { readDialect } from '../../src/peer/self-contained.ts'

const codecs = createCodecs()
const version = '2026-07-28'
const legacy = '2025-11-25'
const versionKey = 'io.modelcontextprotocol/protocolVersion'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'
const clientKey = 'io.modelcontextprotocol/clientInfo'
const logLevelKey = 'io.modelcontextprotocol/logLevel'
const ada: Principal = { id: 'ada', scopes: new Set() }

/** Of whom the server was asked for a plan, and for which tool. */
const planned: unknown[] = []
const served: Served = {
  handle: async () => ({}),
  describe: (principal) => ({
    info: { name: 's', version: '1' },
    capabilities: { tools: {}, resources: {}, ...(principal && { prompts: {}, logging: {} }) },
    hints: {},
  }),
  onChange: () => () => {},
  headerPlan: (tool, principal) => {
    planned.push([tool, principal])
    return tool === 'plain' ? undefined : { params: [{ path: ['region'], header: 'mcp-param-region', type: 'string' }] }
  },
}

const meta = (more: JsonObject = {}): JsonObject => ({ [versionKey]: version, [capabilitiesKey]: {}, ...more })

interface Said {
  readonly method?: string
  readonly params?: JsonObject | undefined
  /** Absent: as over other transports than HTTP. */
  readonly headers?: Readonly<Record<string, string>>
  readonly principal?: Principal
  readonly codecs?: Codecs
}

function read({ method = 'tools/list', headers, principal, ...said }: Said): Dialect {
  const params = 'params' in said ? said.params : { _meta: meta() }
  // The rest of the options plays no part in these checks.
  const options = { codecs: said.codecs ?? codecs, served, maxSubscriptions: 1 } as unknown as PeerOptions
  const scope = {
    principal,
    outlet: { send: () => {} },
    transport: headers ? 'http' : 'memory',
    ...(headers && { header: (name: string) => headers[name] }),
  } as const
  return readDialect({ kind: 'request', id: 1, method, params }, scope, options)
}

/** What it is refused for. */
function refusal(said: Said): Refusal | undefined {
  try {
    read(said)
    return undefined
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

const kind = (said: Said): string => refusal(said)?.kind ?? 'ok'

/** Headers that repeat what `method` says by itself. */
const headersOf = (method: string, more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  'mcp-protocol-version': version,
  'mcp-method': method,
  ...more,
})

test('what it says of itself is what it is answered in', () => {
  const info = { name: 'c', version: '1' }
  const said = meta({ [clientKey]: info, [logLevelKey]: 'error', [capabilitiesKey]: { sampling: {} } })
  const dialect = read({ params: { _meta: said }, principal: ada })
  assert.equal(dialect.codec, codecs.newest)
  assert.equal(dialect.principal, ada)
  assert.deepEqual(dialect.client, info)
  assert.equal(dialect.logLevel, 'error')
  assert.equal(dialect.session, undefined)
  assert.deepEqual([dialect.features().has('sampling'), dialect.features().has('roots')], [true, false])
})

test('its features are those that the server has for who asks, whether the client declares any or none', () => {
  for (const capabilities of [{}, { sampling: {} }]) {
    for (const principal of [undefined, ada]) {
      const about = { params: { _meta: meta({ [capabilitiesKey]: capabilities }) }, ...(principal && { principal }) }
      const features = read(about).features()
      assert.deepEqual([features.has('tools'), features.has('completions')], [true, false])
      assert.equal(features.has('prompts'), principal !== undefined)
    }
  }
})

test('without a _meta that has what it needs it is refused for that, whatever its header says', () => {
  const lacking: readonly (JsonObject | undefined)[] = [
    undefined,
    {},
    { _meta: 5 },
    { _meta: {} },
    { _meta: { [versionKey]: 7, [capabilitiesKey]: {} } },
    { _meta: { [capabilitiesKey]: {} } },
  ]
  for (const params of lacking) {
    assert.equal(kind({ params }), 'MalformedRequestMeta', JSON.stringify(params))
    assert.equal(kind({ params, headers: headersOf('tools/list') }), 'MalformedRequestMeta', JSON.stringify(params))
    assert.equal(kind({ params, headers: {} }), 'MalformedRequestMeta', JSON.stringify(params))
  }
  assert.equal(kind({ params: { _meta: meta({ [logLevelKey]: 'loud' }) } }), 'BadLogLevel')
})

test('its version header is there and equals its body', () => {
  assert.equal(kind({ headers: headersOf('tools/list') }), 'ok')
  assert.equal(kind({ headers: { 'mcp-method': 'tools/list' } }), 'HeaderMismatch')
  assert.equal(kind({ headers: headersOf('tools/list', { 'mcp-protocol-version': legacy }) }), 'HeaderMismatch')
  // Before anything else in `_meta` is looked at.
  const bare = { _meta: { [versionKey]: version } }
  assert.equal(kind({ params: bare, headers: { 'mcp-protocol-version': legacy } }), 'HeaderMismatch')
})

test('a revision that is not served, or has a handshake, is refused with those that are', () => {
  for (const requested of ['2031-01-01', legacy, '']) {
    const refused = refusal({ params: { _meta: meta({ [versionKey]: requested }) } })
    assert.equal(refused?.kind, 'UnsupportedVersion')
    assert.deepEqual(refused.data, { requested, supported: codecs.supported })
  }
})

test('where no revision is served whose requests stand alone, none is a request', () => {
  assert.equal(kind({ codecs: codecs.pin([legacy]) }), 'InvalidRequest')
})

test('its method and the name of what it is for are repeated in headers, encoded or not', () => {
  const call = { method: 'tools/call', params: { name: 'plain', _meta: meta() } }
  const withName = (name: string): Said => ({ ...call, headers: headersOf('tools/call', { 'mcp-name': name }) })
  assert.equal(kind(withName('plain')), 'ok')
  assert.equal(kind(withName(`=?base64?${Buffer.from('plain').toString('base64')}?=`)), 'ok')
  assert.equal(kind(withName('other')), 'HeaderMismatch')
  assert.equal(kind(withName('=?base64?!?=')), 'HeaderMismatch')
  assert.equal(kind({ ...call, headers: headersOf('tools/call') }), 'HeaderMismatch')
  assert.equal(kind({ headers: headersOf('prompts/list') }), 'HeaderMismatch')
  assert.equal(kind({ headers: { 'mcp-protocol-version': version } }), 'HeaderMismatch')
  // A method that is for nothing has no name to repeat.
  assert.equal(kind({ headers: headersOf('tools/list', { 'mcp-name': 'any' }) }), 'ok')
  // The name of a resource is its URI.
  const reading = { method: 'resources/read', params: { uri: 'a:b', name: 'c', _meta: meta() } }
  assert.equal(kind({ ...reading, headers: headersOf('resources/read', { 'mcp-name': 'a:b' }) }), 'ok')
  assert.equal(kind({ ...reading, headers: headersOf('resources/read', { 'mcp-name': 'c' }) }), 'HeaderMismatch')
  // Where there are no headers there is nothing to repeat.
  assert.equal(kind(call), 'ok')
})

test('a method that is not offered and params without its shape are refused, and a discovery is not', () => {
  assert.equal(kind({ method: 'no/such' }), 'UnknownMethod')
  assert.equal(kind({ method: 'prompts/list' }), 'UnknownMethod')
  assert.equal(kind({ method: 'prompts/list', principal: ada }), 'ok')
  assert.equal(kind({ method: 'tools/call', params: { name: 7, _meta: meta() } }), 'MalformedParams')
  assert.equal(kind({ method: 'server/discover', params: { cursor: 7, _meta: meta() } }), 'ok')
  assert.equal(kind({ method: 'server/discover', headers: headersOf('server/discover') }), 'ok')
})

test('the arguments that a tool mirrors are in headers, where there are both', () => {
  const call = (name: string, args: JsonObject | undefined, headers: Record<string, string>): Said => ({
    method: 'tools/call',
    params: { name, ...(args && { arguments: args }), _meta: meta() },
    headers: headersOf('tools/call', { 'mcp-name': name, ...headers }),
    principal: ada,
  })
  planned.length = 0
  assert.equal(kind(call('mirrored', { region: 'eu' }, { 'mcp-param-region': 'eu' })), 'ok')
  assert.deepEqual(planned, [['mirrored', ada]], 'the plan is that of what the caller sees')
  assert.equal(kind(call('mirrored', { region: 'eu' }, { 'mcp-param-region': 'us' })), 'HeaderMismatch')
  assert.equal(kind(call('mirrored', { region: 'eu' }, {})), 'HeaderMismatch')
  assert.equal(kind(call('mirrored', undefined, {})), 'ok')
  assert.equal(kind(call('plain', { region: 'eu' }, {})), 'ok')
  const { headers: _, ...elsewhere } = call('mirrored', { region: 'eu' }, {})
  assert.equal(kind(elsewhere), 'ok')
})

test('only a call of a tool is held against the plan of one', () => {
  planned.length = 0
  const params = { name: 'mirrored', arguments: { region: 'eu' }, _meta: meta() }
  const headers = headersOf('prompts/get', { 'mcp-name': 'mirrored' })
  assert.equal(kind({ method: 'prompts/get', params, headers, principal: ada }), 'ok')
  assert.deepEqual(planned, [])
})
