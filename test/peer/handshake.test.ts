// What is kept of a handshake is bounded, however much a client says of itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { peerFor } from '../../src/defaults.ts'
import { serverOf } from '../server/support.ts'

function shake(client: object, capabilities: object, id: string | number = 'i') {
  const peer = peerFor(serverOf(), {})
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: client } as never
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
  assert.ok(JSON.stringify(agreed).length < 10_000)
  assert.ok(JSON.stringify(session.client).length < 2_000)
  assert.ok(String(session.initializeId).length <= 256)
  assert.match(session.client?.name ?? '', /^nx+$/)
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
})
