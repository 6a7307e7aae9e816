// How long an HTTP endpoint keeps what it keeps, and how much of it: at the limit, and one past it. Time is a number.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Store } from '../../src/model/store.ts'
import { memoryStore } from '../../src/store/memory.ts'
import type { ServeHttpOptions } from '../../src/transport/serve/node.ts'
import { serveHttp } from '../../src/transport/serve/node.ts'
import { legacyHeaders } from '../transport/serve/doors.ts'
import { call, initialize, peerOf, rpc, standIn } from '../transport/serve/stand-in.ts'

/** An endpoint whose time is `time.now`. Without a store, what it lets go of a session cannot be had again. */
async function open(t: TestContext, options: Omit<ServeHttpOptions, 'clock'> = {}, keeping?: 'keeping') {
  const time = { now: 1_000_000 }
  const clock = (): number => time.now
  const store: { readonly store?: Store } = keeping ? { store: memoryStore({ clock }) } : {}
  const http = await serveHttp(peerOf(standIn()), { ...options, ...store, clock })
  t.after(() => http.close({ graceMs: 0 }))
  const post = (body: unknown, session?: string): Promise<Response> =>
    fetch(http.url, { method: 'POST', headers: legacyHeaders(session), body: JSON.stringify(body) })
  return {
    time,
    post,
    async shake(): Promise<string> {
      const response = await post(initialize('i', '2025-11-25'))
      await response.text()
      return response.headers.get('mcp-session-id') ?? assert.fail('no session')
    },
    /** The status of a ping: 404 once the session is let go. */
    async ping(session: string): Promise<number> {
      const response = await post(rpc(1, 'ping'), session)
      await response.text()
      return response.status
    },
    resume: (session: string, lastEventId: string): Promise<Response> =>
      fetch(http.url, {
        headers: { accept: 'text/event-stream', 'mcp-session-id': session, 'last-event-id': lastEventId },
      }),
    listen: (session: string, signal: AbortSignal): Promise<Response> =>
      fetch(http.url, { headers: { accept: 'text/event-stream', 'mcp-session-id': session }, signal }),
  }
}

test('http: sessionIdleMs: a session is kept until it was idle for so long, and each request begins anew', async (t) => {
  const { time, shake, ping } = await open(t, { sessionIdleMs: 1_000 })
  const session = await shake()
  for (let times = 0; times < 3; times++) {
    time.now += 999
    assert.equal(await ping(session), 200)
  }
  time.now += 1_000
  assert.equal(await ping(session), 404)
})

test('http: sessionIdleMs: a session that somebody listens to is not idle', async (t) => {
  const { time, shake, ping, listen } = await open(t, { sessionIdleMs: 1_000 })
  const session = await shake()
  const leaving = new AbortController()
  t.after(() => leaving.abort())
  assert.equal((await listen(session, leaving.signal)).status, 200)
  time.now += 5_000
  assert.equal(await ping(session), 200)
})

test('http: sessionIdleMs: with a store, what was let go is had again', async (t) => {
  const { time, shake, ping } = await open(t, { sessionIdleMs: 1_000 }, 'keeping')
  const session = await shake()
  time.now += 1_000
  assert.equal(await ping(session), 200)
})

test('http: maxSessions: so many idle sessions are kept; for one more the one goes that was used longest ago', async (t) => {
  const { shake, ping } = await open(t, { maxSessions: 2 })
  const [first, second] = [await shake(), await shake()]
  assert.deepEqual([await ping(second), await ping(first)], [200, 200])
  const third = await shake()
  assert.deepEqual([await ping(first), await ping(second), await ping(third)], [200, 404, 200])
})

test('http: maxSessions: a session that is in use does not count, and never goes', async (t) => {
  const { shake, ping, listen } = await open(t, { maxSessions: 1 })
  const busy = await shake()
  const leaving = new AbortController()
  t.after(() => leaving.abort())
  assert.equal((await listen(busy, leaving.signal)).status, 200)
  const next = await shake()
  assert.deepEqual([await ping(busy), await ping(next)], [200, 200])
  await shake()
  assert.deepEqual([await ping(busy), await ping(next)], [200, 404])
})

/** The events of a stream: their ids, and what they carry. */
async function eventsOf(response: Response): Promise<{ readonly id: string | undefined; readonly data: string }[]> {
  return (await response.text())
    .split('\n\n')
    .filter((block) => /^(id|data):/m.test(block))
    .map((block) => ({ id: /^id: ?(.+)$/m.exec(block)?.[1], data: /^data: ?(.*)$/m.exec(block)?.[1] ?? '' }))
}

test('http: keepEventsMs: a stream can be taken up again until so long after its last event', async (t) => {
  const { time, shake, post, resume } = await open(t, { keepEventsMs: 1_000 }, 'keeping')
  const session = await shake()
  const [primer, ...rest] = await eventsOf(await post(call(1, 'progress', { steps: 2 }), session))
  time.now += 999
  const again = await resume(session, primer?.id ?? '')
  assert.equal(again.status, 200)
  assert.deepEqual(await eventsOf(again), rest)
  time.now += 1
  const late = await resume(session, primer?.id ?? '')
  await late.text()
  assert.equal(late.status, 400)
})

test('http: maxEvents: so many events of a stream are kept; of one more the first is gone, and that is told', async (t) => {
  const { shake, post, resume } = await open(t, { maxEvents: 3 }, 'keeping')
  const session = await shake()
  const replayed = async (id: number, steps: number): Promise<readonly [sent: string[], resumed: string[]]> => {
    const [primer, ...sent] = await eventsOf(await post(call(id, 'progress', { steps }), session))
    const resumed = await eventsOf(await resume(session, primer?.id ?? ''))
    return [sent.map(({ data }) => data), resumed.map(({ data }) => data)]
  }
  // The answer is an event too.
  const [three, kept] = await replayed(1, 2)
  assert.equal(three.length, 3)
  assert.deepEqual(kept, three)
  const [four, [gap, ...left]] = await replayed(2, 3)
  assert.equal(four.length, 4)
  assert.match(gap ?? '', /"error"/)
  assert.deepEqual(left, four.slice(1))
})
