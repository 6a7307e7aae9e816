import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createSessionBook } from '../../src/durable/sessions.ts'
import type { Principal } from '../../src/model/notification.ts'
import type { SessionBookOptions, SessionOpening } from '../../src/durable/sessions.ts'
import type { SessionTicket } from '../../src/durable/session-ticket.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { glassSeal, handClock } from './fakes.ts'

interface Live {
  readonly revision: string
  busy: boolean
  changes: JsonObject
  dropped: boolean
}

const opening: SessionOpening = {
  revision: 'r1',
  capabilities: { elicitation: { form: {} }, roots: { listChanged: true } },
  client: { name: 'c', version: '1' },
  principal: undefined,
  initializeId: 0,
}
const ada: Principal = { id: 'ada', scopes: new Set(['read']) }
const eve: Principal = { id: 'eve', scopes: new Set() }
const toLive = (ticket: SessionTicket): Live => ({
  revision: ticket.revision,
  busy: false,
  changes: {},
  dropped: false,
})

function open(options: Partial<SessionBookOptions<Live>> = {}) {
  const clock = handClock()
  let count = 0
  const revived: SessionTicket[] = []
  const all: SessionBookOptions<Live> = {
    seal: glassSeal(clock),
    store: undefined,
    clock,
    random: (length) => new Uint8Array(length).fill((count += 1)),
    busy: (live) => live.busy,
    revive(ticket, changes) {
      revived.push(ticket)
      return { ...toLive(ticket), changes }
    },
    update: (live, changes) => void (live.changes = changes),
    drop: (live) => void (live.dropped = true),
    ...options,
  }
  return { book: createSessionBook(all), twin: () => createSessionBook(all), clock, revived }
}

test('a session is found again, and is the same', async () => {
  const { book, revived } = open()
  const id = await book.open(opening, toLive)
  assert.match(id, /^[\x21-\x7e]{16,1024}$/)
  const entry = await book.find(id, undefined)
  assert.ok(entry)
  assert.equal(entry, await book.find(id, undefined))
  assert.equal(revived.length, 0)
})

test('another process takes a session up from its id alone', async () => {
  const { book, twin, revived } = open()
  const id = await book.open({ ...opening, principal: 'ada' }, toLive)
  const entry = await twin().find(id, ada)
  assert.equal(entry?.ticket.key, (await book.find(id, ada))?.ticket.key)
  assert.deepEqual(revived[0]?.capabilities, opening.capabilities)
  assert.deepEqual(revived[0]?.client, opening.client)
  assert.equal(revived.length, 1)
})

test('an id that was never issued, was altered, or is another principal’s is unknown', async () => {
  const { book, twin } = open()
  const id = await book.open({ ...opening, principal: 'ada' }, toLive)
  for (const shelf of [book, twin()]) {
    assert.equal(await shelf.find('0123456789abcdef', ada), undefined)
    assert.equal(await shelf.find(`x${id.slice(1)}`, ada), undefined)
    assert.equal(await shelf.find(id, eve), undefined)
    assert.equal(await shelf.find(id, undefined), undefined)
  }
})

test('an ended session stays ended', async () => {
  const { book } = open()
  const id = await book.open(opening, toLive)
  const entry = await book.find(id, undefined)
  assert.ok(entry)
  await book.end(entry)
  assert.equal(entry.live.dropped, true)
  assert.equal(await book.find(id, undefined), undefined)
})

/** Two processes over one store. */
function replicas(options: Partial<SessionBookOptions<Live>> = {}) {
  const clock = handClock()
  const all = { seal: glassSeal(clock), store: memoryStore({ clock }), ...options }
  const [one, other] = [open(all), open(all)]
  return { clock, one: one.book, other: other.book }
}

