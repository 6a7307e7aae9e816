import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectInMemory } from '../../../src/transport/serve/memory.ts'
import { serveStdio } from '../../../src/transport/serve/stdio.ts'
import type { MemoryOptions } from '../../../src/transport/serve/memory.ts'
import { call, initialize, modern, modernCall, notification, peerOf, rpc, said, standIn } from './stand-in.ts'
import type { Heard } from './stand-in.ts'

function open(options: MemoryOptions = {}, revisions?: readonly string[]) {
  const served = standIn()
  const link = connectInMemory(peerOf(served, revisions), options)
  const heard: (Heard | Heard[])[] = []
  let wake = (): void => {}
  link.onMessage((text) => {
    heard.push(JSON.parse(text))
    wake()
  })
  const until = async <T>(find: () => T | undefined): Promise<T> => {
    for (let tries = 0; tries < 200; tries++) {
      const found = find()
      if (found !== undefined) return found
      await Promise.race([new Promise<void>((resolve) => (wake = resolve)), sleep(10)])
    }
    throw new Error(`waited in vain; heard ${JSON.stringify(heard)}`)
  }
  const single = (): Heard[] => heard.filter((message): message is Heard => !Array.isArray(message))
  return {
    served,
    link,
    heard,
    until,
    answers: (id: string | number | null) => single().filter((m) => (m.id ?? null) === id && (m.result || m.error)),
    answer: (id: string | number | null) =>
      until(() => single().find((m) => (m.id ?? null) === id && (m.result || m.error))),
    async handshake(revision: string, capabilities = {}) {
      link.send(initialize('init', revision, capabilities))
      await until(() => single().find((m) => m.id === 'init'))
      link.send(notification('notifications/initialized'))
    },
  }
}

test('both eras on one connection, in any order', async () => {
  const c = open()
  c.link.send(modernCall(1, 'echo', { text: 'new' }))
  assert.equal(said(await c.answer(1)), 'new')
  await c.handshake('2025-06-18')
  c.link.send(call(2, 'echo', { text: 'old' }))
  c.link.send(modernCall(3, 'echo', { text: 'new' }))
  assert.equal((await c.answer(2)).result?.['resultType'], undefined)
  assert.equal((await c.answer(3)).result?.['resultType'], 'complete')
})

test('what cannot be read is answered', async () => {
  const c = open()
  const bad: [unknown, number][] = [
    ['{', -32700],
    ['hello', -32700],
    ['12', -32600],
    ['{}', -32600],
    ['[]', -32600],
  ]
  for (const [text, code] of bad) {
    c.link.send(text)
    const answer = await c.until(() => c.heard.pop() as Heard | undefined)
    assert.equal(answer.error?.code, code, String(text))
    assert.equal(answer.id, undefined)
  }
  c.link.send({ jsonrpc: '1.0', id: 8, method: 'ping' })
  assert.equal((await c.answer(8)).error?.code, -32600)
})

test('before the handshake only ping and initialize pass', async () => {
  const c = open()
  c.link.send(rpc(1, 'tools/list'))
  assert.equal((await c.answer(1)).error?.code, -32000)
  c.link.send(rpc(2, 'ping'))
  assert.deepEqual((await c.answer(2)).result, {})
})

test('a second handshake is refused, a malformed first one can be tried again', async () => {
  const c = open()
  c.link.send(rpc(1, 'initialize', { protocolVersion: '2025-06-18' }))
  assert.equal((await c.answer(1)).error?.code, -32602)
  await c.handshake('2025-06-18')
  c.link.send(initialize(3, '2025-06-18'))
  assert.equal((await c.answer(3)).error?.code, -32600)
})

test('a peer without handshakes refuses initialize and names its revisions', async () => {
  const c = open({}, ['2026-07-28'])
  c.link.send(initialize(1, '2025-06-18'))
  assert.match(JSON.stringify((await c.answer(1)).error), /2026-07-28/)
  c.link.send(rpc(2, 'tools/list'))
  assert.equal((await c.answer(2)).error?.code, -32602)
})

test('one id is in flight once, whichever era it came in', async () => {
  const c = open()
  await c.handshake('2025-11-25')
  c.link.send(call(4, 'slow', { ms: 60 }))
  c.link.send(modernCall(4, 'echo', { text: 'x' }))
  c.link.send(call(4, 'echo', { text: 'x' }))
  await c.until(() => (c.answers(4).length === 3 ? true : undefined))
  assert.deepEqual(
    c.answers(4).map((m) => m.error?.code ?? said(m)),
    [-32600, -32600, 'done'],
  )
  c.link.send(call(4, 'echo', { text: 'again' }))
  await c.until(() => (c.answers(4).length === 4 ? true : undefined))
})

test('cancelled means silence, in both eras', async () => {
  const c = open()
  await c.handshake('2025-11-25')
  c.link.send(call(1, 'slow', { ms: 5_000 }))
  c.link.send(modernCall('2', 'slow', { ms: 5_000 }))
  await sleep(10)
  for (const requestId of [1, '2', 'nobody', 2]) c.link.send(notification('notifications/cancelled', { requestId }))
  c.link.send(notification('notifications/cancelled'))
  await c.until(() => (c.served.aborted === 2 ? true : undefined))
  await sleep(20)
  assert.deepEqual([...c.answers(1), ...c.answers('2')], [])
})

