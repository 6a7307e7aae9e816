import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { defaultCaps } from '../../src/wire/caps.ts'
import type { Caps } from '../../src/wire/caps.ts'
import { parseJson } from '../../src/wire/json.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

function kindOf(input: Uint8Array | string, caps: Partial<Caps> = {}): string {
  return parseJson(input, { ...defaultCaps, ...caps }).refusal?.kind ?? 'read'
}

test('agrees with JSON.parse on every JSON text without duplicate keys', () => {
  const spaces = fc.constantFrom('', ' ', '\n\t', '\r\n')
  fc.assert(
    fc.property(fc.json({ maxDepth: 8, stringUnit: 'binary' }), spaces, fc.nat(3), (json, around, indent) => {
      const text = around + JSON.stringify(JSON.parse(json), null, indent) + around
      for (const input of [text, bytesOf(text)]) {
        const parsed = parseJson(input, defaultCaps)
        assert.equal(parsed.refusal, undefined)
        assert.equal(JSON.stringify(parsed.value), JSON.stringify(JSON.parse(text)))
      }
    }),
    { numRuns: 300 },
  )
})

test('agrees with JSON.parse on which texts are JSON', () => {
  const pieces = fc.constantFrom('{', '}', '[', ']', ':', ',', '"', '\\', '"a"', '"b"', '1', 'null', ' ', '\\"', 'e')
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      const text = parts.join('')
      let valid = true
      try {
        JSON.parse(text)
      } catch {
        valid = false
      }
      assert.equal(kindOf(text) === 'ParseError', !valid)
    }),
    { numRuns: 3000 },
  )
})

for (const [name, text] of [
  ['nothing', ''],
  ['blanks', ' \n'],
  ['a cut text', '{"a":'],
  ['two values', '{} {}'],
  ['an open string', '{"a":"b'],
  ['a backslash at the end', '"\\'],
  ['a trailing comma', '[1,]'],
  ['a line break in a string', '"a\nb"'],
  ['a byte order mark', '\uFEFF{}'],
  ['unbalanced brackets', ']]]'],
] as const) {
  test(`no JSON: ${name}`, () => {
    assert.equal(kindOf(text), 'ParseError')
    assert.equal(kindOf(bytesOf(text)), 'ParseError')
  })
}

for (const [name, bytes] of [
  ['a lone continuation byte', [0x22, 0x80, 0x22]],
  ['an overlong form', [0x22, 0xc0, 0xaf, 0x22]],
  ['a surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ['a cut sequence', [0x22, 0xe2, 0x82, 0x22]],
  ['UTF-16', [0x22, 0x00, 0x22, 0x00]],
] as const) {
  test(`not UTF-8: ${name}`, () => assert.equal(kindOf(Uint8Array.from(bytes)), 'ParseError'))
}

test('a key twice is refused at depths 1 to 3, and only there', () => {
  const twice = '{"a":1,"a":2}'
  assert.equal(kindOf(twice), 'InvalidRequest')
  assert.equal(kindOf(`{"x":${twice}}`), 'InvalidRequest')
  assert.equal(kindOf(`{"x":{"y":${twice}}}`), 'InvalidRequest')
  assert.equal(kindOf(`{"x":{"y":[0]},"z":[${twice}]}`), 'InvalidRequest')
  assert.equal(kindOf(`{"x":{"y":{"z":${twice}}}}`), 'read')
})

test('in a batch the depths count from each message', () => {
  assert.equal(kindOf(' [{"x":{"y":{"a":1,"a":2}}}]'), 'InvalidRequest')
  assert.equal(kindOf('[{"x":{"y":{"z":{"a":1,"a":2}}}}]'), 'read')
})

test('keys are compared as decoded', () => {
  assert.equal(kindOf('{"a":1,"\\u0061":2}'), 'InvalidRequest')
  assert.equal(kindOf('{"a\\"":1,"a\\u0022":2}'), 'InvalidRequest')
  assert.equal(kindOf('{"a":1,"A":2,"a ":3,"a\\\\":4}'), 'read')
  assert.equal(kindOf('{"__proto__":1,"__proto__":2}'), 'InvalidRequest')
})

test('any key repeated at a guarded depth is found', () => {
  const members = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 })
  fc.assert(
    fc.property(members, fc.nat(2), (object, wrapped) => {
      const text = JSON.stringify(object)
      const key = JSON.stringify(Object.keys(object)[0])
      const repeated = `${text.slice(0, -1)},${key}:0}`
      const wrap = (inner: string): string => '{"w":'.repeat(wrapped) + inner + '}'.repeat(wrapped)
      assert.equal(kindOf(wrap(text)), 'read')
      assert.equal(kindOf(wrap(repeated)), 'InvalidRequest')
    }),
  )
})

test('__proto__ stays a plain member', () => {
  const { value } = parseJson('{"__proto__":{"polluted":1}}', defaultCaps)
  assert.deepEqual(Object.keys(Object(value)), ['__proto__'])
  assert.equal(Reflect.get(Object(value), 'polluted'), undefined)
})

test('the caps hold exactly', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  assert.equal(kindOf(nested(5), { maxDepth: 5 }), 'read')
  assert.equal(kindOf(nested(6), { maxDepth: 5 }), 'InvalidRequest')
  assert.equal(kindOf('{"a":{"b":1}}', { maxKeys: 2 }), 'read')
  assert.equal(kindOf('{"a":{"b":1,"c":2}}', { maxKeys: 2 }), 'InvalidRequest')
  assert.equal(kindOf('[1,2,3]', { maxValues: 3 }), 'read')
  assert.equal(kindOf('[1,2,3,4]', { maxValues: 3 }), 'InvalidRequest')
  assert.equal(kindOf('[1]', { maxMessageBytes: 3 }), 'read')
  assert.equal(kindOf('[1] ', { maxMessageBytes: 3 }), 'BodyTooLarge')
})

test('what is inside strings does not count', () => {
  assert.equal(kindOf('"[[[[{{{{::::,,,,"', { maxDepth: 1, maxKeys: 0, maxValues: 1 }), 'read')
  assert.equal(kindOf('"\\"[[\\\\"', { maxDepth: 1 }), 'read')
})

test('a text nested 200,000 deep is refused before anything recurses', () => {
  assert.equal(kindOf('['.repeat(200_000) + ']'.repeat(200_000)), 'InvalidRequest')
  assert.equal(kindOf('{"a":'.repeat(200_000)), 'InvalidRequest')
})

test('3 MiB is served, in time linear in its length', () => {
  for (const filling of ['x', '\n', '"', '\\', 'é']) {
    const text = JSON.stringify({ text: filling.repeat(1_500_000) })
    const started = performance.now()
    assert.equal(kindOf(bytesOf(text)), 'read')
    assert.ok(performance.now() - started < 1000, filling)
  }
})
