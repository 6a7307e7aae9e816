import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { refusalsFile, refusalsPage } from '../../tools/refusals.ts'

test('docs/refusals.md says what the table says; `node --import tsx tools/refusals.ts` prints it anew', () => {
  assert.equal(readFileSync(refusalsFile, 'utf8'), refusalsPage())
})

test('no revision with a handshake is told -32020 to -32022, and nobody -32001', () => {
  const rows = refusalsPage()
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  assert.ok(rows.length > 40)
  for (const row of rows) {
    const [, , alone = '', spec = '', application = ''] = row.split('|')
    assert.doesNotMatch(`${spec}${application}`, /-3202[0-2]/, row)
    assert.doesNotMatch(`${alone}${spec}${application}`, /-32001/, row)
  }
})