test('the revision with batches takes them, and answers in one', async () => {
  const c = open()
  await c.handshake('2025-03-26')
  const odd = [7, initialize('again', '2025-03-26'), modern('m', 'tools/list')]
  c.link.send([
    rpc('a', 'ping'),
    notification('notifications/cancelled', { requestId: 'z' }),
    call('b', 'echo', { text: 'two' }),
    ...odd,
  ])
  const batch = await c.until(() => c.heard.find((m): m is Heard[] => Array.isArray(m)))
  const codes = Object.fromEntries(batch.map((m) => [String(m.id), m.error?.code ?? 'result']))
  assert.deepEqual(codes, { a: 'result', b: 'result', null: -32600, again: -32600, m: -32600 })
  c.link.send([notification('notifications/cancelled', { requestId: 'z' })])
  c.link.send([])
  assert.equal((await c.answer(null)).error?.code, -32600)
})

test('batches are refused everywhere else', async () => {
  const c = open()
  c.link.send([modern(1, 'tools/list')])
  assert.equal((await c.answer(null)).error?.code, -32600)
  await c.handshake('2025-11-25')
  c.link.send([rpc(1, 'ping')])
  await c.until(() => (c.answers(null).length === 2 ? true : undefined))
})

test('the server asks, the client answers', async () => {
  const c = open()
  await c.handshake('2025-11-25', { elicitation: {} })
  c.link.send(call(1, 'ask'))
  const question = await c.until(() => c.heard.find((m): m is Heard => (m as Heard).method === 'elicitation/create'))
  c.link.send({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } })
  assert.equal(said(await c.answer(1)), 'decline')
})

test('changes are announced to a session that is there', async () => {
  const c = open()
  const everybody = { visibleTo: () => true }
  c.served.change({ kind: 'tools', ...everybody })
  await c.handshake('2025-06-18')
  c.link.send(rpc(1, 'resources/subscribe', { uri: 'a:1' }))
  await c.answer(1)
  c.served.change({ kind: 'tools', ...everybody })
  c.served.change({ kind: 'resource', uri: 'a:1', ...everybody })
  c.served.change({ kind: 'resource', uri: 'a:2', ...everybody })
  await sleep(10)
  const methods = c.heard.map((m) => (m as Heard).method).filter((method) => method !== undefined)
  assert.deepEqual(methods, ['notifications/tools/list_changed', 'notifications/resources/updated'])
  await c.link.close()
  assert.equal(c.served.listeners, 0)
})

test('closing waits for what is in flight and ends what has no end', async () => {
  const c = open({ graceMs: 1_000 })
  await c.handshake('2025-11-25')
  c.link.send(call(1, 'slow', { ms: 50 }))
  c.link.send(modern('l', 'subscriptions/listen', { notifications: {} }))
  await sleep(10)
  await c.link.close()
  assert.equal(said(await c.answer(1)), 'done')
  assert.ok((await c.answer('l')).result)
})

test('what takes longer than the grace is answered and given up', async () => {
  const c = open({ graceMs: 20 })
  c.link.send(modernCall(1, 'slow', { ms: 5_000 }))
  await sleep(10)
  await c.link.close()
  assert.ok((await c.answer(1)).error)
  await c.until(() => (c.served.aborted === 1 ? true : undefined))
})

test('what was sent just before the close is taken in, and what is sent during it refused', async () => {
  const c = open({ graceMs: 1_000 })
  c.link.send(modernCall(1, 'slow', { ms: 50 }))
  const closed = c.link.close()
  c.link.send(modernCall(2, 'slow', { ms: 50 }))
  assert.match((await c.answer(2)).error?.message ?? '', /too much to do/)
  await closed
  assert.equal(said(await c.answer(1)), 'done')
})

test('asks are abandoned when the client is gone', async () => {
  const c = open({ graceMs: 2_000 })
  await c.handshake('2025-11-25', { elicitation: {} })
  c.link.send(call(1, 'ask'))
  await c.until(() => c.heard.find((m) => (m as Heard).method === 'elicitation/create'))
  const before = Date.now()
  await c.link.close()
  assert.ok(Date.now() - before < 1_000)
  assert.ok((await c.answer(1)).error)
})

test('messages can be read one after the other until the link closes', async () => {
  const link = connectInMemory(peerOf(standIn()))
  link.send(modernCall(1, 'echo', { text: 'a' }))
  link.send(modernCall(2, 'echo', { text: 'b' }))
  const ids: unknown[] = []
  for await (const text of link.messages()) {
    ids.push(JSON.parse(text).id)
    if (ids.length === 2) void link.close()
  }
  assert.deepEqual(ids, [1, 2])
})

test('a principal that is none is told of at once', () => {
  for (const principal of [null, 'al', { id: 'al' }, { id: {}, scopes: new Set() }, { id: 'al', scopes: ['admin'] }]) {
    assert.throws(() => connectInMemory(peerOf(standIn()), { principal: principal as never }), TypeError)
    assert.throws(() => serveStdio(peerOf(standIn()), { principal: principal as never }), TypeError)
  }
})

test('a malformed answer to a question ends the question, and is not answered under its id', async () => {
  const { link, heard, until } = open()
  const find = (test: (message: Heard) => unknown) => () =>
    heard.find((message): message is Heard => !Array.isArray(message) && Boolean(test(message)))
  link.send(initialize(1, '2025-11-25', { elicitation: {} }))
  await until(find(({ id }) => id === 1))
  let at = 1
  for (const rest of [
    { result: null },
    { result: [] },
    { error: 'x' },
    { result: {}, error: { code: -1, message: 'no' } },
  ]) {
    heard.splice(0)
    link.send(call((at += 1), 'ask'))
    const question = await until(find(({ method }) => method === 'elicitation/create'))
    link.send({ jsonrpc: '2.0', id: question.id, ...rest })
    await until(find(({ id, error }) => id === at && error))
    assert.equal(find(({ id, error }) => id === question.id && error)(), undefined)
  }
  await link.close()
})
