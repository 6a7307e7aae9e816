// Streams that break, and what is taken up again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Authorization } from '../../../src/model/authorization.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createHttpLink } from '../../../src/transport/dial/http.ts'
import { fetchHandler } from '../../../src/transport/serve/fetch.ts'
import { serveHttp } from '../../../src/transport/serve/node.ts'
import { startProxy } from '../../../tools/tcp-proxy.ts'
import { call, initialize, notification, peerOf, rpc, said, standIn } from '../serve/stand-in.ts'
import { event, respond, result, scripted, stream, type Script } from './scripted.ts'
import { agreementOn, talk, until } from './support.ts'

const fetching = { fetch: (url: URL, init: RequestInit) => fetch(url, init) }
const progress = (step: number): object =>
  notification('notifications/progress', { progressToken: 'p', progress: step })

/** A session whose GET stream is none of the test's business. */
function inSession(script: Script): Script {
  return (seen, response, request) => {
    if (seen.body.includes('"initialize"'))
      respond(response, 200, result('init', { protocolVersion: '2025-11-25' }), { 'mcp-session-id': 's-1' })
    else if (seen.body.includes('notifications/initialized')) respond(response, 202)
    else if (seen.method === 'DELETE') respond(response, 204)
    else if (seen.method === 'GET' && seen.headers['last-event-id'] === undefined) respond(response, 405)
    else script(seen, response, request)
  }
}

