// Asking the client in rounds: each rule of suspension on its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { form, inputRequired, memoryStore, prompt, resource, template, tool } from '../../src/index.ts'
import type { Context, Server } from '../../src/index.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Response, TestClient } from '../../src/testing.ts'
import {
  clientOf,
  eras,
  everything,
  named,
  recorder,
  revisions,
  serverOf,
  settled,
  staff,
  sure,
  textOf,
  yes,
} from './support.ts'

type Handler = (ctx: Context) => Promise<string> | string

const one = (handler: Handler, options: Parameters<typeof serverOf>[0] = {}): Server =>
  serverOf({ ...options, tools: [tool('t', {}, (_, ctx) => handler(ctx))] })

/** What one round of the tool came to: the keys it asks under, and the state. */
async function asks(
  client: TestClient,
  more: object = {},
  name = 't',
): Promise<{ keys: string[]; state: string; response: Response }> {
  const response = await client.request('tools/call', { name, ...more })
  assert.equal(response.result?.['resultType'], 'input_required', JSON.stringify(response))
  const { inputRequests, requestState } = response.result ?? {}
  return { keys: Object.keys((inputRequests ?? {}) as object), state: String(requestState), response }
}

const retry = (state: string, inputResponses: object): object => ({ requestState: state, inputResponses })

test('several questions are asked at once, and all answers are there in the next round', async () => {
  const client = await clientOf(
    one(async (ctx) => {
      const [a, b] = await Promise.all([ctx.elicit('a', sure, 'A?'), ctx.elicit('b', named, 'B?')])
      return `${a.action} ${b.action}`
    }),
  )
  const { keys, state } = await asks(client)
  assert.deepEqual(keys, ['a', 'b'])
  const done = await client.request('tools/call', { name: 't', ...retry(state, { a: yes, b: { action: 'decline' } }) })
  assert.equal(textOf(done), 'accept decline')
})

for (const revision of eras) {
  test(`${revision}: a key may be any text, also one that every object has`, async () => {
    const keys = ['__proto__', 'constructor', 'hasOwnProperty', 'toString']
    let ran = 0
    const asking: Handler = async (ctx) => {
      const steps = await Promise.all(keys.map((key) => ctx.step(key, () => `${key} ${++ran}`)))
      const answers = await Promise.all(keys.map((key) => ctx.elicit(key, named, `${key}?`)))
      return JSON.stringify([steps, answers.map((answer) => answer.action === 'accept' && answer.content.name)])
    }
    const raw: Handler = (ctx) => {
      if (ctx.inputResponses) return JSON.stringify(Object.keys(ctx.inputResponses))
      const requests = keys.map((key) => [key, { method: 'roots/list', params: {} }] as const)
      return inputRequired({ inputRequests: Object.fromEntries(requests) }) as never
    }
    const answer = (method: string, _: unknown, key: string | undefined): JsonObject =>
      method === 'roots/list' ? { roots: [] } : { action: 'accept', content: { name: String(key) } }
    const server = serverOf({ tools: [tool('t', {}, (_, ctx) => asking(ctx)), tool('r', {}, (_, ctx) => raw(ctx))] })
    const client = await clientOf(server, { revision, answer })
    const [steps, answers] = JSON.parse(textOf(await client.request('tools/call', { name: 't' })))
    assert.deepEqual(
      steps,
      keys.map((key, at) => `${key} ${at + 1}`),
    )
    if (revision === '2026-07-28') assert.deepEqual(answers, keys)
    assert.equal(answers.length, keys.length)
    assert.deepEqual(JSON.parse(textOf(await client.request('tools/call', { name: 'r' }))), keys)
  })
}

test('a question asked while the handler unwinds joins the round', async () => {
  const client = await clientOf(
    one(async (ctx) => {
      try {
        await ctx.elicit('a', sure, 'A?')
      } finally {
        await ctx.elicit('b', sure, 'B?')
      }
      return 'done'
    }),
  )
  assert.deepEqual((await asks(client)).keys, ['a', 'b'])
})

