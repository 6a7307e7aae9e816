// Defends: once anything of a call has reached its server, no later failure of the call says that it did not run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { CallFailed, connect, isFailure, type ClientOptions } from '../../src/client.ts'
import { refusals } from '../../src/codec/refusals.ts'
import { tool } from '../../src/index.ts'
import { serverOf, sure } from '../server/support.ts'
import { until } from '../transport/dial/support.ts'
import { memoryTarget, type MemoryTarget } from './memory-link.ts'
import { add, connected, eras, legacy, modern, quick, toolOf } from './support.ts'

/** Nothing can be reached any more. */
function leave(target: MemoryTarget): void {
  const away = { ...target.link('memory'), open: () => Promise.reject(new CallFailed('Unreachable', { ran: 'no' })) }
  Object.assign(target, { link: () => away })
  target.drop(new CallFailed('Unreachable', { ran: 'no' }))
}

const asks = tool('asks', {}, async (_args, ctx) => {
  const { action } = await ctx.elicit('sure', sure, 'Sure?')
  return action
})

for (const revision of eras) {
  test(`${revision}: a server that goes while its user answers leaves it unknown whether the call ran`, async () => {
    const target = memoryTarget(serverOf({ tools: [asks] }))
    const elicit: ClientOptions['elicit'] = () => {
      leave(target)
      return { action: 'accept', content: { sure: true } }
    }
    await using client = await connect(target, quick({ revision, elicit }))
    await assert.rejects(client.call('asks'), { kind: 'Unreachable', ran: 'unknown' })
  })

  test(`${revision}: what a server refuses once its user has answered may have run`, async () => {
    const elicit: ClientOptions['elicit'] = () => {
      pair.target.alter = (message, way) => {
        if (way === '>' || message.id === undefined || message.method !== undefined) return message
        const { jsonrpc, id } = message
        return { jsonrpc, id, error: { code: -32602, message: 'no' } }
      }
      return { action: 'accept', content: { sure: true } }
    }
    await using pair = await connected(serverOf({ tools: [asks] }), { revision, elicit })
    await assert.rejects(pair.client.call('asks'), { kind: 'MalformedParams', ran: 'unknown' })
  })

  test(`${revision}: what a server refuses at once did not run`, async () => {
    await using pair = await connected(serverOf({ tools: [add] }), { revision })
    await assert.rejects(pair.client.call('other'), { kind: 'MalformedParams', ran: 'no' })
  })

  test(`${revision}: a call that told of its progress may have run`, async () => {
    const works = toolOf('works', (ctx) => ctx.progress(1))
    await using pair = await connected(serverOf({ tools: [works] }), { revision })
    pair.target.alter = (message, way) => {
      if (way === '>' || message.method !== 'notifications/progress') return message
      queueMicrotask(() => leave(pair.target))
      return message
    }
    await assert.rejects(pair.client.call('works'), { kind: 'Unreachable', ran: 'unknown' })
  })

  test(`${revision}: a run that goes on under the same key may have had an effect`, async () => {
    await using pair = await connected(serverOf({ tools: [add] }), { revision })
    const error = { code: -32600, message: refusals.DuplicateInFlight.message }
    pair.target.alter = (message, way) => {
      if (way === '<' || message.method !== 'tools/call') return message
      queueMicrotask(() => pair.target.answer(message.id as number, error, { status: 200 }))
      return undefined
    }
    const call = pair.client.call('add', { a: 1, b: 1 }, { idempotencyKey: 'mine' })
    await assert.rejects(call, { kind: 'DuplicateInFlight', ran: 'unknown' })
  })
}

/** From now on the server goes as soon as somebody introduces themselves, so many times. */
function goWhenMet(target: MemoryTarget, times: number): void {
  let left = times
  target.alter = (message, way) => {
    const introduces = message.method === 'initialize' || message.method === 'server/discover'
    if (way === '<' || !introduces || left === 0) return message
    left -= 1
    queueMicrotask(() => target.drop())
    return undefined
  }
}

