// Weaknesses that were published of other implementations, each shown not to be one here. Where a test elsewhere is
// named after one (http.test.ts has those about Host, Origin and open doors), it is not repeated.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { createServer, form, resource, serveHttp, template, tool } from '../../src/index.ts'
import type { Server, ServeHttpOptions } from '../../src/index.ts'
import { answersAlone, byToken, doors, headersFor, openMemory, spoken } from './doors.ts'
import { call, modern, modernCall, target, text } from './requests.ts'

async function open(t: TestContext, server: Server, options: ServeHttpOptions = {}) {
  const http = await serveHttp(server, options)
  t.after(() => http.close({ graceMs: 0 }))
  const post = (body: string, headers: Record<string, string> = {}, session?: string): Promise<Response> =>
    fetch(http.url, { method: 'POST', body, headers: { ...headersFor(body, session), ...headers } })
  return { ...http, post }
}

const initialize = text({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
})

test('CVE-2026-33252: a web page cannot post a message as text, as a form, or with a type that resembles JSON', async (t) => {
  let ran = 0
  const { post } = await open(
    t,
    createServer({ name: 's', version: '1', tools: [tool('wipe', {}, () => String((ran += 1)))] }),
  )
  const types = [
    'text/plain',
    'text/plain; application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'xapplication/json',
    'application/json-patch+json',
    'application/json; charset=utf-16',
    'application/json, text/plain',
  ]
  for (const type of types)
    assert.equal((await post(text(modernCall(1, 'wipe')), { 'content-type': type })).status, 415, type)
  assert.equal((await post(text(modernCall(1, 'wipe')), { 'content-encoding': 'gzip' })).status, 415)
  assert.equal((await post(text(modernCall(1, 'wipe')), { origin: 'https://evil.example' })).status, 403)
  assert.equal(ran, 0)
  assert.equal(
    (await post(text(modernCall(1, 'wipe')), { 'content-type': 'Application/JSON; charset="UTF-8"' })).status,
    200,
  )
})

test('CVE-2026-59950: a connection is never upgraded to a WebSocket', async (t) => {
  const { port } = await open(t, target().server)
  const said = await new Promise<string>((resolve) => {
    let heard = ''
    const lines = [
      'GET /mcp HTTP/1.1',
      'host: localhost',
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      '',
      '',
    ]
    const socket = connect(port, '127.0.0.1', () => socket.write(lines.join('\r\n')))
    socket.on('data', (chunk) => {
      heard += chunk.toString()
      socket.destroy()
    })
    socket.on('close', () => resolve(heard)).on('error', () => {})
  })
  assert.match(said, /^HTTP\/1\.1 4\d\d/)
})

test('CVE-2026-52869, CVE-2026-33946, CVE-2025-6515: a session id is no authority, cannot be guessed, and is in no URL', async (t) => {
  const { post, port } = await open(t, target().server, { authenticate: byToken })
  const as = (who: string): Record<string, string> => ({ authorization: `Bearer ${who}` })
  const opened = await Promise.all([...'abcdefgh'].map(() => post(initialize, as('ada'))))
  const ids = opened.map((response) => response.headers.get('mcp-session-id') ?? '')
  assert.equal(new Set(ids.map((id) => id.slice(0, 24))).size, ids.length)
  const [id = ''] = ids
  assert.equal((await post(text(call(1, 'echo')), as('ada'), id)).status, 200)
  // Another's session and none at all: the same status and the same bytes.
  const others = await Promise.all([
    post(text(call(1, 'echo')), as('eve'), id),
    post(text(call(1, 'echo')), {}, id),
    post(text(call(1, 'echo')), as('eve'), 'no-such-session'),
    post(text(call(1, 'echo')), as('eve'), `${id.slice(0, -2)}AA`),
  ])
  const answers = await Promise.all(others.map(async (response) => `${response.status} ${await response.text()}`))
  assert.equal(new Set(answers).size, 1, answers.join('\n'))
  assert.match(answers[0] ?? '', /^404/)
  assert.equal(
    (
      await fetch(`http://127.0.0.1:${port}/mcp?sessionId=${id}`, {
        method: 'POST',
        body: text(call(1, 'echo')),
        headers: { ...headersFor(text(call(1, 'echo')), undefined), ...as('ada') },
      })
    ).status,
    400,
  )

  const stream = await fetch(`http://127.0.0.1:${port}/sse`, { headers: { accept: 'text/event-stream', ...as('ada') } })
  const reader = stream.body?.getReader()
  const path = /data: (\S+)/.exec(new TextDecoder().decode((await reader?.read())?.value))?.[1] ?? ''
  assert.ok((new URL(path, 'http://localhost').searchParams.get('id')?.length ?? 0) >= 22, path)
  const postTo = (who: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      body: initialize,
      headers: { 'content-type': 'application/json', ...as(who) },
    })
  assert.equal((await postTo('eve')).status, 404)
  assert.equal((await postTo('ada')).status, 202)
  await reader?.cancel()
})

