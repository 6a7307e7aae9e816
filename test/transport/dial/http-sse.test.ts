import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHttpSseLink } from '../../../src/transport/dial/http-sse.ts'
import { fetchHandler } from '../../../src/transport/serve/fetch.ts'
import { serveHttp } from '../../../src/transport/serve/node.ts'
import { call, notification, peerOf, rpc, said, standIn } from '../serve/stand-in.ts'
import { respond, result, scripted, stream, type Script } from './scripted.ts'
import { failureOf, recorder, talk, until } from './support.ts'

const told = (data: string, event = 'message'): string => `event: ${event}\ndata: ${data}\n\n`

test('with our own server: a handshake, a call with progress, an end', async () => {
  const server = await serveHttp(peerOf(standIn()))
  const { agree, ask, heard, link } = await talk(createHttpSseLink(new URL('/sse', server.url)))
  assert.equal((await agree('2024-11-05')).result?.['protocolVersion'], '2024-11-05')
  assert.equal(said(await ask(call(1, 'progress', { steps: 2 }))), 'done')
  assert.deepEqual(heard.messages.at(-1)?.received, {})
  await link.close()
  assert.deepEqual([heard.ends, heard.losses], [[], []])
  await server.close({ graceMs: 100 })
})

test('by a fetch in this process', async () => {
  const handler = fetchHandler(peerOf(standIn()))
  const fetch = (url: URL, init: RequestInit): Promise<Response> => handler(new Request(url, init))
  const { agree, ask, link } = await talk(createHttpSseLink(new URL('http://localhost/sse'), { fetch }))
  await agree('2025-03-26')
  assert.equal(said(await ask(call(1, 'echo', { text: 'hi' }))), 'hi')
  await link.close()
  await handler.close({ graceMs: 10 })
})

const refused: readonly (readonly [what: string, script: Script, kind: string, message: RegExp])[] = [
  ['405', (_, r) => respond(r, 405), 'HttpStatus', /405/],
  ['401', (_, r) => respond(r, 401), 'Unauthorized', /401/],
  ['JSON', (_, r) => respond(r, 200, result(1)), 'Unreachable', /something else than a stream/],
  ['another origin', (_, r) => stream(r, told('http://evil.example/x', 'endpoint')), 'Unreachable', /not on http/],
  ['the origin as a name', (_, r) => stream(r, told('//evil.example/x', 'endpoint')), 'Unreachable', /not on http/],
  ['no address', (_, r) => stream(r, told('http://[', 'endpoint')), 'Unreachable', /not on http/],
  ['silence', (_, r) => stream(r), 'Unreachable', /within 50 ms/],
  ['no response', () => {}, 'Unreachable', /within 50 ms/],
  ['an early end', (_, r) => (stream(r), void r.end()), 'Unreachable', /before it said/],
  ['a reset', (_, r) => r.destroy(), 'ConnectionLost', /broke/],
]

for (const [what, script, kind, message] of refused) {
  test(`${what} is no HTTP+SSE, and nothing of it stays`, async () => {
    await using server = await scripted(script)
    const heard = recorder()
    const failure = await failureOf(
      createHttpSseLink(server.url, { endpointTimeoutMs: /within/.test(message.source) ? 50 : 5_000 }).open(heard),
    )
    assert.deepEqual([failure.kind, failure.ran], [kind, 'no'])
    assert.match(failure.message, message)
    if (['silence', 'no response', 'another origin'].includes(what)) await until(() => server.gone.length > 0)
    assert.deepEqual([heard.ends, heard.messages], [[], []])
  })
}

