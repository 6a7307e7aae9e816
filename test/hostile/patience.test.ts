// How long a door waits, and for how much: at the limit, and one past it. Where a timer of this process tells, the test
// moves the time by hand; what Node or the kernel times is given wide margins.
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { PassThrough, Writable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createServer, fetchHandler, resource, serveHttp, serveStdio, tool } from '../../src/index.ts'
import { serveSocket } from '../../src/socket.ts'
import type { SocketDoorOptions } from '../../src/socket.ts'
import { headersFor, openHttp } from './doors.ts'
import { call, modern, modernCall, target, text } from './requests.ts'

const realSetTimeout = setTimeout
const pause = (ms: number): Promise<void> => new Promise((resolve) => realSetTimeout(resolve, ms))

/** From now on time passes only where the test says so. */
function handTime(t: TestContext, ...apis: ('setTimeout' | 'setInterval' | 'Date')[]): (ms: number) => void {
  t.mock.timers.enable({ apis })
  return (ms) => t.mock.timers.tick(ms)
}

/** Waits until `holds`, while the time stands. */
async function until(holds: () => boolean): Promise<void> {
  for (let turns = 0; turns < 2_000; turns++) {
    if (holds()) return
    await pause(1)
  }
  throw new Error(`waited in vain for ${holds.toString()}`)
}

/** Lets whatever can happen now happen. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await turn()
  await pause(20)
}

const dialled = new Set<Socket>()

/** A client on a raw connection. */
function dial(t: TestContext, port: number | undefined): { socket: Socket; said(): string; closed(): boolean } {
  let heard = ''
  const socket = connect({ port: port ?? 0, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString())).on('error', () => {})
  dialled.add(socket)
  t.after(() => socket.destroy())
  return { socket, said: () => heard, closed: () => socket.destroyed || socket.readableEnded }
}

async function openSocket(t: TestContext, options: SocketDoorOptions = {}) {
  const { server, release } = target()
  const listening = await serveSocket(server, options)
  t.after(() => {
    t.mock.timers.reset()
    for (const socket of dialled) socket.destroy()
    return listening.close()
  })
  return { port: listening.port, release }
}

/** A server that knows how often it ran anything. */
function counting() {
  let count = 0
  const echo = tool('echo', {}, () => `run ${(count += 1)}`)
  return { server: createServer({ name: 'counting', version: '1', tools: [echo] }), ran: () => count }
}

for (const [what, sent] of [
  ['nothing', 0],
  ['a part', 20],
  ['all but its end', undefined],
] as const) {
  test(`fetch: a body of which ${what} came in time is refused as late, and never run`, async (t) => {
    const { server, ran } = counting()
    const handler = fetchHandler(server, { caps: { messageTimeoutMs: 1_000 } })
    const tick = handTime(t, 'setTimeout')
    const message = Buffer.from(text(modernCall(1, 'echo')))
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => sent !== 0 && controller.enqueue(message.subarray(0, sent)),
    })
    const headers = headersFor(message, undefined)
    const answering = handler(new Request('http://localhost/mcp', { method: 'POST', headers, body, duplex: 'half' }))
    await settle()
    tick(1_000)
    const answer = await answering
    assert.equal(answer.status, 408)
    assert.match(await answer.text(), /"code":-32600/)
    assert.equal(ran(), 0)
  })

  test(`fetch: a body that breaks after ${what} is refused, and never run`, async () => {
    const { server, ran } = counting()
    const message = Buffer.from(text(modernCall(1, 'echo')))
    let begun = false
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (begun || sent === 0) return controller.error(new Error('reset'))
        begun = true
        controller.enqueue(message.subarray(0, sent))
      },
    })
    const headers = headersFor(message, undefined)
    const request = new Request('http://localhost/mcp', { method: 'POST', headers, body, duplex: 'half' })
    assert.equal((await fetchHandler(server)(request)).status, 400)
    assert.equal(ran(), 0)
  })
}

