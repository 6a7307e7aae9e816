// What a handler returns or throws, and what becomes of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { z } from 'zod'
import { prompt, Refusal, resource, result, tool, ToolError, UrlElicitationRequired } from '../../src/index.ts'
import type { ToolValue } from '../../src/index.ts'
import { clientOf, eras, everything, recorder, revisions, serverOf, textOf } from './support.ts'

const sum = z.object({ sum: z.int() })

async function called(made: ToolValue, options: object = {}, revision = '2026-07-28', args?: object) {
  const { logger, at } = recorder()
  const client = await clientOf(serverOf({ tools: [made], logger, ...options }), { revision })
  const response = await client.request('tools/call', { name: made.name, ...(args && { arguments: args }) } as never)
  return { ...response, logged: at('error') }
}

test('with an output schema the value is the structured content, checked and as the schema leaves it', async () => {
  const trimmed = tool('t', { output: z.object({ word: z.string().trim(), n: z.int().default(7) }) }, () => ({
    word: ' x ',
  }))
  const { result: got } = await called(trimmed)
  assert.deepEqual(got?.['structuredContent'], { word: 'x', n: 7 })
  assert.deepEqual(got?.['content'], [{ type: 'text', text: '{"word":"x","n":7}' }])
})

test('an output that does not fit its schema is refused, told to the log and not to the client', async () => {
  for (const revision of revisions) {
    const { error, logged } = await called(
      tool('t', { output: sum }, () => ({ sum: 'secret value' }) as never),
      {},
      revision,
    )
    assert.equal(error?.code, -32603, revision)
    assert.doesNotMatch(error?.message ?? '', /secret|sum/)
    assert.match(String((logged[0]?.fields as { error: Error }).error), /sum/)
  }
})

test('a result(...) is checked as well, unless it says that it is an error', async () => {
  assert.equal(
    (await called(tool('t', { output: sum }, () => result({ structuredContent: { sum: 'x' } })))).error?.code,
    -32603,
  )
  assert.equal((await called(tool('t', { output: sum }, () => result({ content: [] })))).error?.code, -32603)
  const failed = await called(
    tool('t', { output: sum }, () => result({ content: [{ type: 'text', text: 'no' }], isError: true })),
  )
  assert.equal(failed.result?.['isError'], true)
})

test('what is no object is structured content from the newest revision on; before, its text', async () => {
  const four = tool('t', { output: { type: 'integer' } }, () => 4)
  for (const revision of revisions) {
    const { result: got } = await called(four, {}, revision)
    assert.deepEqual(got?.['structuredContent'], revision === '2026-07-28' ? 4 : undefined, revision)
    assert.deepEqual(got?.['content'], [{ type: 'text', text: '4' }])
  }
})

test('words of its own stand beside structured content; the copy is added only where it is all there is', async () => {
  const both = tool('t', {}, () => result({ content: [{ type: 'text', text: 'one' }], structuredContent: { n: 1 } }))
  assert.deepEqual((await called(both)).result?.['content'], [{ type: 'text', text: 'one' }])
  assert.deepEqual((await called(both, {}, '2025-03-26')).result?.['content'], [
    { type: 'text', text: 'one' },
    { type: 'text', text: '{"n":1}' },
  ])
})

test('without an output schema: text, blocks, one block, nothing', async () => {
  const content = async (value: unknown): Promise<unknown> =>
    (await called(tool('t', {}, () => value as string))).result?.['content']
  assert.deepEqual(await content('x'), [{ type: 'text', text: 'x' }])
  assert.deepEqual(await content(''), [{ type: 'text', text: '' }])
  assert.deepEqual(await content({ type: 'text', text: 'y' }), [{ type: 'text', text: 'y' }])
  assert.deepEqual(await content([{ type: 'text', text: 'y' }]), [{ type: 'text', text: 'y' }])
  assert.deepEqual(await content([]), [])
  assert.deepEqual(await content(undefined), [])
})

test("nothing is guessed from an object's looks", async () => {
  for (const value of [
    { sum: 1 },
    { content: [{ type: 'text', text: 'x' }] },
    { structuredContent: {} },
    5,
    true,
    null,
    [1],
  ]) {
    assert.equal((await called(tool('t', {}, () => value as never))).error?.code, -32603, JSON.stringify(value))
  }
})