test('a question asked once the round is being put away waits for the next one', async () => {
  const store = memoryStore()
  const slow = {
    ...store,
    put: async (...given: Parameters<typeof store.put>) => (await sleep(60), store.put(...given)),
  }
  const handler: Handler = async (ctx) => {
    await ctx.step('big', () => 'x'.repeat(100_000))
    const later = async (): Promise<string> => (await sleep(20), (await ctx.elicit('b', sure, 'B?')).action)
    const [a, b] = await Promise.all([ctx.elicit('a', sure, 'A?'), later()])
    return `${a.action} ${b}`
  }
  const client = await clientOf(one(handler, { store: slow }))
  const first = await asks(client)
  assert.deepEqual(first.keys, ['a'])
  const second = await asks(client, retry(first.state, { a: yes }))
  assert.deepEqual(second.keys, ['b'])
  assert.equal(
    textOf(await client.request('tools/call', { name: 't', ...retry(second.state, { b: yes }) })),
    'accept accept',
  )
})

test('a catch that swallows the suspension changes nothing, and is warned of once', async () => {
  const { logger, at } = recorder()
  const swallowing: Handler = async (ctx) => {
    try {
      const { action } = await ctx.elicit('a', sure, 'A?')
      return action
    } catch {
      return 'swallowed'
    }
  }
  const client = await clientOf(one(swallowing, { logger }))
  const { state } = await asks(client)
  await asks(client)
  const warnings = at('warn').filter(({ message }) => /discarded/.test(message))
  assert.equal(warnings.length, 1)
  assert.deepEqual(warnings[0]?.fields, { name: 't' })
  assert.equal(textOf(await client.request('tools/call', { name: 't', ...retry(state, { a: yes }) })), 'accept')
})

test('so does an error thrown in its place, or a result', async () => {
  const thrower = one(async (ctx) => {
    await ctx.elicit('a', sure, 'A?').catch(() => {
      throw new Error('something else')
    })
    return 'done'
  })
  await asks(await clientOf(thrower))
  const forgetful = one((ctx) => {
    void ctx.elicit('a', sure, 'A?')
    return 'never waited'
  })
  await asks(await clientOf(forgetful))
})

test('a handler that is not asked for anything is not warned of', async () => {
  const { logger, at } = recorder()
  const client = await clientOf(one(async (ctx) => (await ctx.elicit('a', sure, 'A?')).action, { logger }))
  await asks(client)
  assert.deepEqual(at('warn'), [])
})

test('finally runs every round', async () => {
  let finals = 0
  const client = await clientOf(
    one(async (ctx) => {
      try {
        return (await ctx.elicit('a', sure, 'A?')).action
      } finally {
        finals++
      }
    }),
  )
  const { state } = await asks(client)
  assert.equal(finals, 1)
  await client.request('tools/call', { name: 't', ...retry(state, { a: yes }) })
  assert.equal(finals, 2)
})

test('after the suspension a step rejects without starting, and nothing is reported', async () => {
  let started = 0
  let rejected: unknown
  const client = await clientOf(
    one(async (ctx) => {
      const asking = ctx.elicit('a', sure, 'A?').catch(() => undefined)
      await ctx.step('late', () => started++).catch((error: unknown) => (rejected = error))
      ctx.progress(1)
      ctx.log('error', 'too late')
      await asking
      return 'done'
    }),
  )
  const response = await client.request(
    'tools/call',
    { name: 't' },
    { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'debug' },
  )
  assert.equal(response.result?.['resultType'], 'input_required')
  assert.equal(started, 0)
  assert.ok(rejected instanceof Error)
  assert.deepEqual(client.heard, [])
})

test('the same question under the same key twice is one question', async () => {
  const handler: Handler = async (ctx) => {
    const [a, b] = await Promise.all([ctx.elicit('a', sure, 'A?'), ctx.elicit('a', sure, 'A?')])
    return `${a.action} ${b.action}`
  }
  for (const revision of eras) {
    let asked = 0
    const client = await clientOf(one(handler), { revision, answer: () => (asked++, yes) })
    assert.equal(textOf(await client.request('tools/call', { name: 't' })), 'accept accept', revision)
    assert.equal(asked, 1, revision)
  }
})

test("two different questions under one key in one run are a programmer's error", async () => {
  const handler: Handler = async (ctx) => {
    await ctx.elicit('a', sure, 'A?')
    return (await ctx.elicit('a', sure, 'Another?')).action
  }
  for (const revision of eras) {
    const client = await clientOf(one(handler), { revision, answer: () => yes })
    const done = await client.request('tools/call', { name: 't' })
    assert.equal(done.result?.['isError'], true, revision)
    assert.match(textOf(done), /"a"/)
  }
})

