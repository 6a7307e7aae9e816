import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prompt, resource, template, tool } from '../../src/index.ts'
import { connectInMemory, fetchHandler } from '../../src/index.ts'
import { serveSocket } from '../../src/socket.ts'
import { clientOf, everything, recorder, revisions, serverOf, settled, staff, sure, textOf } from './support.ts'
import type { Server, ToolValue } from '../../src/index.ts'
import { quoted } from '../../src/server/visibility.ts'

const secret = { scopes: ['staff'] }

function shop(): Server {
  return serverOf({
    tools: [
      tool('open', {}, () => 'open'),
      tool(
        'hidden',
        {
          ...secret,
          input: { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } }, required: ['a'] },
        },
        () => 'seen',
      ),
      tool('needy', { ...secret, needs: ['sampling'] }, () => 'seen'),
      tool('both', { scopes: ['staff', 'night'] }, () => 'seen'),
    ],
    resources: [
      resource('memo://open', { name: 'open' }, () => 'open'),
      resource('memo://hidden', { name: 'hidden', ...secret }, () => 'the hidden one'),
      resource('note://hidden', { name: 'note', ...secret }, () => 'the hidden one'),
      template('note://{id}', { name: 'note' }, ({ id }) => `note ${String(id)}`),
      template('staff://{id}', { name: 'staff', ...secret, complete: { id: () => ['one'] } }, () => 'seen'),
    ],
    prompts: [
      prompt('open', { arguments: { a: { complete: () => ['x'] } } }, () => 'open'),
      prompt('hidden', { ...secret, arguments: { a: { required: true, complete: () => ['x'] } } }, () => 'seen'),
    ],
  })
}

/** The bytes of the answer to one request, on a connection of its own. */
async function bytes(server: Server, revision: string, method: string, params: object): Promise<string> {
  const modern = revision === '2026-07-28'
  const link = connectInMemory(server, { graceMs: 0 })
  const heard: string[] = []
  link.onMessage((text) => heard.push(text))
  const about = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  if (!modern)
    link.send({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'c', version: '1' } },
    })
  link.send({ jsonrpc: '2.0', id: 1, method, params: { ...params, ...(modern && { _meta: about }) } })
  await settled()
  await link.close()
  const last = heard.at(-1)
  assert.ok(last, 'answered')
  return last
}

/** Each pair: a request for what is hidden, and the same for what does not exist. */
const pairs: readonly (readonly [what: string, method: string, hidden: object, absent: object])[] = [
  ['a tool', 'tools/call', { name: 'hidden' }, { name: 'absent' }],
  [
    'a tool with good arguments',
    'tools/call',
    { name: 'hidden', arguments: { a: 'x' } },
    { name: 'absent', arguments: { a: 'x' } },
  ],
  ['a tool with a feature that is missing', 'tools/call', { name: 'needy' }, { name: 'absent' }],
  [
    'a tool with a state that is none',
    'tools/call',
    { name: 'hidden', requestState: 'x' },
    { name: 'absent', requestState: 'x' },
  ],
  ['a prompt', 'prompts/get', { name: 'hidden' }, { name: 'absent' }],
  [
    'a prompt with its argument',
    'prompts/get',
    { name: 'hidden', arguments: { a: 'x' } },
    { name: 'absent', arguments: { a: 'x' } },
  ],
  [
    'the completion of a prompt',
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'hidden' }, argument: { name: 'a', value: '' } },
    { ref: { type: 'ref/prompt', name: 'absent' }, argument: { name: 'a', value: '' } },
  ],
  [
    'the completion of a template',
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'staff://{id}' }, argument: { name: 'id', value: '' } },
    { ref: { type: 'ref/resource', uri: 'other://{id}' }, argument: { name: 'id', value: '' } },
  ],
]
for (const revision of revisions) {
  for (const [what, method, hidden, absent] of pairs) {
    test(`${revision}: ${what} that is hidden answers as one that is absent, byte for byte`, async () => {
      const [one, other] = [
        await bytes(shop(), revision, method, hidden),
        await bytes(shop(), revision, method, absent),
      ]
      assert.equal(one, other)
      assert.ok(JSON.parse(one).error, one)
    })
  }

  test(`${revision}: a resource that is hidden answers as one that is absent, but for its own URI`, async () => {
    for (const [hidden, absent] of [
      ['memo://hidden', 'memo://absent'],
      ['staff://hidden', 'staffy://absent'],
    ] as const) {
      for (const method of revision === '2026-07-28' ? ['resources/read'] : ['resources/read', 'resources/subscribe']) {
        const [one, other] = [
          await bytes(shop(), revision, method, { uri: hidden }),
          await bytes(shop(), revision, method, { uri: absent }),
        ]
        assert.ok(JSON.parse(one).error, one)
        assert.equal(one.replace(hidden, '…'), other.replace(absent, '…'))
      }
    }
  })
}