for (const [what, odd] of [
  ['a knot', knot()],
  ['a bigint', { n: 1n }],
  [
    'toJSON that throws',
    {
      toJSON: () => {
        throw new Error('no')
      },
    },
  ],
] as const) {
  test(`${what} is answered as what cannot be sent, on every revision`, async () => {
    for (const revision of revisions) {
      const { error } = await called(
        tool('t', {}, () => result({ structuredContent: odd as never })),
        {},
        revision,
      )
      assert.equal(error?.code, -32603, revision)
    }
  })
}

function knot(): object {
  const tied: Record<string, unknown> = {}
  tied['self'] = tied
  return tied
}

test('ToolError is a no, in its own words, and nothing for the log', async () => {
  const { result: got, logged } = await called(
    tool('t', {}, () => Promise.reject(new ToolError('the shop is closed'))),
    { maskErrors: true },
  )
  assert.deepEqual(got?.['content'], [{ type: 'text', text: 'the shop is closed' }])
  assert.equal(got?.['isError'], true)
  assert.deepEqual(logged, [])
})

test('a ToolError of another copy of the package is one too', async () => {
  class Foreign extends Error {
    override readonly name = 'ToolError'
  }
  const { result: got } = await called(
    tool('t', {}, () => Promise.reject(new Foreign('closed'))),
    { maskErrors: true },
  )
  assert.deepEqual(got?.['content'], [{ type: 'text', text: 'closed' }])
})

for (const [what, thrown, said] of [
  ['an error', new Error('widget 7 is broken'), 'widget 7 is broken'],
  ['a text', 'just words', 'just words'],
  ['an object', { message: 'x' }, 'Something was thrown that is no error'],
  ['nothing', undefined, 'Something was thrown that is no error'],
  ['null', null, 'Something was thrown that is no error'],
] as const) {
  test(`${what} that is thrown is a result with its message and no stack; maskErrors keeps even that`, async () => {
    const thrower = tool('t', {}, () => {
      throw thrown
    })
    const open = await called(thrower)
    assert.equal(open.result?.['isError'], true)
    assert.equal(textOf(open), said)
    assert.doesNotMatch(JSON.stringify(open.result), /at .*:\d+/)
    const masked = await called(thrower, { maskErrors: true })
    assert.equal(textOf(masked), 'The tool failed')
    assert.equal(masked.logged.length, 1)
  })
}

test('maskErrors masks readers and getters as well', async () => {
  const server = (maskErrors: boolean) =>
    serverOf({
      maskErrors,
      resources: [resource('a://a', { name: 'a' }, () => Promise.reject(new Error('disk 3 burned')))],
      prompts: [prompt('p', {}, () => Promise.reject(new Error('disk 3 burned')))],
    })
  for (const [method, params] of [
    ['resources/read', { uri: 'a://a' }],
    ['prompts/get', { name: 'p' }],
  ] as const) {
    for (const revision of eras) {
      const open = await (await clientOf(server(false), { revision })).request(method, params)
      assert.deepEqual([open.error?.code, open.error?.message], [-32603, 'disk 3 burned'])
      const masked = await (await clientOf(server(true), { revision })).request(method, params)
      assert.deepEqual([masked.error?.code, masked.error?.message], [-32603, 'The request failed.'])
    }
  }
})

test('a reader or getter that returns nothing is a failure, not an empty answer', async () => {
  const server = serverOf({
    resources: [resource('a://a', { name: 'a' }, () => undefined as never), resource('a://b', { name: 'b' }, () => [])],
    prompts: [prompt('p', {}, () => undefined as never)],
  })
  const client = await clientOf(server)
  assert.equal((await client.request('resources/read', { uri: 'a://a' })).error?.code, -32603)
  assert.equal((await client.request('resources/read', { uri: 'a://b' })).error?.code, -32603)
  assert.equal((await client.request('prompts/get', { name: 'p' })).error?.code, -32603)
})

test('a Refusal thrown by a handler is that refusal', async () => {
  const { error } = await called(tool('t', {}, () => Promise.reject(new Refusal('RateLimited', { retryAfter: 3 }))))
  assert.equal(error?.code, -32600)
})

const pay = tool('pay', {}, () => {
  throw new UrlElicitationRequired([{ elicitationId: 'e1', url: 'https://pay.example/1', message: 'Please pay' }])
})

