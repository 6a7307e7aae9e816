// What a server can get wrong in one response, and what the link makes of it.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createHttpLink } from '../../../src/transport/dial/http.ts'
import { notification, rpc } from '../serve/stand-in.ts'
import { error, event, respond, result, scripted, stream, type Script } from './scripted.ts'
import { failureOf, talk, until, type Talk } from './support.ts'

const ways = { node: {}, fetch: { fetch: (url: URL, init: RequestInit) => fetch(url, init) } }
const small = { caps: { maxMessageBytes: 100_000 } }

/** What became of request 1: its answers with their status, or the failure. */
async function outcome({ send, heard }: Talk): Promise<unknown> {
  try {
    await send(rpc(1, 'ping'))
  } catch (failure) {
    return { rejected: describe(failure) }
  }
  await until(() => heard.losses.length + heard.messages.length > 0)
  await sleep(20)
  return {
    ...(heard.messages.length > 0 && {
      messages: heard.messages.map(({ message, received }) => [
        message.id,
        message.error?.code ?? 'result',
        received.status,
        received.on,
      ]),
    }),
    ...(heard.losses.length > 0 && { lost: heard.losses.map(({ failure }) => describe(failure)) }),
  }
}

const describe = (failure: unknown): string => {
  const { kind, ran, status, retryAfter } = failure as Record<string, unknown>
  return [kind, ran, status, retryAfter].filter((one) => one !== undefined).join(' ')
}

const html = { 'content-type': 'text/html' }
const sse = { 'content-type': 'text/event-stream' }