test('a hidden resource falls through to a template that is visible; whoever sees it gets it', async () => {
  const read = async (options: object): Promise<unknown> => {
    const client = await clientOf(shop(), options)
    const { result } = await client.request('resources/read', { uri: 'note://hidden' })
    return (result?.['contents'] as { text: string }[])[0]?.text
  }
  assert.equal(await read({}), 'note hidden')
  assert.equal(await read({ principal: staff }), 'the hidden one')
})

test('every scope is needed, and held ones let in', async () => {
  const call = async (name: string, scopes: string[]): Promise<number | string | undefined> => {
    const client = await clientOf(shop(), { principal: { id: 'p', scopes: new Set(scopes) } })
    const response = await client.request('tools/call', { name, arguments: name === 'hidden' ? { a: 'x' } : {} })
    return response.error?.code ?? textOf(response)
  }
  assert.equal(await call('hidden', ['staff']), 'seen')
  assert.equal(await call('both', ['staff']), -32602)
  assert.equal(await call('both', ['night']), -32602)
  assert.equal(await call('both', ['staff', 'night', 'more']), 'seen')
  assert.equal(await call('hidden', []), -32602)
})

test('lists show what the caller sees, and no page tells that there is more', async () => {
  const list = async (options: object): Promise<string[]> => {
    const client = await clientOf(shop(), options)
    const { result } = await client.request('tools/list')
    assert.equal(result?.['nextCursor'], undefined)
    return (result?.['tools'] as { name: string }[]).map(({ name }) => name)
  }
  assert.deepEqual(await list({}), ['open'])
  assert.deepEqual(await list({ principal: { id: 'x', scopes: new Set<string>() } }), ['open'])
  assert.deepEqual(await list({ principal: staff }), ['open', 'hidden', 'needy'])
})

test('features decide who can call, not who sees', async () => {
  const client = await clientOf(shop(), { principal: staff, capabilities: {} })
  const { result } = await client.request('tools/list')
  assert.ok((result?.['tools'] as { name: string }[]).some(({ name }) => name === 'needy'))
  const { error } = await client.request('tools/call', { name: 'needy' })
  assert.equal(error?.code, -32021)
  assert.deepEqual(error?.data, { requiredCapabilities: { sampling: {} } })
  const able = await clientOf(shop(), { principal: staff, capabilities: everything })
  assert.equal(textOf(await able.request('tools/call', { name: 'needy' })), 'seen')
})

test('the header plan of a hidden tool is that of an absent one', () => {
  const server = shop()
  assert.equal(server.headerPlan('hidden', undefined), undefined)
  assert.equal(server.headerPlan('absent', undefined), undefined)
  assert.equal(server.headerPlan('hidden', staff)?.params.length, 1)
})

test("the server's own log tells hidden from absent and nothing of what was found, and the caller's text only escaped and cut", async () => {
  const { logger, at } = recorder()
  const server = serverOf({ logger, tools: [tool('hidden', secret, () => 'seen'), tool('open', {}, () => 'seen')] })
  const client = await clientOf(server)
  await client.request('tools/call', { name: 'hidden' })
  await client.request('tools/call', { name: `no\nsuch${'x'.repeat(1000)}` })
  assert.equal(textOf(await client.request('tools/call', { name: 'open' })), 'seen')
  const told = at('debug').filter(({ message }) => message === 'hidden from the caller' || message === 'not registered')
  assert.deepEqual(
    told.map(({ message }) => message),
    ['hidden from the caller', 'not registered'],
  )
  const { name } = told[1]?.fields as { name: string }
  assert.ok(name.length < 80 && !name.includes('\n'), name)
})

/** What the log says of lookups that failed, after `ask`. */
async function lookups(ask: (server: Server) => Promise<unknown>): Promise<unknown[]> {
  const { logger, at } = recorder()
  await ask(serverOf({ ...books, logger }))
  return at('debug')
    .filter(({ message }) => message === 'hidden from the caller' || message === 'not registered')
    .map(({ message, fields }) => [message, (fields as { name: string }).name])
}

const books = {
  tools: [tool('open', {}, () => 'seen'), tool('hidden', secret, () => 'seen')],
  resources: [
    resource('memo://hidden', { name: 'h', ...secret }, () => 'seen'),
    resource('note://hidden', { name: 'n', ...secret }, () => 'seen'),
    template('note://{id}', { name: 'note' }, () => 'seen'),
    template('staff://{id}', { name: 'staff', ...secret }, () => 'seen'),
  ],
}

test('the log tells what was not found once, after everything was tried, and nothing of what was found', async () => {
  const asked = (method: string, uri: string) =>
    lookups(async (server) => (await clientOf(server, { revision: '2025-11-25' })).request(method, { uri }))
  for (const method of ['resources/read', 'resources/subscribe']) {
    assert.deepEqual(await asked(method, 'note://1'), [], 'read by a template')
    assert.deepEqual(await asked(method, 'note://hidden'), [], 'a visible template has it')
    assert.deepEqual(await asked(method, 'memo://hidden'), [['hidden from the caller', 'memo://hidden']])
    assert.deepEqual(await asked(method, 'staff://1'), [['hidden from the caller', 'staff://1']])
    assert.deepEqual(await asked(method, 'memo://absent'), [['not registered', 'memo://absent']])
  }
})

