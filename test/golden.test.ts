// Every transcript under test/golden/, played against the golden server. UPDATE_GOLDEN=1 writes what comes instead of
// comparing; read the diff before you keep it.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { playTranscript } from '../src/testing.ts'
import { officialSchema, schemaFolder } from './codec/official-schema.ts'
import { officialFaults } from './golden/official.ts'
import { goldenServer } from './golden/server.ts'

const root = join(import.meta.dirname, 'golden')
const updating = process.env['UPDATE_GOLDEN'] === '1'

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.transcript'))
  .sort()

for (const file of files) {
  test(file.replace(/\.transcript$/, ''), async () => {
    const path = join(root, file)
    const written = readFileSync(path, 'utf8')
    const { text, difference, crossed } = await playTranscript(goldenServer(), written)
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

for (const file of files) {
  test(`${file.replace(/\.transcript$/, '')} is as the official schema has it`, async (context) => {
    if (!officialSchema('2026-07-28')) return context.skip(`no official schemas in ${schemaFolder} (set DRAGOMAN_SPEC)`)
    const text = readFileSync(join(root, file), 'utf8')
    const pinned = /^@ revisions (.*)$/m.exec(text)?.[1]
    const serves = (revision: string): boolean => pinned === undefined || pinned.includes(revision)
    const { crossed } = await playTranscript(goldenServer(), text)
    assert.deepEqual(officialFaults(crossed, officialSchema, isUnknownOnPurpose, serves), [])
  })
}

test('there are transcripts of every revision', () => {
  const folders = new Set(files.map((file) => file.split('/')[0]))
  assert.deepEqual([...folders].sort(), ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', 'mixed'])
})
