import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { prompt, resource, template, tool } from '../../src/index.ts'
import type { Primitive, Server } from '../../src/index.ts'
import { clientOf, serverOf, textOf } from './support.ts'

const named = (name: string, says = name) => tool(name, {}, () => says)

async function names(server: Server): Promise<string[]> {
  const client = await clientOf(server)
  const { result } = await client.request('tools/list')
  await client.close()
  return (result?.['tools'] as { name: string }[]).map(({ name }) => name)
}

test('what is added is there, in the order of adding', async () => {
  const server = serverOf({ tools: [named('b')] })
  server.add(named('c'), resource('memo://x', { name: 'x' }), named('a'))
  assert.deepEqual(await names(server), ['b', 'c', 'a'])
})

test('tool chains', async () => {
  const server = serverOf()
    .tool('a', {}, () => 'a')
    .tool('b', { input: z.object({ n: z.int() }) }, ({ n }) => String(n + 1))
  const client = await clientOf(server)
  assert.equal(textOf(await client.request('tools/call', { name: 'b', arguments: { n: 1 } })), '2')
})

test('what is removed is gone, and was there or not', async () => {
  const server = serverOf({ tools: [named('a'), named('b')] })
  assert.deepEqual(server.remove('tool', 'a').kinds, ['tools'])
  assert.deepEqual(server.remove('tool', 'a').kinds, [])
  assert.deepEqual(server.remove('prompt', 'b').kinds, [])
  assert.deepEqual(await names(server), ['b'])
})

test('what is replaced keeps its place; what is not there is added', async () => {
  const server = serverOf({ tools: [named('a'), named('b')] })
  server.replace(named('a', 'another'))
  server.replace(named('c'))
  assert.deepEqual(await names(server), ['a', 'b', 'c'])
  const client = await clientOf(server)
  assert.equal(textOf(await client.request('tools/call', { name: 'a' })), 'another')
})

const twice: readonly (readonly [what: string, one: () => Primitive, name: RegExp])[] = [
  ['tool', () => named('same'), /"same"/],
  ['resource', () => resource('memo://same', { name: 'one' }), /"memo:\/\/same"/],
  ['template', () => template('memo://{same}', { name: 'one' }), /"memo:\/\/\{same\}"/],
  ['prompt', () => prompt('same', {}), /"same"/],
]
for (const [what, one, name] of twice) {
  test(`a second ${what} of one name is refused by name, and nothing is added`, async () => {
    const server = serverOf({ tools: [] })
    server.add(one())
    assert.throws(() => server.add(named('bystander'), one()), name)
    assert.throws(() => serverOf().add(one(), one()), name)
    assert.equal((await names(server)).includes('bystander'), false)
  })
}

test('the constructor refuses duplicates by name', () => {
  assert.throws(() => serverOf({ tools: [named('same'), named('same')] }), /"same"/)
})

const bad: readonly (readonly [what: string, make: () => Primitive, complaint: RegExp])[] = [
  ['a name that is none', () => named('has space'), /tool "has space"/],
  ['an empty name', () => named(''), /tool ""/],
  ['a name of 129 characters', () => named('x'.repeat(129)), /tool "x+"/],
  ['an input that is no object', () => tool('odd', { input: { type: 'string' } }, () => ''), /tool "odd"/],
  [
    'a schema with a keyword of the wrong type',
    () => tool('odd', { input: { type: 'object', required: 'a' } }, () => ''),
    /tool "odd"/,
  ],
  [
    'a reference that leads nowhere',
    () => tool('odd', { input: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } }, () => ''),
    /tool "odd"/,
  ],
  ['a pattern that is none', () => tool('odd', { output: { type: 'string', pattern: '(' } }, () => ''), /tool "odd"/],
  ['a URI that is none', () => resource('no uri', { name: 'odd' }), /resource "no uri"/],
  ['a template that is none', () => template('memo://{', { name: 'odd' }), /template "memo:\/\/\{"/],
  [
    'a completer of no variable',
    () => template('memo://{a}', { name: 'odd', complete: { b: () => [] } }),
    /template "memo:\/\/\{a\}".*\bb\b/,
  ],
  ['a prompt without a name', () => prompt('', {}), /prompt ""/],
  [
    'two headers of one name',
    () =>
      tool(
        'odd',
        {
          input: {
            type: 'object',
            properties: { a: { type: 'string', 'x-mcp-header': 'H' }, b: { type: 'string', 'x-mcp-header': 'h' } },
          },
        },
        () => '',
      ),
    /tool "odd"/,
  ],
]
for (const [what, make, complaint] of bad) {
  test(`${what} is refused by name, and nothing is added`, async () => {
    const server = serverOf({ tools: [named('before')] })
    assert.throws(() => server.add(named('bystander'), make()), complaint)
    assert.throws(() => server.replace(make()), complaint)
    assert.deepEqual(await names(server), ['before'])
  })
}