test('another question under the key of an earlier round is asked anew', async () => {
  let wording = 'First?'
  const client = await clientOf(one(async (ctx) => (await ctx.elicit('a', sure, wording)).action))
  const { state } = await asks(client)
  wording = 'Second?'
  const again = await asks(client, retry(state, { a: yes }))
  assert.deepEqual(again.keys, ['a'])
  assert.equal(textOf(await client.request('tools/call', { name: 't', ...retry(again.state, { a: yes }) })), 'accept')
})

test('an answer of an earlier round is kept for the later ones', async () => {
  const client = await clientOf(
    one(async (ctx) => {
      const a = await ctx.elicit('a', named, 'A?')
      const b = await ctx.elicit('b', sure, 'B?')
      return `${a.action === 'accept' ? a.content.name : ''} ${b.action}`
    }),
  )
  const first = await asks(client)
  const second = await asks(client, retry(first.state, { a: { action: 'accept', content: { name: 'Ada' } } }))
  assert.deepEqual(second.keys, ['b'])
  assert.equal(
    textOf(await client.request('tools/call', { name: 't', ...retry(second.state, { b: yes }) })),
    'Ada accept',
  )
})

test('an answer to what was not asked in the round before is not taken', async () => {
  const client = await clientOf(
    one(async (ctx) => {
      await ctx.elicit('a', sure, 'A?')
      return (await ctx.elicit('b', sure, 'B?')).action
    }),
  )
  const first = await asks(client)
  const second = await asks(client, retry(first.state, { a: yes, b: yes }))
  assert.deepEqual(second.keys, ['b'])
})

test('an answer without a state ties to no question', async () => {
  const client = await clientOf(one(async (ctx) => (await ctx.elicit('a', sure, 'A?')).action))
  assert.deepEqual((await asks(client, { inputResponses: { a: yes } })).keys, ['a'])
})

const malformed: readonly (readonly [what: string, answer: object])[] = [
  ['no action', {}],
  ['an action that is none', { action: 'maybe' }],
  ['accepted without content', { action: 'accept' }],
  ['content of the wrong type', { action: 'accept', content: { sure: 'yes' } }],
  ['content that lacks a field', { action: 'accept', content: {} }],
  ['content that is a list', { action: 'accept', content: [true] }],
]
for (const [what, answer] of malformed) {
  test(`an answer with ${what} never passes for one`, async () => {
    const handler: Handler = async (ctx) => (await ctx.elicit('a', sure, 'A?')).action
    const rounds = await clientOf(one(handler))
    const { state } = await asks(rounds)
    assert.deepEqual((await asks(rounds, retry(state, { a: answer }))).keys, ['a'])
    const live = await clientOf(one(handler), { revision: '2025-11-25', answer: () => answer as never })
    assert.equal((await live.request('tools/call', { name: 't' })).result?.['isError'], true)
  })
}

test('a form of which nothing is required may be accepted without content', async () => {
  const optional = form({ type: 'object', properties: { note: { type: 'string' } } })
  for (const revision of eras) {
    const handler: Handler = async (ctx) => JSON.stringify(await ctx.elicit('a', optional, 'A?'))
    const client = await clientOf(one(handler), { revision, answer: () => ({ action: 'accept' }) })
    assert.equal(textOf(await client.request('tools/call', { name: 't' })), '{"action":"accept","content":{}}')
  }
})

test('content is taken with an accept only', async () => {
  for (const revision of eras) {
    const handler: Handler = async (ctx) => JSON.stringify(await ctx.elicit('a', sure, 'A?'))
    const client = await clientOf(one(handler), {
      revision,
      answer: () => ({ action: 'decline', content: { sure: true } }),
    })
    assert.equal(textOf(await client.request('tools/call', { name: 't' })), '{"action":"decline"}')
  }
})

test('one handler serves every revision that can ask, and says the same', async () => {
  const handler: Handler = async (ctx) => {
    const said = await ctx.elicit('a', sure, 'A?')
    const { content } = await ctx.sample('s', {
      messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
      maxTokens: 1,
    })
    const roots = await ctx.roots()
    return `${said.action} ${JSON.stringify(content)} ${roots.length}`
  }
  const answers: Record<string, object> = {
    'elicitation/create': yes,
    'sampling/createMessage': { role: 'assistant', content: { type: 'text', text: 'Ho' }, model: 'm' },
    'roots/list': { roots: [{ uri: 'file:///a' }] },
  }
  for (const revision of revisions.slice(2)) {
    const client = await clientOf(one(handler), { revision, answer: (method) => answers[method] as never })
    assert.equal(
      textOf(await client.request('tools/call', { name: 't' })),
      'accept {"type":"text","text":"Ho"} 1',
      revision,
    )
  }
})

