import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Principal } from '../../../src/model/notification.ts'
import { Refusal } from '../../../src/model/refusal.ts'
import { createSeal } from '../../../src/seal/seal.ts'
import type { Store } from '../../../src/model/store.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import type { HttpOptions, HttpRequest } from '../../../src/transport/serve/http-types.ts'
import { doors, events, legacyHeaders, messages, modernHeaders, until } from './doors.ts'
import type { Door, Response } from './doors.ts'
import { call, initialize, modernCall, notification, rpc, said } from './stand-in.ts'
import type { Heard } from './stand-in.ts'

type Headers = Record<string, string>

/** The verbs of one session. */
function sessionOf(door: Door, id: string, common: Headers = {}) {
  const post = (body: unknown, extra: Headers = {}): Promise<Response> =>
    door.send({ headers: legacyHeaders(id, { ...common, ...extra }), body })
  const done = async (response: Promise<Response>): Promise<Response> => {
    await (
      await response
    ).done
    return response
  }
  return {
    id,
    post,
    send: (body: unknown, extra?: Headers) => done(post(body, extra)),
    async ask(body: Record<string, unknown>, extra?: Headers): Promise<Heard | undefined> {
      return messages(await done(post(body, extra))).find((message) => message.id === body['id'])
    },
    listen: (extra: Headers = {}) =>
      door.send({ method: 'GET', headers: { ...common, accept: 'text/event-stream', 'mcp-session-id': id, ...extra } }),
    end: () => done(door.send({ method: 'DELETE', headers: { ...common, 'mcp-session-id': id } })),
  }
}

async function shake(door: Door, revision: string, capabilities = {}, headers: Headers = {}) {
  const response = await door.send({
    headers: legacyHeaders(undefined, headers),
    body: initialize('i', revision, capabilities),
  })
  await response.done
  assert.equal(response.status, 200)
  assert.equal(messages(response)[0]?.result?.['protocolVersion'], revision)
  const session = sessionOf(door, response.headers.get('mcp-session-id') ?? '', headers)
  assert.match(session.id, /^[\x21-\x7e]{16,1024}$/)
  assert.equal((await session.send(notification('notifications/initialized'))).status, 202)
  return session
}

const revisions = ['2025-03-26', '2025-06-18', '2025-11-25']
const scopes: ReadonlySet<string> = new Set()
const everybody = { visibleTo: () => true }
const seal = createSeal({ keys: [randomBytes(32)] })