for (const [name, options] of Object.entries({ node: {}, fetch: fetching })) {
  test(`${name}: a stream that broke is taken up where it broke, and again`, async () => {
    await using server = await scripted(
      inSession(({ method, headers }, r) => {
        if (method === 'POST') {
          stream(r, event('', 'e.0'), event(progress(1), 'e.1'))
          setTimeout(() => r.destroy(), 10)
        } else if (headers['last-event-id'] === 'e.1') {
          stream(r, event(progress(2), 'e.2'))
          setTimeout(() => r.destroy(), 10)
        } else {
          stream(r, event(progress(3)), event(result(1), 'e.3'))
        }
      }),
    )
    const { agree, ask, heard, link } = await server.talk(options)
    await agree('2025-11-25')
    await ask(rpc(1, 'tools/call'))
    const steps = heard.messages.flatMap(({ message, received }) =>
      message.method === undefined ? [] : [[message.params?.['progress'], received.on]],
    )
    assert.deepEqual(steps, [
      [1, 1],
      [2, 1],
      [3, 1],
    ])
    const resumed = server.seen.filter(({ headers }) => headers['last-event-id'] !== undefined)
    assert.deepEqual(
      resumed.map(({ headers }) => headers['last-event-id']),
      ['e.1', 'e.2'],
    )
    assert.deepEqual(
      resumed.map(({ headers }) => [headers['mcp-session-id'], headers['mcp-protocol-version'], headers.accept]),
      [
        ['s-1', '2025-11-25', 'text/event-stream'],
        ['s-1', '2025-11-25', 'text/event-stream'],
      ],
    )
    // The stream is let go of with the answer, although the server would keep it.
    await until(() => server.gone.length === 3)
    assert.deepEqual(heard.losses, [])
    await link.close()
  })

  test(`${name}: a server that lets go in between is asked again when it said`, async () => {
    const at: number[] = []
    await using server = await scripted(
      inSession(({ method }, r) => {
        at.push(Date.now())
        stream(r, 'retry: 120\n', event('', `e.${at.length}`), ...(at.length === 4 ? [event(result(1), 'e.9')] : []))
        r.end()
        assert.equal(method, at.length === 1 ? 'POST' : 'GET')
      }),
    )
    const { agree, ask, link } = await server.talk(options)
    await agree('2025-11-25')
    await ask(rpc(1, 'tools/call'))
    for (const [index, time] of at.entries()) {
      if (index > 0) assert.ok(time - (at[index - 1] ?? 0) >= 115, `${at}`)
    }
    await link.close()
  })

  test(`${name}: what cannot be taken up is lost: refused, gone, or out of reach`, async () => {
    for (const [how, status, tries] of [
      ['refused', 405, 1],
      ['gone', 404, 1],
      ['out of order', 500, 6],
    ] as const) {
      await using server = await scripted(
        inSession(({ method }, r) => {
          if (method === 'GET') return respond(r, status)
          stream(r, event('', 'e.0'))
          setTimeout(() => r.destroy(), 5)
        }),
      )
      const { agree, send, heard, link } = await server.talk({ ...options, retryMs: 1 })
      await agree('2025-11-25')
      await send(rpc(1, 'tools/call'))
      await until(() => heard.losses.length > 0)
      const [{ id, failure } = {}] = heard.losses
      assert.deepEqual(
        [id, failure?.kind, failure?.ran, failure?.status],
        [1, 'ConnectionLost', 'unknown', status],
        how,
      )
      assert.equal(server.seen.filter(({ headers }) => headers['last-event-id'] !== undefined).length, tries)
      assert.equal(heard.expirations, how === 'gone' ? 1 : 0)
      await link.close()
    }
  })

  test(`${name}: a request whose server went away under its stream may have run`, async () => {
    await using server = await scripted(
      inSession((_seen, r) => {
        stream(r, event('', 'e.0'))
        setTimeout(() => void server[Symbol.asyncDispose](), 5)
      }),
    )
    const { agree, send, heard, link } = await server.talk({ ...options, retryMs: 1 })
    await agree('2025-11-25')
    await send(rpc(1, 'tools/call'))
    await until(() => heard.losses.length > 0)
    const [{ failure } = {}] = heard.losses
    assert.deepEqual([failure?.kind, failure?.ran], ['Unreachable', 'unknown'])
    await link.close()
  })

  test(`${name}: an id that no header can carry is not resumed from`, async () => {
    for (const [first, second] of [['\u2603x'], ['é'], ['e.0', '\u2603x']] as const) {
      await using server = await scripted(
        inSession(({ method }, r) => {
          stream(r, event('', method === 'POST' ? first : second))
          setTimeout(() => r.destroy(), 5)
        }),
      )
      const { agree, send, heard, link } = await server.talk({ ...options, retryMs: 1 })
      await agree('2025-11-25')
      await send(rpc(1, 'tools/call'))
      await until(() => heard.losses.length > 0)
      assert.deepEqual(
        heard.losses.map(({ failure }) => [failure.kind, failure.ran]),
        [['ConnectionLost', 'unknown']],
      )
      const resumed = server.seen.filter(({ headers }) => headers['last-event-id'] !== undefined)
      assert.equal(resumed.length, second === undefined ? 0 : 1)
      await link.close()
    }
  })

  test(`${name}: a resumption whose credentials cannot be had leaves it unknown whether the request ran`, async () => {
    await using server = await scripted(
      inSession((_seen, r) => {
        stream(r, event('', 'e.0'))
        setTimeout(() => r.destroy(), 5)
      }),
    )
    let isAway = false
    const authorization: Authorization = {
      context: 'test',
      headers: async () => {
        if (isAway) throw new Error('the keys are gone')
        return {}
      },
      challenged: async () => false,
    }
    const { agree, send, heard, link } = await server.talk({ ...options, authorization, retryMs: 1 })
    await agree('2025-11-25')
    await send(rpc(1, 'tools/call'))
    isAway = true
    await until(() => heard.losses.length > 0)
    assert.deepEqual(
      heard.losses.map(({ failure }) => [failure.kind, failure.ran]),
      [['Unauthorized', 'unknown']],
    )
    await link.close()
  })

  test(`${name}: without event ids, and where the revision resumes nothing, a broken stream is lost`, async () => {
    for (const [revision, id] of [
      ['2025-11-25', undefined],
      ['2026-07-28', 'e.0'],
    ] as const) {
      await using server = await scripted((_, r) => {
        stream(r, event(progress(1), id))
        setTimeout(() => r.destroy(), 5)
      })
      const { send, heard, link } = await server.talk(options)
      link.agree(agreementOn(revision))
      await send(rpc(1, 'tools/call'))
      await until(() => heard.losses.length > 0)
      await sleep(30)
      assert.deepEqual([server.seen.length, heard.losses.length], [1, 1])
      await link.close()
    }
  })

  test(`${name}: the stream of a session comes back, and where it has ids from where it broke`, async () => {
    let streams = 0
    await using server = await scripted(({ body, method, headers }, r) => {
      if (method === 'DELETE') return respond(r, 405)
      if (body.includes('"initialize"')) return respond(r, 200, result('init'), { 'mcp-session-id': 's' })
      if (method === 'POST') return respond(r, 202)
      streams += 1
      assert.equal(headers['last-event-id'], streams === 1 ? undefined : `g.${streams - 1}`)
      if (streams === 3) return respond(r, 503)
      stream(r, event(notification('notifications/message', { streams }), `g.${streams > 3 ? 2 : streams}`))
      if (streams < 5) setTimeout(() => r.destroy(), 5)
    })
    const { agree, heard, link } = await server.talk({ ...options, retryMs: 5 })
    streams = 0
    await agree('2025-03-26')
    const told = (): unknown[] =>
      heard.messages.flatMap(({ message, received }) =>
        message.method === undefined ? [] : [[message.params?.['streams'], received]],
      )
    await until(() => told().length >= 2)
    await until(() => streams >= 3)
    assert.deepEqual(told().slice(0, 2), [
      [1, {}],
      [2, {}],
    ])
    await link.close()
    const ended = server.seen.at(-1)
    assert.deepEqual([ended?.method, ended?.headers['mcp-session-id']], ['DELETE', 's'])
    const before = streams
    await sleep(50)
    assert.equal(streams, before)
  })
}

