import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEventLog, readEvents } from '../../src/durable/event-log.ts'
import { handClock, logStore } from './fakes.ts'

function open(name: string, maxEvents = 100) {
  const store = logStore()
  const lost: unknown[] = []
  const log = createEventLog(name, {
    store,
    clock: handClock(),
    maxEvents,
    keepMs: 1_000,
    onLost: (error) => lost.push(error),
  })
  return { store, log, lost }
}

test('events are numbered at once and read back in order', async () => {
  const { log } = open('a')
  assert.deepEqual([log.append('one', false), log.append('two words', false), log.append('three', true)], [1, 2, 3])
  assert.deepEqual(await log.read(1), {
    events: [
      { sequence: 2, text: 'two words', final: false },
      { sequence: 3, text: 'three', final: true },
    ],
    gap: false,
  })
})

test('events that were let go leave a gap that is told', async () => {
  const { log } = open('a', 2)
  for (const text of ['1', '2', '3', '4']) log.append(text, false)
  const page = await log.read(1)
  assert.equal(page.gap, true)
  assert.deepEqual(
    page.events.map((event) => event.sequence),
    [3, 4],
  )
  assert.equal((await log.read(2)).gap, false)
})

test('an event that the store did not take leaves a gap, and the next ones are kept', async () => {
  const { log, store, lost } = open('a')
  log.append('1', false)
  await log.stored()
  store.failNext = true
  log.append('2', false)
  log.append('3', false)
  const page = await log.read(1)
  assert.equal(lost.length, 1)
  assert.deepEqual(page, { events: [{ sequence: 3, text: '3', final: false }], gap: true })
})

test('another process reads the log by its name, and no log by any other', async () => {
  const { log, store } = open('mine')
  log.append('1', true)
  await log.stored()
  assert.equal((await readEvents('mine', store, 0))?.events.length, 1)
  assert.deepEqual(await readEvents('mine', store, 1), { events: [], gap: false })
  assert.equal(await readEvents('other', store, 0), undefined)
})
