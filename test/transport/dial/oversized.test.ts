// Defends: what is too large to be read ends the request that it answers, and no other: a request or a notification of the
// server's own ends none, whatever its id.
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import fc from 'fast-check'
import { createHttpSseLink } from '../../../src/transport/dial/http-sse.ts'
import { createLinePipe } from '../../../src/transport/dial/line-pipe.ts'
import { createMemoryLink } from '../../../src/transport/dial/memory.ts'
import { createOversizedReader } from '../../../src/transport/dial/oversized.ts'
import { dialCaps } from '../../../src/transport/dial/caps.ts'
import { closedFailure } from '../../../src/transport/dial/closed.ts'
import { rpc } from '../serve/stand-in.ts'
import { event, respond, result, scripted, stream, type Script } from './scripted.ts'
import { recorder, talk, until } from './support.ts'

const ids = fc.oneof(fc.integer(), fc.string())
const bytes = (text: string): Uint8Array => Buffer.from(text)

function shown(text: string, only?: number | string): number | string | undefined {
  const reader = createOversizedReader(() => only)
  return reader.begins(bytes(text.slice(0, 256))) ?? reader.ends(bytes(text.slice(-256)))
}

/** All orders of the members of a message. */
function orders(message: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  const entries = Object.entries(message)
  if (entries.length < 2) return [message]
  return entries.flatMap(([key, value]) =>
    orders(Object.fromEntries(entries.filter(([other]) => other !== key))).map((rest) => ({ [key]: value, ...rest })),
  )
}

const huge = { content: [{ type: 'text', text: 'x'.repeat(2_000) }] }

test('an answer shows its id at its beginning or its end, in whatever order its members are', () => {
  fc.assert(
    fc.property(ids, fc.constantFrom(undefined, 2), fc.constantFrom('result', 'error'), (id, space, member) => {
      fc.pre(JSON.stringify(id).length < 60)
      for (const message of orders({ jsonrpc: '2.0', id, [member]: huge })) {
        assert.equal(shown(JSON.stringify(message, undefined, space)), id)
      }
    }),
  )
})

test('a request or a notification answers nothing, in whatever order its members are', () => {
  const messages = [
    ...orders({ jsonrpc: '2.0', id: 2, method: 'sampling/createMessage', params: huge }),
    ...orders({ jsonrpc: '2.0', method: 'notifications/message', params: { ...huge, id: 2 } }),
  ]
  for (const space of [undefined, 2]) {
    for (const message of messages) assert.equal(shown(JSON.stringify(message, undefined, space), 1), undefined)
  }
})

test('the only request that waits is meant by what is an answer alone', () => {
  const text = JSON.stringify(huge)
  assert.equal(shown(`{"jsonrpc":"2.0","result":${text}`, 1), 1)
  assert.equal(shown(`{"jsonrpc":"2.0","id":null,"error":${text}`, 1), 1)
  for (const head of [text, `[{"jsonrpc":"2.0","id":1,"result":${text}`, 'x'.repeat(999), '{"jsonrpc":"2.0","id":9']) {
    assert.equal(shown(head, 1), undefined, head.slice(0, 40))
  }
})

test('an id within a message is not its own', () => {
  assert.equal(shown('{"result":{"x":"xxx","id":7}}'), undefined)
  assert.equal(shown('{"result":[{"x":"xxx","id":7}]'), undefined)
  assert.equal(shown('{"id":"\\uZZZZ","result":'), undefined)
})

const caps = { maxMessageBytes: 1_000 }
const asks = orders({ jsonrpc: '2.0', id: 2, method: 'sampling/createMessage', params: huge })
const tells = orders({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: huge } })
const large = [...asks, ...tells].map((message) => JSON.stringify(message))

for (const waiting of [[2], [1, 2]]) {
  test(`HTTP+SSE: with ${waiting.length} waiting, what the server asks or tells ends none`, async () => {
    let streams: Parameters<Script>[1] | undefined
    await using server = await scripted(({ method }, r) => {
      if (method !== 'GET') return respond(r, 202)
      streams = r
      stream(r, 'event: endpoint\ndata: /post\n\n')
    })
    const { send, answer, heard, link } = await talk(createHttpSseLink(server.url, { caps }))
    for (const id of waiting) await send(rpc(id, 'ping'))
    for (const text of large) streams?.write(event(text))
    for (const id of waiting) streams?.write(event(result(id)))
    for (const id of waiting) assert.ok((await answer(id)).result)
    assert.deepEqual(heard.losses, [])
    assert.equal(heard.noises.length, large.length)
    await link.close()
  })
}

