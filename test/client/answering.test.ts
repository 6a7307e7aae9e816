// Defends: one handler answers live requests and questions in results; what is not given is not declared, what is not
// declared is refused at once, and what goes back is whole and right.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { form, result, tool } from '../../src/index.ts'
import type { ClientOptions } from '../../src/client.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { exempt } from '../official/exempt.ts'
import { serverOf, sure } from '../server/support.ts'
import { add, connected, eras, legacy, modern } from './support.ts'

const asks = tool('asks', {}, async (_args, ctx) => JSON.stringify(await ctx.elicit('sure', sure, 'Sure?')))
const visits = tool('visits', {}, async (_args, ctx) =>
  JSON.stringify(await ctx.elicitUrl('pay', 'https://example.com/pay', 'Please pay')),
)
const samples = tool('samples', {}, async (_args, ctx) =>
  JSON.stringify(
    await ctx.sample('s', { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 }),
  ),
)
const roots = tool('roots', {}, async (_args, ctx) => JSON.stringify(await ctx.roots('r')))
const can = tool('can', {}, (_args, ctx) =>
  JSON.stringify(
    ['elicitation.form', 'elicitation.url', 'sampling', 'sampling.tools', 'roots'].filter((one) =>
      ctx.can(one as 'roots'),
    ),
  ),
)
const server = serverOf({ tools: [asks, visits, samples, roots, can, add] })

async function told(name: string, revision: string, options: ClientOptions): Promise<string> {
  await using pair = await connected(server, { revision, ...options })
  return (await pair.client.call(name)).text
}

const said = { role: 'assistant', content: { type: 'text', text: 'hello' }, model: 'm' } as const

for (const revision of eras) {
  test(`${revision}: a form is shown, and its answer handed on`, async () => {
    let shown: unknown
    const text = await told('asks', revision, {
      elicit: (params) => {
        shown = params.message
        return { action: 'accept', content: { sure: true } }
      },
    })
    assert.equal(shown, 'Sure?')
    assert.deepEqual(JSON.parse(text), { action: 'accept', content: { sure: true } })
    assert.deepEqual(
      JSON.parse(await told('asks', revision, { elicit: () => ({ action: 'decline' }) })).action,
      'decline',
    )
  })

  test(`${revision}: a URL is handed over, and never fetched`, async () => {
    let url: string | undefined
    const text = await told('visits', revision, {
      elicit: {
        url: (visit) => {
          url = visit.url
          return { action: 'accept', content: { ignored: true } }
        },
      },
    })
    assert.equal(url, 'https://example.com/pay')
    assert.deepEqual(JSON.parse(text), { action: 'accept' })
  })

  test(`${revision}: sampling and roots`, async () => {
    assert.equal(JSON.parse(await told('samples', revision, { sample: () => said })).model, 'm')
    const list = [{ uri: 'file:///work', name: 'work' }]
    for (const given of [list, () => list])
      assert.match(await told('roots', revision, { roots: given }), /file:\/\/\/work/)
  })

  test(`${revision}: what is not given is not declared`, async () => {
    for (const [options, features] of [
      [{}, []],
      [{ elicit: () => ({ action: 'cancel' }) }, ['elicitation.form']],
      [{ elicit: { url: () => ({ action: 'cancel' }) } }, ['elicitation.url']],
      [{ sample: { create: () => said, tools: true } }, ['sampling', 'sampling.tools']],
      [{ roots: [] }, ['roots']],
    ] as const satisfies readonly (readonly [ClientOptions, readonly string[]])[]) {
      assert.deepEqual(JSON.parse(await told('can', revision, options)), features)
    }
  })

  test(`${revision}: defaults are filled in, and what does not fit is not sent`, async () => {
    const many = form({
      type: 'object',
      properties: {
        name: { type: 'string', default: 'Ada' },
        age: { type: 'integer', default: 36 },
        score: { type: 'number', default: 9.5 },
        color: { type: 'string', enum: ['red', 'blue'], default: 'blue' },
        ok: { type: 'boolean', default: false },
      },
      required: ['name', 'age'],
    })
    const fills = serverOf({
      tools: [tool('fills', {}, async (_args, ctx) => JSON.stringify(await ctx.elicit('f', many, 'Fill in')))],
    })
    await using pair = await connected(fills, { revision, elicit: () => ({ action: 'accept', content: { age: 1 } }) })
    assert.deepEqual(JSON.parse((await pair.client.call('fills')).text).content, {
      name: 'Ada',
      age: 1,
      score: 9.5,
      color: 'blue',
      ok: false,
    })
    await using wrong = await connected(fills, {
      revision,
      elicit: () => ({ action: 'accept', content: { age: 'old' } }),
    })
    if (revision === modern)
      await assert.rejects(wrong.client.call('fills'), { kind: 'Cancelled', message: /does not fit the form: age/ })
    else assert.equal((await wrong.client.call('fills')).isError, true)
    const sent = wrong.target.crossed.some(([way, message]) => way === '>' && JSON.stringify(message).includes('"old"'))
    assert.equal(sent, false)
  })
}