for (const [name, open] of doors) {
  const on = (title: string, run: (door: Door) => Promise<void>, options: HttpOptions = {}): void =>
    void test(`${name}: ${title}`, async () => {
      const door = await open({ seal, ...options })
      try {
        await run(door)
      } finally {
        await door.close({ graceMs: 50 })
      }
    })

  on('a session is opened, used and ended', async (door) => {
    for (const revision of ['2024-11-05', ...revisions]) {
      const session = await shake(door, revision)
      assert.deepEqual((await session.ask(rpc(1, 'ping')))?.result, {})
      assert.equal(said(await session.ask(call(2, 'echo', { text: revision }))), revision)
      assert.equal((await session.end()).status, 204)
      assert.equal((await session.send(rpc(3, 'ping'))).status, 404)
      assert.equal((await session.end()).status, 404)
      assert.equal((await session.listen()).status, 404)
    }
  })

  on('both eras on one endpoint', async (door) => {
    const session = await shake(door, '2025-06-18')
    const body = modernCall(1, 'echo', { text: 'new' })
    const fresh = await door.send({
      headers: modernHeaders(body, { 'mcp-session-id': 'nonsense', 'last-event-id': 'x' }),
      body,
    })
    await fresh.done
    assert.equal(messages(fresh)[0]?.result?.['resultType'], 'complete')
    assert.equal(fresh.headers.get('mcp-session-id'), undefined)
    assert.equal((await session.ask(call(1, 'echo', { text: 'old' })))?.result?.['resultType'], undefined)
  })

  on('no session, an unknown one, a wrong version header', async (door) => {
    const none = await door.send({ headers: legacyHeaders(), body: rpc(1, 'tools/list') })
    await none.done
    assert.equal(none.status, 400)
    assert.equal(messages(none)[0]?.error?.code, -32000)
    assert.equal(messages(none)[0]?.id, 1)
    const session = await shake(door, '2025-11-25')
    for (const id of ['0123456789abcdef', `${session.id}x`, session.id.slice(1)]) {
      assert.equal((await sessionOf(door, id).send(rpc(1, 'ping'))).status, 404, id)
    }
    for (const version of ['1999-01-01', '2025-06-18', '2024-11-05', 'nonsense']) {
      const refused = await session.send(rpc(1, 'ping'), { 'mcp-protocol-version': version })
      assert.equal(refused.status, 400, version)
      assert.match(messages(refused)[0]?.error?.message ?? '', /does not name the version of this session/)
    }
    assert.equal((await session.send(rpc(1, 'ping'), { 'mcp-protocol-version': '2025-11-25' })).status, 200)
    const old = await shake(door, '2025-03-26')
    assert.equal((await old.send(rpc(1, 'ping'), { 'mcp-protocol-version': 'nonsense' })).status, 200)
  })

  on('a malformed handshake opens nothing; a second one is refused', async (door) => {
    const bad = await door.send({ headers: legacyHeaders(), body: rpc(1, 'initialize') })
    await bad.done
    assert.equal(messages(bad)[0]?.error?.code, -32602)
    assert.equal(bad.headers.get('mcp-session-id'), undefined)
    const session = await shake(door, '2025-06-18')
    const again = await session.send(initialize(2, '2025-06-18'))
    assert.equal(messages(again)[0]?.error?.code, -32600)
    assert.deepEqual((await session.ask(rpc(3, 'ping')))?.result, {})
  })

  on('batches where there are any', async (door) => {
    const session = await shake(door, '2025-03-26')
    const taken = await session.send([
      rpc('a', 'ping'),
      call('b', 'echo', { text: 'two' }),
      7,
      initialize('c', '2025-03-26'),
    ])
    assert.equal(taken.status, 200)
    const codes = Object.fromEntries(messages(taken).map((m) => [String(m.id), m.error?.code ?? 'result']))
    assert.deepEqual(codes, { a: 'result', b: 'result', null: -32600, c: -32600 })
    assert.match(taken.text, /^\[/)
    const streamed = await session.send([call('a', 'progress', { steps: 1 }), call('b', 'echo', { text: 'x' })])
    const parts = messages(streamed).map((m) => m.id ?? m.method)
    assert.deepEqual(new Set(parts), new Set(['a', 'b', 'notifications/progress']))
    assert.equal(parts.length, 3)
    assert.equal((await session.send([notification('notifications/initialized')])).status, 202)
    assert.equal((await session.send([1, 2])).status, 400)
    assert.equal((await session.send([])).status, 400)
    assert.equal((await session.send(Array(101).fill(rpc(1, 'ping')))).status, 400)
    for (const revision of ['2025-06-18', '2025-11-25']) {
      assert.equal((await (await shake(door, revision)).send([rpc(1, 'ping')])).status, 400)
    }
    assert.equal((await door.send({ headers: legacyHeaders(), body: [rpc(1, 'ping')] })).status, 400)
  })

  on('one id is in flight once per session', async (door) => {
    const [a, b] = [await shake(door, '2025-11-25'), await shake(door, '2025-11-25')]
    const first = a.ask(call(9, 'slow', { ms: 80 }))
    await sleep(20)
    assert.equal((await a.ask(call(9, 'echo', { text: 'x' })))?.error?.code, -32600)
    assert.equal(said(await b.ask(call(9, 'echo', { text: 'x' }))), 'x')
    assert.equal(said(await first), 'done')
  })

  on('a cancelled call ends its response, whatever it was going to be', async (door) => {
    const session = await shake(door, '2025-06-18')
    const json = session.send(call(1, 'slow', { ms: 5_000 }))
    const stream = session.send(call(2, 'progress', { steps: 500, ms: 10 }))
    await sleep(40)
    for (const requestId of [1, 2]) {
      assert.equal((await session.send(notification('notifications/cancelled', { requestId }))).status, 202)
    }
    assert.deepEqual(messages(await json), [])
    assert.equal(
      messages(await stream).some((m) => m.id === 2),
      false,
    )
    assert.equal(door.served.aborted, 1)
  })

  on('the end of a session answers what runs in it', async (door) => {
    const session = await shake(door, '2025-03-26', { elicitation: {} })
    const quiet = session.ask(call(1, 'slow', { ms: 5_000 }))
    const streamed = await session.post(call(2, 'progress', { steps: 500, ms: 10 }))
    const listening = await session.listen()
    const json = session.send(call(3, 'slow', { ms: 5_000 }), { accept: 'application/json' })
    const batch = session.send([rpc(4, 'ping'), call(5, 'slow', { ms: 5_000 })])
    await until(() => messages(streamed).length > 0 && door.served.begun === 3)
    assert.equal((await session.end()).status, 204)
    await Promise.all([streamed.done, listening.done])
    const answers = [await quiet, messages(streamed).at(-1), messages(await json)[0], messages(await batch)[1]]
    assert.deepEqual(
      answers.map((answer) => [answer?.id, answer?.error?.code]),
      // Their outcome is not known: no code that says nothing ran.
      [1, 2, 3, 5].map((id) => [id, -32603]),
    )
    assert.ok(messages(await batch)[0]?.result)
    assert.equal(door.served.aborted, 3)
  })

  test(`${name}: a call that is told of on a stream is answered there within the grace`, async () => {
    const door = await open({ seal })
    const session = await shake(door, '2025-11-25')
    const streamed = await session.post(call(1, 'progress', { steps: 8, ms: 10 }))
    const stuck = await session.post(call(2, 'progress', { steps: 500, ms: 10 }))
    await until(() => messages(stuck).length > 0)
    await Promise.all([door.close({ graceMs: 600 }), streamed.done, stuck.done])
    assert.equal(said(messages(streamed).at(-1)), 'done')
    assert.equal(messages(stuck).at(-1)?.id, 2)
    assert.ok(messages(stuck).at(-1)?.error)
  })

  on('the server asks on the stream of the call', async (door) => {
    const session = await shake(door, '2025-06-18', { elicitation: {} })
    const asking = await session.post(call(7, 'ask'))
    const question = await until(() => messages(asking).find((m) => m.method === 'elicitation/create'))
    const answer = { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { sure: true } } }
    assert.equal((await session.send(answer)).status, 202)
    await asking.done
    assert.equal(said(messages(asking).at(-1)), 'accept')
  })

  on('a client that takes only JSON is asked on its own stream, or not at all', async (door) => {
    const session = await shake(door, '2025-06-18', { elicitation: {} })
    const json = { accept: 'application/json' }
    assert.ok((await session.ask(call(1, 'ask'), json))?.error)
    const listening = await session.listen()
    await until(() => listening.text !== '')
    const asking = session.ask(call(2, 'ask'), json)
    const question = await until(() => messages(listening).find((m) => m.method === 'elicitation/create'))
    await session.send({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } })
    assert.equal(said(await asking), 'decline')
  })

  on('changes are told on the session’s own stream, and the newest stream takes over', async (door) => {
    for (const revision of revisions) {
      const session = await shake(door, revision)
      await session.ask(rpc(1, 'resources/subscribe', { uri: 'a:1' }))
      assert.equal((await session.listen({ accept: 'application/json' })).status, 406)
      const first = await session.listen()
      await until(() => first.text !== '')
      const second = await session.listen()
      await until(() => first.ended)
      door.served.change({ kind: 'tools', ...everybody })
      door.served.change({ kind: 'resource', uri: 'a:1', ...everybody })
      door.served.change({ kind: 'resource', uri: 'a:2', ...everybody })
      await until(() => messages(second).length === 2)
      assert.deepEqual(messages(first), [])
      assert.deepEqual(
        messages(second).map((m) => m.method),
        ['notifications/tools/list_changed', 'notifications/resources/updated'],
      )
      await session.end()
      await until(() => second.ended)
    }
  })

  on('a client that drops its response has not cancelled', async (door) => {
    const session = await shake(door, '2025-11-25')
    const dropped = await session.post(call(1, 'progress', { steps: 3, ms: 20 }))
    await until(() => messages(dropped).length > 0)
    dropped.abort()
    assert.equal((await session.ask(call(1, 'echo', { text: 'x' })))?.error?.code, -32600)
    await until(async () => said(await session.ask(call(1, 'echo', { text: 'x' }))) === 'x')
  })

  for (const revision of revisions) {
    on(`${revision}: a lost stream resumes where it broke, with nothing missed or twice`, async (door) => {
      const session = await shake(door, revision)
      const lost = await session.post(call(4, 'progress', { steps: 6, ms: 25 }))
      await until(() => messages(lost).length >= 2)
      lost.abort()
      const seen = events(lost).filter((event) => event.id !== undefined)
      const kept = messages(lost).length
      const resumed = await session.listen({ 'last-event-id': seen.at(-1)?.id ?? '' })
      await resumed.done
      const progress = [...messages(lost).slice(0, kept), ...messages(resumed)].map(
        (m) => m.params?.['progress'] ?? said(m),
      )
      assert.deepEqual(progress, [1, 2, 3, 4, 5, 6, 'done'])
      const late = await session.listen({ 'last-event-id': seen.at(-1)?.id ?? '' })
      await late.done
      assert.equal(messages(late).at(-1)?.id, 4)
    })
  }

  on('where streams are primed, a call can let go of its connection', async (door) => {
    const session = await shake(door, '2025-11-25')
    const left = await session.send(call(1, 'leave'))
    const [prime] = events(left)
    assert.equal(prime?.data, '')
    assert.equal(prime?.retry, '50')
    assert.deepEqual(messages(left), [])
    const resumed = await session.listen({ 'last-event-id': prime?.id ?? '' })
    await resumed.done
    assert.equal(said(messages(resumed)[0]), 'still here')
    const older = await shake(door, '2025-06-18')
    assert.equal(said(await older.ask(call(1, 'leave'))), 'still here')
  })

  on('streams of another session, and made-up ones, cannot be resumed', async (door) => {
    const [a, b] = [await shake(door, '2025-11-25'), await shake(door, '2025-11-25')]
    const response = await a.send(call(1, 'progress', { steps: 2 }))
    const id = events(response)[0]?.id ?? ''
    const open = await a.post(call(2, 'progress', { steps: 20, ms: 10 }))
    await until(() => events(open).length > 1)
    for (const stolen of [id, events(open)[0]?.id ?? '', 'nonsense', '.', 'abcdefghij.0']) {
      const answer = await b.listen({ 'last-event-id': stolen })
      await answer.done
      assert.equal(answer.status, 400, stolen)
      assert.doesNotMatch(answer.text, /progress/)
    }
  })

  for (const revision of revisions) {
    on(`${revision}: a stream that is over ends at once when it is taken up after its last event`, async (door) => {
      const session = await shake(door, revision)
      const answered = await session.send(call(1, 'progress', { steps: 2 }))
      const cancelled = await session.post(call(2, 'progress', { steps: 500, ms: 5 }))
      await until(() => messages(cancelled).length > 1)
      await session.send(notification('notifications/cancelled', { requestId: 2 }))
      await cancelled.done
      for (const over of [answered, cancelled]) {
        const began = Date.now()
        const again = await session.listen({ 'last-event-id': events(over).at(-1)?.id ?? '' })
        await again.done
        assert.deepEqual([again.status, messages(again)], [200, []])
        assert.ok(Date.now() - began < 1_000, 'it was waited for')
      }
      const all = await session.listen({ 'last-event-id': events(cancelled).find(({ data }) => data)?.id ?? '' })
      await all.done
      assert.ok(messages(all).length > 0 && messages(all).every(({ method }) => method === 'notifications/progress'))
    })
  }

  on('what was never sent on a stream is no place to take it up', async (door) => {
    const session = await shake(door, '2025-11-25')
    const over = await session.send(call(1, 'progress', { steps: 1 }))
    const runs = await session.post(call(2, 'progress', { steps: 60, ms: 10 }))
    const own = await session.listen()
    await until(() => [runs, own].every((stream) => events(stream).some(({ id }) => id !== undefined)))
    for (const stream of [over, runs, own]) {
      const id = events(stream).findLast((event) => event.id !== undefined)?.id ?? ''
      const answer = await session.listen({ 'last-event-id': id.replace(/\d+$/, '999') })
      assert.equal(answer.status, 400, id)
      await answer.done
      assert.match(messages(answer)[0]?.error?.message ?? '', /no longer kept/)
    }
    assert.equal(own.ended, false)
  })

  on('the session’s own stream resumes too', async (door) => {
    const session = await shake(door, '2025-11-25')
    const first = await session.listen()
    const change = (): void => door.served.change({ kind: 'tools', ...everybody })
    await until(() => events(first).some((event) => event.id !== undefined))
    change()
    await until(() => messages(first).length === 1)
    first.abort()
    await sleep(20)
    change()
    const second = await session.listen({ 'last-event-id': events(first).at(-1)?.id ?? '' })
    await until(() => messages(second).length === 1)
    change()
    await until(() => messages(second).length === 2)
  })

  on(
    'a gap is told, then the stream goes on',
    async (door) => {
      const session = await shake(door, '2025-11-25')
      const lost = await session.post(call(4, 'progress', { steps: 6, ms: 10 }))
      await until(() => messages(lost).length >= 1)
      lost.abort()
      await sleep(120)
      const resumed = await session.listen({ 'last-event-id': events(lost).find((event) => event.id)?.id ?? '' })
      await resumed.done
      const [gap, ...rest] = messages(resumed)
      assert.ok(gap?.error)
      assert.deepEqual(
        rest.map((m) => m.params?.['progress'] ?? said(m)),
        [6, 'done'],
      )
    },
    { maxEvents: 2 },
  )

  test(`${name}: another process takes a session up, with the same keys only`, async () => {
    const store = memoryStore()
    const first = await open({ seal, store })
    const session = await shake(first, '2025-11-25', { elicitation: {} })
    const second = await open({ seal, store })
    const asking = await sessionOf(second, session.id).post(call(1, 'ask'))
    await until(() => messages(asking).some((m) => m.method === 'elicitation/create'))
    const stranger = await open({ seal: createSeal({ keys: [randomBytes(32)] }), store })
    assert.equal((await sessionOf(stranger, session.id).send(rpc(1, 'ping'))).status, 404)
    const lost = await session.send(call(2, 'progress', { steps: 2 }))
    const resumed = await sessionOf(second, session.id).listen({ 'last-event-id': events(lost)[0]?.id ?? '' })
    await resumed.done
    assert.deepEqual(
      messages(resumed).map((m) => m.params?.['progress'] ?? said(m)),
      [1, 2, 'done'],
    )
    await Promise.all([first, second, stranger].map((door) => door.close({ graceMs: 10 })))
  })

  test(`${name}: a stream that another process writes ends with its call, and is over from then on`, async () => {
    const store = memoryStore()
    const [first, second] = [await open({ seal, store }), await open({ seal, store })]
    const session = await shake(first, '2025-11-25')
    const lost = await session.post(call(1, 'progress', { steps: 500, ms: 5 }))
    await until(() => messages(lost).length > 0)
    lost.abort()
    const there = sessionOf(second, session.id)
    const resume = (id: string | undefined): Promise<Response> => there.listen({ 'last-event-id': id ?? '' })
    const followed = await resume(events(lost)[0]?.id)
    await until(() => messages(followed).length > 1)
    const began = Date.now()
    await session.send(notification('notifications/cancelled', { requestId: 1 }))
    await followed.done
    assert.ok(messages(followed).every(({ method }) => method === 'notifications/progress'))
    const last = events(followed).findLast(({ id }) => id !== undefined)?.id ?? ''
    const again = await resume(last)
    await again.done
    assert.deepEqual([again.status, messages(again)], [200, []])
    assert.equal((await resume(last.replace(/\d+$/, '999'))).status, 400)
    assert.ok(Date.now() - began < 1_500, 'it was waited for')
    await Promise.all([first, second].map((door) => door.close({ graceMs: 10 })))
  })

  test(`${name}: a session that is taken up again may use what its principal may`, async () => {
    const store = memoryStore()
    const authenticate = ({ header }: HttpRequest): Principal => ({ id: header('authorization') ?? '', scopes })
    const openOne = async (options: HttpOptions = {}): Promise<Door> => {
      const door = await open({ seal, store, authenticate, ...options })
      const { describe, handle } = door.served
      const logging = (principal?: Principal) => (principal ? { logging: {} } : {})
      door.served.describe = (principal) => ({ ...describe(principal), capabilities: logging(principal) })
      door.served.handle = (made, context) =>
        made.method === 'logging/setLevel' ? Promise.resolve({}) : handle(made, context)
      return door
    }
    const first = await openOne({ maxSessions: 1 })
    const headers = { authorization: 'ada' }
    const { id } = await shake(first, '2025-11-25', {}, headers)
    // Another session, for which this process lets go of the first.
    await shake(first, '2025-11-25', {}, headers)
    const second = await openOne()
    for (const door of [first, second]) {
      const session = sessionOf(door, id, headers)
      assert.deepEqual((await session.ask(rpc(1, 'logging/setLevel', { level: 'debug' })))?.result, {})
      await door.close()
    }
  })

  test(`${name}: whoever is refused is told how to authenticate`, async () => {
    const given = 'Bearer resource_metadata="https://a.example/x"'
    const cases: readonly (readonly [Refusal, number, string])[] = [
      [new Refusal('Unauthenticated'), 401, 'Bearer'],
      [new Refusal('InsufficientScope'), 403, 'Bearer error="insufficient_scope"'],
      [new Refusal('Unauthenticated', { challenge: given }), 401, given],
      [new Refusal('Unauthenticated', { challenge: 'Bearer a="b\r\nx: y"' }), 401, 'Bearer a="b??x: y"'],
    ]
    for (const [refusal, status, challenge] of cases) {
      const door = await open({ seal, authenticate: () => refusal })
      for (const path of ['/mcp', '/sse']) {
        const headers = legacyHeaders(undefined, { origin: 'http://localhost' })
        const response = await door.send({ path, headers, body: initialize('i', '2025-11-25') })
        assert.equal(response.status, status)
        assert.equal(response.headers.get('www-authenticate'), challenge)
        assert.match(response.headers.get('access-control-expose-headers') ?? '', /www-authenticate/)
      }
      await door.close()
    }
  })

  test(`${name}: a session belongs to its principal`, async () => {
    const people: Record<string, Principal> = {
      ada: { id: 'ada', scopes: new Set() },
      eve: { id: 'eve', scopes: new Set() },
    }
    const door = await open({ seal, authenticate: ({ header }) => people[header('authorization') ?? ''] })
    const session = await shake(door, '2025-11-25', {}, { authorization: 'ada' })
    assert.equal((await session.send(rpc(1, 'ping'))).status, 200)
    for (const headers of [{ authorization: 'eve' }, { authorization: 'nobody' }]) {
      assert.equal((await sessionOf(door, session.id, headers).send(rpc(1, 'ping'))).status, 404)
      assert.equal((await sessionOf(door, session.id, headers).end()).status, 404)
      assert.equal((await sessionOf(door, session.id, headers).listen()).status, 404)
    }
    await door.close()
  })

  test(`${name}: each request of a session has the grants of its own token, whatever else is under way`, async () => {
    const authenticate: HttpOptions['authenticate'] = ({ header }) => ({
      id: 'ada',
      scopes: new Set([header('x-scope') ?? 'none']),
    })
    const door = await open({ seal, authenticate })
    const session = await shake(door, '2025-11-25', {}, { 'x-scope': 'admin' })
    const heard = await session.listen({ 'x-scope': 'weak' })
    const asked = ['weak', 'admin', 'weak', 'admin'].map(async (scope, id) => {
      const answer = await session.ask(call(id, 'surroundings'), { 'x-scope': scope })
      assert.equal(said(answer), `undefined ${scope}`)
    })
    await Promise.all(asked)
    const visibleTo = (who: Principal | undefined): boolean => who?.scopes.has('admin') === true
    door.served.change({ kind: 'tools', visibleTo })
    door.served.change({ kind: 'tools', visibleTo: (who) => who?.scopes.has('weak') === true })
    await until(() => messages(heard).length > 0)
    await sleep(20)
    assert.equal(messages(heard).length, 1)
    await door.close({ graceMs: 10 })
  })

  test(`${name}: what answers no question is told to no other process, nor kept`, async () => {
    const store = memoryStore()
    const published: string[] = []
    const put: string[] = []
    const watched: Store = {
      ...store,
      put: (key, ...rest) => {
        put.push(key)
        return store.put(key, ...rest)
      },
      publish: (channel, message) => {
        published.push(message)
        return store.publish(channel, message)
      },
    }
    const door = await open({ seal, store: watched })
    const session = await shake(door, '2025-11-25')
    const [putBefore, publishedBefore] = [put.length, published.length]
    for (const id of ['AAAAAAAAAAAAAAAA', 'x'.repeat(2_000_000), '\0', '', 'a/b', 7]) {
      const response = { jsonrpc: '2.0', id, result: { action: 'accept', text: 'x'.repeat(1_000_000) } }
      assert.equal((await session.send(response)).status, 202)
    }
    await sleep(20)
    assert.deepEqual([put.length, published.length], [putBefore, publishedBefore])
    await door.close({ graceMs: 10 })
  })

  test(`${name}: two processes let in no more subscriptions than the cap`, async () => {
    const store = memoryStore()
    const first = await open({ seal, store })
    const second = await open({ seal, store })
    const session = await shake(first, '2025-11-25')
    const there = sessionOf(second, session.id)
    assert.ok((await there.ask(rpc('warm', 'ping')))?.result)
    const answers: (Heard | undefined)[] = []
    // Each has room by what it knows itself; by what both know there is room for ten.
    for (let at = 0; at < 14; at++) {
      const verbs = at % 2 === 0 ? session : there
      answers.push(await verbs.ask(rpc(at, 'resources/subscribe', { uri: `a:${at}` })))
    }
    assert.equal(answers.filter((answer) => answer?.result).length, 10)
    const third = await open({ seal, store })
    assert.ok((await sessionOf(third, session.id).ask(rpc('x', 'ping')))?.result)
    for (const door of [first, second, third]) await door.close({ graceMs: 10 })
  })

  test(`${name}: a session with more subscriptions than are let in here is taken up all the same`, async () => {
    const kept = memoryStore()
    const first = await open({ seal, store: kept })
    const session = await shake(first, '2025-11-25')
    const subscriptions = Array.from({ length: 50 }, (_, at) => `a:${at}`)
    const value = JSON.stringify({ changes: { subscriptions } })
    const store: Store = {
      ...kept,
      get: async (key) => (key.startsWith('session/') ? { value, version: 1 } : kept.get(key)),
    }
    const second = await open({ seal, store })
    assert.ok((await sessionOf(second, session.id).ask(rpc('x', 'ping')))?.result)
    for (const door of [first, second]) await door.close({ graceMs: 10 })
  })

  on('a malformed answer to a question ends the question, and is not answered under its id', async (door) => {
    const session = await shake(door, '2025-11-25', { elicitation: {} })
    const error = { code: -1, message: 'no' }
    let at = 0
    for (const rest of [{ result: null }, { result: [] }, { error: 'x' }, { result: {}, error }]) {
      const asking = await session.post(call((at += 1), 'ask'))
      const question = await until(() => messages(asking).find((m) => m.method === 'elicitation/create'))
      const refused = await session.send({ jsonrpc: '2.0', id: question.id, ...rest })
      assert.equal(refused.status, 400)
      assert.equal(messages(refused)[0]?.id ?? null, null)
      await asking.done
      assert.ok(messages(asking).some((m) => m.id === at && m.error))
    }
  })
}