test('posts: where the server said; noise, refusals, and a stream that ends', async () => {
  let streams: Parameters<Script>[1] | undefined
  await using server = await scripted(({ method, url, headers, body }, r) => {
    if (method === 'GET') {
      streams = r
      stream(r, told('/post?id=7', 'endpoint'), told('no JSON'), told('{}', 'other'))
    } else if (body.includes('refused')) respond(r, 400, 'no such session', { 'content-type': 'text/plain' })
    else {
      assert.deepEqual([url, headers['content-type'], headers['x-key']], ['/post?id=7', 'application/json', 'k'])
      respond(r, 202)
      streams?.write(told('/elsewhere', 'endpoint') + told(JSON.stringify(result(1))))
    }
  })
  const { ask, send, heard, link } = await talk(createHttpSseLink(server.url, { headers: { 'X-Key': 'k' } }))
  await ask(rpc(1, 'ping'))
  assert.deepEqual(
    heard.noises.map(({ text }) => text),
    ['no JSON', '{}', '/elsewhere'],
  )
  const failure = await failureOf(send(rpc(2, 'refused')))
  assert.deepEqual([failure.kind, failure.ran, failure.status], ['HttpStatus', 'no', 400])
  assert.match(failure.message, /no such session$/)
  streams?.destroy()
  await until(() => heard.ends.length > 0)
  assert.deepEqual([heard.ends.length, heard.ends[0]?.kind, heard.ends[0]?.ran], [1, 'ConnectionLost', 'unknown'])
  assert.deepEqual((await failureOf(send(notification('x')))).ran, 'no')
  await link.close()
})

/** A server whose stream says what `answer` makes of each request. */
function answering(answer: (id: number) => string): Script {
  let streams: Parameters<Script>[1] | undefined
  return ({ method, body }, r) => {
    if (method === 'GET') {
      streams = r
      return stream(r, told('/post', 'endpoint'))
    }
    respond(r, 202)
    streams?.write(answer((JSON.parse(body) as { id: number }).id))
  }
}

const caps = { maxMessageBytes: 1_000 }
const huge = 'x'.repeat(2_000)
const ways: Record<string, (id: number) => string> = {
  'with its id in front': (id) => told(`{"jsonrpc":"2.0","id":${id},"result":{"x":"${huge}"}}`),
  'with its id at the end': (id) => told(`{"result":{"x":"${huge}"},"jsonrpc":"2.0","id":${id}}`),
}

for (const [what, answer] of Object.entries(ways)) {
  test(`an answer larger than is taken, ${what}, ends its request at once and no other`, async () => {
    await using server = await scripted(answering((id) => (id === 2 ? answer(2) : '')))
    const { send, heard, link } = await talk(createHttpSseLink(server.url, { caps }))
    for (const id of [1, 2, 3]) await send(rpc(id, 'ping'))
    await until(() => heard.losses.length > 0)
    assert.deepEqual(
      heard.losses.map(({ id, failure }) => [id, failure.kind, failure.ran]),
      [[2, 'TooLarge', 'unknown']],
    )
    await link.close()
  })
}

test('one that never ends ends the only request that it can be for', async () => {
  await using server = await scripted(
    answering((id) => (id === 1 ? told('{"jsonrpc":"2.0","id":1,"result":{}}') : `data: {"result":{"x":"${huge}`)),
  )
  const { ask, send, heard, link } = await talk(createHttpSseLink(server.url, { caps }))
  await ask(rpc(1, 'ping'))
  await send(rpc(2, 'ping'))
  await until(() => heard.losses.length > 0)
  assert.deepEqual(
    heard.losses.map(({ id, failure }) => [id, failure.kind]),
    [[2, 'TooLarge']],
  )
  await link.close()
})

test('something else that is too large ends none', async () => {
  const log = told(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${huge}"}}`)
  const first = told(`{"method":"notifications/message","params":{"data":"${huge}","id":1},"jsonrpc":"2.0"}`)
  await using server = await scripted(answering((id) => log + first + told(JSON.stringify(result(id)))))
  const { ask, heard, link } = await talk(createHttpSseLink(server.url, { caps }))
  assert.ok((await ask(rpc(1, 'ping'))).result)
  assert.deepEqual(heard.losses, [])
  await link.close()
})
