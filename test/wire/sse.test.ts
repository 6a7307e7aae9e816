import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createSseDecoder, sseComment, sseEvent } from '../../src/wire/sse.ts'
import type { SseEvent } from '../../src/wire/sse.ts'

interface Seen {
  events: SseEvent[]
  retries: number[]
  overflows: number
  lastEventId: string
}

function decode(stream: string | Uint8Array, chunkSize = Infinity, maxBytes = 1000): Seen {
  const seen: Seen = { events: [], retries: [], overflows: 0, lastEventId: '' }
  const decoder = createSseDecoder({
    maxBytes,
    onEvent: (event) => seen.events.push(event),
    onRetry: (milliseconds) => seen.retries.push(milliseconds),
    onOverflow: () => seen.overflows++,
  })
  const bytes = Buffer.from(stream)
  const size = Math.min(chunkSize, Math.max(bytes.length, 1))
  for (let at = 0; at < bytes.length; at += size) decoder.push(bytes.subarray(at, at + size))
  return { ...seen, lastEventId: decoder.lastEventId }
}

test('of an event too large both ends are told, however it is cut', () => {
  const long = `{"id":1,${'x'.repeat(3_000)},"id":2}`
  for (const [stream, head, tail] of [
    [`data: ${long}\n\n`, long.slice(0, 256), long.slice(-256)],
    [`data:${long}\r\n\r\n`, long.slice(0, 256), long.slice(-256)],
    [`: ${long}\n\n`, '', ''],
    ['data: one\n'.repeat(300) + 'data: last\n\n', 'one', 'last'],
    [`event: x\ndata: one\ndata: ${long}\n\n`, 'one', long.slice(-256)],
  ] as const) {
    for (const size of [1, 7, 1_000, 100_000]) {
      const told: string[] = []
      const decoder = createSseDecoder({
        maxBytes: 1_000,
        onEvent: ({ data }) => told.push(data),
        onRetry: () => {},
        onOverflow: (begin) => told.push(begin),
        onSkipped: (end) => told.push(end),
      })
      const bytes = Buffer.from(`${stream}data: next\n\n`)
      for (let at = 0; at < bytes.length; at += size) decoder.push(bytes.subarray(at, at + size))
      assert.deepEqual(told, [head, tail, 'next'], `${stream.slice(0, 20)} by ${size}`)
    }
  }
})

const dataOf = (stream: string, chunkSize?: number): string[] =>
  decode(stream, chunkSize).events.map((event) => event.data)

test('an event is written as its fields and a blank line', () => {
  assert.equal(sseEvent('{}'), 'data: {}\n\n')
  assert.equal(sseEvent('', { id: '7' }), 'id: 7\ndata: \n\n')
  assert.equal(sseEvent('/x', { event: 'endpoint', retry: 1500.4 }), 'event: endpoint\nretry: 1500\ndata: /x\n\n')
  assert.equal(sseEvent('a\nb\r\nc\rd'), 'data: a\ndata: b\ndata: c\ndata: d\n\n')
  assert.equal(sseEvent('x', { id: 'a\n\rdata: evil\0' }), 'id: adata: evil\ndata: x\n\n')
  assert.equal(sseComment('keep\nalive'), ': keep\n: alive\n\n')
})

test('what is written is read back, however it is cut', () => {
  const texts = fc.string({ unit: 'binary' })
  const line = texts.map((text) => text.replaceAll(/[\r\n\0]/g, ''))
  fc.assert(
    fc.property(fc.array(fc.tuple(texts, line, line)), fc.integer({ min: 1, max: 9 }), (events, size) => {
      const stream = events.map(([data, id, event]) => sseEvent(data, { id, event }) + sseComment('x')).join('')
      assert.deepEqual(
        decode(stream, size).events,
        events.map(([data, id, event]) => ({
          data: data.replaceAll(/\r\n|\r/g, '\n'),
          id,
          event: event || 'message',
        })),
      )
    }),
  )
})

test('CR, LF and CRLF end a line, also across chunks', () => {
  for (const end of ['\n', '\r', '\r\n']) {
    for (const size of [1, 2, 3, 100]) {
      const stream = ['data: a', 'data: b', '', 'data: c', '', ''].join(end)
      assert.deepEqual(dataOf(stream, size), ['a\nb', 'c'], JSON.stringify([end, size]))
    }
  }
})

test('one blank after the colon is no data, a second is', () => {
  assert.deepEqual(dataOf('data:a\n\ndata: a\n\ndata:  a\n\n'), ['a', 'a', ' a'])
})

test('a field without a colon is empty; empty data still is an event', () => {
  assert.deepEqual(dataOf('data\n\ndata\ndata\n\ndata:'), ['', '\n'])
})

test('an event without data is none, but its id counts', () => {
  const seen = decode('id: 5\nevent: x\n\ndata: a\n\n')
  assert.deepEqual(seen.events, [{ event: 'message', data: 'a', id: '5' }])
  assert.equal(decode('id: 5\n\n').lastEventId, '5')
  assert.equal(decode('id: 5\n').lastEventId, '')
})

test('an id with NUL is ignored, an empty one resets', () => {
  const ids = decode('id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid\ndata: c\n\n').events.map((event) => event.id)
  assert.deepEqual(ids, ['1', '1', ''])
})

test('retry takes digits only', () => {
  assert.deepEqual(decode('retry: 1500\nretry: 1.5\nretry: -1\nretry: x\nretry\n').retries, [1500])
})

test('comments and unknown fields are skipped, and a cut-off event too', () => {
  assert.deepEqual(dataOf(': hello\nwhat: x\nDATA: no\ndata: a\n\ndata: never'), ['a'])
})

test('one byte order mark at the start is skipped, a later one is text', () => {
  assert.deepEqual(dataOf('\uFEFFdata: a\n\n\uFEFFdata: b\n\ndata: \uFEFFc\n\n', 1), ['a', '\uFEFFc'])
})

test('what is too large is told once and skipped, and the next event is served', () => {
  for (const size of [1, 4, 1000]) {
    const line = decode(`data: ${'x'.repeat(50)}\ndata: y\n\ndata: ok\n\n`, size, 10)
    assert.deepEqual([line.overflows, line.events.map((event) => event.data)], [1, ['ok']])
    const many = decode(`${'data: xxxx\n'.repeat(9)}\ndata: ok\n\n`, size, 10)
    assert.deepEqual([many.overflows, many.events.map((event) => event.data)], [1, ['ok']])
    const fits = decode(`data: ${'x'.repeat(10)}\n\ndata: 123456\ndata: 789\n\n`, size, 10)
    assert.deepEqual([fits.overflows, fits.events.length], [0, 2])
  }
})

test('time is linear in the bytes', () => {
  const started = performance.now()
  assert.equal(decode(`data: ${'x'.repeat(1_000_000)}\n\n`, 1, 2_000_000).events[0]?.data.length, 1_000_000)
  assert.ok(performance.now() - started < 3000)
})