test('a stream that is to be had at once again, and brings nothing, is not asked for without a pause', async () => {
  for (const [name, next] of Object.entries<(r: Parameters<Script>[1], streams: number) => void>({
    refused: (r) => respond(r, 503),
    ended: (r) => void r.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
    destroyed: (r) => r.destroy(),
    'asks again': (r) => void r.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\n\n'),
    'ids only': (r, streams) => {
      stream(r, event('', `g.${streams}`))
      r.end()
    },
  })) {
    let streams = 0
    await using server = await scripted(({ body, method }, r) => {
      if (method === 'DELETE') return respond(r, 204)
      if (body.includes('"initialize"')) return respond(r, 200, result('init'), { 'mcp-session-id': 's' })
      if (method === 'POST') return respond(r, 202)
      streams += 1
      if (streams > 1) return next(r, streams)
      stream(r, 'retry: 0\n\n')
      r.end()
    })
    const { agree, link } = await server.talk()
    await agree('2025-11-25')
    await until(() => streams > 1)
    await sleep(450)
    await link.close()
    assert.ok(streams >= 3 && streams <= 7, `${name}: ${streams}`)
  }
})

test('the version header is sent as the revision has it, the session on everything', async () => {
  for (const [revision, version] of [
    ['2024-11-05', undefined],
    ['2025-03-26', undefined],
    ['2025-06-18', '2025-06-18'],
    ['2025-11-25', '2025-11-25'],
  ] as const) {
    await using server = await scripted(({ body, method }, r) => {
      if (body.includes('"initialize"')) respond(r, 200, result('init'), { 'mcp-session-id': 's', 'x-other': 'y' })
      else if (method === 'GET') respond(r, 405)
      else if (body.includes('"id":1')) respond(r, 200, result(1), { 'mcp-session-id': 'another' })
      else respond(r, 202)
    })
    const { agree, ask, send, link } = await server.talk({ headers: { 'X-Key': 'k', Accept: 'text/plain' } })
    await agree(revision)
    await ask(rpc(1, 'ping'))
    await send(notification('notifications/x'))
    await link.close()
    const [first, ...rest] = server.seen
    assert.deepEqual([first?.headers['mcp-protocol-version'], first?.headers['mcp-session-id']], [undefined, undefined])
    assert.equal(rest.length, version === undefined && revision < '2025' ? 4 : 5)
    for (const { headers, method } of rest) {
      assert.deepEqual(
        [headers['mcp-protocol-version'], headers['mcp-session-id'], headers['x-key']],
        [version, 's', 'k'],
      )
      if (method === 'POST') {
        assert.deepEqual(
          [headers.accept, headers['content-type']],
          ['application/json, text/event-stream', 'application/json'],
        )
      }
    }
  }
})

test('a session id that is no header of the specification is not taken', async () => {
  for (const id of ['a b', 'é', 'x'.repeat(5_000)]) {
    await using server = await scripted(({ body }, r) =>
      respond(r, body.includes('"id"') ? 200 : 202, result('init'), { 'mcp-session-id': id }),
    )
    const { agree, send, link } = await server.talk()
    await agree('2024-11-05')
    await send(notification('notifications/x'))
    await link.close()
    assert.deepEqual(
      server.seen.map(({ headers, method }) => [method, headers['mcp-session-id']]),
      [
        ['POST', undefined],
        ['POST', undefined],
        ['POST', undefined],
      ],
    )
  }
})

