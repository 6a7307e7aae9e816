// How a refusal crosses the wire, member by member.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf, fromWire, refusalInTask } from '../../src/codec/refuse.ts'
import { createCodecs } from '../../src/codec/registry.ts'
import { Refusal } from '../../src/model/refusal.ts'
import type { RefusalKind } from '../../src/model/refusal.ts'

const codecs = createCodecs()
const newest = codecs.newest
const asking = codecs.get('2025-11-25')!
const first = codecs.get('2024-11-05')!

test('the error in a failed task: its kind’s code, its text, and the data that it may show', () => {
  const cases: readonly [object, object][] = [
    [{ kind: 'InternalError' }, { code: -32603, message: 'Something unexpected went wrong.' }],
    // What is recorded is no kind, or none that is known.
    [{}, { code: -32603, message: 'Something unexpected went wrong.' }],
    [{ kind: 7 }, { code: -32603, message: 'Something unexpected went wrong.' }],
    [{ kind: ['HandlerFailed'] }, { code: -32603, message: 'Something unexpected went wrong.' }],
    [{ kind: 'toString' }, { code: -32603, message: 'Something unexpected went wrong.' }],
    // Only kinds that carry the handler's words are told with them.
    [
      { kind: 'HandlerFailed', message: 'no paper' },
      { code: -32603, message: 'no paper' },
    ],
    [{ kind: 'HandlerFailed' }, { code: -32603, message: 'The request failed.' }],
    [
      { kind: 'HandlerFailed', message: 7 },
      { code: -32603, message: 'The request failed.' },
    ],
    [
      { kind: 'UnknownResource', message: 'secret' },
      { code: -32602, message: 'There is no such resource.' },
    ],
    // Only what the kind is known to have, and only if it is there.
    [
      { kind: 'UnknownResource', data: { uri: 'a:b', more: 1 } },
      { code: -32602, message: 'There is no such resource.', data: { uri: 'a:b' } },
    ],
    [
      { kind: 'UnknownResource', data: { more: 1 } },
      { code: -32602, message: 'There is no such resource.' },
    ],
    [
      { kind: 'UnknownResource', data: 'a:b' },
      { code: -32602, message: 'There is no such resource.' },
    ],
    [
      { kind: 'InternalError', data: { uri: 'a:b' } },
      { code: -32603, message: 'Something unexpected went wrong.' },
    ],
    [
      { kind: 'UnsupportedVersion', data: { supported: ['x'] } },
      { code: -32022, message: 'This protocol version is not served here.', data: { supported: ['x'] } },
    ],
  ]
  for (const [recorded, told] of cases) assert.deepEqual(refusalInTask(recorded as never), told)
})

const shown = (kind: RefusalKind, data: object, codec = newest) =>
  dataOf(new Refusal(kind, { data: data as never }), codec, 'spec')

test('data says only what its kind has, in the terms of the revision', () => {
  assert.equal(shown('InternalError', { since: 1 }), undefined)
  assert.equal(shown('OutcomeUnknown', { other: 1 }), undefined)
  assert.deepEqual(shown('OutcomeUnknown', { since: 1, other: 1 }), { since: 1 })
  assert.deepEqual(shown('OutcomeUnknown', { since: 1, ended: true }), { since: 1, ended: true })
  // Tasks are no capability of a client there, and roots do not change.
  const requiredCapabilities = { roots: { listChanged: true }, sampling: {} }
  assert.deepEqual(shown('NotCallable', { requiredCapabilities }), {
    requiredCapabilities: { roots: {}, sampling: {} },
  })
  assert.deepEqual(shown('NotCallable', { requiredCapabilities }, first), { requiredCapabilities })
  assert.deepEqual(shown('NotCallable', { requiredCapabilities: 'roots' }), { requiredCapabilities: 'roots' })
  // Nothing but capabilities is taken for capabilities.
  assert.deepEqual(shown('OutcomeUnknown', { since: requiredCapabilities }), { since: requiredCapabilities })
})

test('elicitations in data are encoded where the revision asks, and else left as they are', () => {
  const elicitations = [{ mode: 'url', message: 'm', url: 'https://a.example', elicitationId: 'e' }, 7]
  assert.deepEqual(shown('UrlElicitationRequired', { elicitations }, asking), { elicitations })
  const [asked] = (shown('UrlElicitationRequired', { elicitations }, newest) as { elicitations: object[] }).elicitations
  assert.deepEqual(asked, { mode: 'url', message: 'm', url: 'https://a.example' })
  assert.deepEqual(shown('UrlElicitationRequired', { elicitations }, first), { elicitations })
  assert.deepEqual(shown('UrlElicitationRequired', { elicitations: 'none' }, asking), { elicitations: 'none' })
  const listed = { supported: [{ mode: 'url', message: 'm', url: 'https://a.example', elicitationId: 'e' }] }
  assert.deepEqual(shown('UnsupportedVersion', listed, newest), listed)
})

test('an error whose code promises that nothing ran says so', () => {
  const ran = (code: number, data?: object): string => fromWire({ code, message: 'm', data } as never, newest).ran
  assert.deepEqual(
    [-32700, -32600, -32601, -32602, -32002, -32020, -32022].map((code) => ran(code)),
    ['no', 'no', 'no', 'no', 'no', 'no', 'no'],
  )
  assert.equal(ran(-32602, { uri: 'a:b' }), 'no')
  assert.deepEqual(
    [-32603, -32021, -32042, -32000, -1].map((code) => ran(code)),
    ['unknown', 'unknown', 'unknown', 'unknown', 'unknown'],
  )
})

test('codes beside the specification’s range are their sender’s own', () => {
  const kind = (code: number): string => fromWire({ code, message: 'm' }, undefined).kind
  assert.deepEqual([-32768, -32000, -32603].map(kind), ['InternalError', 'InternalError', 'InternalError'])
  assert.deepEqual([-32769, -31999, 0].map(kind), ['HandlerFailed', 'HandlerFailed', 'HandlerFailed'])
})

test('without a revision, or with another code, data is not taken for a missing resource or a list of versions', () => {
  const kind = (code: number, data: object): string => fromWire({ code, message: 'm', data } as never, newest).kind
  assert.equal(fromWire({ code: -32602, message: 'm', data: { uri: 'a:b' } }, undefined).kind, 'MalformedParams')
  assert.equal(kind(-32602, { uri: 7 }), 'MalformedParams')
  assert.equal(kind(-32601, { uri: 'a:b', supported: [] }), 'UnknownMethod')
  assert.equal(kind(-32602, ['supported'] as never), 'MalformedParams')
})

test('an error without words or data of its type is read as one without them, and without a code as an internal one', () => {
  for (const error of [undefined, null, 'x', 7, [], {}, { code: '-32601', message: 7, data: 'x' }, { data: [1] }]) {
    const { kind, code, words, data, ran } = fromWire(error, newest)
    assert.deepEqual(
      { kind, code, words, data, ran },
      { kind: 'InternalError', code: -32603, words: undefined, data: undefined, ran: 'unknown' },
      JSON.stringify(error),
    )
  }
  assert.equal(fromWire(Object.create({ code: -32601 }), newest).kind, 'InternalError')
})