test('fetch: what is thrown away of a body over the cap has no more time than a body', async (t) => {
  const handler = fetchHandler(target().server, { caps: { messageTimeoutMs: 1_000, maxMessageBytes: 10 } })
  const tick = handTime(t, 'setTimeout')
  let left = false
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(11)),
    cancel: () => void (left = true),
  })
  const headers = headersFor('', undefined)
  const request = new Request('http://localhost/mcp', { method: 'POST', headers, body, duplex: 'half' })
  assert.equal((await handler(request)).status, 413)
  await settle()
  assert.equal(left, false)
  tick(1_000)
  await until(() => left)
})

for (const past of [0, 1]) {
  const [when, what] = past ? ['past it', 'is given up'] : ['at it', 'is answered']

  test(`stdio: graceMs: a call in flight when the client has gone ${what} ${when}`, async (t) => {
    const { server, release } = target()
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    let heard = ''
    stdout.on('data', (chunk: Buffer) => (heard += chunk.toString()))
    const tick = handTime(t, 'setTimeout')
    const ended = serveStdio(server, { stdin, stdout, graceMs: 1_000 })
    stdin.write(`${text(modernCall(1, 'wait'))}\n${text(modernCall(2, 'echo'))}\n`)
    await until(() => heard.includes('"id":2'))
    stdin.end()
    await settle()
    tick(999 + past)
    await settle()
    release()
    await ended
    assert.match(heard, past ? /"id":1,"error".*outcome is not known/ : /"released"/)
  })

  test(`socket: graceMs: a call in flight when the client has said all ${what} ${when}`, async (t) => {
    const { port, release } = await openSocket(t, { graceMs: 1_000 })
    const tick = handTime(t, 'setTimeout')
    const { socket, said, closed } = dial(t, port)
    socket.write(`${text(modernCall(1, 'wait'))}\n${text(modernCall(2, 'echo'))}\n`)
    await until(() => said().includes('"id":2'))
    socket.end()
    await settle()
    tick(999 + past)
    await settle()
    release()
    await until(closed)
    assert.match(said(), past ? /"id":1,"error".*outcome is not known/ : /"released"/)
  })

  test(`socket: headersTimeoutMs: whoever is being told from others is ${past ? 'cut off past it' : 'let in at it'}`, async (t) => {
    let tell = (_: undefined): void => {}
    let asked = false
    const { port } = await openSocket(t, {
      caps: { headersTimeoutMs: 1_000 },
      authenticate() {
        asked = true
        return new Promise((resolve) => (tell = resolve))
      },
    })
    const tick = handTime(t, 'setTimeout')
    const { socket, said, closed } = dial(t, port)
    await until(() => asked)
    tick(999 + past)
    tell(undefined)
    socket.write(`${text(modernCall(1, 'echo'))}\n`)
    await until(() => (past ? closed() : said().includes('"result"')))
    assert.equal(said() === '', past === 1)
  })

  test(`socket: messageTimeoutMs: a line that takes long is ${past ? 'cut off past it' : 'taken in at it'}`, async (t) => {
    const { port } = await openSocket(t, { caps: { messageTimeoutMs: 1_000 } })
    const tick = handTime(t, 'setTimeout')
    const { socket, said, closed } = dial(t, port)
    const line = text(modernCall(1, 'echo'))
    // A whole line before it, so that its answer tells when the beginning of the next has come.
    socket.write(`${text(modernCall(0, 'echo'))}\n${line.slice(0, 20)}`)
    await until(() => said().includes('"id":0'))
    await settle()
    tick(999 + past)
    socket.write(`${line.slice(20)}\n`)
    await until(() => (past ? closed() : said().includes('"id":1')))
    assert.equal(said().includes('"id":1'), past === 0)
  })

  test(`fetch: messageTimeoutMs: a body that takes long is ${past ? 'refused past it' : 'taken in at it'}`, async (t) => {
    const handler = fetchHandler(target().server, { caps: { messageTimeoutMs: 1_000 } })
    const tick = handTime(t, 'setTimeout')
    const message = Buffer.from(text(modernCall(1, 'echo')))
    let finish = (): void => {}
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(message.subarray(0, 20))
        finish = () => {
          controller.enqueue(message.subarray(20))
          controller.close()
        }
      },
    })
    const headers = headersFor(message, undefined)
    const answering = handler(new Request('http://localhost/mcp', { method: 'POST', headers, body, duplex: 'half' }))
    await settle()
    tick(999 + past)
    if (!past) finish()
    assert.equal((await answering).status, past ? 408 : 200)
  })

  test(`http: askTimeoutMs: a client that is asked is ${past ? 'given up past it' : 'waited for up to it'}`, async (t) => {
    const tick = handTime(t, 'setTimeout')
    const asked = { askTimeoutMs: 1_000 }
    const http = await serveHttp(target().server, asked)
    t.after(() => http.close({ graceMs: 0 }))
    const post = (body: object, session?: string): Promise<Response> =>
      fetch(http.url, { method: 'POST', headers: headersFor(text(body), session), body: text(body) })
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'c', version: '1' },
    }
    const session = (await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params })).headers.get('mcp-session-id')
    const asking = await post(call(1, 'ask'), session ?? '')
    let heard = ''
    const read = (async () => {
      for await (const part of asking.body ?? []) heard += Buffer.from(part).toString()
    })()
    await until(() => heard.includes('elicitation/create'))
    const id = /"id":"([\w-]+)","method":"elicitation\/create"/.exec(heard)?.[1]
    assert.ok(id, heard)
    tick(999 + past)
    await settle()
    await post({ jsonrpc: '2.0', id, result: { action: 'decline' } }, session ?? '')
    await read
    assert.match(heard, past ? /did not answer in time/ : /"text":"decline"/)
  })
}

