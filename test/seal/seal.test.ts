import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { SealPurpose } from '../../src/model/ports.ts'
import { createSeal, randomKey } from '../../src/seal/seal.ts'

const purposes: readonly SealPurpose[] = ['state', 'session', 'cursor', 'task']
const keys = [randomKey()]
const later = Date.now() + 60_000

test('what is sealed is opened for the same purpose', () => {
  const seal = createSeal({ keys })
  const values = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { noNullPrototype: true })
  fc.assert(
    fc.property(values, fc.constantFrom(...purposes), (value, purpose) => {
      const text = seal.seal(purpose, value, later)
      assert.match(text, /^[\w-]+$/)
      assert.deepEqual(seal.open(purpose, text), JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('it opens for no other purpose', () => {
  const seal = createSeal({ keys })
  for (const made of purposes) {
    const text = seal.seal(made, { a: 1 }, later)
    for (const asked of purposes) assert.equal(seal.open(asked, text) !== undefined, made === asked)
  }
})

test('any bit changed, any byte cut or added, is refused', () => {
  const seal = createSeal({ keys })
  const bytes = Buffer.from(seal.seal('state', { user: 'ann', n: 1 }, later), 'base64url')
  for (let at = 0; at < bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const altered = Buffer.from(bytes)
      altered[at] = (altered[at] ?? 0) ^ (1 << bit)
      assert.equal(seal.open('state', altered.toString('base64url')), undefined)
    }
    assert.equal(seal.open('state', bytes.subarray(0, at).toString('base64url')), undefined)
  }
  assert.equal(seal.open('state', Buffer.concat([bytes, Buffer.of(0)]).toString('base64url')), undefined)
})

test('there is one text for a sealed value', () => {
  const seal = createSeal({ keys })
  // One length of value for each remainder, so that two of three have stray bits to vary.
  for (const value of ['x', 'xx', 'xxx']) {
    const text = seal.seal('cursor', { value }, later)
    const bytes = Buffer.from(text, 'base64url')
    const last = text.at(-1) ?? ''
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const twins = [...alphabet]
      .filter((letter) => letter !== last)
      .map((letter) => text.slice(0, -1) + letter)
      .filter((twin) => Buffer.from(twin, 'base64url').equals(bytes))
    assert.equal(twins.length, [0, 15, 3][bytes.length % 3])
    const others = [...twins, `${text}=`, `${text}==`, ` ${text}`, `${text}\n`, `${text}!`, bytes.toString('base64')]
    for (const other of others) {
      if (other !== text) assert.equal(seal.open('cursor', other), undefined, other)
    }
  }
})

test('no text that was not sealed throws or opens', () => {
  const seal = createSeal({ keys })
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
      assert.equal(seal.open('state', text), undefined)
    }),
  )
})

test('expired text is told apart, but only if it is genuine', () => {
  let now = 1000
  const seal = createSeal({ keys, clock: () => now })
  const text = seal.seal('state', {}, 2000)
  now = 1999
  assert.deepEqual(seal.open('state', text), {})
  now = 2000
  assert.equal(seal.open('state', text), 'expired')
  assert.equal(seal.open('session', text), undefined)
  assert.equal(createSeal({ keys: [randomKey()], clock: () => now }).open('state', text), undefined)
})

test('a ring opens what its older keys sealed, and seals with the newest', () => {
  const older = randomKey()
  const newer = randomKey()
  const before = createSeal({ keys: [older] })
  const during = createSeal({ keys: [newer, older] })
  const after = createSeal({ keys: [newer] })
  const old = before.seal('task', { a: 1 }, later)
  assert.deepEqual(during.open('task', old), { a: 1 })
  assert.equal(after.open('task', old), undefined)
  const fresh = during.seal('task', { b: 2 }, later)
  assert.equal(before.open('task', fresh), undefined)
  assert.deepEqual(after.open('task', fresh), { b: 2 })
})

test('two seals of one value differ, by 12 random bytes each', () => {
  const lengths: number[] = []
  const random = (length: number): Uint8Array => {
    lengths.push(length)
    return new Uint8Array(length).fill(lengths.length)
  }
  const seal = createSeal({ keys, random })
  assert.notEqual(seal.seal('state', {}, later), seal.seal('state', {}, later))
  assert.deepEqual(lengths, [12, 12])
})

test('the text shows neither the value nor the key', () => {
  const key = Buffer.alloc(32, 'k')
  const bytes = Buffer.from(createSeal({ keys: [key] }).seal('state', { secret: 'hunter2' }, later), 'base64url')
  assert.equal(bytes.includes('hunter2'), false)
  assert.equal(bytes.includes('kkkk'), false)
})

test('a caller that wipes its key does not break the seal', () => {
  const key = randomKey()
  const seal = createSeal({ keys: [key] })
  const text = seal.seal('state', { a: 1 }, later)
  key.fill(0)
  assert.deepEqual(seal.open('state', text), { a: 1 })
  assert.deepEqual(seal.open('state', seal.seal('state', { b: 1 }, later)), { b: 1 })
})

test('a ring that cannot work is refused', () => {
  assert.throws(() => createSeal({ keys: [] }), RangeError)
  assert.throws(() => createSeal({ keys: [randomKey(), new Uint8Array(16)] }), RangeError)
})
