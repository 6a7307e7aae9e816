// Defends: a call that may have run is sent again only where that does no harm, or where the server knows its key; every
// failure says whether it ran.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { CallFailed, connect } from '../../src/client.ts'
import { memoryStore } from '../../src/index.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Server } from '../../src/index.ts'
import { serverOf } from '../server/support.ts'
import { memoryTarget, type MemoryTarget } from './memory-link.ts'
import { add, connected, eras, legacy, modern, quick, toolOf } from './support.ts'

const keyName = 'dev.dragoman/idempotencyKey'

/** A server whose tool counts its runs; the first answer to a call is lost on the way, with the connection. */
function losing(options: { readonly keys?: boolean; readonly annotations?: object; readonly runMs?: number } = {}): {
  readonly server: Server
  readonly runs: () => number
  readonly lose: (target: MemoryTarget) => void
} {
  let runs = 0
  const effect = toolOf(
    'effect',
    async () => {
      runs += 1
      await delay(options.runMs ?? 0)
      return `run ${runs}`
    },
    options.annotations ?? {},
  )
  return {
    server: serverOf({ tools: [effect], store: memoryStore() }),
    runs: () => runs,
    lose(target) {
      let lost = false
      target.alter = (message, way) => {
        if (way === '>') {
          if (message.method === 'tools/call' && !lost && options.runMs !== undefined) {
            lost = true
            setTimeout(() => target.drop(), 10)
          }
          return message
        }
        const result = message.result as JsonObject | undefined
        if (options.keys === false && result?.capabilities) {
          const { experimental: _, ...capabilities } = result.capabilities as JsonObject
          return { ...message, result: { ...result, capabilities } }
        }
        if (!lost && result?.content) {
          lost = true
          queueMicrotask(() => target.drop())
          return undefined
        }
        return message
      }
    },
  }
}

/** Has its answers altered from the first message on. */
async function pairOf(made: ReturnType<typeof losing>, revision: string) {
  const target = memoryTarget(made.server)
  made.lose(target)
  const client = await connect(target, quick({ revision }))
  return { client, target, [Symbol.asyncDispose]: () => client.close() }
}

const calls = (target: MemoryTarget): JsonObject[] =>
  target.crossed.filter(([way, { method }]) => way === '>' && method === 'tools/call').map(([, message]) => message)
const keyOf = ({ params }: JsonObject): unknown => ((params as JsonObject)._meta as JsonObject | undefined)?.[keyName]

for (const revision of eras) {
  test(`${revision}: a lost call is sent again with its key, and told what the first came to`, async () => {
    const made = losing()
    await using pair = await pairOf(made, revision)
    const answer = await pair.client.call('effect')
    assert.equal(answer.text, 'run 1')
    assert.equal(answer._meta?.['dev.dragoman/replayed'], true)
    assert.equal(made.runs(), 1)
    const keys = calls(pair.target).map(keyOf)
    assert.equal(keys.length, 2)
    assert.ok(typeof keys[0] === 'string' && keys[0].length >= 16)
    assert.equal(keys[0], keys[1])
  })

  test(`${revision}: a call that still runs is waited for`, async () => {
    const made = losing({ runMs: 80 })
    await using pair = await pairOf(made, revision)
    assert.equal((await pair.client.call('effect')).text, 'run 1')
    assert.equal(made.runs(), 1)
    assert.ok(calls(pair.target).length > 1)
  })

  test(`${revision}: without keys a lost call is reported, and was sent once`, async () => {
    const made = losing({ keys: false })
    await using pair = await pairOf(made, revision)
    await assert.rejects(pair.client.call('effect'), { kind: 'ConnectionLost', ran: 'unknown' })
    assert.equal(made.runs(), 1)
    assert.equal(calls(pair.target).length, 1)
    assert.equal(keyOf(calls(pair.target)[0] ?? {}), undefined)
    assert.equal((await pair.client.call('effect')).text, 'run 2')
  })

  test(`${revision}: without keys a tool that may run twice does`, async () => {
    for (const annotations of [{ readOnlyHint: true }, { idempotentHint: true }]) {
      const made = losing({ keys: false, annotations })
      await using pair = await pairOf(made, revision)
      assert.equal((await pair.client.call('effect')).text, 'run 2')
    }
    const destructive = losing({ keys: false, annotations: { destructiveHint: true } })
    await using pair = await pairOf(destructive, revision)
    await assert.rejects(pair.client.call('effect'), { ran: 'unknown' })
  })

  test(`${revision}: a list is read again`, async () => {
    const made = losing()
    await using pair = await pairOf(made, revision)
    let dropped = false
    pair.target.alter = (message, way) => {
      if (way === '>' || dropped || !(message.result as JsonObject | undefined)?.tools) return message
      dropped = true
      queueMicrotask(() => pair.target.drop())
      return undefined
    }
    assert.equal((await pair.client.tools()).length, 1)
    assert.equal(dropped, true)
  })
}

test('two calls have two keys; a key that is given is used, also where it is not heeded', async () => {
  await using pair = await connected(serverOf({ tools: [add] }))
  await pair.client.call('add', { a: 1, b: 1 })
  await pair.client.call('add', { a: 1, b: 1 })
  await pair.client.call('add', { a: 1, b: 1 }, { idempotencyKey: 'mine' })
  const keys = calls(pair.target).map(keyOf)
  assert.notEqual(keys[0], keys[1])
  assert.equal(keys[2], 'mine')
  const made = losing({ keys: false })
  await using other = await pairOf(made, modern)
  await assert.rejects(other.client.call('effect', {}, { idempotencyKey: 'mine' }), { ran: 'unknown' })
  assert.deepEqual(calls(other.target).map(keyOf), ['mine'])
})

test('a server that does not come back after a call was lost leaves it unknown whether it ran', async () => {
  const made = losing()
  await using pair = await pairOf(made, legacy)
  const { alter } = pair.target
  let gone = false
  pair.target.alter = (message, way) => {
    if (way === '>' && message.method === 'tools/call') gone = true
    if (way === '>' && gone && message.method === 'initialize') {
      queueMicrotask(() => pair.target.drop(new CallFailed('Unreachable', { ran: 'no' })))
      return undefined
    }
    return alter(message, way)
  }
  const error = await pair.client.call('effect').catch((thrown: unknown) => thrown)
  assert.ok(error instanceof CallFailed)
  assert.equal(error.ran, 'unknown')
})

test('a session that is gone is opened once more, for all who wait, and safe calls are made again', async () => {
  const target = memoryTarget(serverOf({ tools: [add] }))
  const client = await connect(target, quick({ revision: legacy }))
  let refused = 0
  target.alter = (message, way) => {
    if (way === '<' || message.method !== 'tools/call' || refused === 3) return message
    refused += 1
    // As over HTTP: the session is gone, and nothing ran.
    if (refused === 1) target.expire()
    queueMicrotask(() => target.say({ id: message.id, error: { code: -32600, message: 'no session' } }))
    return undefined
  }
  const answers = await Promise.all([1, 2, 3].map((a) => client.call('add', { a, b: 1 })))
  assert.deepEqual(
    answers.map(({ structured }) => structured),
    [{ sum: 2 }, { sum: 3 }, { sum: 4 }],
  )
  assert.equal(target.links, 2)
  await client.close()
})