for (const revision of eras) {
  const counted = () => {
    const state = { runs: 0 }
    return { state, served: serverOf({ tools: [toolOf('counted', () => String((state.runs += 1)))] }) }
  }

  test(`${revision}: a call did not run for which no connection could be made again`, async () => {
    const { served, state } = counted()
    await using pair = await connected(served, { revision })
    goWhenMet(pair.target, Infinity)
    pair.target.drop()
    const thrown = await pair.client.call('counted').catch((error: unknown) => error)
    assert.ok(isFailure(thrown))
    assert.deepEqual([thrown.kind, thrown.ran], ['ConnectionLost', 'no'])
    assert.ok(isFailure(thrown.cause) && thrown.cause.ran === 'unknown')
    assert.deepEqual([state.runs, pair.target.sent().includes('tools/call')], [0, false])
  })

  test(`${revision}: so it is made once there is a connection`, async () => {
    const { served, state } = counted()
    await using pair = await connected(served, { revision })
    goWhenMet(pair.target, 2)
    pair.target.drop()
    assert.equal((await pair.client.call('counted')).text, '1')
    assert.equal(state.runs, 1)
  })

  test(`${revision}: a call that was lost before no connection could be made again may have run`, async () => {
    const { served } = counted()
    await using pair = await connected(served, { revision })
    pair.target.alter = (message, way) => {
      if (way === '<' || message.method !== 'tools/call') return message
      goWhenMet(pair.target, Infinity)
      queueMicrotask(() => pair.target.drop())
      return message
    }
    await assert.rejects(pair.client.call('counted'), { kind: 'ConnectionLost', ran: 'unknown' })
  })

  test(`${revision}: who gives up a call between two attempts to connect knows that it did not run`, async () => {
    const { served } = counted()
    await using pair = await connected(served, { revision, retry: { delayMs: 60_000, maxDelayMs: 60_000 } })
    goWhenMet(pair.target, Infinity)
    pair.target.drop()
    const giveUp = new AbortController()
    const call = assert.rejects(pair.client.call('counted', {}, { signal: giveUp.signal }), {
      kind: 'Cancelled',
      ran: 'no',
    })
    await until(() => pair.target.links > 1)
    await delay(50)
    giveUp.abort()
    await call
  })
}

test('an error that names no request and comes on the stream of one is no answer to it', async () => {
  await using pair = await connected(serverOf({ tools: [add] }), { revision: legacy })
  for (const [status, ran] of [
    [200, 'unknown'],
    [400, 'no'],
  ] as const) {
    pair.target.alter = (message, way) => {
      if (way === '<' || message.method !== 'tools/call') return message
      const error = { code: -32600, message: refusals.StreamGap.message }
      queueMicrotask(() => pair.target.answer(undefined, error, { on: message.id as number, status }))
      return undefined
    }
    await assert.rejects(pair.client.call('add', { a: 1, b: 1 }), { kind: 'InvalidRequest', ran })
  }
})

test('a call is not made anew for headers that are refused after a round of it', async () => {
  let runs = 0
  const counted = tool('counted', {}, async (_args, ctx) => {
    runs += 1
    return (await ctx.elicit('sure', sure, 'Sure?')).action
  })
  const elicit: ClientOptions['elicit'] = () => {
    pair.target.alter = (message, way) => {
      if (way === '>' || message.id === undefined) return message
      return { jsonrpc: '2.0', id: message.id, error: { code: -32020, message: 'no' } }
    }
    return { action: 'accept', content: { sure: true } }
  }
  await using pair = await connected(serverOf({ tools: [counted] }), { revision: modern, elicit })
  await assert.rejects(pair.client.call('counted'), { kind: 'HeaderMismatch', ran: 'unknown' })
  assert.equal(runs, 2)
})

test('a call that is made anew for headers that were refused is the same call', async () => {
  const keys: unknown[] = []
  await using pair = await connected(serverOf({ tools: [add] }), { revision: modern })
  pair.target.alter = (message, way) => {
    if (way === '<' || message.method !== 'tools/call') return message
    const { _meta } = message.params as { _meta: Record<string, unknown> }
    keys.push(_meta['dev.dragoman/idempotencyKey'])
    if (keys.length > 1) return message
    queueMicrotask(() => pair.target.answer(message.id as number, { code: -32020, message: 'no' }, {}))
    return undefined
  }
  await pair.client.call('add', { a: 1, b: 1 })
  assert.equal(keys.length, 2)
  assert.equal(typeof keys[0], 'string')
  assert.equal(keys[0], keys[1])
})
