// What has come in but is not read yet when a door begins to close: it is refused, never taken in and left unanswered.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import type { Store } from '../../../src/model/store.ts'
import { createSeal } from '../../../src/seal/seal.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { serveHttp } from '../../../src/transport/serve/node.ts'
import { doors, events, legacyHeaders, messages, modernHeaders, openFetch, until } from './doors.ts'
import type { Door, Response } from './doors.ts'
import { call, initialize, modernCall, notification, peerOf, rpc, said, standIn } from './stand-in.ts'

const seal = createSeal({ keys: [randomBytes(32)] })
const capabilities = { elicitation: {} }
const listening = { accept: 'text/event-stream' }

/** Where visits wait, and the way to let them go on. */
function gate() {
  let letIn = (): void => {}
  const opened = new Promise<void>((resolve) => (letIn = resolve))
  let waiting = 0
  return {
    /** Resolves once so many wait. */
    wait: (count: number) => until(() => waiting === count),
    open: () => letIn(),
    pass(): Promise<void> {
      waiting += 1
      return opened
    },
  }
}

for (const [name, open] of doors) {
  test(`${name}: whoever is told apart only while the door closes is refused`, async () => {
    const { wait, pass, open: letIn } = gate()
    const door = await open({ authenticate: () => pass().then(() => undefined) })
    const body = modernCall(1, 'slow', { ms: 5_000 })
    const visits = [
      door.send({ headers: modernHeaders(body), body }),
      door.send({ method: 'GET', path: '/sse', headers: listening }),
    ]
    await wait(2)
    const closed = door.close({ graceMs: 500 })
    letIn()
    for (const visit of await Promise.all(visits)) {
      await visit.done
      assert.equal(visit.status, 503)
      assert.equal(visit.headers.get('retry-after'), '1')
    }
    await closed
    assert.equal(door.served.aborted, 0)
  })

  test(`${name}: a session that is found only while the door closes runs and streams nothing more`, async () => {
    const { wait, pass, open: letIn } = gate()
    const store = memoryStore()
    const first = await open({ seal, store })
    const shaken = await first.send({ headers: legacyHeaders(), body: initialize('i', '2025-03-26') })
    const headers = legacyHeaders(shaken.headers.get('mcp-session-id'))
    const slow: Store = { ...store, get: (key) => pass().then(() => store.get(key)) }
    const second = await open({ seal, store: slow })
    const visits = [
      second.send({ headers, body: call(1, 'slow', { ms: 5_000 }) }),
      second.send({ method: 'GET', headers: { ...headers, ...listening } }),
    ]
    const batch = second.send({ headers, body: [rpc(2, 'ping'), call(3, 'slow', { ms: 5_000 })] })
    await wait(3)
    const closed = second.close({ graceMs: 500 })
    letIn()
    for (const visit of await Promise.all(visits)) {
      await visit.done
      assert.equal(visit.status, 503)
      assert.equal(visit.headers.get('retry-after'), '1')
    }
    await (
      await batch
    ).done
    assert.deepEqual(
      messages(await batch).map(({ id, error }) => [id, error !== undefined]),
      [
        [2, true],
        [3, true],
      ],
    )
    await Promise.all([closed, first.close()])
    assert.equal(second.served.aborted, 0)
  })
}

/** Where a message of a session goes, and where what it leads to is heard. */
interface Way {
  /** @returns the response to wait for, or the stream that everything is said on */
  post(body: unknown): Promise<Response>
}

const ways: readonly (readonly [string, (door: Door) => Promise<Way>])[] = [
  [
    'Streamable HTTP',
    async (door) => {
      const shaken = await door.send({ headers: legacyHeaders(), body: initialize('i', '2025-11-25', capabilities) })
      const headers = legacyHeaders(shaken.headers.get('mcp-session-id'))
      return { post: (body) => door.send({ headers, body }) }
    },
  ],
  [
    'HTTP+SSE',
    async (door) => {
      const stream = await door.send({ method: 'GET', path: '/sse', headers: listening })
      const path = await until(() => events(stream).find(({ event }) => event === 'endpoint')?.data)
      const post = async (body: unknown): Promise<Response> => {
        const response = await door.send({ path, headers: { 'content-type': 'application/json' }, body })
        assert.equal(response.status, 202)
        return stream
      }
      await post(initialize('i', '2025-11-25', capabilities))
      await until(() => messages(stream).length === 1)
      return { post }
    },
  ],
]

