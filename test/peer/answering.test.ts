// Whatever a handler throws is answered: the one catch is total.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectInMemory, createServer, Refusal, tool } from '../../src/index.ts'
import type { Logger } from '../../src/index.ts'
import { createPeer } from '../../src/peer/create.ts'
import { createCodecs } from '../../src/codec/registry.ts'
import { silent } from '../../src/model/ports.ts'
import type { Served } from '../../src/model/served.ts'
import { randomBytes } from 'node:crypto'

const versionKey = 'io.modelcontextprotocol/protocolVersion'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

const throwing = (name: string): Error =>
  Object.defineProperty(new Error('x'), name, {
    get() {
      throw new Error('inner')
    },
  })

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable(new Error('x'), {})
  revoke()
  return proxy
}

const odd: Record<string, unknown> = {
  'a refusal of no kind': Object.assign(new Error('x'), { name: 'Refusal', kind: 'PaymentDeclined' }),
  'a refusal of an inherited kind': Object.assign(new Error('x'), { name: 'Refusal', kind: 'toString' }),
  'a name that throws': throwing('name'),
  'a message that throws': throwing('message'),
  'a revoked proxy': revoked(),
  'data that is no JSON': new Refusal('UnknownResource', { data: { uri: 10n as never } }),
  'words that are no text': new Refusal('HandlerFailed', { message: 5n as never }),
  'a cause that throws': new Refusal('InternalError', { cause: throwing('message') }),
  'a time to come back that is none': new Refusal('Overloaded', { retryAfter: 'soon\n' as never }),
  'an endless time to come back': new Refusal('RateLimited', { retryAfter: Infinity }),
  'a challenge that is no text': new Refusal('Unauthenticated', { challenge: { realm: 1 } as never }),
  nothing: undefined,
  'a symbol': Symbol('x'),
}

const fails = (): never => {
  throw new Error('the log is full')
}
const brokenLogger: Logger = { debug: fails, info: fails, warn: fails, error: fails }

const params = { _meta: { [versionKey]: '2026-07-28', [capabilitiesKey]: {} } }
const request = { kind: 'request', id: 1, method: 'tools/call', params: { ...params, name: 't' } } as const

for (const [name, thrown] of Object.entries(odd)) {
  for (const [log, logger] of Object.entries({ silent, broken: brokenLogger })) {
    test(`a served value that throws is answered: ${name}, logger ${log}`, async () => {
      const served: Served = {
        describe: () => ({ info: { name: 's', version: '1' }, capabilities: { tools: {} }, hints: {} }),
        onChange: () => () => {},
        headerPlan: () => undefined,
        handle: async () => {
          throw thrown
        },
      }
      const peer = createPeer({
        served,
        codecs: createCodecs(),
        refusals: 'spec',
        strict: false,
        onLoss: () => {},
        logger,
        clock: Date.now,
        random: randomBytes,
        askTimeoutMs: 100,
        maxPendingAsks: 1,
        maxSubscriptions: 1,
      })
      const scope = { principal: undefined, outlet: { send: () => {} }, transport: 'memory' } as const
      const answer = await peer.answerSelfContained(request, scope).answer
      const { id, error } = JSON.parse(answer?.text ?? '') as { id: number; error: { code: number; message: string } }
      assert.equal(id, 1)
      assert.ok(Number.isInteger(error.code))
      assert.equal(typeof error.message, 'string')
      // They go into headers, which refuse to be anything else.
      assert.ok(answer?.retryAfter === undefined || Number.isSafeInteger(answer.retryAfter))
      assert.ok(answer?.challenge === undefined || typeof answer.challenge === 'string')
    })
  }
  test(`a tool that throws is answered, also the second time: ${name}`, async () => {
    const t = tool('t', {}, () => {
      throw thrown
    })
    const link = connectInMemory(createServer({ name: 's', version: '1', tools: [t], logger: brokenLogger }))
    const heard = link.messages()
    for (const id of [1, 2]) {
      const _meta = { ...params._meta, 'dev.dragoman/idempotencyKey': 'k' }
      link.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 't', _meta } })
      const { value } = (await heard.next()) as { value: string }
      const { result, error } = JSON.parse(value) as { result?: object; error?: { code: number; message: string } }
      assert.ok(result !== undefined || error !== undefined, value)
      assert.doesNotMatch(value, /still (?:being|running)|in flight/)
    }
    await link.close()
  })
}
