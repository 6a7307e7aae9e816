// Which lifecycle a message belongs to, and what a peer pinned to some revisions lets show of the others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { peerFor } from '../../src/defaults.ts'
import { connectInMemory } from '../../src/index.ts'
import { tool } from '../../src/index.ts'
import { everything, serverOf, settled } from '../server/support.ts'

const versionKey = 'io.modelcontextprotocol/protocolVersion'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'
const handshakes = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

const server = serverOf({ tools: [tool('t', {}, () => 'ran')] })
const withMeta = (version: unknown): object => ({ _meta: { [versionKey]: version, [capabilitiesKey]: {} } })

const decisions: readonly (readonly [
  what: string,
  method: string,
  params: object | undefined,
  header: string | undefined,
  modern: boolean,
])[] = [
  ['_meta names a revision', 'tools/list', withMeta('2026-07-28'), undefined, true],
  ['_meta names one that nobody speaks', 'tools/list', withMeta('1999-01-01'), undefined, true],
  ['_meta names what is no date', 'tools/list', withMeta('latest'), undefined, true],
  ['_meta names what is no text', 'tools/list', withMeta(5), undefined, true],
  ['_meta names none', 'tools/list', { _meta: { progressToken: 1 } }, undefined, false],
  ['_meta is no object', 'tools/list', { _meta: 5 }, undefined, false],
  ['_meta only inherits one', 'tools/list', { _meta: Object.create({ [versionKey]: '2026-07-28' }) }, undefined, false],
  ['nothing says so', 'tools/list', undefined, undefined, false],
  ['the header is of its date', 'tools/list', {}, '2026-07-28', true],
  ['the header is later', 'tools/list', {}, '2031-01-01', true],
  ['the header is earlier', 'tools/list', {}, '2025-11-25', false],
  ['the header is no day', 'tools/list', {}, '2031-02-30', false],
  ['the header is no date', 'tools/list', {}, 'zzzz', false],
  ['initialize, whatever the header says', 'initialize', {}, '2026-07-28', false],
  ['initialize with such a _meta', 'initialize', withMeta('2026-07-28'), undefined, true],
]
for (const [what, method, params, header, modern] of decisions) {
  test(`${what}: ${modern ? 'stands alone' : 'needs a handshake'}`, () => {
    const message = { method, ...(params && { params: params as never }) }
    assert.equal(peerFor(server, {}).isSelfContained(message, header), modern)
    assert.equal(
      peerFor(server, { revisions: ['2025-11-25'] }).isSelfContained(message, header),
      false,
      'pinned to handshakes',
    )
  })
}

/** Sends each message in turn on one connection; what came back. */
async function talk(
  revisions: readonly string[] | undefined,
  ...messages: unknown[]
): Promise<Record<string, unknown>[]> {
  const link = connectInMemory(server, { graceMs: 0, ...(revisions && { revisions }) })
  const heard: Record<string, unknown>[] = []
  link.onMessage((text) => heard.push(JSON.parse(text)))
  for (const message of messages) {
    link.send(message)
    await settled(3)
  }
  await link.close()
  return heard
}

const rpc = (id: number, method: string, params?: object): object => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params && { params }),
})
const initialize = (id: number, protocolVersion: unknown): object =>
  rpc(id, 'initialize', { protocolVersion, capabilities: everything, clientInfo: { name: 'c', version: '1' } })
const codeOf = (answer: Record<string, unknown> | undefined): number | undefined =>
  (answer?.['error'] as { code: number } | undefined)?.code

test('every revision with a handshake is echoed; every other day is countered with the newest', async () => {
  const agreed = async (offered: string, revisions?: readonly string[]): Promise<unknown> => {
    const [answer] = await talk(revisions, initialize(1, offered))
    return (answer?.['result'] as { protocolVersion: string } | undefined)?.protocolVersion
  }
  for (const revision of handshakes) assert.equal(await agreed(revision), revision)
  for (const offered of ['2026-07-28', '2099-01-01', '1999-01-01']) assert.equal(await agreed(offered), '2025-11-25')
  assert.equal(await agreed('2025-11-25', ['2025-03-26', '2024-11-05']), '2025-03-26')
  assert.equal(await agreed('2024-11-05', ['2025-03-26', '2024-11-05']), '2024-11-05')
  assert.equal(await agreed('2024-11-05', ['2026-07-28', '2025-03-26']), '2025-03-26')
})

test('what is no day is refused, whatever it is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.jsonValue()), async (offered) => {
      if (typeof offered === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(offered)) return
      const [answer] = await talk(undefined, initialize(1, offered))
      assert.equal(codeOf(answer), -32602)
    }),
    { numRuns: 50 },
  )
})

test('pinned to handshakes, no answer has a code that tells a client of the other lifecycle', async () => {
  const odd = [
    rpc(1, 'server/discover', withMeta('2026-07-28')),
    rpc(2, 'tools/list', withMeta('2031-01-01')),
    rpc(3, 'tools/call', { name: 't', ...withMeta('2026-07-28') }),
    rpc(4, 'subscriptions/listen', { notifications: {}, ...withMeta('2026-07-28') }),
    rpc(5, 'tools/list', { _meta: { [versionKey]: 7 } }),
    initialize(6, '2026-07-28'),
    rpc(7, 'server/discover', withMeta('2026-07-28')),
    rpc(8, 'tools/list', withMeta('1999-01-01')),
    rpc(9, 'no/such', withMeta('2026-07-28')),
  ]
  for (const revisions of [handshakes, ['2025-06-18'], ['2024-11-05']]) {
    const heard = await talk(revisions, ...odd)
    assert.equal(heard.length, odd.length)
    for (const answer of heard) {
      const code = codeOf(answer)
      assert.ok(code === undefined || code < -32022 || code > -32020, JSON.stringify(answer))
    }
    assert.deepEqual(heard.slice(0, 5).map(codeOf), Array(5).fill(-32000), 'before the handshake')
    assert.ok(heard[7]?.['result'], 'what _meta names means nothing after it')
  }
})

test('pinned to the lifecycle without one, a handshake is refused with the names of what is served', async () => {
  const [first, second, third] = await talk(
    ['2026-07-28'],
    initialize(1, '2025-11-25'),
    initialize(2, 'latest'),
    rpc(3, 'initialize'),
  )
  for (const answer of [first, second, third]) {
    assert.equal(codeOf(answer), -32022)
    const { data } = answer?.['error'] as { data: { supported: string[] } }
    assert.deepEqual(data.supported, ['2026-07-28'])
  }
})

test('supported names all that is served, newest first', async () => {
  for (const revisions of [undefined, ['2025-03-26', '2026-07-28']]) {
    const wanted = revisions ? ['2026-07-28', '2025-03-26'] : ['2026-07-28', ...handshakes]
    const [refused, discovered] = await talk(
      revisions,
      rpc(1, 'tools/list', withMeta('2031-01-01')),
      rpc(2, 'server/discover', withMeta('2026-07-28')),
    )
    assert.deepEqual((refused?.['error'] as { data: { supported: string[] } }).data.supported, wanted)
    assert.deepEqual((discovered?.['result'] as { supportedVersions: string[] }).supportedVersions, wanted)
  }
})

test('to pin to what is not known, or to nothing, is an error at once', () => {
  assert.throws(() => connectInMemory(server, { revisions: ['1999-01-01'] }), /1999-01-01/)
  assert.throws(() => connectInMemory(server, { revisions: [] }))
})
