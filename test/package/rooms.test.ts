import assert from 'node:assert/strict'
import { test } from 'node:test'
import { undocumented } from '../../tools/docs.ts'
import { checkRooms, roomOf } from '../../tools/rooms.ts'

const faultsOf = (files: Record<string, string>): string[] =>
  checkRooms(new Map(Object.entries(files))).map(({ file, message }) => `${file}: ${message}`)

test('a room may import what the table allows, and itself', () => {
  assert.deepEqual(
    faultsOf({
      'peer/peer.ts': "import type { Codec } from '../codec/codec.ts'\nimport { x } from './x.ts'",
      'index.ts': "export { a } from './server/a.ts'",
      'transport/serve/stdio.ts':
        "import { a } from '../../wire/a.ts'\nimport type { P } from '../../auth/resource/p.ts'",
    }),
    [],
  )
})

test('a forbidden import is found in each of its spellings', () => {
  for (const line of [
    "import { a } from '../codec/a.ts'",
    "import type { A } from '../codec/a.ts'",
    "import {\n  a,\n  type B,\n} from '../codec/a.ts'",
    "export * from '../codec/a.ts'",
    "export type { A } from '../codec/a.ts'",
    "import '../codec/a.ts'",
    "const a = await import('../codec/a.ts')",
  ])
    assert.deepEqual(faultsOf({ 'server/s.ts': line }), ['server/s.ts: server may not import codec (codec/a.ts)'], line)
})

test('nothing below imports the composition root, and no file lies outside the rooms', () => {
  assert.deepEqual(faultsOf({ 'client/c.ts': "import { a } from '../index.ts'" }), [
    'client/c.ts: client may not import entry (index.ts)',
  ])
  assert.equal(roomOf('transport/shared.ts'), undefined)
  assert.deepEqual(faultsOf({ 'attic/a.ts': "import { a } from '../model/a.ts'" }), [
    'attic/a.ts: lies in no room of the table',
  ])
  assert.deepEqual(faultsOf({ 'wire/w.ts': "import { a } from '../../tools/a.ts'" }), [
    'wire/w.ts: imports ../tools/a.ts, which is outside src/',
  ])
})

test('a cycle of run-time imports is found, one of types alone is none', () => {
  assert.deepEqual(faultsOf({ 'wire/a.ts': "import { b } from './b.ts'", 'wire/b.ts': "import { a } from './a.ts'" }), [
    'wire/a.ts: import cycle: wire/a.ts → wire/b.ts → wire/a.ts',
  ])
  assert.deepEqual(
    faultsOf({ 'wire/a.ts': "import { b } from './b.ts'", 'wire/b.ts': "import type { a } from './a.ts'" }),
    [],
  )
})

test('a revision is named in code by the codec room alone; a comment may name one', () => {
  const text = "/** Since 2025-06-18. */\nexport const a = 1 // 2025-11-25\nconst b = '2025-03-26'"
  assert.deepEqual(faultsOf({ 'codec/a.ts': text }), [])
  assert.deepEqual(faultsOf({ 'peer/a.ts': text }), [
    'peer/a.ts: line 3 names the revision 2025-03-26; only src/codec may',
  ])
})

test('an export without a doc comment is found', () => {
  assert.deepEqual(
    undocumented('/** A. */\nexport const a = 1\nexport function b(): void {}\n\nexport type { C } from "c"'),
    ['b'],
  )
})