for (const [name, open] of doors)
  for (const [way, enter] of ways) {
    test(`${name}: ${way}: closing takes in answers and cancellations, and refuses what is new`, async () => {
      const door = await open({ seal })
      const { post } = await enter(door)
      const asking = await post(call(1, 'ask'))
      const question = await until(() => messages(asking).find(({ method }) => method === 'elicitation/create'))
      const slow = post(call(2, 'slow', { ms: 5_000 }))
      await until(() => door.served.begun === 1)
      const before = Date.now()
      const closed = door.close({ graceMs: 2_000 })
      const late = await post(call(3, 'echo', { text: 'late' }))
      await until(() => messages(late).find(({ id, error }) => id === 3 && error?.message.includes('too much to do')))
      await post(notification('notifications/cancelled', { requestId: 2 }))
      await until(() => door.served.aborted === 1)
      await post({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { sure: true } } })
      await until(() => said(messages(asking).find(({ id }) => id === 1)) === 'accept')
      await Promise.all([closed, slow, asking.done])
      assert.ok(Date.now() - before < 1_500)
    })

    test(`${name}: ${way}: what was asked is given up at the end of the grace, and taken back`, async () => {
      const door = await open({ seal })
      const { post } = await enter(door)
      const asking = await post(call(1, 'ask'))
      await until(() => messages(asking).find(({ method }) => method === 'elicitation/create'))
      const before = Date.now()
      await door.close({ graceMs: 100 })
      assert.ok(Date.now() - before >= 90)
      await asking.done
      assert.match(messages(asking).find(({ id }) => id === 1)?.error?.message ?? '', /outcome is not known/)
    })
  }

test('a handler that is closed takes nothing in any more', async () => {
  const door = await openFetch({ seal })
  const shaken = await door.send({ headers: legacyHeaders(), body: initialize('i', '2025-11-25') })
  const headers = legacyHeaders(shaken.headers.get('mcp-session-id'))
  await door.close({ graceMs: 10 })
  const late = await door.send({ headers, body: notification('notifications/initialized') })
  assert.equal(late.status, 503)
})

/** Posts a body in two halves. @param between what has to have happened before the second */
async function inHalves(port: number, path: string, text: string, between: () => Promise<void>): Promise<number> {
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path,
    headers: { ...legacyHeaders(), 'content-length': String(text.length) },
    agent: false,
  })
  const answered = new Promise<IncomingMessage>((resolve, reject) =>
    request.on('response', resolve).on('error', reject),
  )
  request.write(text.slice(0, 10))
  await between()
  request.end(text.slice(10))
  const response = await answered
  response.resume()
  return response.statusCode ?? 0
}

test('a body that is whole only while the door closes is refused, on both paths over HTTP', async () => {
  const text = JSON.stringify(initialize('i', '2025-06-18'))
  const server = await serveHttp(peerOf(standIn()), {})
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ port: server.port, host: '127.0.0.1', path: '/sse', headers: listening, agent: false }, resolve)
      .on('error', reject)
      .end()
  })
  const event = await new Promise<string>((resolve) => stream.setEncoding('utf8').once('data', resolve))
  const endpoint = /data: (\S+)/.exec(event)?.[1] ?? ''
  let arrived = 0
  server.server.on('request', () => (arrived += 1))
  let closed: Promise<void> | undefined
  const close = async (): Promise<void> => {
    await until(() => arrived === 2)
    closed ??= server.close({ graceMs: 500 })
  }
  const statuses = await Promise.all([endpoint, '/mcp'].map((path) => inHalves(server.port, path, text, close)))
  assert.deepEqual(statuses, [503, 503])
  await closed
})