test('http: keepAliveMs: a quiet stream is kept alive by a comment each time, and not before', async (t) => {
  const tick = handTime(t, 'setInterval')
  const http = await serveHttp(target().server, { keepAliveMs: 1_000 })
  t.after(() => http.close({ graceMs: 0 }))
  const leaving = new AbortController()
  t.after(() => leaving.abort())
  const body = text(modern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } }))
  const listening = await fetch(http.url, {
    method: 'POST',
    headers: headersFor(body, undefined),
    body,
    signal: leaving.signal,
  })
  let heard = ''
  void (async () => {
    for await (const part of listening.body ?? []) heard += Buffer.from(part).toString()
  })().catch(() => {})
  const comments = (): number => heard.split(': keep-alive').length - 1
  await until(() => heard.includes('acknowledged'))
  // What was opened within a round is left alone until it is over.
  tick(1_000)
  for (let round = 1; round <= 3; round++) {
    tick(999)
    await settle()
    assert.equal(comments(), round - 1)
    tick(1)
    await until(() => comments() === round)
  }
})

test('http: headersTimeoutMs, messageTimeoutMs: whoever stays below them is served', async (t) => {
  const http = await serveHttp(target().server, { caps: { headersTimeoutMs: 2_000, messageTimeoutMs: 3_000 } })
  const { socket, said } = dial(t, http.port)
  t.after(() => http.close({ graceMs: 0 }))
  const body = text(modernCall(1, 'echo'))
  const lines = Object.entries(headersFor(body, undefined)).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write('POST /mcp HTTP/1.1\r\nhost: localhost\r\n')
  await pause(400)
  socket.write(`${lines.join('')}content-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`)
  await pause(400)
  socket.write(body.slice(10))
  await until(() => said().includes('"result"'))
})

test('http: stallTimeoutMs: whoever reads on in time is not cut off', async (t) => {
  const http = await serveHttp(target().server, { caps: { stallTimeoutMs: 2_000 } })
  const { socket } = dial(t, http.port)
  t.after(() => http.close({ graceMs: 0 }))
  const body = text(modernCall(1, 'echo', { text: 'x'.repeat(3_900_000) }))
  const lines = Object.entries(headersFor(body, undefined)).map(([name, value]) => `${name}: ${value}\r\n`)
  let read = 0
  socket.on('data', (chunk: Buffer) => (read += chunk.length)).pause()
  // More than the buffers on the way hold.
  for (let times = 0; times < 4; times++) {
    socket.write(
      `POST /mcp HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}content-length: ${body.length}\r\n\r\n${body}`,
    )
  }
  await pause(700)
  socket.resume()
  await until(() => read > 4 * 3_900_000)
})