test('prompts and resources ask as tools do', async () => {
  const server = serverOf({
    prompts: [prompt('p', {}, async (_, ctx) => (await ctx.elicit('a', sure, 'A?')).action)],
    resources: [resource('a://a', { name: 'a' }, async (_, ctx) => (await ctx.elicit('a', sure, 'A?')).action)],
  })
  for (const revision of eras) {
    const client = await clientOf(server, { revision, answer: () => yes })
    assert.match(JSON.stringify(await client.request('prompts/get', { name: 'p' })), /"accept"/)
    assert.match(JSON.stringify(await client.request('resources/read', { uri: 'a://a' })), /"accept"/)
  }
})

test('a multi-select form and a page are refused where the revision has none, never bent', async () => {
  const days = form({ type: 'object', properties: { d: { type: 'array', items: { type: 'string', enum: ['mo'] } } } })
  const server = serverOf({
    tools: [
      tool('days', {}, async (_, ctx) => (await ctx.elicit('d', days, 'D?')).action),
      tool('page', {}, async (_, ctx) => (await ctx.elicitUrl('p', 'https://a.example', 'P?')).action),
    ],
  })
  const old = await clientOf(server, { revision: '2025-06-18', answer: () => assert.fail('asked') })
  assert.equal((await old.request('tools/call', { name: 'days' })).error?.code, -32603)
  assert.equal((await old.request('tools/call', { name: 'page' })).error?.code, -32603)
  for (const revision of eras) {
    const client = await clientOf(server, { revision, answer: () => ({ action: 'accept', content: { d: ['mo'] } }) })
    assert.equal(textOf(await client.request('tools/call', { name: 'days' })), 'accept')
    assert.equal(textOf(await client.request('tools/call', { name: 'page' })), 'accept')
  }
})

test('a state is good for one caller, tool and arguments alone', async () => {
  const asking = async (_: unknown, ctx: Context): Promise<string> => (await ctx.elicit('a', sure, 'A?')).action
  const input = { type: 'object', properties: { n: { type: 'integer' } } } as const
  const server = serverOf({
    tools: [tool('t', { input }, asking), tool('twin', { input }, asking)],
    prompts: [prompt('t', {}, asking)],
  })
  const client = await clientOf(server, { principal: staff })
  const { state } = await asks(client, { arguments: { n: 1 } })
  const tried = async (who: TestClient, method: string, params: object): Promise<number | undefined> =>
    (await who.request(method, { ...params, ...retry(state, { a: yes }) })).error?.code
  const bob = await clientOf(server, { principal: { ...staff, id: 'bob' } })
  const nobody = await clientOf(server)
  assert.equal(await tried(client, 'tools/call', { name: 't', arguments: { n: 1 } }), undefined)
  assert.equal(await tried(client, 'tools/call', { name: 't', arguments: { n: 2 } }), -32602)
  assert.equal(await tried(client, 'tools/call', { name: 't' }), -32602)
  assert.equal(await tried(client, 'tools/call', { name: 'twin', arguments: { n: 1 } }), -32602)
  assert.equal(await tried(client, 'prompts/get', { name: 't' }), -32602)
  assert.equal(await tried(bob, 'tools/call', { name: 't', arguments: { n: 1 } }), -32602)
  assert.equal(await tried(nobody, 'tools/call', { name: 't', arguments: { n: 1 } }), -32602)
})

test('the order of members in the arguments does not matter to a state', async () => {
  const input = { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } } } as const
  const server = serverOf({
    tools: [tool('t', { input }, async (_, ctx) => (await ctx.elicit('a', sure, 'A?')).action)],
  })
  const client = await clientOf(server)
  const { state } = await asks(client, { arguments: { a: 1, b: 2 } })
  assert.equal(
    textOf(await client.request('tools/call', { name: 't', arguments: { b: 2, a: 1 }, ...retry(state, { a: yes }) })),
    'accept',
  )
})