/** The answer of the client to a request that the server makes by itself while `call` runs. */
async function replyTo(message: JsonObject, options: ClientOptions = {}): Promise<JsonObject | undefined> {
  const waits = tool('waits', {}, async () => {
    await delay(60)
    return 'done'
  })
  await using pair = await connected(serverOf({ tools: [waits] }), { revision: legacy, ...options })
  const pending = pair.client.call('waits')
  await delay(10)
  pair.target.say({ id: 'q', ...message })
  await pending
  return pair.target.crossed.find(([way, { id }]) => way === '>' && id === 'q')?.[1]
}

const plainForm = { message: 'm', requestedSchema: { type: 'object', properties: {} } }

test('requests that were not declared, or are no requests, get their error at once', async () => {
  for (const [message, options, code] of [
    [{ method: 'ping' }, {}, undefined],
    [{ method: 'nothing/known' }, {}, -32601],
    [{ method: 'roots/list' }, {}, -32601],
    [{ method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }, {}, -32601],
    [{ method: 'sampling/createMessage', params: { messages: [] } }, { sample: () => said }, -32602],
    [
      { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1, tools: [] } },
      { sample: () => said },
      -32602,
    ],
    [{ method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }, { sample: () => undefined }, -1],
    [{ method: 'elicitation/create', params: plainForm }, {}, -32601],
    [{ method: 'elicitation/create', params: plainForm }, { elicit: { url: () => ({ action: 'cancel' }) } }, -32602],
    [
      { method: 'elicitation/create', params: { mode: 'url', message: 'm', url: 'https://x', elicitationId: '1' } },
      { elicit: () => ({ action: 'cancel' }) },
      -32602,
    ],
    [
      { method: 'elicitation/create', params: plainForm },
      { elicit: () => Promise.reject(new Error('secret')) },
      -32603,
    ],
    [
      {
        method: 'elicitation/create',
        params: { mode: 'url', message: 'm', url: 'javascript:alert(1)', elicitationId: '1' },
      },
      { elicit: { url: () => ({ action: 'accept' }) } },
      -32603,
    ],
    [
      {
        method: 'elicitation/create',
        params: { mode: 'url', message: 'm', url: 'https://example.com', elicitationId: '1' },
      },
      { elicit: { url: () => ({ action: 'accept' }) } },
      undefined,
    ],
    [{ method: 'tasks/list' }, {}, -32601],
  ] as const satisfies readonly (readonly [JsonObject, ClientOptions, number | undefined])[]) {
    const reply = await replyTo(message, options)
    const error = reply?.error as { code: number; message: string } | undefined
    assert.equal(error?.code, code, JSON.stringify(message))
    assert.doesNotMatch(JSON.stringify(reply), /secret/)
  }
})

test('a request that belongs to no call is refused', async () => {
  await using pair = await connected(serverOf({ tools: [add] }), { revision: legacy, roots: [] })
  pair.target.say({ id: 'q', method: 'roots/list' })
  await delay(10)
  const reply = pair.target.crossed.find(([way, { id }]) => way === '>' && id === 'q')?.[1]
  assert.equal((reply?.error as { code: number }).code, -32602)
})

test('where requests stand alone, a request of the server is never answered', async () => {
  await using pair = await connected(serverOf({ tools: [add] }), { revision: modern, roots: [] })
  pair.target.say({ id: 'q', method: 'roots/list' })
  pair.target.say({ id: 'p', method: 'ping' })
  await pair.client.call('add', { a: 1, b: 1 })
  assert.equal(pair.target.crossed.filter(([way, { id }]) => way === '>' && typeof id === 'string').length, 0)
})

test('a request that the server takes back is not answered, and its handler is told', async () => {
  let aborted = false
  const waits = tool('waits', {}, async () => {
    await delay(60)
    return 'done'
  })
  await using pair = await connected(serverOf({ tools: [waits] }), {
    revision: legacy,
    elicit: (_form, { signal }) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          aborted = true
          resolve({ action: 'cancel' })
        }),
      ),
  })
  const pending = pair.client.call('waits')
  await delay(10)
  pair.target.say({ id: 'q', method: 'elicitation/create', params: plainForm })
  await delay(10)
  pair.target.say({ method: 'notifications/cancelled', params: { requestId: 'q' } })
  await pending
  assert.equal(aborted, true)
  assert.equal(
    pair.target.crossed.some(([way, { id }]) => way === '>' && id === 'q'),
    false,
  )
})

/** A modern server whose tool answers what the test says, round by round. */
function rounds(...answers: JsonObject[]): { server: ReturnType<typeof serverOf>; heard: JsonObject[] } {
  const heard: JsonObject[] = []
  const raw = tool('raw', {}, () => result({ content: [] }))
  const server = serverOf({
    tools: [raw],
    middleware: [
      {
        call: (call, context, next) => {
          const { _meta, ...params } = call.params
          heard.push(params)
          const answer = answers[heard.length - 1]
          return answer ? Promise.resolve(answer as never) : next(call, context)
        },
      },
    ],
  })
  return { server, heard }
}