for (const [how, options] of [
  ['sealed', {}],
  ['stored', { seal: undefined }],
] as const) {
  test(`${how}: every process on a store serves a session, with what was changed of it`, async () => {
    const { one, other } = replicas(options)
    const id = await one.open(opening, toLive)
    assert.match(id, /^[\x21-\x7e]{16,1024}$/)
    const entry = await one.find(id, undefined)
    assert.ok(entry)
    await one.change(entry.ticket, (kept) => ({ ...kept, level: 'debug' }))
    assert.deepEqual((await other.find(id, undefined))?.live.changes, { level: 'debug' })
    await one.change(entry.ticket, (kept) => ({ ...kept, more: 1 }))
    await other.refresh(entry.ticket.key)
    assert.deepEqual((await other.find(id, undefined))?.live.changes, { level: 'debug', more: 1 })
    assert.equal(await other.find(id, eve), undefined)
  })

  test(`${how}: a session that was ended is ended everywhere, also where nobody was told`, async () => {
    const { one, other, clock } = replicas(options)
    const ids = [await one.open(opening, toLive), await one.open(opening, toLive)]
    const [here, there] = [await one.find(ids[0] ?? '', undefined), await other.find(ids[1] ?? '', undefined)]
    assert.ok(here && there)
    await one.end(here)
    assert.equal(await other.find(ids[0] ?? '', undefined), undefined)
    const known = await one.find(ids[1] ?? '', undefined)
    assert.ok(known)
    await one.end(known)
    assert.equal(other.ended(known.ticket.key, clock() + 1_000), there.live)
    assert.equal(there.live.dropped, true)
    assert.equal(await other.find(ids[1] ?? '', undefined), undefined)
  })

  test(`${how}: what may have been missed is looked up`, async () => {
    const { one, other } = replicas(options)
    const busy = (ticket: SessionTicket): Live => ({ ...toLive(ticket), busy: true })
    const ids = [await one.open(opening, busy), await one.open(opening, busy)]
    const theirs = [await other.find(ids[0] ?? '', undefined), await other.find(ids[1] ?? '', undefined)]
    assert.ok(theirs[0] && theirs[1])
    await other.change(theirs[0].ticket, () => ({ level: 'error' }))
    await other.end(theirs[1])
    await one.refresh()
    assert.deepEqual((await one.find(ids[0] ?? '', undefined))?.live.changes, { level: 'error' })
    assert.equal(await one.find(ids[1] ?? '', undefined), undefined)
  })
}

test('of idle sessions that can be had again, hardly any are kept', async () => {
  const { one } = replicas()
  for (let n = 0; n < 1_000; n++) await one.open(opening, toLive)
  assert.equal([...one.live()].length, 200)
})

test('an id that would be too long is a short one instead, of a session that is stored', async () => {
  const { one, other } = replicas()
  const id = await one.open({ ...opening, principal: 'p'.repeat(1_000) }, toLive)
  assert.equal(id.length, 24)
  assert.ok(await other.find(id, { ...ada, id: 'p'.repeat(1_000) }))
})

test('a session ends at its absolute age, whoever keeps it', async () => {
  const { book, twin, clock } = open({ ageMs: 1_000, idleMs: 10_000 })
  const id = await book.open(opening, toLive)
  clock.now += 999
  assert.ok(await book.find(id, undefined))
  clock.now += 1
  assert.equal(await book.find(id, undefined), undefined)
  assert.equal(await twin().find(id, undefined), undefined)
})

test('what is kept of an idle session is let go, unless it is busy', async () => {
  const { book, clock, revived } = open({ idleMs: 100 })
  const idle = await book.open(opening, toLive)
  const busy = await book.open(opening, (ticket) => ({ ...toLive(ticket), busy: true }))
  clock.now += 101
  await book.open(opening, toLive)
  assert.equal([...book.live()].length, 2)
  await book.find(busy, undefined)
  assert.equal(revived.length, 0)
  await book.find(idle, undefined)
  assert.equal(revived.length, 1)
})

test('no more sessions are kept than allowed, and busy ones do not make it spin', async () => {
  const { book } = open({ maxLive: 3 })
  for (let n = 0; n < 10; n++) await book.open(opening, toLive)
  assert.equal([...book.live()].length, 3)
  const { book: full } = open({ maxLive: 3 })
  for (let n = 0; n < 10; n++) await full.open(opening, (ticket) => ({ ...toLive(ticket), busy: true }))
  assert.equal([...full.live()].length, 10)
})

test('a session whose revision is no longer served is unknown', async () => {
  const { book, twin } = open()
  const id = await book.open(opening, toLive)
  const other = open({ revive: () => undefined })
  assert.ok(await twin().find(id, undefined))
  assert.equal(await other.book.find(id, undefined), undefined)
})

test('without a seal a session lives as long as what is kept of it', async () => {
  const { book, twin } = open({ seal: undefined })
  const id = await book.open(opening, toLive)
  assert.ok(await book.find(id, undefined))
  assert.equal(await twin().find(id, undefined), undefined)
})

test('whatever a client declares, its id is at most 1 KiB of visible ASCII and finds it again', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.string({ maxLength: 2000 }),
      async (declared, name) => {
        const { book } = open()
        const capabilities = JSON.parse(JSON.stringify(declared))
        const id = await book.open({ ...opening, capabilities, client: { name, version: '1' } }, toLive)
        assert.match(id, /^[\x21-\x7e]{16,1024}$/)
        assert.ok(await book.find(id, undefined))
      },
    ),
    { numRuns: 100 },
  )
})
