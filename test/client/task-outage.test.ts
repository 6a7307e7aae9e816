// Defends: a call that became a task is waited for also while its server is away, and whoever gives up keeps its name.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { CallFailed, isFailure } from '../../src/client.ts'
import { refusals } from '../../src/codec/refusals.ts'
import { tool } from '../../src/index.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Link } from '../../src/peer/link.ts'
import { serverOf } from '../server/support.ts'
import type { MemoryTarget } from './memory-link.ts'
import { connected, eras } from './support.ts'

const slow = tool('slow', { task: 'always' }, async () => {
  await delay(60)
  return 'done'
})
const server = () => serverOf({ tools: [slow], tasks: { pollIntervalMs: 20 } })
const serve = { principal: { id: 'ada', scopes: new Set<string>() } }
const patience = { breaker: { failures: 3, coolMs: 20 }, retry: { delayMs: 1, maxDelayMs: 30 } }
const keyName = 'dev.dragoman/idempotencyKey'

/** Cuts the connection now, and has none made for so long. */
function away(target: MemoryTarget, ms: number): void {
  const { link } = target
  const refuses = { ...link('memory'), open: () => Promise.reject(new CallFailed('Unreachable', { ran: 'no' })) }
  Object.assign(target, { link: () => refuses })
  setTimeout(() => Object.assign(target, { link }), ms).unref()
  target.drop()
}

/** A link that cannot be opened, nor fails to be before it is closed. */
function hanging(): Link {
  let fail = (_failure: CallFailed): void => {}
  return {
    transport: 'memory',
    open: () => new Promise((_, reject) => (fail = reject)),
    send: () => Promise.resolve(),
    agree: () => {},
    close: async () => fail(new CallFailed('Cancelled', { ran: 'no' })),
  }
}

/** Does something once the task is known, or is asked about. */
function once(target: MemoryTarget, method: string, act: () => void): void {
  let done = false
  target.alter = (message, way) => {
    if (done || way === '<' || message.method !== method) return message
    done = true
    act()
    return undefined
  }
}

/** Answers the first requests of a method by an error. */
function refuse(target: MemoryTarget, method: string, times: number, error: JsonObject, status?: number): () => number {
  let refused = 0
  target.alter = (message, way) => {
    if (way === '<' || message.method !== method || refused === times) return message
    refused += 1
    queueMicrotask(() => target.answer(message.id as number, error, status === undefined ? {} : { status }))
    return undefined
  }
  return () => refused
}

for (const revision of eras) {
  for (const method of revision === eras[0] ? ['tasks/get', 'tasks/result'] : ['tasks/get']) {
    test(`${revision}: a server that is away for a while when asked by ${method} is waited for`, async () => {
      await using pair = await connected(server(), { revision, serve, ...patience })
      once(pair.target, method, () => away(pair.target, 100))
      assert.equal((await pair.client.call('slow', {}, { task: true })).text, 'done')
      assert.ok(pair.target.links > 1)
    })
  }

  for (const [what, error, status] of [
    ['a store that is away', { code: -32603, message: refusals.IdempotencyUnavailable.message }, undefined],
    ['a gateway without its server', { code: -32603, message: 'bad gateway' }, 502],
    ['a limit', { code: -32603, message: 'later' }, 429],
  ] as const) {
    test(`${revision}: ${what} says nothing of a task`, async () => {
      await using pair = await connected(server(), { revision, serve, ...patience, breaker: { failures: 0 } })
      const refused = refuse(pair.target, 'tasks/get', 8, error, status)
      assert.equal((await pair.client.call('slow', {}, { task: true })).text, 'done')
      assert.equal(refused(), 8)
    })
  }

  test(`${revision}: whoever gives up on a server is told which task it was, and under which key`, async () => {
    for (const given of [{}, { idempotencyKey: 'mine' }]) {
      await using pair = await connected(server(), { revision, serve, ...patience })
      once(pair.target, 'tasks/get', () => away(pair.target, 10_000))
      const since = performance.now()
      const call = pair.client.call('slow', {}, { task: true, timeoutMs: 80, ...given })
      const error = await call.catch((thrown: unknown) => thrown)
      assert.ok(isFailure(error) && ['Unreachable', 'CircuitOpen'].includes(error.kind))
      assert.ok(performance.now() - since > 30)
      const [, sent] = pair.target.crossed.find(([, { method }]) => method === 'tools/call') ?? []
      const key = ((sent?.params as JsonObject)._meta as JsonObject)[keyName]
      assert.equal(error.ran, 'unknown')
      assert.equal(typeof error.data?.taskId, 'string')
      assert.equal(error.data?.idempotencyKey, key)
      if ('idempotencyKey' in given) assert.equal(key, 'mine')
    }
  })

  test(`${revision}: a server that knows the task no more is not asked again`, async () => {
    await using pair = await connected(server(), { revision, serve })
    const refused = refuse(pair.target, 'tasks/get', 9, { code: -32602, message: 'no such task' })
    const call = pair.client.call('slow', {}, { task: true })
    await assert.rejects(call, (error) => {
      assert.ok(isFailure(error))
      assert.deepEqual([error.kind, error.ran, typeof error.data?.taskId], ['MalformedParams', 'unknown', 'string'])
      return true
    })
    assert.equal(refused(), 1)
    await assert.rejects(pair.client.tasks.result('nothing'), { ran: 'unknown', data: { taskId: 'nothing' } })
  })

  test(`${revision}: the signal of a call ends its waiting for a server that is away`, async () => {
    await using pair = await connected(server(), { revision, serve, ...patience })
    const stop = new AbortController()
    once(pair.target, 'tasks/get', () => {
      away(pair.target, 10_000)
      setTimeout(() => stop.abort(), 30)
    })
    const call = pair.client.call('slow', {}, { task: true, signal: stop.signal })
    await assert.rejects(call, { kind: 'Cancelled', ran: 'unknown' })
  })

  test(`${revision}: so does the end of the client, and while a connection is being made`, async () => {
    for (const hangs of [false, true]) {
      await using pair = await connected(server(), { revision, serve, ...patience })
      once(pair.target, 'tasks/get', () => {
        away(pair.target, 10_000)
        if (hangs) Object.assign(pair.target, { link: () => hanging() })
        setTimeout(() => void pair.client.close(), 30)
      })
      const since = performance.now()
      await assert.rejects(pair.client.call('slow', {}, { task: true }), { kind: 'Cancelled', ran: 'unknown' })
      assert.ok(performance.now() - since < 5_000)
    }
  })
}