test('lines and memory: what the server asks or tells ends none', async () => {
  const heard = recorder()
  const pipe = createLinePipe({
    output: new PassThrough(),
    caps: { ...dialCaps, ...caps },
    listener: () => heard,
    from: 'stream',
    gone: closedFailure,
  })
  let say = (_text: string): void => {}
  const inMemory = recorder()
  const link = createMemoryLink(
    () => ({ send: () => {}, onMessage: (listener) => (say = listener), close: () => {} }),
    { caps },
  )
  await link.open(inMemory)
  for (const text of large) {
    pipe.receive(Buffer.from(`${text}\n`))
    say(text)
  }
  assert.deepEqual([heard.losses, inMemory.losses], [[], []])
  assert.deepEqual([heard.noises.length, inMemory.noises.length], [large.length, large.length])
  await link.close()
})

test('HTTP: what the server asks or tells on the stream of a call does not end it; an answer too large does', async () => {
  await using server = await scripted(({ body }, r) => {
    const { id } = JSON.parse(body) as { id: number }
    stream(r, ...large.map((text) => event(text)), event(id === 2 ? result(2) : result(id, huge)))
  })
  const { ask, send, heard, link } = await server.talk({ caps })
  assert.ok((await ask(rpc(2, 'ping'))).result)
  assert.equal(heard.noises.length, large.length)
  await send(rpc(3, 'ping'))
  await until(() => heard.losses.length > 0)
  assert.deepEqual(
    heard.losses.map(({ id, failure }) => [id, failure.kind]),
    [[3, 'TooLarge']],
  )
  await link.close()
})

/** What is over one cap each, and small. */
const full: Readonly<Record<string, object>> = {
  maxValues: { rows: Array.from({ length: 60 }, () => 1) },
  maxKeys: Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`k${index}`, 1])),
  maxDepth: { a: [[[[[[[[[[1]]]]]]]]]] },
}
const small = { maxValues: 50, maxKeys: 20, maxDepth: 8 }

for (const [cap, value] of Object.entries(full)) {
  const answers = orders({ jsonrpc: '2.0', id: 3, result: value }).map((message) => JSON.stringify(message))
  const others = [
    ...orders({ jsonrpc: '2.0', id: 3, method: 'sampling/createMessage', params: value }),
    ...orders({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: value } }),
  ].map((message) => JSON.stringify(message))
  const told = (heard: ReturnType<typeof recorder>): unknown[] =>
    heard.losses.map(({ id, failure }) => [id, failure.kind, failure.ran, failure.message.includes(cap)])
  const lost = [3, 'TooLarge', 'unknown', true]

  test(`${cap}: lines and memory tell at once which request has an answer with too much in it`, async () => {
    const heard = recorder()
    const pipe = createLinePipe({
      output: new PassThrough(),
      caps: { ...dialCaps, ...small },
      listener: () => heard,
      from: 'stream',
      gone: closedFailure,
    })
    let say = (_text: string): void => {}
    const inMemory = recorder()
    const link = createMemoryLink(
      () => ({ send: () => {}, onMessage: (listener) => (say = listener), close: () => {} }),
      { caps: small },
    )
    await link.open(inMemory)
    for (const text of [...others, ...answers]) {
      pipe.receive(Buffer.from(`${text}\n`))
      say(text)
    }
    const all = answers.map(() => lost)
    assert.deepEqual([told(heard), told(inMemory)], [all, all])
    await link.close()
  })

  test(`${cap}: HTTP does, as one message, as an event, and where a stream was resumed`, async () => {
    const ways: Readonly<Record<string, Script>> = {
      json: (_seen, r) => respond(r, 200, answers[0]),
      event: (_seen, r) => stream(r, ...[...others, ...answers.slice(0, 1)].map((text) => event(text))),
      resumed({ method }, r) {
        stream(r, ...(method === 'POST' ? [event('', 'e.0')] : answers.slice(0, 1).map((text) => event(text))))
        if (method === 'POST') setTimeout(() => r.destroy(), 5)
      },
    }
    for (const [way, script] of Object.entries(ways)) {
      await using server = await scripted(script)
      const { send, heard, link } = await server.talk({ caps: small })
      await send(rpc(3, 'ping'))
      await until(() => heard.losses.length > 0)
      assert.deepEqual(told(heard), [lost], way)
      assert.equal(heard.noises.length, way === 'json' ? 0 : way === 'event' ? others.length + 1 : 1)
      await link.close()
    }
  })

  test(`${cap}: HTTP+SSE does`, async () => {
    let streams: Parameters<Script>[1] | undefined
    await using server = await scripted(({ method }, r) => {
      if (method !== 'GET') return respond(r, 202)
      streams = r
      stream(r, 'event: endpoint\ndata: /post\n\n')
    })
    const { send, answer, heard, link } = await talk(createHttpSseLink(server.url, { caps: small }))
    for (const id of [2, 3]) await send(rpc(id, 'ping'))
    for (const text of [...others, ...answers.slice(0, 1)]) streams?.write(event(text))
    streams?.write(event(result(2)))
    assert.ok((await answer(2)).result)
    assert.deepEqual(told(heard), [lost])
    await link.close()
  })
}
