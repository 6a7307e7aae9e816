import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prompt, resource, template, tool } from '../../src/index.ts'
import type { Heard } from '../../src/testing.ts'
import { clientOf, eras, serverOf, settled, staff } from './support.ts'
import type { Server } from '../../src/index.ts'
import type { TestClientOptions } from '../../src/testing.ts'

const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }

/** A client that hears of everything it may, and what it heard. */
async function listener(server: Server, revision: string, uris: string[] = [], options: TestClientOptions = {}) {
  const client = await clientOf(server, { revision, ...options })
  if (revision === '2026-07-28')
    void client.request('subscriptions/listen', { notifications: { ...all, resourceSubscriptions: uris } })
  else for (const uri of uris) await client.request('resources/subscribe', { uri })
  await settled()
  const start = client.heard.length
  const told = (): string[] =>
    client.heard.slice(start).map(({ method, params }: Heard) => {
      const uri = params?.['uri']
      return typeof uri === 'string' ? `${method} ${uri}` : String(method)
    })
  return { client, told }
}

const updated = (uri: string): string => `notifications/resources/updated ${uri}`
const changed = (kind: string): string => `notifications/${kind}/list_changed`

for (const revision of eras) {
  test(`${revision}: each kind of change is told once, by its kind`, async () => {
    const server = serverOf({ tools: [], prompts: [], resources: [] })
    const { told } = await listener(server, revision)
    server.add(
      tool('a', {}, () => 'a'),
      tool('b', {}, () => 'b'),
      prompt('p', {}),
      resource('a://a', { name: 'a' }),
      template('b://{b}', { name: 'b' }),
    )
    await settled()
    assert.deepEqual(told().sort(), [changed('prompts'), changed('resources'), changed('tools')])
    server.remove('template', 'b://{b}')
    server.replace(tool('a', { title: 'A' }, () => 'a'))
    await settled()
    assert.deepEqual(told().slice(3), [changed('resources'), changed('tools')])
    server.remove('tool', 'never there')
    assert.throws(() => server.add(tool('a', {}, () => 'a')))
    await settled()
    assert.equal(told().length, 5)
    server.changed('prompts')
    await settled()
    assert.equal(told().at(-1), changed('prompts'))
  })

  test(`${revision}: a change is in effect when it is told`, async () => {
    const server = serverOf({ tools: [] })
    const { client, told } = await listener(server, revision)
    server.onChange(() => assert.ok(server.describe(undefined)))
    server.add(tool('a', {}, () => 'a'))
    await settled()
    assert.deepEqual(told(), [changed('tools')])
    const { result } = await client.request('tools/list')
    assert.equal((result?.['tools'] as unknown[]).length, 1)
  })

  test(`${revision}: a change of what is hidden is told to those who see it, and to nobody else`, async () => {
    const server = serverOf({ tools: [], prompts: [], resources: [] })
    const outsider = await listener(server, revision)
    const insider = await listener(server, revision, [], { principal: staff })
    server.add(
      tool('s', { scopes: ['staff'] }, () => 's'),
      prompt('s', { scopes: ['staff'] }),
      resource('s://s', { name: 's', scopes: ['staff'] }),
    )
    await settled()
    assert.deepEqual(outsider.told(), [])
    assert.equal(insider.told().length, 3)
    server.remove('tool', 's')
    await settled()
    assert.deepEqual(outsider.told(), [])
    assert.equal(insider.told().length, 4)
    server.add(
      tool('s', { scopes: ['staff'] }, () => 's'),
      tool('open', {}, () => 'o'),
    )
    await settled()
    assert.deepEqual(outsider.told(), [changed('tools')])
  })

  test(`${revision}: an update goes to those who subscribed and could read it`, async () => {
    const server = serverOf({
      resources: [
        resource('a://a', { name: 'a' }, () => 'a'),
        template('n://{n}', { name: 'n' }, () => 'n'),
        resource('s://s', { name: 's', scopes: ['staff'] }, () => 's'),
      ],
    })
    const outsider = await listener(server, revision, ['a://a', 's://s', 'n://1'])
    const insider = await listener(server, revision, ['s://s'], { principal: staff })
    for (const uri of ['a://a', 's://s', 'n://1', 'n://2', 'no://such']) server.updated(uri)
    await settled()
    assert.deepEqual(outsider.told(), [updated('a://a'), updated('n://1')])
    assert.deepEqual(insider.told(), [updated('s://s')])
  })

  test(`${revision}: who was taken the right to read hears no more`, async () => {
    const server = serverOf({ resources: [resource('a://a', { name: 'a' }, () => 'a')] })
    const { told } = await listener(server, revision, ['a://a'])
    server.replace(resource('a://a', { name: 'a', scopes: ['staff'] }, () => 'a'))
    server.updated('a://a')
    await settled()
    assert.deepEqual(
      told().filter((line) => line.includes('updated')),
      [],
    )
  })

  test(`${revision}: a handler's own changes reach the others`, async () => {
    const server = serverOf({ resources: [resource('a://a', { name: 'a' }, () => 'a')] })
    server.tool('touch', {}, (_, ctx) => {
      ctx.server.updated('a://a')
      return 'done'
    })
    const { told } = await listener(server, revision, ['a://a'])
    const caller = await clientOf(server)
    await caller.request('tools/call', { name: 'touch' })
    await settled()
    assert.deepEqual(told(), [updated('a://a')])
  })

  test(`${revision}: nothing is told once the client is gone`, async () => {
    const server = serverOf({ tools: [] })
    const { client, told } = await listener(server, revision)
    await client.close()
    const before = told().length
    server.changed('tools')
    await settled()
    assert.equal(told().length, before)
  })
}

test('listeners are told in the order they came, and may leave while told', () => {
  const server = serverOf({ tools: [] })
  const order: string[] = []
  const stop = server.onChange(() => {
    order.push('first')
    stop()
  })
  server.onChange(() => void order.push('second'))
  server.changed('tools')
  server.changed('tools')
  assert.deepEqual(order, ['first', 'second', 'second'])
})

test('a listen without a session level is told apart by its id; two on one connection hear each its own', async () => {
  const server = serverOf({ tools: [], resources: [resource('a://a', { name: 'a' }, () => 'a')] })
  const client = await clientOf(server)
  const first = client.nextId()
  void client.request('subscriptions/listen', { notifications: { toolsListChanged: true } })
  void client.request('subscriptions/listen', { notifications: { resourceSubscriptions: ['a://a', 'a://a'] } })
  await settled()
  server.changed('tools')
  server.updated('a://a')
  await settled()
  const ids = client.heard.map(({ method, params }) => [
    method,
    (params?.['_meta'] as Record<string, unknown>)['io.modelcontextprotocol/subscriptionId'],
  ])
  assert.deepEqual(ids, [
    ['notifications/subscriptions/acknowledged', first],
    ['notifications/subscriptions/acknowledged', first + 1],
    ['notifications/tools/list_changed', first],
    ['notifications/resources/updated', first + 1],
  ])
})

test('of very many long URIs the first are listened to, and the client is told which', async () => {
  const server = serverOf({ resources: [template('a://{+path}', { name: 'a' }, () => 'x')] })
  const client = await clientOf(server)
  const long = Array.from({ length: 1_000 }, (_, at) => `a://${'x/'.repeat(2_000)}${at}`)
  void client.request('subscriptions/listen', { notifications: { resourceSubscriptions: long } })
  await settled()
  const honoured = client.heard[0]?.params?.['notifications'] as { resourceSubscriptions: string[] }
  assert.deepEqual(honoured.resourceSubscriptions, long.slice(0, 32))
})
