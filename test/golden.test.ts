// Every transcript under test/golden/, played against the golden server. UPDATE_GOLDEN=1 writes what comes instead of
// comparing; read the diff before you keep it.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { playTranscript } from '../src/testing.ts'
import type { Played } from '../src/testing.ts'
import { officialSchema, schemaFolder } from './codec/official-schema.ts'
import { officialFaults } from './golden/official.ts'
import { goldenServer } from './golden/server.ts'

const root = join(import.meta.dirname, 'golden')
const updating = process.env['UPDATE_GOLDEN'] === '1'

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.transcript'))
  .sort()

const played = new Map<string, Promise<Played>>()

/** Plays a file, once for all tests. */
function play(file: string): Promise<Played> {
  const known = played.get(file) ?? playTranscript(goldenServer(), readFileSync(join(root, file), 'utf8'))
  played.set(file, known)
  return known
}

for (const file of files) {
  test(file.replace(/\.transcript$/, ''), async () => {
    const path = join(root, file)
    const written = readFileSync(path, 'utf8')
    const { text, difference, crossed } = await play(file)
    assert.ok(
      crossed.some(({ from }) => from === 'server'),
      'the server said nothing',
    )
    if (updating) writeFileSync(path, text)
    else assert.equal(difference, undefined, `\n${basename(file)}, ${difference}`)
    if (!updating) assert.equal(text, written, 'the file is not as the runner writes it')
  })
}

/** What no revision knows, on purpose, and what only says so. */
const isUnknownOnPurpose = (text: string): boolean => text.includes('hologram')

test('every message is as the official schema of its revision has it', async (context) => {
  if (!officialSchema('2026-07-28')) return context.skip(`no official schemas in ${schemaFolder} (set DRAGOMAN_SPEC)`)
  for (const file of files) {
    const { text, crossed } = await play(file)
    const pinned = /^@ revisions (.*)$/m.exec(text)?.[1]
    const serves = (revision: string): boolean => pinned === undefined || pinned.includes(revision)
    assert.deepEqual(officialFaults(crossed, officialSchema, isUnknownOnPurpose, serves), [], file)
  }
})

test('there are transcripts of every revision', () => {
  const folders = new Set(files.map((file) => file.split('/')[0]))
  assert.deepEqual([...folders].sort(), ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', 'mixed'])
})
