import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLineSplitter } from '../../src/wire/lines.ts'

function split(chunks: readonly (string | Uint8Array)[], maxBytes = 1000): string[] {
  const seen: string[] = []
  const splitter = createLineSplitter({
    maxBytes,
    onLine: (line) => seen.push(Buffer.from(line).toString('utf8')),
    onOverflow: () => seen.push('overflow'),
  })
  for (const chunk of chunks) splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  splitter.end()
  return seen
}

test('LF and CRLF end a line, blank lines are nothing, a last line needs no end', () => {
  assert.deepEqual(split(['a\nb\r\n\n \t\r\nc\n\nd']), ['a', 'b', 'c', 'd'])
})

test('other line separators are text', () => {
  assert.deepEqual(split(['a\u2028b\u2029c\u0085d\re\n']), ['a\u2028b\u2029c\u0085d\re'])
})

test('lines do not depend on how the bytes were cut', () => {
  const lines = fc.array(fc.string({ unit: 'binary' }).map((text) => `x${text.replaceAll(/[\r\n]/g, '')}`))
  const ends = fc.constantFrom('\n', '\r\n')
  fc.assert(
    fc.property(lines, ends, fc.integer({ min: 1, max: 7 }), (texts, end, size) => {
      const bytes = Buffer.from(texts.map((text) => text + end).join(''))
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      )
      assert.deepEqual(split(chunks), texts)
    }),
  )
})

test('bytes that are not UTF-8 arrive as they came', () => {
  const lines: Uint8Array[] = []
  const splitter = createLineSplitter({
    maxBytes: 9,
    onLine: (line) => lines.push(line.slice()),
    onOverflow: () => assert.fail(),
  })
  splitter.push(Uint8Array.from([0x22, 0xff]))
  splitter.push(Uint8Array.from([0xfe, 0x22, 10]))
  assert.deepEqual(lines, [Uint8Array.from([0x22, 0xff, 0xfe, 0x22])])
})

test('the cap holds exactly, however the line arrives', () => {
  assert.deepEqual(split(['12345\n12345\r\n'], 5), ['12345', '12345'])
  assert.deepEqual(split(['123', '45', '\r', '\n', '12345'], 5), ['12345', '12345'])
  assert.deepEqual(split(['123456\n1\n'], 5), ['overflow', '1'])
  assert.deepEqual(split(['123', '456', '\n', '1\n'], 5), ['overflow', '1'])
  assert.deepEqual(split(['123', '456789', 'abc', '\n1\n'], 5), ['overflow', '1'])
  assert.deepEqual(split(['1\n', '123456789'], 5), ['1', 'overflow'])
})

test('an overlong line costs no more memory than the cap', () => {
  const chunk = Buffer.alloc(1024 * 1024, 'x')
  const seen: string[] = []
  const splitter = createLineSplitter({
    maxBytes: 10,
    onLine: (line) => seen.push(Buffer.from(line).toString()),
    onOverflow: () => seen.push('overflow'),
  })
  const before = process.memoryUsage().arrayBuffers
  for (let count = 0; count < 200; count++) splitter.push(chunk)
  assert.ok(process.memoryUsage().arrayBuffers - before < 20 * 1024 * 1024)
  splitter.push(Buffer.from('\nnext\n'))
  assert.deepEqual(seen, ['overflow', 'next'])
})

test('a long line in tiny pieces takes time linear in its length', () => {
  const piece = Buffer.from('x')
  const started = performance.now()
  const lengths: number[] = []
  const splitter = createLineSplitter({
    maxBytes: 1_000_000,
    onLine: (line) => lengths.push(line.length),
    onOverflow: () => assert.fail(),
  })
  for (let count = 0; count < 1_000_000; count++) splitter.push(piece)
  splitter.end()
  assert.deepEqual(lengths, [1_000_000])
  assert.ok(performance.now() - started < 3000)
})

test('both ends of an overlong line are told, however it was cut', () => {
  const long = Buffer.from(`head${'x'.repeat(700)}tail`)
  const line = fc.constantFrom(
    ...['\n', '\r\n'].map((end) => Buffer.concat([Buffer.from('a\n'), long, Buffer.from(`${end}b\n`)])),
  )
  fc.assert(
    fc.property(line, fc.integer({ min: 1, max: 800 }), fc.integer({ min: 1, max: 600 }), (bytes, size, maxBytes) => {
      const told: string[] = []
      const tell = (part: Uint8Array): void => void told.push(Buffer.from(part).toString())
      const splitter = createLineSplitter({ maxBytes, onLine: tell, onOverflow: tell, onSkipped: tell })
      for (let at = 0; at < bytes.length; at += size) splitter.push(bytes.subarray(at, at + size))
      splitter.end()
      const [first, head = '', tail, last, ...rest] = told
      assert.deepEqual([first, tail, last, rest], ['a', long.subarray(-256).toString(), 'b', []])
      assert.ok(head.length > 0 && head.length <= 256 && long.toString().startsWith(head))
      assert.ok(head.length === 256 || head.length > maxBytes)
    }),
  )
})