test('a state past its time is refused with a text of its own', async () => {
  let now = 1_000_000
  const handler: Handler = async (ctx) => (await ctx.elicit('a', sure, 'A?')).action
  const server = one(handler, { clock: () => now, stateTtlMs: 1000, store: memoryStore({ clock: () => now }) })
  const client = await clientOf(server)
  const { state } = await asks(client)
  now += 999
  assert.equal(textOf(await client.request('tools/call', { name: 't', ...retry(state, { a: yes }) })), 'accept')
  now += 1
  const { error } = await client.request('tools/call', { name: 't', ...retry(state, { a: yes }) })
  assert.equal(error?.code, -32602)
  assert.match(error?.message ?? '', /expired/)
})

test('a state is opaque, altered nowhere, and any replica with the key goes on with it', async () => {
  const handler: Handler = async (ctx) => (await ctx.elicit('a', sure, 'A very telling question?')).action
  const client = await clientOf(one(handler))
  const { state } = await asks(client)
  for (const text of [state, Buffer.from(state, 'base64url').toString('latin1')])
    assert.doesNotMatch(text, /telling|elicit|accept/)
  for (let at = 0; at < state.length; at += 7) {
    const altered = state.slice(0, at) + (state[at] === 'A' ? 'B' : 'A') + state.slice(at + 1)
    assert.equal(
      (await client.request('tools/call', { name: 't', ...retry(altered, { a: yes }) })).error?.code,
      -32602,
      String(at),
    )
  }
  const replica = await clientOf(one(handler))
  assert.equal(textOf(await replica.request('tools/call', { name: 't', ...retry(state, { a: yes }) })), 'accept')
  const stranger = await clientOf(one(handler, { keys: [new Uint8Array(32).fill(5)] }))
  assert.equal((await stranger.request('tools/call', { name: 't', ...retry(state, { a: yes }) })).error?.code, -32602)
})

test('a long state is kept in the store, and the client holds a handle', async () => {
  const store = memoryStore()
  const handler: Handler = async (ctx) => {
    const text = await ctx.step('big', () => 'x'.repeat(100_000))
    const { action } = await ctx.elicit('a', sure, 'A?')
    return `${action} ${text.length}`
  }
  const client = await clientOf(one(handler, { store }))
  const { state } = await asks(client)
  assert.ok(state.length < 1000, String(state.length))
  assert.equal(textOf(await client.request('tools/call', { name: 't', ...retry(state, { a: yes }) })), 'accept 100000')
  const elsewhere = await clientOf(one(handler))
  assert.equal((await elsewhere.request('tools/call', { name: 't', ...retry(state, { a: yes }) })).error?.code, -32602)
})

test('the checks of a retry come in order: tool, features, state, arguments', async () => {
  const input = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const
  const server = serverOf({ tools: [tool('t', { input, needs: ['sampling'] }, () => 'ran')] })
  const bare = await clientOf(server, { capabilities: {} })
  const able = await clientOf(server)
  const wrong = { requestState: 'none', arguments: { n: 'x' } }
  assert.equal((await bare.request('tools/call', { name: 'absent', ...wrong })).error?.code, -32602)
  assert.equal((await bare.request('tools/call', { name: 't', ...wrong })).error?.code, -32021)
  assert.equal((await able.request('tools/call', { name: 't', ...wrong })).error?.code, -32602)
  assert.equal((await able.request('tools/call', { name: 't', arguments: { n: 'x' } })).result?.['isError'], true)
})

test('a handler may speak the raw protocol: its own state, answers as they came, on both kinds of revision', async () => {
  const server = serverOf({
    tools: [
      tool('raw', {}, (_, ctx) => {
        const state = ctx.state as { round: number } | undefined
        const round = state?.round ?? 0
        if (round === 2) return JSON.stringify(ctx.inputResponses)
        return inputRequired({
          inputRequests: { [`q${round}`]: { method: 'roots/list' } },
          state: { round: round + 1 },
        })
      }),
    ],
  })
  for (const revision of eras) {
    let asked = 0
    const client = await clientOf(server, { revision, answer: () => ({ roots: [], n: ++asked }) })
    assert.equal(textOf(await client.request('tools/call', { name: 'raw' })), '{"q1":{"roots":[],"n":2}}', revision)
    assert.equal(asked, 2)
  }
})