test('names of 1 and of 128 characters, and every kind of character, are names', async () => {
  const server = serverOf({
    tools: [named('x'), named('x'.repeat(128)), named('aZ0_.-'), named('__proto__'), named('toString')],
  })
  const client = await clientOf(server)
  for (const name of ['x', 'aZ0_.-', '__proto__', 'toString']) {
    assert.equal(textOf(await client.request('tools/call', { name })), name)
  }
})

test('a call in flight finishes on what it started with', async () => {
  let go = (): void => {}
  const server = serverOf()
  server.tool('slow', {}, async () => {
    await new Promise<void>((resolve) => (go = resolve))
    return 'the old one'
  })
  const client = await clientOf(server)
  const call = client.request('tools/call', { name: 'slow' })
  await new Promise((resolve) => setImmediate(resolve))
  server.replace(named('slow', 'the new one'))
  server.remove('tool', 'slow')
  server.add(named('slow', 'the new one'))
  const next = client.request('tools/call', { name: 'slow' })
  assert.equal(textOf(await next), 'the new one')
  go()
  assert.equal(textOf(await call), 'the old one')
})

test('a handler may change its own server, and sees the change', async () => {
  const server = serverOf()
  server.tool('grow', {}, (_, ctx) => {
    ctx.server.add(named('grown'))
    return String(ctx.server.remove('tool', 'grow').kinds)
  })
  const client = await clientOf(server)
  assert.equal(textOf(await client.request('tools/call', { name: 'grow' })), 'tools')
  assert.deepEqual(await names(server), ['grown'])
})

test('one value may be on several servers', async () => {
  const shared = named('shared')
  assert.deepEqual(await names(serverOf({ tools: [shared] })), ['shared'])
  assert.deepEqual(await names(serverOf({ tools: [shared] })), ['shared'])
})

test('a kind is declared where any was given, even an empty list', () => {
  const declared = (server: Server): string[] =>
    Object.keys(server.describe(undefined).capabilities)
      .filter((name) => name !== 'experimental')
      .sort()
  assert.deepEqual(declared(serverOf()), ['logging'])
  assert.deepEqual(declared(serverOf({ tools: [], prompts: [] })), ['logging', 'prompts', 'tools'])
  assert.deepEqual(declared(serverOf({ resources: [template('a://{b}', { name: 'b', complete: { b: () => [] } })] })), [
    'completions',
    'logging',
    'resources',
  ])
})

test('a method whose capability is off is unknown', async () => {
  const client = await clientOf(serverOf({ tools: [] }))
  for (const method of [
    'prompts/list',
    'prompts/get',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'completion/complete',
  ]) {
    assert.equal((await client.request(method, { name: 'x', uri: 'a://b' })).error?.code, -32601, method)
  }
  assert.deepEqual((await client.request('tools/list')).result?.['tools'], [])
})

test('arrays of values are added as their values, all or none', () => {
  const server = serverOf()
  const data = ['a', 'b'].map((name) => tool(name, {}, () => name))
  assert.deepEqual(
    server.add(
      data,
      [[prompt('p', {}, () => 'p')]],
      tool('c', {}, () => 'c'),
    ).kinds,
    ['tools', 'prompts'],
  )
  assert.throws(() => server.add([tool('d', {}, () => 'd'), tool('a', {}, () => 'a')]), /"a" already/)
  assert.equal(server.remove('tool', 'd').kinds.length, 0)
  assert.deepEqual(server.add([]).kinds, [])
})