const responses: readonly (readonly [what: string, script: Script, outcome: unknown])[] = [
  ['JSON', (_, r) => respond(r, 200, result(1)), { messages: [[1, 'result', 200, 1]] }],
  [
    'JSON with a charset',
    (_, r) => respond(r, 200, result(1), { 'content-type': 'Application/JSON; charset=utf-8' }),
    { messages: [[1, 'result', 200, 1]] },
  ],
  [
    'JSON that calls itself text',
    (_, r) => respond(r, 200, result(1), { 'content-type': 'text/plain' }),
    { messages: [[1, 'result', 200, 1]] },
  ],
  [
    'a batch',
    (_, r) => respond(r, 200, [rpc('q', 'ping'), result(1)]),
    {
      messages: [
        ['q', 'result', 200, 1],
        [1, 'result', 200, 1],
      ],
    },
  ],
  [
    'a stream in odd pieces',
    (_, r) =>
      respond(r, 200, `: hi\r\r\ndata: {"jsonrpc":"2.0",\r\ndata:"id":1,"result":{}}\r\n\r\n`, {
        'content-type': 'Text/Event-Stream; x=y',
      }),
    { messages: [[1, 'result', 200, 1]] },
  ],
  [
    'the answer twice',
    (_, r) => respond(r, 200, event(result(1)) + event(result(1)), sse),
    {
      messages: [
        [1, 'result', 200, 1],
        [1, 'result', 200, 1],
      ],
    },
  ],
  [
    'the id as a string',
    (_, r) => respond(r, 200, result('1')),
    { messages: [['1', 'result', 200, 1]], lost: ['ProtocolViolation unknown'] },
  ],
  [
    'another id',
    (_, r) => respond(r, 200, result(2)),
    { messages: [[2, 'result', 200, 1]], lost: ['ProtocolViolation unknown'] },
  ],
  [
    'another id on a stream',
    (_, r) => respond(r, 200, event(result(2)), sse),
    { messages: [[2, 'result', 200, 1]], lost: ['ConnectionLost unknown'] },
  ],
  ['an error without an id', (_, r) => respond(r, 200, error(undefined)), { messages: [[undefined, -32600, 200, 1]] }],
  ['nothing', (_, r) => respond(r, 200), { lost: ['ProtocolViolation unknown'] }],
  ['202', (_, r) => respond(r, 202), { lost: ['ProtocolViolation unknown'] }],
  ['204', (_, r) => respond(r, 204), { lost: ['ProtocolViolation unknown'] }],
  ['a page', (_, r) => respond(r, 200, '<html>', html), { lost: ['ProtocolViolation unknown'] }],
  ['half of JSON', (_, r) => respond(r, 200, '{"jsonrpc":"2.0","id":1,'), { lost: ['ProtocolViolation unknown'] }],
  [
    'a key twice',
    (_, r) => respond(r, 200, '{"jsonrpc":"2.0","id":1,"id":1,"result":{}}'),
    { lost: ['ProtocolViolation unknown'] },
  ],
  [
    'deep nesting',
    (_, r) => respond(r, 200, `{"jsonrpc":"2.0","id":1,"result":${'['.repeat(9_999)}${']'.repeat(9_999)}}`),
    { lost: ['TooLarge unknown'] },
  ],
  [
    'a stream that calls itself JSON',
    (_, r) => respond(r, 200, event(result(1))),
    { lost: ['ProtocolViolation unknown'] },
  ],
  ['JSON that calls itself a stream', (_, r) => respond(r, 200, result(1), sse), { lost: ['ConnectionLost unknown'] }],
  [
    'a stream without an answer',
    (_, r) => respond(r, 200, event(notification('notifications/x')), sse),
    { messages: [[undefined, 'result', 200, 1]], lost: ['ConnectionLost unknown'] },
  ],
  ['400 with an error', (_, r) => respond(r, 400, error(1)), { messages: [[1, -32600, 400, 1]] }],
  ['400 with an error of no id', (_, r) => respond(r, 400, error(null)), { messages: [[null, -32600, 400, 1]] }],
  [
    '400 with an error and no content type',
    (_, r) => respond(r, 400, error(undefined), { 'content-type': '' }),
    { messages: [[undefined, -32600, 400, 1]] },
  ],
  ['400 with something of its own', (_, r) => respond(r, 400, { error: 'bad' }), { lost: ['HttpStatus no 400'] }],
  ['400 with a result', (_, r) => respond(r, 400, result(1)), { lost: ['HttpStatus no 400'] }],
  ['401', (_, r) => respond(r, 401, error(1), { 'www-authenticate': 'Bearer' }), { lost: ['Unauthorized no 401'] }],
  ['403', (_, r) => respond(r, 403, 'go away', html), { lost: ['HttpStatus no 403'] }],
  [
    '403 with a challenge',
    (_, r) => respond(r, 403, '', { 'www-authenticate': 'Bearer error="insufficient_scope"' }),
    { lost: ['Unauthorized no 403'] },
  ],
  ['404', (_, r) => respond(r, 404, 'nothing here', html), { lost: ['HttpStatus no 404'] }],
  ['404 with an error', (_, r) => respond(r, 404, error(1, -32601)), { messages: [[1, -32601, 404, 1]] }],
  ['408', (_, r) => respond(r, 408), { lost: ['HttpStatus unknown 408'] }],
  ['429', (_, r) => respond(r, 429, '', { 'retry-after': '7' }), { lost: ['HttpStatus no 429 7'] }],
  ['500', (_, r) => respond(r, 500, 'oops', html), { lost: ['HttpStatus unknown 500'] }],
  [
    '503 with an error',
    (_, r) => respond(r, 503, error(1, -32000), { 'retry-after': '2' }),
    { messages: [[1, -32000, 503, 1]] },
  ],
  ['302', (_, r) => respond(r, 302, '', { location: '/elsewhere' }), { lost: ['HttpStatus no 302'] }],
  [
    '307 to elsewhere',
    (_, r) => respond(r, 307, '', { location: 'http://localhost:9/mcp' }),
    { lost: ['HttpStatus no 307'] },
  ],
  ['307 in a circle', (_, r) => respond(r, 307, '', { location: '/mcp' }), { lost: ['HttpStatus no 307'] }],
  [
    '308 on the origin',
    ({ url }, r) => (url === '/mcp' ? respond(r, 308, '', { location: '/there' }) : respond(r, 200, result(1))),
    { messages: [[1, 'result', 200, 1]] },
  ],
  ['a connection that ends instead', (_, r) => r.destroy(), { rejected: 'ConnectionLost unknown' }],
  [
    'a body that breaks off',
    (_, r) => (
      r.writeHead(200, { 'content-length': '99' }).write('{"jsonrpc"'),
      void setTimeout(() => r.destroy(), 10)
    ),
    { lost: ['ConnectionLost unknown'] },
  ],
  [
    'a stream that breaks off',
    (_, r) => (stream(r), void setTimeout(() => r.destroy(), 10)),
    { lost: ['ConnectionLost unknown'] },
  ],
  [
    'an error that breaks off',
    (_, r) => (r.writeHead(500, { 'content-length': '99' }).write('{'), void setTimeout(() => r.destroy(), 10)),
    { lost: ['HttpStatus unknown 500'] },
  ],
]