test('CVE-2026-0621: exploded URI templates do not backtrack', async () => {
  const server = createServer({
    name: 's',
    version: '1',
    resources: [
      template('files://{/path*}', { name: 'a' }, () => 'a'),
      template('q://x{?filters*,more*}', { name: 'b' }, () => 'b'),
      template('v://{a}{b}{c}{d}{e}/end', { name: 'c' }, () => 'c'),
    ],
  })
  const door = await openMemory(server)
  const started = performance.now()
  for (const uri of [
    `files://${'/a'.repeat(50_000)}!`,
    `q://x?${'a=b&'.repeat(50_000)}\n`,
    `v://${'a,'.repeat(50_000)}`,
    `files://${'%2F'.repeat(30_000)}%`,
  ]) {
    const { message } = await door.say(text(modern(1, 'resources/read', { uri })))
    assert.ok(message, uri.slice(0, 20))
  }
  assert.ok(performance.now() - started < 2_000)
  await door.close()
})

test('CVE-2026-27896: keys are exactly as written, and a header that is unlike the body is refused', async (t) => {
  const { post } = await open(t, target().server)
  const good = modernCall(1, 'echo', { a: 1 }) as { params: object }
  const { params } = good
  for (const wrong of [
    { JSONRPC: '2.0', id: 1, method: 'tools/call', params },
    { jsonrpc: '2.0', id: 1, Method: 'tools/call', params },
    { jsonrpc: '2.0', id: 1, METHOD: 'x', method: 'tools/list', params },
  ]) {
    const { status } = await post(text(wrong), headersFor(text(good), undefined))
    assert.equal(status, 400, text(wrong))
  }
  const named = { ...good, params: { ...params, Name: 'wait' } }
  assert.match(await (await post(text(named), { 'mcp-name': 'echo' })).text(), /"result"/)
  assert.match(await (await post(text(good), { 'mcp-name': 'Echo' })).text(), /-32020/)
  assert.match(await (await post(text(good), { 'mcp-method': 'Tools/Call' })).text(), /-32020/)
})

test('CVE-2026-27896, own keys only: names that every object inherits are names that nobody registered', async () => {
  const { server } = target()
  const ask = async (revision: string, method: string, params: object): Promise<string> => {
    const door = await openMemory(server)
    if (revision !== '2026-07-28') await door.shake(revision)
    const message = revision === '2026-07-28' ? modern(1, method, params) : { jsonrpc: '2.0', id: 1, method, params }
    const answer = text((await door.say(text(message))).message ?? {})
    await door.close()
    return answer
  }
  for (const revision of ['2025-06-18', '2026-07-28']) {
    const absent = await ask(revision, 'tools/call', { name: 'absent' })
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
      assert.equal(await ask(revision, 'tools/call', { name }), absent, name)
      assert.match(await ask(revision, name, {}), /-32601/)
    }
  }
  const door = await openMemory(server)
  const polluting = text(modernCall(1, 'echo')).replace(
    '"arguments":{}',
    '"arguments":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
  )
  assert.ok((await door.say(polluting)).message?.result)
  assert.equal(({} as { polluted?: number }).polluted, undefined)
  await door.close()
})

test('CVE-2026-39313: a body that never ends is refused at the cap, and what follows it is thrown away', async (t) => {
  const { port } = await open(t, target().server, { caps: { maxMessageBytes: 100_000 } })
  const before = process.memoryUsage().rss
  const said = await new Promise<string>((resolve) => {
    let heard = ''
    const socket = connect(port, '127.0.0.1')
    socket.write(
      [
        'POST /mcp HTTP/1.1',
        'host: localhost',
        'content-type: application/json',
        'transfer-encoding: chunked',
        '',
        '',
      ].join('\r\n'),
    )
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
    const more = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket
      .on('drain', more)
      .on('error', () => {})
      .on('close', () => resolve(heard))
    socket.on('data', (data) => (heard += data.toString()))
    more()
  })
  assert.match(said, /^HTTP\/1\.1 413/)
  assert.ok(process.memoryUsage().rss - before < 150 * 1024 * 1024)
})

