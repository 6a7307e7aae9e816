import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createSessionBook } from '../../src/durable/sessions.ts'
import type { SessionBookOptions, SessionOpening, SessionTicket } from '../../src/durable/sessions.ts'
import { glassSeal, handClock } from './fakes.ts'

interface Live {
  readonly revision: string
  busy: boolean
}

const opening: SessionOpening = {
  revision: 'r1',
  capabilities: { elicitation: { form: {} }, roots: { listChanged: true } },
  client: { name: 'c', version: '1' },
  principal: undefined,
  initializeId: 0,
}
const toLive = (ticket: SessionTicket): Live => ({ revision: ticket.revision, busy: false })

function open(options: Partial<SessionBookOptions<Live>> = {}) {
  const clock = handClock()
  let count = 0
  const revived: SessionTicket[] = []
  const all: SessionBookOptions<Live> = {
    seal: glassSeal(clock),
    clock,
    random: (length) => new Uint8Array(length).fill((count += 1)),
    busy: (live) => live.busy,
    revive(ticket) {
      revived.push(ticket)
      return toLive(ticket)
    },
    ...options,
  }
  return { book: createSessionBook(all), twin: () => createSessionBook(all), clock, revived }
}

test('a session is found again, and is the same', async () => {
  const { book, revived } = open()
  const id = book.open(opening, toLive)
  assert.match(id, /^[\x21-\x7e]{16,1024}$/)
  const entry = await book.find(id, undefined)
  assert.ok(entry)
  assert.equal(entry, await book.find(id, undefined))
  assert.equal(revived.length, 0)
})

test('another process takes a session up from its id alone', async () => {
  const { book, twin, revived } = open()
  const id = book.open({ ...opening, principal: 'ada' }, toLive)
  const entry = await twin().find(id, 'ada')
  assert.equal(entry?.ticket.key, (await book.find(id, 'ada'))?.ticket.key)
  assert.deepEqual(revived[0]?.capabilities, opening.capabilities)
  assert.deepEqual(revived[0]?.client, opening.client)
})

test('an id that was never issued, was altered, or is another principal’s is unknown', async () => {
  const { book, twin } = open()
  const id = book.open({ ...opening, principal: 'ada' }, toLive)
  for (const shelf of [book, twin()]) {
    assert.equal(await shelf.find('0123456789abcdef', 'ada'), undefined)
    assert.equal(await shelf.find(`x${id.slice(1)}`, 'ada'), undefined)
    assert.equal(await shelf.find(id, 'eve'), undefined)
    assert.equal(await shelf.find(id, undefined), undefined)
  }
})

test('an ended session stays ended', async () => {
  const { book } = open()
  const id = book.open(opening, toLive)
  assert.equal((await book.end(id))?.revision, 'r1')
  assert.equal(await book.find(id, undefined), undefined)
})

test('a session ends at its absolute age, whoever keeps it', async () => {
  const { book, twin, clock } = open({ ageMs: 1_000, idleMs: 10_000 })
  const id = book.open(opening, toLive)
  clock.now += 999
  assert.ok(await book.find(id, undefined))
  clock.now += 1
  assert.equal(await book.find(id, undefined), undefined)
  assert.equal(await twin().find(id, undefined), undefined)
})

test('what is kept of an idle session is let go, unless it is busy', async () => {
  const { book, clock, revived } = open({ idleMs: 100 })
  const idle = book.open(opening, toLive)
  const busy = book.open(opening, (ticket) => ({ ...toLive(ticket), busy: true }))
  clock.now += 101
  book.open(opening, toLive)
  assert.equal([...book.live()].length, 2)
  await book.find(busy, undefined)
  assert.equal(revived.length, 0)
  await book.find(idle, undefined)
  assert.equal(revived.length, 1)
})

test('no more sessions are kept than allowed, and busy ones do not make it spin', async () => {
  const { book } = open({ maxLive: 3 })
  for (let n = 0; n < 10; n++) book.open(opening, toLive)
  assert.equal([...book.live()].length, 3)
  const { book: full } = open({ maxLive: 3 })
  for (let n = 0; n < 10; n++) full.open(opening, (ticket) => ({ ...toLive(ticket), busy: true }))
  assert.equal([...full.live()].length, 10)
})

test('a session whose revision is no longer served is unknown', async () => {
  const { book, twin } = open()
  const id = book.open(opening, toLive)
  const other = open({ revive: () => undefined })
  assert.ok(await twin().find(id, undefined))
  assert.equal(await other.book.find(id, undefined), undefined)
})

test('without a seal a session lives as long as what is kept of it', async () => {
  const { book, twin } = open({ seal: undefined })
  const id = book.open(opening, toLive)
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
        const id = book.open({ ...opening, capabilities, client: { name, version: '1' } }, toLive)
        assert.match(id, /^[\x21-\x7e]{16,1024}$/)
        assert.ok(await book.find(id, undefined))
      },
    ),
    { numRuns: 100 },
  )
})