test('a hidden tool is told of once where its headers are looked for before', async () => {
  const told = await lookups(async (server) => {
    server.headerPlan('hidden', undefined)
    await (await clientOf(server)).request('tools/call', { name: 'hidden' })
  })
  assert.deepEqual(told, [['hidden from the caller', 'hidden']])
})

test('a change of what somebody cannot see is no lookup of theirs', async () => {
  const told = await lookups(async (server) => {
    const client = await clientOf(server)
    void client.request('subscriptions/listen', { notifications: { resourceSubscriptions: ['memo://hidden'] } })
    await settled()
    server.updated('memo://hidden')
    await client.close()
  })
  assert.deepEqual(told, [])
})

test('a URI that a handler fails on stands in the log escaped and cut', async () => {
  const { logger, lines } = recorder()
  const server = serverOf({
    logger,
    resources: [
      template('odd://{+rest}', { name: 'odd' }, async (_, ctx) => {
        await ctx.elicit('a', sure, 'A?').catch(() => {})
        if (!ctx.can('elicitation.form')) throw new Error('broken')
        return 'x'
      }),
    ],
  })
  for (const capabilities of [{}, everything]) {
    const client = await clientOf(server, { capabilities })
    await client.request('resources/read', { uri: `odd://${'x'.repeat(5000)}` })
  }
  assert.ok(lines.some(({ message }) => message === 'a handler threw'))
  assert.ok(lines.some(({ message }) => message.startsWith('a handler went on')))
  for (const { fields } of lines) assert.doesNotMatch(JSON.stringify(fields ?? {}), /x{100}/)
})

test('a text in a log line is whole up to 64 characters, and cut after them', () => {
  for (const plain of ['tools/call', 'note://a.b/c@1', 'test client', 'X_y-0', 'x'.repeat(64)]) {
    assert.equal(quoted(plain), plain)
  }
  assert.equal(quoted('x'.repeat(65)), `"${'x'.repeat(64)}…"`)
  assert.equal(quoted('a\nb"c'), '"a\\nb\\"c"')
  // Whatever begins with a quote is escaped.
  assert.equal(quoted('"a"'), '"\\"a\\""')
  for (const odd of ['', 'é', 'level=error', 'a,b', '{}', "'", '…']) assert.equal(quoted(odd), `"${odd}"`)
  // What a terminal or a reader of lines may take for something else.
  assert.equal(quoted('\u009b2J\u007f\u2028\u202e\u{e0001}'), '"\\u009b2J\\u007f\\u2028\\u202e\\udb40\\udc01"')
})

test('nobody subscribes to a resource that has nothing behind it: it answers as one that is absent', async () => {
  const server = serverOf({ resources: [resource('a://a', { name: 'a' }), template('b://{id}', { name: 'b' })] })
  for (const revision of revisions.filter((one) => one !== '2026-07-28')) {
    for (const uri of ['a://a', 'b://b']) {
      const listed = await bytes(server, revision, 'resources/subscribe', { uri })
      assert.ok(JSON.parse(listed).error, listed)
      assert.equal(listed, await bytes(serverOf({ resources: [] }), revision, 'resources/subscribe', { uri }))
    }
  }
  const client = await clientOf(server)
  void client.request('subscriptions/listen', { notifications: { resourceSubscriptions: ['a://a', 'b://b'] } })
  await settled()
  assert.deepEqual(client.heard[0]?.params?.['notifications'], {})
})

test('a tool that lacks what it needs is not callable; a question that cannot be asked is refused alike', async () => {
  const kinds: string[] = []
  const server = serverOf({
    middleware: [
      {
        call: (call, context, next) =>
          next(call, context).catch((thrown: { kind: string }) => {
            kinds.push(thrown.kind)
            throw thrown
          }),
      },
    ],
    tools: [
      tool('needy', { needs: ['sampling'] }, () => 'x'),
      tool('asks', {}, async (_, ctx) => String(await ctx.roots())),
    ],
  })
  const client = await clientOf(server, { capabilities: {} })
  for (const name of ['needy', 'asks']) assert.equal((await client.request('tools/call', { name })).error?.code, -32021)
  assert.deepEqual(kinds, ['NotCallable', 'NotCallable'])
})

test('a door that knows nobody warns once, where something is only for somebody', async () => {
  const doors = async (options: object, server: Server): Promise<void> => {
    for (let times = 0; times < 2; times++) {
      fetchHandler(server, options)
      await (await serveSocket(server, { port: 0, ...options })).close()
    }
  }
  const warnings = async (tools: ToolValue[], options: object): Promise<number> => {
    const { logger, at } = recorder()
    await doors(options, serverOf({ logger, tools }))
    return at('warn').filter(({ message }) => message.includes('knows nobody')).length
  }
  const hidden = [tool('hidden', secret, () => 'seen')]
  assert.equal(await warnings(hidden, {}), 1)
  assert.equal(await warnings(hidden, { authenticate: () => undefined }), 0)
  assert.equal(await warnings([tool('open', {}, () => 'open')], {}), 0)
})
