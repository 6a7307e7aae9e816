// What `npm start` prints, taken at its word.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const folder = mkdtempSync(join(tmpdir(), 'dragoman-start-'))
after(() => rmSync(folder, { recursive: true }))

test('the first call that is printed is one that is answered', async () => {
  const args = ['--import', 'tsx', 'examples/start.ts', '--port', '0', '--database', join(folder, 'library.db')]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    let said = ''
    for await (const piece of child.stdout.setEncoding('utf8')) {
      said += String(piece)
      if (said.includes('--tool-name')) break
    }
    const [, url = '', head = '', body = ''] = /curl -s (\S+) \\\n([^]*?) -d '([^']*)'/.exec(said) ?? assert.fail(said)
    const headers = [...head.matchAll(/-H '([^:]+): ([^']*)'/g)].map(([, name = '', value = '']): [string, string] => [
      name,
      value,
    ])
    const response = await fetch(url, { method: 'POST', headers, body })
    assert.equal(response.status, 200)
    assert.match(await response.text(), /Moby-Dick/)
  } finally {
    child.kill()
  }
})
