// Extensions: off unless both sides declare them; what they bring is the server's own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { method, tool } from '../../src/index.ts'
import type { Extension } from '../../src/index.ts'
import { clientOf, recorder, revisions, serverOf, textOf } from './support.ts'

const identifier = 'com.example/notes'
const declared = { extensions: { [identifier]: {} } }

const notes = (extra: Partial<Extension> = {}): Extension => ({
  identifier,
  settings: { max: 3 },
  methods: [method('notes/add', {}, (params) => ({ added: params['text'] ?? null }))],
  ...extra,
})

for (const revision of revisions) {
  test(`${revision}: both sides declare it: on`, async () => {
    const client = await clientOf(serverOf().use(notes()), { revision, capabilities: declared })
    const introduction = client.introduction ?? (await client.request('server/discover')).result
    assert.deepEqual((introduction?.['capabilities'] as { extensions: object }).extensions, {
      [identifier]: { max: 3 },
    })
    assert.equal((await client.request('notes/add', { text: 'x' })).result?.['added'], 'x')
  })

  test(`${revision}: the client does not declare it: told what it lacks`, async () => {
    const client = await clientOf(serverOf().use(notes()), {
      revision,
      capabilities: { extensions: { 'com.example/other': {} } },
    })
    const { error } = await client.request('notes/add')
    assert.equal(error?.code, revision === '2026-07-28' ? -32021 : -32603)
    assert.deepEqual(error.data, { requiredCapabilities: { extensions: { [identifier]: {} } } })
  })

  test(`${revision}: the server does not use it: no such method`, async () => {
    const client = await clientOf(serverOf(), { revision, capabilities: declared })
    assert.equal((await client.request('notes/add')).error?.code, -32601)
  })

  test(`${revision}: handlers ask whether it is on`, async () => {
    const brings = notes({ primitives: [tool('can', {}, (_, ctx) => String(ctx.can(`extensions.${identifier}`)))] })
    const server = serverOf({ extensions: [brings] })
    const has = await clientOf(server, { revision, capabilities: declared })
    assert.equal(textOf(await has.request('tools/call', { name: 'can' })), 'true')
    const lacks = await clientOf(server, { revision })
    assert.equal(textOf(await lacks.request('tools/call', { name: 'can' })), 'false')
  })
}

test('its middleware stands within that of the server, and around everything', async () => {
  const order: string[] = []
  const layer = (name: string): Extension['middleware'] => ({
    all: (call, context, next) => {
      order.push(name)
      return next(call, context)
    },
  })
  const server = serverOf({
    tools: [],
    middleware: [layer('server') ?? {}],
    extensions: [notes({ middleware: layer('first') ?? {} })],
  }).use({ identifier: 'com.example/second', middleware: layer('second') ?? {} })
  const both = { extensions: { [identifier]: {}, 'com.example/second': {} } }
  await (await clientOf(server, { capabilities: both })).request('tools/list')
  assert.deepEqual(order, ['server', 'first', 'second'])
})

test('one that is added while calls run counts from the next call on', async () => {
  const server = serverOf({ tools: [] })
  const client = await clientOf(server, { capabilities: declared })
  assert.equal((await client.request('notes/add')).error?.code, -32601)
  server.use(notes())
  assert.equal((await client.request('notes/add')).error, undefined)
})

test('it is started once, with the server in hand', async () => {
  let started = 0
  const server = serverOf().use(
    notes({
      start: (handle) => {
        started++
        handle.add(tool('late', {}, () => 'late'))
      },
    }),
  )
  assert.equal(started, 1)
  assert.equal(textOf(await (await clientOf(server)).request('tools/call', { name: 'late' })), 'late')
})

test('one identifier once; a name that is taken is refused, and the extension is then not in use', async () => {
  const server = serverOf({ tools: [tool('taken', {}, () => '')], logger: recorder().logger })
  assert.throws(() => server.use(notes({ primitives: [tool('taken', {}, () => '')] })), /"taken" already/)
  assert.throws(() => server.use(notes({ methods: [method('a/b', {}), method('a/b', {})] })), /"a\/b" already/)
  const client = await clientOf(server, { capabilities: declared })
  assert.equal((await client.request('notes/add')).error?.code, -32601)
  server.use(notes())
  assert.throws(() => server.use(notes()), /com\.example\/notes is in use already/)
})

