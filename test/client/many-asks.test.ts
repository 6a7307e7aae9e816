// Defends: a server asks a person no more at once than a person can be asked, whichever way it asks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { serverOf } from '../server/support.ts'
import { add, connected, legacy, modern } from './support.ts'
import type { MemoryTarget } from './memory-link.ts'

const question = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'x', requestedSchema: { type: 'object', properties: {} } },
}
const questions = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, question]))
const task = {
  taskId: 't',
  status: 'input_required',
  createdAt: '',
  lastUpdatedAt: '',
  ttlMs: null,
  pollIntervalMs: 20,
}

/** The first call is answered with `answer`. */
function answerOnce(target: MemoryTarget, answer: JsonObject): void {
  let id: unknown
  target.alter = (message, way) => {
    if (way === '>' && message.method === 'tools/call') id ??= message.id
    return way === '<' && message.id !== undefined && message.id === id
      ? { jsonrpc: '2.0', id: message.id, ...answer }
      : message
  }
}

for (const [what, wrap] of [
  ['a result', (count: number) => ({ resultType: 'input_required', inputRequests: questions(count) })],
  ['a task', (count: number) => ({ resultType: 'task', ...task, inputRequests: questions(count) })],
] as const) {
  test(`${what} asks 100 questions at most`, async () => {
    let asked = 0
    const elicit = () => ((asked += 1), { action: 'accept' as const, content: {} })
    await using pair = await connected(serverOf({ tools: [add] }), { revision: modern, elicit })
    answerOnce(pair.target, { result: wrap(101) })
    const failure = { kind: 'ProtocolViolation', message: /101 questions/ }
    await assert.rejects(pair.client.call('add', { a: 1, b: 2 }, { task: true }), failure)
    assert.equal(asked, 0)
    answerOnce(pair.target, { result: wrap(100) })
    await pair.client.call('add', { a: 1, b: 2 }, { task: true, maxTimeoutMs: 500 }).catch(() => {})
    assert.equal(asked, 100)
  })
}

test('a refusal wants 100 visits at most', async () => {
  for (const [count, wanted] of [
    [101, 0],
    [100, 100],
  ] as const) {
    let asked = 0
    const url = () => ((asked += 1), { action: 'accept' as const })
    await using pair = await connected(serverOf({ tools: [add] }), { revision: legacy, elicit: { url } })
    const elicitations = Array.from({ length: count }, (_, i) => ({
      mode: 'url',
      url: 'https://example.com/',
      message: 'Visit',
      elicitationId: `e${i}`,
    }))
    answerOnce(pair.target, { error: { code: -32042, message: 'visit', data: { elicitations } } })
    const outcome = await pair.client.call('add', { a: 1, b: 2 }, { timeoutMs: 50 }).catch((error: unknown) => error)
    assert.equal(asked, wanted)
    assert.equal(Object(outcome).kind, wanted === 0 ? 'UrlElicitationRequired' : undefined)
  }
})

test('a result that wants input without saying which is refused at once', async () => {
  for (const more of [{}, { inputRequests: {} }]) {
    await using pair = await connected(serverOf({ tools: [add] }), { revision: modern })
    answerOnce(pair.target, { result: { resultType: 'input_required', ...more } })
    await assert.rejects(pair.client.call('add', { a: 1, b: 2 }), { kind: 'ProtocolViolation', ran: 'unknown' })
    assert.equal(pair.target.sent().filter((method) => method === 'tools/call').length, 1)
  }
})