for (const [name, options] of Object.entries(ways)) {
  for (const [what, script, expected] of responses) {
    test(`${name}: ${what}`, async () => {
      await using server = await scripted(script)
      const talking = await server.talk(options)
      assert.deepEqual(await outcome(talking), expected)
      await talking.link.close()
    })
  }

  const endless: Record<string, Script> = {
    'a body': (_, r) => pour(r.writeHead(200)),
    'a stream of one event': (_, r) => (stream(r, 'data: '), pour(r)),
    'a stream of one line of nothing': (_, r) => (stream(r), pour(r)),
    'a refusal': (_, r) => pour(r.writeHead(500)),
  }
  for (const [what, script] of Object.entries(endless)) {
    test(`${name}: ${what} without an end is cut off`, async () => {
      await using server = await scripted(script)
      const talking = await server.talk({ ...options, ...small })
      const lost = what === 'a refusal' ? 'HttpStatus unknown 500' : 'TooLarge unknown'
      assert.deepEqual(await outcome(talking), { lost: [lost] })
      await until(() => server.gone.length > 0)
      await talking.link.close()
    })
  }

  test(`${name}: nobody there is unreachable, and nothing ran`, async () => {
    const server = await scripted(() => {})
    await server[Symbol.asyncDispose]()
    const { send, link } = await server.talk(options)
    const failure = await failureOf(send(rpc(1, 'ping')))
    assert.deepEqual([failure.kind, failure.ran], ['Unreachable', 'no'])
    const unknown = await talk(createHttpLink(new URL('http://nowhere.invalid/mcp'), options))
    assert.deepEqual(describe(await failureOf(unknown.send(rpc(1, 'ping')))), 'Unreachable no')
    await link.close()
    await unknown.link.close()
  })

  test(`${name}: a header that cannot be written down is told as that`, async () => {
    await using server = await scripted(() => {})
    const { send, heard, link } = await server.talk(options)
    for (const headers of [{ 'x-a': 'line\nend' }, { 'x ä': 'name' }, { 'x-a': '✓' }]) {
      const failure = await failureOf(send(rpc(1, 'ping'), { headers }))
      assert.equal(describe(failure), 'Unreachable no')
      assert.match(failure.message, /cannot be sent/)
    }
    assert.deepEqual([heard.losses, server.seen], [[], []])
    await link.close()
  })

  test(`${name}: an aborted request is let go of, and nothing is said of it`, async () => {
    await using server = await scripted(({ body }, r) => {
      if (body.includes('stream')) stream(r)
      else if (body.includes('json')) r.writeHead(200).write('{')
    })
    const { send, heard, link } = await server.talk(options)
    for (const [index, method] of ['silent', 'json', 'stream'].entries()) {
      const aborting = new AbortController()
      const sent = send(rpc(method, method), { signal: aborting.signal })
      await until(() => server.seen.length > index)
      await sleep(20)
      aborting.abort()
      await sent
      await until(() => server.gone.length > index)
    }
    const early = AbortSignal.abort()
    await send(rpc(9, 'never'), { signal: early })
    await sleep(20)
    assert.deepEqual([heard.losses, heard.messages, server.seen.length], [[], [], 3])
    await link.close()
  })

  test(`${name}: closing lets go of everything, and nothing is said any more`, async () => {
    await using server = await scripted(({ body }, r) => void (body.includes('stream') && stream(r)))
    const { send, heard, link } = await server.talk(options)
    await send(rpc(1, 'stream'))
    const stuck = [send(rpc(2, 'silent')), send(notification('notifications/x'))]
    await until(() => server.seen.length === 3)
    await link.close()
    await Promise.all(stuck)
    await until(() => server.gone.length === 3)
    assert.deepEqual([heard.losses, heard.ends, heard.messages], [[], [], []])
    assert.equal(describe(await failureOf(send(rpc(3, 'ping')))), 'ConnectionLost no')
  })

  test(`${name}: what has no answer is acknowledged, refused, or not acknowledged in time`, async () => {
    const script: Script = ({ body }, r) => {
      if (body.includes('streamed')) stream(r)
      else if (body.includes('refused')) respond(r, 400, error(undefined))
      else if (body.includes('fine')) respond(r, body.includes('json') ? 200 : 202, body.includes('json') ? 'null' : '')
    }
    await using server = await scripted(script)
    const { send, heard, link } = await server.talk({ ...options, acknowledgeTimeoutMs: 50 })
    await send(notification('fine'))
    await send(notification('fine/json'))
    await send(notification('streamed'))
    await until(() => server.gone.length === 1)
    const refused = await failureOf(send(notification('refused')))
    assert.match(refused.message, /status 400: no$/)
    assert.equal(describe(refused), 'HttpStatus no 400')
    assert.equal(describe(await failureOf(send(notification('late')))), 'TimedOut unknown')
    assert.deepEqual([heard.messages, heard.losses], [[], []])
    await link.close()
  })

  test(`${name}: a stream that stays open after its answer is closed`, async () => {
    await using server = await scripted((_, r) => stream(r, event(result(1))))
    const { ask, heard, link } = await server.talk(options)
    await ask(rpc(1, 'ping'))
    await until(() => server.gone.length === 1)
    assert.deepEqual(heard.losses, [])
    await link.close()
  })

  test(`${name}: an acknowledgement without an end is cut off`, async () => {
    await using server = await scripted(({ body }, r) => pour(r.writeHead(body.includes('refused') ? 400 : 202)))
    const { send, link } = await server.talk(options)
    await send(notification('x'))
    assert.equal(describe(await failureOf(send(notification('refused')))), 'HttpStatus no 400')
    await until(() => server.gone.length === 2)
    await link.close()
  })

  test(`${name}: a limit to silence minds neither an answer in time nor what breaks before it`, async () => {
    await using server = await scripted(({ body }, r) =>
      body.includes('break') ? r.destroy() : respond(r, 200, result(1)),
    )
    const { ask, send, heard, link } = await server.talk({ ...options, idleTimeoutMs: 30 })
    await ask(rpc(1, 'ping'))
    assert.equal(describe(await failureOf(send(rpc(2, 'break')))), 'ConnectionLost unknown')
    await sleep(60)
    assert.deepEqual([heard.losses, heard.messages.length], [[], 1])
    await link.close()
  })

  test(`${name}: silence on a response is the end of it, where there is a limit`, async () => {
    await using server = await scripted((_, r) => {
      stream(r)
      let comments = 0
      const timer = setInterval(() => (comments++ < 5 ? r.write(':\n\n') : clearInterval(timer)), 20)
    })
    const { send, heard, link } = await server.talk({ ...options, idleTimeoutMs: 60 })
    const begun = Date.now()
    await send(rpc(1, 'ping'))
    await until(() => heard.losses.length > 0)
    assert.ok(Date.now() - begun > 150)
    assert.equal(heard.losses[0]?.failure.kind, 'ConnectionLost')
    await until(() => server.gone.length === 1)
    await link.close()
  })
}

/** Writes for as long as anybody reads. */
function pour(response: import('node:http').ServerResponse): void {
  const piece = 'x'.repeat(1 << 16)
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', more)
  more()
}

test('node: headers without an end are cut off', async () => {
  await using server = await scripted((_, r) => respond(r, 200, result(1), { 'x-big': 'x'.repeat(50_000) }))
  const { send, link } = await server.talk()
  assert.equal(describe(await failureOf(send(rpc(1, 'ping')))), 'TooLarge unknown')
  await link.close()
})

test('node: what is no HTTP is told as that', async () => {
  const server = createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH\r\n')).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const { send, link } = await talk(createHttpLink(url))
  assert.equal(describe(await failureOf(send(rpc(1, 'ping')))), 'ProtocolViolation unknown')
  await link.close()
  server.close()
})

test('node: a connection that does not come about in time is none', async () => {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // TLS begins, and nobody answers.
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const { send, link } = await talk(createHttpLink(url, { connectTimeoutMs: 50 }))
  assert.equal(describe(await failureOf(send(rpc(1, 'ping')))), 'Unreachable no')
  await link.close()
  server.close()
})
