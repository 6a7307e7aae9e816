// Nothing holds a process once its links are closed: each of these ends by itself, or is killed by the test's patience.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const patienceMs = 20_000

test('a process that just ends takes what it started along', async () => {
  const program = fileURLToPath(new URL('leaks-program.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', program, 'exit'], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await once(child, 'exit')
  const pid = Number(said)
  assert.ok(pid > 0, said)
  for (let tries = 0; tries < 200 && isAlive(pid); tries++) await sleep(10)
  assert.ok(!isAlive(pid))
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

for (const [name, ways] of Object.entries({
  'HTTP, all ways': [
    'json',
    'stream',
    'session',
    'listening',
    'aborted',
    'refused',
    'unreachable',
    'fetch',
    'http+sse',
  ],
  'commands and sockets': ['command', 'stubborn', 'socket', 'memory'],
})) {
  test(`${name}: a process with closed links ends by itself`, async () => {
    const program = fileURLToPath(new URL('leaks-program.ts', import.meta.url))
    const child = spawn(process.execPath, ['--import', 'tsx', program, ...ways], { stdio: ['ignore', 'pipe', 'pipe'] })
    const said = { out: '', err: '' }
    child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()))
    const impatient = setTimeout(() => child.kill('SIGKILL'), patienceMs)
    const [code] = await once(child, 'close')
    clearTimeout(impatient)
    assert.equal(code, 0, `${said.err}${said.out}`)
    const lines = said.out.trim().split('\n')
    assert.deepEqual(
      lines,
      ways.map((way) => `${way}: nothing left`),
    )
  })
}
