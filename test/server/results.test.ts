// What a handler returns or throws, and what becomes of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { z } from 'zod'
import {
  inputRequired,
  method,
  prompt,
  Refusal,
  resource,
  result,
  template,
  tool,
  ToolError,
  UrlElicitationRequired,
} from '../../src/index.ts'
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

test('what cannot be sent is told to the log with the name of its tool, whatever is wrong with it', async () => {
  const wrong: readonly (readonly [ToolValue, RegExp])[] = [
    [tool('shapeless', {}, () => ({ content: [{ type: 'text', text: 'x' }] }) as never), /neither text nor/],
    [tool('misfit', { output: sum }, () => ({ sum: 'x' }) as never), /does not fit its schema/],
    [tool('mute', {}, () => result({ content: [], structuredContent: Symbol('s') as never })), /no text in JSON/],
    [tool('huge', {}, () => result({ content: [], structuredContent: 1n as never })), /is not JSON/],
  ]
  for (const [made, says] of wrong) {
    const { error, logged } = await called(made)
    assert.equal(error?.message, 'The result cannot be sent.', made.name)
    assert.equal(logged.length, 1, made.name)
    const told = logged[0]?.fields as { kind: string; error: Error & { tool: string } }
    assert.equal(told.kind, 'Unserializable')
    assert.match(told.error.message, says)
    assert.equal(told.error.tool, made.name)
    assert.doesNotMatch(told.error.message, new RegExp(made.name))
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

test('content that something else would be written of, or that has gaps, is none', async () => {
  const block = { type: 'text', text: 'x' }
  const gap: unknown[] = []
  gap[1] = block
  const odd = {
    gap,
    'a block': { ...block, toJSON: () => 5 },
    'a block of several': [{ ...block, toJSON: () => ({ type: 'text' }) }],
    'a list': Object.assign([block], { toJSON: () => 'no list' }),
  }
  for (const [name, value] of Object.entries(odd))
    assert.equal((await called(tool('t', {}, () => value as never))).error?.code, -32603, name)
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

test('a result that is something else once it is JSON is not sent', async () => {
  for (const revision of revisions) {
    for (const toJSON of [() => undefined, () => 'text', () => [1], () => null]) {
      const odd = result(Object.assign({ content: [] }, { toJSON }))
      assert.equal(
        (
          await called(
            tool('t', {}, () => odd),
            {},
            revision,
          )
        ).error?.code,
        -32603,
        revision,
      )
    }
    const lost = result({ structuredContent: { toJSON: () => undefined } as never })
    assert.equal(
      (
        await called(
          tool('t', {}, () => lost),
          {},
          revision,
        )
      ).error?.code,
      -32603,
      revision,
    )
    const server = serverOf({ methods: [method('x/odd', {}, () => ({ toJSON: () => undefined }) as never)] })
    assert.equal((await (await clientOf(server, { revision })).request('x/odd')).error?.code, -32603, revision)
  }
})

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

test('a ToolError of a reader, a getter or a completer keeps its words too, and is nothing for the log', async () => {
  const no = () => Promise.reject(new ToolError('not on sundays'))
  const { logger, at } = recorder()
  const server = serverOf({
    logger,
    maskErrors: true,
    resources: [resource('a://a', { name: 'a' }, no)],
    prompts: [prompt('p', { arguments: { a: { complete: no } } }, no)],
  })
  for (const revision of eras) {
    const client = await clientOf(server, { revision })
    for (const [method, params] of [
      ['resources/read', { uri: 'a://a' }],
      ['prompts/get', { name: 'p' }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }],
    ] as const) {
      const { error } = await client.request(method, params)
      assert.deepEqual([error?.code, error?.message], [-32603, 'not on sundays'])
    }
  }
  assert.deepEqual(at('error'), [])
})

const text = { type: 'text', text: 'x' }
const odd = [undefined, null, 5, true, {}, [5], [null], [undefined], [{}], { text: 5 }]
const unread = [...odd, [], { uri: 'a://a' }, { uri: 'a://a', blob: new Uint8Array(1) }, { text: 'x' }]
const unsaid = [
  ...odd,
  { messages: 'x' },
  { messages: [5] },
  { description: 5, messages: [] },
  [{ role: 'user' }],
  [{ role: 'system', content: text }],
  [{ role: 'user', content: 'x' }],
  [{ role: 'user', content: [text] }],
  [{ role: 'user', content: { type: 'text' } }],
]
const uncompleted = ['x', ...odd, { values: ['x'] }]

for (const [what, method, params, wrong] of [
  ['a reader', 'resources/read', { uri: 'a://a' }, unread],
  ['a reader of a template', 'resources/read', { uri: 'b://b' }, unread],
  ['a getter', 'prompts/get', { name: 'p' }, unsaid],
  [
    'a completer',
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } },
    uncompleted,
  ],
] as const) {
  test(`${what} that returns nothing, or no such thing, has failed: in fixed words, and the log knows why`, async () => {
    for (const value of wrong) {
      const { logger, at } = recorder()
      const give = () => value as never
      const server = serverOf({
        logger,
        resources: [resource('a://a', { name: 'a' }, give), template('b://{id}', { name: 'b' }, give)],
        prompts: [prompt('p', { arguments: { a: { complete: give } } }, give)],
      })
      for (const [refusals, code] of [
        ['spec', -32603],
        ['application', -32004],
      ] as const) {
        const client = await clientOf(server, { revision: '2025-11-25', refusals })
        const { error } = await client.request(method, params)
        assert.deepEqual([error?.code, error?.message], [code, 'The request failed.'], JSON.stringify(value))
      }
      const { error } = at('error')[0]?.fields as { error: Error }
      assert.match(error.message, /returned/)
    }
  })
}

for (const [what, block] of [
  ['text without its text', { type: 'text' }],
  ['text that is none', { type: 'text', text: 5 }],
  ['a picture without data', { type: 'image', mimeType: 'image/png' }],
  ['a sound without a type', { type: 'audio', data: '' }],
  ['a link without a name', { type: 'resource_link', uri: 'a://a' }],
  ['a link without a URI', { type: 'resource_link', name: 'a' }],
  ['a resource without contents', { type: 'resource' }],
  ['a resource with contents that are none', { type: 'resource', resource: { uri: 'a://a' } }],
  ['a type that is none', { type: 5 }],
] as const) {
  test(`a block is not sent as half of one: ${what}`, async () => {
    const whole = [block, [text, block], result({ content: [block as never] }), result({ content: block as never })]
    for (const returned of whole) {
      const { error, logged } = await called(tool('t', {}, () => returned as never))
      assert.deepEqual([error?.code, error?.message], [-32603, 'The result cannot be sent.'])
      assert.equal(logged.length, 1)
    }
  })
}

test('blocks of every kind, and of one that is not known yet, are sent', async () => {
  const contents = { uri: 'a://a', text: 'x' }
  const blocks = [
    text,
    { type: 'image', data: '', mimeType: 'image/png' },
    { type: 'audio', data: '', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'a://a', name: 'a' },
    { type: 'resource', resource: contents },
    { type: 'resource', resource: { uri: 'a://a', blob: '' } },
    { type: 'hologram' },
  ]
  assert.deepEqual((await called(tool('t', {}, () => blocks as never))).result?.['content'], blocks)
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

test('what is sampled with needs its own declaration: context, tools, and the choice among them', async () => {
  const ask = { messages: [], maxTokens: 1 }
  const cases = [
    [{ ...ask, includeContext: 'thisServer' }, { context: {} }],
    [{ ...ask, toolChoice: { mode: 'none' } }, { tools: {} }],
    [
      { ...ask, tools: [], includeContext: 'allServers' },
      { tools: {}, context: {} },
    ],
  ] as const
  for (const revision of eras) {
    for (const [params, needed] of cases) {
      const server = serverOf({
        tools: [
          tool('ctx', {}, async (_, ctx) => (await ctx.sample('s', params)).model),
          tool('raw', {}, () => inputRequired({ inputRequests: { s: { method: 'sampling/createMessage', params } } })),
        ],
      })
      for (const name of ['ctx', 'raw']) {
        const client = await clientOf(server, { revision, capabilities: { sampling: {} } })
        const { error } = await client.request('tools/call', { name })
        assert.deepEqual(error?.data, { requiredCapabilities: { sampling: needed } }, `${revision} ${name}`)
        assert.deepEqual(
          client.heard.filter(({ id }) => id !== undefined),
          [],
        )
      }
    }
  }
})

test('context and no tools are nothing that must be declared', async () => {
  const answer = () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: '' } })
  const sample = (includeContext: 'none' | 'thisServer') =>
    tool('t', {}, async (_, ctx) => (await ctx.sample('s', { messages: [], maxTokens: 1, includeContext })).model)
  for (const [revision, includeContext] of [
    ['2026-07-28', 'none'],
    ['2025-11-25', 'none'],
    ['2025-06-18', 'thisServer'],
  ] as const) {
    const client = await clientOf(serverOf({ tools: [sample(includeContext)] }), {
      revision,
      capabilities: { sampling: {} },
      answer,
    })
    assert.equal(textOf(await client.request('tools/call', { name: 't' })), 'm', revision)
  }
})

test('an output schema by hand is listed and checked without another', async () => {
  const output = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const
  const byHand = (n: unknown) => tool('t', { schema: { output } }, () => result({ structuredContent: { n } as never }))
  const client = await clientOf(serverOf({ tools: [byHand(1)] }))
  const [listed] = (await client.request('tools/list')).result?.['tools'] as { outputSchema: object }[]
  assert.deepEqual({ ...listed?.outputSchema, $schema: 0 }, { ...output, $schema: 0 })
  assert.deepEqual((await called(byHand(1))).result?.['structuredContent'], { n: 1 })
  assert.equal((await called(byHand('x'))).error?.code, -32603)
  assert.equal((await called(tool('t', { schema: { output } }, () => 'x'))).error?.code, -32603)
  assert.throws(() => serverOf({ tools: [tool('t', { schema: { output: { type: 'odd' } } }, () => '')] }), /tool "t"/)
})