test('a page that has to be visited: a result before 2025-11-25, an error on it, a question after', async () => {
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18']) {
    const { result: got } = await called(pay, {}, revision)
    assert.equal(got?.['isError'], true, revision)
    assert.match(JSON.stringify(got?.['content']), /https:\/\/pay\.example\/1/)
  }
  const { error } = await called(pay, {}, '2025-11-25')
  assert.equal(error?.code, -32042)
  assert.deepEqual(error?.data, {
    elicitations: [{ mode: 'url', elicitationId: 'e1', url: 'https://pay.example/1', message: 'Please pay' }],
  })
  const { result: asks } = await called(pay)
  assert.deepEqual(asks?.['inputRequests'], {
    e1: { method: 'elicitation/create', params: { mode: 'url', url: 'https://pay.example/1', message: 'Please pay' } },
  })
})

test('once the user was there, the handler runs again', async () => {
  let paid = false
  const server = serverOf({
    tools: [
      tool('pay', {}, () => {
        if (paid) return 'thanks'
        throw new UrlElicitationRequired([{ elicitationId: 'e1', url: 'https://pay.example/1', message: 'Please pay' }])
      }),
    ],
  })
  const client = await clientOf(server, { answer: () => ((paid = true), { action: 'accept' }) })
  assert.equal(textOf(await client.request('tools/call', { name: 'pay' })), 'thanks')
})

test('arguments are what the schema makes of them', async () => {
  const schemas = [
    tool('t', { input: z.object({ n: z.int().default(3) }) }, ({ n }) => String(n)),
    tool('t', { input: { type: 'object', properties: { n: { type: 'integer' } } } }, (args) => JSON.stringify(args)),
  ]
  assert.equal(textOf(await called(schemas[0] as ToolValue)), '3')
  assert.equal(textOf(await called(schemas[1] as ToolValue, {}, '2026-07-28', { n: 4 })), '{"n":4}')
})

test('a schema of a library without a JSON side needs one by hand, and is checked by its own rules', async () => {
  const input = v.object({ n: v.pipe(v.number(), v.maxValue(3)) })
  assert.throws(() => serverOf({ tools: [tool('t', { input }, () => '')] }), /tool "t".*valibot/s)
  const byHand = tool(
    't',
    { input, schema: { input: { type: 'object', properties: { n: { type: 'number' } } } } },
    ({ n }) => String(n),
  )
  assert.equal(textOf(await called(byHand, {}, '2026-07-28', { n: 3 })), '3')
  const { result: refused } = await called(byHand, {}, '2026-07-28', { n: 4 })
  assert.equal(refused?.['isError'], true)
})

test('a handler that is called with arguments of the wrong shape never runs', async () => {
  let runs = 0
  const { result: got } = await called(
    tool('t', { input: sum }, () => String(++runs)),
    {},
    '2026-07-28',
    { sum: 'x' },
  )
  assert.equal(got?.['isError'], true)
  assert.equal(runs, 0)
})

test('what is deprecated warns once, whoever uses it and however often', async () => {
  const { logger, at } = recorder()
  const server = serverOf({
    logger,
    tools: [
      tool('log', {}, (_, ctx) => {
        ctx.log('info', 'x')
        ctx.log('info', 'y')
        return 'done'
      }),
      tool('sample', {}, async (_, ctx) => {
        await ctx.sample('s', { messages: [], maxTokens: 1, includeContext: 'thisServer' })
        return 'done'
      }),
      tool('roots', {}, async (_, ctx) => String((await ctx.roots()).length)),
    ],
  })
  const answer = (method: string): never =>
    (method === 'roots/list'
      ? { roots: [] }
      : { role: 'assistant', model: 'm', content: { type: 'text', text: '' } }) as never
  for (let times = 0; times < 2; times++) {
    for (const revision of eras) {
      const client = await clientOf(server, { revision, capabilities: everything, answer })
      for (const name of ['log', 'sample', 'roots']) await client.request('tools/call', { name })
    }
  }
  const features = at('warn').map(({ fields }) => (fields as { feature: string }).feature)
  assert.deepEqual(features.sort(), ['includeContext', 'logging', 'roots', 'sampling'])
})

test('progress only grows, whatever a handler reports', async () => {
  const server = serverOf({
    tools: [
      tool('t', {}, (_, ctx) => {
        for (const value of [0, 1, 1, 0.5, NaN, 2, -1, Infinity, 3]) ctx.progress(value)
        return 'done'
      }),
    ],
  })
  const client = await clientOf(server)
  await client.request('tools/call', { name: 't' }, { progressToken: 'p' })
  assert.deepEqual(
    client.heard.map(({ params }) => params?.['progress']),
    [0, 1, 2, 3],
  )
})