test('CVE-2025-53365, CVE-2025-53366: no malformed input ends the server, on any door', async () => {
  const deep = '['.repeat(200_000)
  const malformed = [
    '{',
    '{}',
    '12',
    'null',
    '"x"',
    '[]',
    '[[]]',
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":{}}',
    '{"jsonrpc":"2.0","id":1,"method":5}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":[]}}',
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":null}',
    '{"jsonrpc":"2.0","id":1,"method":"initialize"}',
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":{},"capabilities":[],"clientInfo":null}}',
    '{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
    '\u0000',
    deep,
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'{"a":'.repeat(100_000)}`,
    ...['\u2028', '\u0085', '\u0000'].map((odd) => text(modernCall(1, `x${odd}`))),
  ]
  for (const [name, openDoor] of Object.entries(doors)) {
    const door = await openDoor(target().server)
    for (const bad of malformed) {
      // A socket lets go of whoever does not begin with JSON.
      if (name === 'socket' && !/^[[{]/.test(bad)) continue
      const { message, status } = await door.say(bad, 50)
      assert.doesNotMatch(text(message ?? {}), /\bat .*\.ts|node:internal|stack/i)
      assert.ok(status === undefined || status < 500, `${name} ${status} ${bad.slice(0, 80)}`)
    }
    if (!answersAlone(name)) await door.shake('2025-06-18')
    assert.ok((await door.say(spoken(name, text(modernCall('alive', 'echo'))))).message?.result, name)
    await door.close()
  }
})

test('forged and replayed requestState: good for one caller, tool and arguments, and for nothing when altered', async () => {
  const sure = form({ type: 'object', properties: { sure: { type: 'boolean' } } })
  let ran = 0
  const asking = (name: string) =>
    tool(name, { input: { type: 'object' } }, async (_args, ctx) => {
      const { action } = await ctx.elicit('sure', sure, 'Sure?')
      ran += 1
      return action
    })
  const server = createServer({ name: 's', version: '1', tools: [asking('deploy'), asking('destroy')] })
  const able = { elicitation: { form: {} } }
  const answers = { sure: { action: 'accept', content: { sure: true } } }
  const door = await openMemory(server, { as: 'ada' })
  const eve = await openMemory(server, { as: 'eve' })
  const first = await door.say(text(modern(1, 'tools/call', { name: 'deploy', arguments: { env: 'prod' } }, able)))
  const requestState = String(first.message?.result?.['requestState'])
  assert.ok(requestState.length > 40, text(first))
  const retry = (over: object): string =>
    text(
      modern(
        2,
        'tools/call',
        { name: 'deploy', arguments: { env: 'prod' }, inputResponses: answers, requestState, ...over },
        able,
      ),
    )
  const flipped = requestState.slice(0, 20) + (requestState[20] === 'A' ? 'B' : 'A') + requestState.slice(21)
  const forged: readonly (readonly [typeof door, object])[] = [
    [door, { arguments: { env: 'dev' } }],
    [door, { name: 'destroy' }],
    [eve, {}],
    [door, { requestState: flipped }],
    [door, { requestState: `${requestState}=` }],
    [door, { requestState: '' }],
    [door, { requestState: requestState.slice(0, -1) }],
  ]
  for (const [who, over] of forged) {
    const { message } = await who.say(retry(over))
    assert.equal(message?.error?.code, -32602, text(over))
  }
  assert.equal(ran, 0)
  assert.ok((await door.say(retry({}))).message?.result)
  await door.say(retry({}))
  assert.equal(ran, 1, 'a state that was used up does not run the tool again')
  await Promise.all([door.close(), eve.close()])
})

test('GHSA-g53w-w6mj-hrpp, GHSA-8pcq-mx48-hjvj: there is no built-in key: what one server seals no other opens', async (t) => {
  const make = (): Server => createServer({ name: 's', version: '1', tools: [tool('echo', {}, () => 'x')] })
  const [one, other] = [await open(t, make()), await open(t, make())]
  const id = (await one.post(initialize)).headers.get('mcp-session-id') ?? ''
  assert.equal((await one.post(text(call(1, 'echo')), {}, id)).status, 200)
  assert.equal((await other.post(text(call(1, 'echo')), {}, id)).status, 404)
})

test('remote $ref: a schema is never fetched; a tool that needs one is refused when it is added', () => {
  const fetched: string[] = []
  const original = globalThis.fetch
  globalThis.fetch = (input) => {
    fetched.push(String(input))
    return Promise.reject(new Error('no'))
  }
  try {
    assert.throws(
      () =>
        createServer({
          name: 's',
          version: '1',
          tools: [
            tool(
              'remote',
              { input: { type: 'object', properties: { a: { $ref: 'https://evil.example/schema.json' } } } },
              () => 'x',
            ),
          ],
        }),
      /remote/,
    )
  } finally {
    globalThis.fetch = original
  }
  assert.deepEqual(fetched, [])
})

test('log injection: a name with line ends reaches the log as one escaped field', async () => {
  const lines: string[] = []
  const log = (message: string, fields?: object): void =>
    void lines.push(
      `${message} ${Object.values(fields ?? {})
        .map(String)
        .join(' ')}`,
    )
  const server = createServer({
    name: 's',
    version: '1',
    resources: [resource('a:b', { name: 'b' }, () => 'b')],
    logger: { debug: log, info: log, warn: log, error: log },
  })
  const door = await openMemory(server)
  await door.say(text(modernCall(1, `x\n[error] all is lost ${'y'.repeat(1_000)}`)))
  await door.say(text(modern(2, 'resources/read', { uri: 'a:\n[error] all is lost' })))
  assert.ok(lines.length > 0)
  for (const line of lines) assert.ok(!line.includes('\n') && line.length < 300, line)
  await door.close()
})
