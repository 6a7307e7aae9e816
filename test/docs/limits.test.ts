import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { limitsFile, limitsPage } from '../../tools/limits.ts'
import { defaultCaps } from '../../src/wire/caps.ts'
import { filesUnder } from '../../tools/files.ts'

test('docs/limits.md says what the code says; `node --import tsx tools/limits.ts` prints it anew', () => {
  assert.equal(readFileSync(limitsFile, 'utf8'), limitsPage())
})

test('every cap has a name in a test', () => {
  const tests = filesUnder('test/hostile', '.ts')
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  for (const name of Object.keys(defaultCaps)) assert.ok(tests.includes(name), name)
})
