import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

/** Runs `dragoman` as a shell would. */
function dragoman(...args: readonly string[]): { code: number | null; out: string; err: string } {
  const command = ['--import', 'tsx', 'src/cli/main.ts', ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' })
  return { code: status, out: stdout, err: stderr }
}

test('it tells its version', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  for (const asked of ['--version', '-v']) assert.deepEqual(dragoman(asked), { code: 0, out: `${version}\n`, err: '' })
})

test('what it does not know is named, and how it is used is said on the other stream', () => {
  const { code, out, err } = dragoman('atach', '/tmp/x.sock')
  assert.deepEqual([code, out], [2, ''])
  assert.match(err, /^There is no command "atach"\n\nUsage:\n {2}dragoman attach/)
  assert.match(dragoman().err, /^Usage:/)
  assert.match(dragoman('--help').out, /^Usage:/)
})