test('a session that the server ended: told once, and what was under way is lost', async () => {
  await using server = await scripted(({ body, method }, r) => {
    if (body.includes('"initialize"')) respond(r, 200, result('init'), { 'mcp-session-id': 's' })
    else if (body.includes('initialized')) respond(r, 202)
    else if (method === 'GET') respond(r, 405)
    else respond(r, 404, { jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'gone' } })
  })
  const { agree, send, heard, link } = await server.talk()
  await agree('2025-06-18')
  await Promise.all([send(rpc(1, 'ping')), send(rpc(2, 'ping'))])
  await until(() => heard.losses.length === 2)
  assert.deepEqual(
    heard.losses.map(({ failure }) => [failure.kind, failure.ran, failure.status]),
    [
      ['HttpStatus', 'no', 404],
      ['HttpStatus', 'no', 404],
    ].slice(0, 2),
  )
  assert.equal(heard.expirations, 1)
  await link.close()
  assert.ok(server.seen.every(({ method }) => method !== 'DELETE'))
})

test('a server without streams of its own is left alone', async () => {
  for (const status of [400, 404, 405, 501]) {
    await using server = await scripted(({ body, method }, r) => {
      if (body.includes('"initialize"')) respond(r, 200, result('init'), { 'mcp-session-id': 's' })
      else if (body.includes('initialized')) respond(r, 202)
      else if (method === 'GET') respond(r, status)
      else respond(r, 200, result(1))
    })
    const { agree, ask, heard, link } = await server.talk({ retryMs: 1 })
    await agree('2025-11-25')
    await until(() => server.seen.some(({ method }) => method === 'GET'))
    await sleep(20)
    await ask(rpc(1, 'ping'))
    assert.deepEqual([heard.ends, heard.losses, heard.expirations], [[], [], 0])
    assert.equal(server.seen.filter(({ method }) => method === 'GET').length, 1)
    await link.close()
  }
})

test('with our own server: a call whose connection drops, and one that the server lets go of', async () => {
  const server = await serveHttp(peerOf(standIn()), { store: memoryStore(), retryMs: 20 })
  const proxy = await startProxy({ host: '127.0.0.1', port: server.port })
  const { agree, send, answer, ask, heard, link } = await talk(
    createHttpLink(new URL(`http://127.0.0.1:${proxy.port}/mcp`)),
  )
  await agree('2025-11-25')
  await send(call(1, 'progress', { steps: 8, ms: 40 }))
  await until(() => heard.messages.some(({ message }) => message.params?.['progress'] === 2))
  proxy.cut()
  assert.equal(said(await answer(1)), 'done')
  const steps = heard.messages.flatMap(({ message }) =>
    message.method === 'notifications/progress' ? [message.params?.['progress']] : [],
  )
  assert.deepEqual(steps, [1, 2, 3, 4, 5, 6, 7, 8])
  assert.equal(said(await ask(call(2, 'leave'))), 'still here')
  assert.deepEqual([heard.losses, heard.ends], [[], []])
  await link.close()
  await proxy.close()
  await server.close({ graceMs: 100 })
})

test('with our own server: the id of a session is that of the answer to its handshake, and only there', async () => {
  const handler = fetchHandler(peerOf(standIn()), { store: memoryStore() })
  const sent: (string | null)[] = []
  const fetch = (url: URL, init: RequestInit): Promise<Response> => {
    const request = new Request(url, init)
    sent.push(request.headers.get('mcp-session-id'))
    return handler(request)
  }
  const { ask, link } = await talk(createHttpLink(new URL('http://localhost/mcp'), { fetch }))
  await ask(initialize('init', '2025-06-18'))
  link.agree(agreementOn('2025-06-18'))
  await ask(rpc(1, 'ping'))
  assert.equal(sent[0], null)
  assert.match(sent[1] ?? '', /^[!-~]{20,}$/)
  await link.close()
  assert.deepEqual(sent.slice(1), [sent[1], sent[1]])
  await handler.close({ graceMs: 10 })
})
