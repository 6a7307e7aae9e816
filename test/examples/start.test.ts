// What `npm start` prints, taken at its word.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
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

test('options that nobody can go by are told of in a line', () => {
  for (const [args, why] of [
    [['--port', 'abc'], '--port is a number from 0 to 65535, and not "abc".\n'],
    [['--port', '65536'], '--port is a number from 0 to 65535, and not "65536".\n'],
    [['--port', ''], '--port is a number from 0 to 65535, and not "".\n'],
    [['--prot', '1'], /^Unknown option '--prot'.*\n$/],
  ] as const) {
    const ran = spawnSync(process.execPath, ['--import', 'tsx', 'examples/start.ts', ...args], { encoding: 'utf8' })
    assert.deepEqual([ran.status, ran.stdout], [1, ''])
    if (typeof why === 'string') assert.equal(ran.stderr, why)
    else assert.match(ran.stderr, why)
  }
})