test('the raw protocol may keep a state without asking anything; a client that cannot be asked is refused', async () => {
  const server = serverOf({
    tools: [
      tool('later', {}, (_, ctx) => (ctx.state === undefined ? inputRequired({ state: 'seen' }) : String(ctx.state))),
      tool('roots', {}, () => inputRequired({ inputRequests: { r: { method: 'roots/list' } } })),
    ],
  })
  const client = await clientOf(server)
  const { keys, state } = await asks(client, {}, 'later')
  assert.deepEqual(keys, [])
  assert.equal(textOf(await client.request('tools/call', { name: 'later', requestState: state })), 'seen')
  for (const [revision, code] of [
    ['2025-11-25', -32603],
    ['2026-07-28', -32021],
  ] as const) {
    const bare = await clientOf(server, { revision, capabilities: {} })
    assert.equal((await bare.request('tools/call', { name: 'roots' })).error?.code, code)
  }
})

test('a raw handler that never has enough is stopped where it is asked live', async () => {
  let asked = 0
  const server = serverOf({
    tools: [tool('more', {}, () => inputRequired({ inputRequests: { r: { method: 'roots/list' } } }))],
  })
  const client = await clientOf(server, { revision: '2025-11-25', answer: () => (asked++, { roots: [] }) })
  assert.equal((await client.request('tools/call', { name: 'more' })).result?.['isError'], true)
  assert.equal(asked, 20)
})

test('a question that nobody can be asked is refused before anything is asked', async () => {
  const server = one(async (ctx) => (await ctx.elicit('a', sure, 'A?')).action)
  for (const [revision, code] of [
    ['2025-06-18', -32603],
    ['2025-11-25', -32603],
    ['2026-07-28', -32021],
  ] as const) {
    const client = await clientOf(server, { revision, capabilities: {} })
    const { error } = await client.request('tools/call', { name: 't' })
    assert.equal(error?.code, code)
    assert.ok(error?.data?.['requiredCapabilities'])
    assert.deepEqual(client.heard, [])
  }
})

test('ctx.can tells what this client can be asked', async () => {
  const server = one((ctx) =>
    JSON.stringify([ctx.can('elicitation.form'), ctx.can('elicitation.url'), ctx.can('sampling'), ctx.can('roots')]),
  )
  const said = async (revision: string, capabilities = {}): Promise<string> => {
    const client = await clientOf(server, { revision, capabilities })
    return textOf(await client.request('tools/call', { name: 't' }))
  }
  assert.equal(await said('2026-07-28'), '[false,false,false,false]')
  assert.equal(await said('2026-07-28', everything), '[true,true,true,true]')
  assert.equal(await said('2025-11-25', { elicitation: {} }), '[true,false,false,false]')
  assert.equal(await said('2025-06-18', everything), '[true,false,true,true]')
  assert.equal(await said('2024-11-05', everything), '[false,false,true,true]')
})

test('a handler that forgets to wait for a refused question does not take the process down', async () => {
  const server = one((ctx) => {
    void ctx.elicit('a', sure, 'A?')
    return 'went on'
  })
  const client = await clientOf(server, { capabilities: {} })
  const unhandled: unknown[] = []
  const listen = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', listen)
  try {
    assert.equal(textOf(await client.request('tools/call', { name: 't' })), 'went on')
    await settled()
    assert.deepEqual(unhandled, [])
  } finally {
    process.off('unhandledRejection', listen)
  }
})

test('a warning about a handler comes once for each that is registered, whatever its callers ask for', async () => {
  const { logger, at } = recorder()
  const swallow = async (ctx: Context): Promise<string> => {
    await ctx.elicit('a', sure, 'A?').catch(() => {})
    return 'x'
  }
  const complete = { id: async (_: string, __: object, ctx: Context) => [await swallow(ctx)] }
  const server = serverOf({
    logger,
    tools: [tool('t', {}, (_, ctx) => swallow(ctx))],
    resources: [template('a://{id}', { name: 'a', complete }, (_, ctx) => swallow(ctx))],
    prompts: [prompt('p', { arguments: { id: { complete: complete.id } } }, (_, ctx) => swallow(ctx))],
  })
  const client = await clientOf(server)
  const completed = { argument: { name: 'id', value: '' } }
  for (let n = 0; n < 5; n++) {
    await client.request('resources/read', { uri: `a://${n}` })
    await client.request('tools/call', { name: 't' })
    await client.request('prompts/get', { name: 'p' })
    await client.request('completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, ...completed })
    await client.request('completion/complete', { ref: { type: 'ref/resource', uri: 'a://{id}' }, ...completed })
  }
  const told = at('warn').filter(({ message }) => message.startsWith('a handler went on'))
  assert.deepEqual(
    told.map(({ fields }) => (fields as { name: string }).name),
    ['a://{id}', 't', 'p'],
  )
})