const question = {
  method: 'elicitation/create',
  params: { message: 'm', requestedSchema: { type: 'object', properties: { confirmed: { type: 'boolean' } } } },
}
const confirms: ClientOptions = { elicit: () => ({ action: 'accept', content: { confirmed: true } }) }

test('the state is echoed byte for byte, under a new id, and none where none came', async () => {
  const state = 'ünï "code" \u2028 =?base64?'
  const { server, heard } = rounds(
    { resultType: 'input_required', inputRequests: { 'a b': question }, requestState: state },
    { resultType: 'input_required', inputRequests: { c: question } },
  )
  await using pair = await connected(server, { revision: modern, ...confirms })
  await pair.client.call('raw', { x: 1 })
  await pair.client.call('raw')
  const answer = { action: 'accept', content: { confirmed: true } }
  assert.deepEqual(heard, [
    { name: 'raw', arguments: { x: 1 } },
    { name: 'raw', arguments: { x: 1 }, inputResponses: { 'a b': answer }, requestState: state },
    { name: 'raw', arguments: { x: 1 }, inputResponses: { c: answer } },
    { name: 'raw', arguments: {} },
  ])
  const ids = pair.target.crossed
    .filter(([way, { method }]) => way === '>' && method === 'tools/call')
    .map(([, { id }]) => id)
  assert.equal(new Set(ids).size, ids.length)
})

test('a state alone is sent again', async () => {
  const { server, heard } = rounds({ resultType: 'input_required', requestState: 's' }, { content: [] })
  await using pair = await connected(server, { revision: modern })
  await pair.client.call('raw')
  assert.deepEqual(heard[1], { name: 'raw', arguments: {}, requestState: 's' })
})

test('a server that goes on asking is left', async () => {
  const endless = Array.from({ length: 20 }, () => ({ resultType: 'input_required', inputRequests: { k: question } }))
  const { server, heard } = rounds(...endless)
  await using pair = await connected(server, { revision: modern, maxRounds: 3, ...confirms })
  await assert.rejects(pair.client.call('raw'), { kind: 'TooManyRounds', ran: 'unknown' })
  assert.equal(heard.length, 4)
})

test('a server that goes on asking under ever new keys is told apart: what ran anew never finds its answers', async () => {
  for (const [keyOf, message] of [
    [(round: number) => `k${round}`, 'tools/call asks for input again and again, each time under new keys'],
    [(round: number) => `k${round % 3}`, 'tools/call asks for input again and again'],
  ] as const) {
    const endless = Array.from({ length: 20 }, (_, round) => ({
      resultType: 'input_required',
      inputRequests: { [keyOf(round)]: question },
    }))
    const { server } = rounds(...endless)
    await using pair = await connected(server, { revision: modern, maxRounds: 3, ...confirms })
    await assert.rejects(pair.client.call('raw'), { kind: 'TooManyRounds', message })
  }
})

for (const revision of eras) {
  test(`${revision}: the logger hears why a handler could not answer`, async () => {
    const broke = new Error('no terminal')
    const warned: unknown[] = []
    const silent = (): void => {}
    const logger = { debug: silent, info: silent, error: silent, warn: (...said: unknown[]) => void warned.push(said) }
    const fails = (): never => {
      throw broke
    }
    await using pair = await connected(server, { revision, logger, elicit: fails, sample: fails, roots: fails })
    for (const [name, method] of [
      ['asks', 'elicitation/create'],
      ['samples', 'sampling/createMessage'],
      ['roots', 'roots/list'],
    ] as const) {
      warned.length = 0
      await pair.client.call(name).catch(() => {})
      assert.deepEqual(warned, [['a question of the server could not be answered', { method, error: broke }]])
    }
  })
}

test('a question that was not declared, or is none, ends the call', async () => {
  exempt(({ result: said }) => JSON.stringify(said ?? null).includes('"inputRequests":{"k":'))
  for (const ask of [
    question,
    { method: 'roots/list' },
    { method: 'nothing' },
    { method: 'elicitation/create', params: {} },
  ]) {
    const { server } = rounds({ resultType: 'input_required', inputRequests: { k: ask } })
    await using pair = await connected(server, { revision: modern, capabilities: {} })
    await assert.rejects(pair.client.call('raw'), { kind: 'ProtocolViolation' }, JSON.stringify(ask))
  }
})

test('a result of a type that nobody knows is no result, and one without a type is complete', async () => {
  await using pair = await connected(server, { revision: modern })
  pair.target.alter = (message, way) => {
    if (way === '>' || message.result === undefined) return message
    const { resultType: _, ...rest } = message.result as JsonObject
    return { ...message, result: rest }
  }
  assert.deepEqual((await pair.client.call('add', { a: 1, b: 2 })).structured, { sum: 3 })
  pair.target.alter = (message, way) =>
    way === '>' ? message : { ...message, result: { ...(message.result as JsonObject), resultType: 'surprise' } }
  await assert.rejects(pair.client.call('add', { a: 1, b: 2 }), { kind: 'ProtocolViolation' })
})