for (const past of [0, 1]) {
  test(`fetch: stallTimeoutMs: a stream of which nothing is taken ${past ? 'ends past it' : 'goes on at it'}`, async (t) => {
    const tick = handTime(t, 'Date')
    const { server } = target()
    const handler = fetchHandler(server, { caps: { stallTimeoutMs: 1_000 } })
    const body = text(modern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } }))
    const headers = headersFor(body, undefined)
    await handler(new Request('http://localhost/mcp', { method: 'POST', headers, body }))
    server.changed('tools')
    tick(1_000 + past)
    server.changed('tools')
    assert.equal(server.changed('tools').peers, past ? 0 : 1)
    await handler.close({ graceMs: 0 })
  })

  test(`stdio: maxUnreadBytes: a client with so much unread ${past ? 'and one byte more is cut off' : 'is not cut off'}`, async (t) => {
    const { server } = target()
    const stdin = new PassThrough()
    let heard = ''
    // Nothing of what is written leaves, so all of it waits.
    const stdout = new Writable({ highWaterMark: 1, write: (chunk: Buffer) => void (heard += chunk.toString()) })
    const answer = await lengthOfAnswer()
    const ended = serveStdio(server, { stdin, stdout, graceMs: 0, caps: { maxUnreadBytes: 3 * answer - past } })
    t.after(() => {
      stdin.end()
      stdout.destroy(new Error('over'))
      return ended
    })
    // All at once: later lines would not be read from a client that does not read.
    stdin.write([1, 2, 3, 4].map((id) => `${text(modernCall(id, 'echo'))}\n`).join(''))
    await until(() => stdout.destroyed || stdout.writableLength === 4 * answer)
    await settle()
    assert.equal(stdout.destroyed, past === 1)
    assert.notEqual(heard, '')
  })
}

/** Bytes of the answer to a call of `echo`, as a line. */
async function lengthOfAnswer(): Promise<number> {
  const { server } = target()
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  let heard = ''
  stdout.on('data', (chunk: Buffer) => (heard += chunk.toString()))
  const ended = serveStdio(server, { stdin, stdout })
  stdin.end(`${text(modernCall(1, 'echo'))}\n`)
  await ended
  return heard.length
}

test('socket: maxConnections: one connection more than that is closed at once', async (t) => {
  const { port } = await openSocket(t, { maxConnections: 2 })
  const [first, second] = [dial(t, port), dial(t, port)]
  for (const { socket, said } of [first, second]) {
    socket.write(`${text(modernCall(1, 'echo'))}\n`)
    await until(() => said().includes('"result"'))
  }
  const third = dial(t, port)
  third.socket.write(`${text(modernCall(1, 'echo'))}\n`)
  await until(third.closed)
  assert.equal(third.said(), '')
  assert.deepEqual([first.closed(), second.closed()], [false, false])
})

test('http: maxSubscriptions: a session subscribes to two resources, and not to a third until one is given back', async () => {
  const resources = ['a:1', 'a:2', 'a:3'].map((uri) => resource(uri, { name: uri }, () => uri))
  const server = createServer({ name: 'memos', version: '1', keys: [new Uint8Array(32)], resources })
  const door = await openHttp(server, { caps: { maxSubscriptions: 2 } })
  const ask = async (id: number, verb: string, uri: string): Promise<boolean> => {
    const { message } = await door.say(text({ jsonrpc: '2.0', id, method: `resources/${verb}`, params: { uri } }))
    return message?.result !== undefined
  }
  try {
    await door.shake('2025-11-25')
    assert.deepEqual([await ask(1, 'subscribe', 'a:1'), await ask(2, 'subscribe', 'a:2')], [true, true])
    assert.equal(await ask(3, 'subscribe', 'a:3'), false)
    assert.equal(await ask(4, 'subscribe', 'a:2'), true)
    assert.equal(await ask(5, 'unsubscribe', 'a:1'), true)
    assert.equal(await ask(6, 'subscribe', 'a:3'), true)
  } finally {
    await door.close()
  }
})