test('an identifier has its prefix', () => {
  for (const bad of ['notes', '/notes', 'com.example/', 'com example/notes', '1com/notes'])
    assert.throws(() => serverOf().use({ identifier: bad }), /is no identifier of an extension/, bad)
})

for (const revision of revisions) {
  test(`${revision}: its middleware stands only around calls for which it is on; what is for all, around all`, async () => {
    const heard: string[] = []
    const layer = (name: string): NonNullable<Extension['middleware']> => ({
      all: (call, context, next) => {
        heard.push(`${name} all`)
        return next(call, context)
      },
      call: (call, context, next) => {
        heard.push(`${name} call`)
        return next(call, context)
      },
    })
    const server = serverOf({
      tools: [tool('t', {}, () => 'x')],
      extensions: [notes({ middleware: layer('on'), always: layer('always') })],
    })
    const called = async (capabilities: Partial<typeof declared>): Promise<string[]> => {
      heard.length = 0
      await (await clientOf(server, { revision, capabilities })).request('tools/call', { name: 't' })
      return [...heard]
    }
    assert.deepEqual(await called(declared), ['always all', 'always call', 'on all', 'on call'])
    assert.deepEqual(await called({}), ['always all', 'always call'])
  })

  test(`${revision}: a tool that needs it is listed to everybody, and run for who declares it`, async () => {
    let ran = 0
    const needy = tool('needy', { needs: [`extensions.${identifier}`] }, () => `ran ${++ran}`)
    const server = serverOf({ extensions: [notes({ primitives: [needy] })] })
    const lacks = await clientOf(server, { revision })
    const { result } = await lacks.request('tools/list')
    assert.deepEqual(
      (result?.['tools'] as { name: string }[]).map(({ name }) => name),
      ['needy'],
    )
    const { error } = await lacks.request('tools/call', { name: 'needy' })
    assert.equal(error?.code, revision === '2026-07-28' ? -32021 : -32603)
    assert.deepEqual(error.data, { requiredCapabilities: { extensions: { [identifier]: {} } } })
    assert.equal(ran, 0)
    const has = await clientOf(server, { revision, capabilities: declared })
    assert.equal(textOf(await has.request('tools/call', { name: 'needy' })), 'ran 1')
  })

  test(`${revision}: its capabilities are declared beside the others`, async () => {
    const server = serverOf({
      tools: [],
      extensions: [
        notes({ capabilities: { experimental: { 'com.example/x': {} }, tools: { fancy: true }, own: { a: 1 } } }),
        { identifier: 'com.example/other', capabilities: { experimental: { 'com.example/y': {} }, own: { b: 2 } } },
      ],
    })
    const client = await clientOf(server, { revision })
    const said = client.introduction ?? (await client.request('server/discover')).result
    const { experimental, tools, own, extensions } = said?.['capabilities'] as Record<string, object>
    assert.deepEqual(Object.keys(experimental ?? {}).toSorted(), [
      'com.example/x',
      'com.example/y',
      'dev.dragoman/idempotencyKey',
    ])
    assert.deepEqual(tools, { fancy: true, listChanged: true })
    assert.deepEqual(own, { a: 1, b: 2 })
    assert.deepEqual(Object.keys(extensions ?? {}).toSorted(), [identifier, 'com.example/other'].toSorted())
  })
}

test('extensions are none of its capabilities, nor is what the server leaves undeclared', () => {
  assert.throws(() => serverOf().use(notes({ capabilities: { extensions: {} } })), /declares extensions/)
  const server = serverOf({ capabilities: { logging: false } })
  server.use(notes({ capabilities: { logging: {} } }))
  assert.equal(server.describe(undefined).capabilities.logging, undefined)
})
