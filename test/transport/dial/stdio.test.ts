import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createStdioLink, type CommandOptions } from '../../../src/transport/dial/stdio.ts'
import { call, modern, modernCall, rpc, said } from '../serve/stand-in.ts'
import { failureOf, talk, until, type Talk } from './support.ts'

/** Starts a few lines of script as a server. */
function script(code: string, options: Partial<CommandOptions> = {}): Promise<Talk> {
  return talk(createStdioLink({ command: process.execPath, args: ['-e', code], graceMs: 300, ...options }))
}

/** Answers every request with its own params, and `{"text"}` for tools. */
const answering = `
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) answer(id, { pid: process.pid, ...handle(method, params) })
})
`

function isAlive(pid: unknown): boolean {
  try {
    return process.kill(Number(pid), 0)
  } catch {
    return false
  }
}

test('a server of our own: every revision in one process, which ends by itself', async () => {
  const path = fileURLToPath(new URL('../serve/stdio-server.ts', import.meta.url))
  const link = createStdioLink({ command: process.execPath, args: ['--import', 'tsx', path] })
  const { ask, agree, heard } = await talk(link)
  assert.ok((await ask(modern('d', 'server/discover'))).result)
  assert.equal(said(await ask(modernCall(1, 'echo', { text: 'ünï' }))), 'ünï')
  await agree('2025-11-25')
  assert.equal(said(await ask(call(2, 'echo', { text: 'hi' }))), 'hi')
  await ask(call(3, 'noisy'))
  await until(() => heard.noises.some(({ from, text }) => from === 'stderr' && text.includes('raw noise')))
  await link.close()
  assert.deepEqual([heard.ends, heard.losses], [[], []])
})

test('stray lines are skipped and told, messages among them arrive', async () => {
  const { ask, heard, link } = await script(`
    console.log('Starting up...')
    console.log('{"level":"info","msg":"up"}')
    process.stdout.write('\\n\\n\\xff\\r\\n')
    console.error('to stderr')
    const handle = () => { console.log('[debug] handling'); return {} }
    ${answering}`)
  assert.ok((await ask(rpc(1, 'ping'))).result)
  await until(() => heard.noises.some(({ from }) => from === 'stderr'))
  const stray = heard.noises.filter(({ from }) => from === 'stdout').map(({ text }) => text)
  assert.deepEqual(stray, ['Starting up...', '{"level":"info","msg":"up"}', 'ÿ', '[debug] handling'])
  await link.close()
})

test('a crash is told once, with the last words', async () => {
  const { send, heard, link } = await script(`
    process.stdin.once('data', () => {
      for (let line = 1; line <= 80; line++) console.error('line ' + line)
      console.error('x'.repeat(200_000))
      process.exitCode = 3
      process.stdin.destroy()
    })`)
  await send(rpc(1, 'ping'))
  await until(() => heard.ends.length > 0)
  const [failure] = heard.ends
  assert.deepEqual([heard.ends.length, failure?.kind, failure?.ran], [1, 'ServerExited', 'unknown'])
  assert.match(failure?.message ?? '', /exited with code 3; its last words:\nline 72\n/)
  const words = failure?.data?.['stderr'] as string[]
  assert.deepEqual(
    [failure?.data?.['code'], words.length, words[0], words.at(-1)],
    [3, 50, 'line 32', '(a line too long to keep)'],
  )
  const late = await failureOf(send(rpc(2, 'ping')))
  assert.equal(late.kind, 'ServerExited')
  await link.close()
})

test('the last words say why it ended, however deep in the program that was', async () => {
  const { heard, link } = await script(`
    const deep = (left) => { if (left) return deep(left - 1); throw new Error('no configuration', { cause: new Error('no such file') }) }
    deep(30)`)
  await until(() => heard.ends.length > 0)
  const { message = '', data } = heard.ends[0] ?? {}
  assert.match(message, /exited with code 1; its last words:\n/)
  assert.match(message, /Error: no configuration/)
  assert.match(message, /no such file/)
  assert.doesNotMatch(message, /^ +at /m)
  assert.ok((data?.['stderr'] as string[]).some((line) => line.startsWith('    at ')))
  await link.close()
})

test('where there is nothing but a trace, that is told', async () => {
  const { heard, link } = await script(
    `console.error('    at somewhere'); process.exitCode = 1; process.stdin.destroy()`,
  )
  await until(() => heard.ends.length > 0)
  assert.match(heard.ends[0]?.message ?? '', /its last words:\n    at somewhere$/)
  await link.close()
})

test('what a server answers just before it dies still arrives', async () => {
  const { ask, heard, link } = await script(`
    const handle = () => { setImmediate(() => process.kill(process.pid, 'SIGKILL')); return {} }
    ${answering}`)
  assert.ok((await ask(rpc(1, 'ping'))).result)
  await until(() => heard.ends.length > 0)
  assert.match(heard.ends[0]?.message ?? '', /ended by SIGKILL/)
  await link.close()
})

test('what cannot be started is unreachable', async () => {
  const failure = await failureOf(talk(createStdioLink({ command: 'no-such-command-anywhere' })))
  assert.deepEqual([failure.kind, failure.ran], ['Unreachable', 'no'])
  assert.match(failure.message, /cannot start no-such-command-anywhere: .*ENOENT/)
  const elsewhere = await failureOf(talk(createStdioLink({ command: process.execPath, cwd: '/no/such/place' })))
  assert.equal(elsewhere.kind, 'Unreachable')
})

test('closing ends the process: by the end of its input, else SIGTERM, else SIGKILL', async () => {
  const polite = await script(`const handle = () => ({}); ${answering}`)
  const stayer = await script(`setInterval(() => {}, 1e6); const handle = () => ({}); ${answering}`)
  const stubborn = await script(`
    setInterval(() => {}, 1e6); process.on('SIGTERM', () => console.error('no')); const handle = () => ({}); ${answering}`)
  for (const { ask, link, heard } of [polite, stayer, stubborn]) {
    const pid = (await ask(rpc(1, 'ping'))).result?.['pid']
    assert.ok(isAlive(pid))
    await link.close()
    assert.ok(!isAlive(pid))
    assert.deepEqual(heard.ends, [])
  }
})

test('closing ends what the process has started, also when it went before', async () => {
  const spawning = `
    const { spawn } = require('node:child_process')
    const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6)'], { stdio: ['ignore', 'inherit', 'inherit'] })
    const handle = (method) => { if (method === 'die') setImmediate(() => process.exit(1)); return { child: child.pid } }
    ${answering}`
  const closed = await script(spawning)
  const child = (await closed.ask(rpc(1, 'ping'))).result?.['child']
  assert.ok(isAlive(child))
  await closed.link.close()
  await until(() => !isAlive(child))

  const crashed = await script(spawning)
  const orphan = (await crashed.ask(rpc(1, 'die'))).result?.['child']
  await until(() => crashed.heard.ends.length > 0)
  assert.equal(crashed.heard.ends[0]?.kind, 'ServerExited')
  await crashed.link.close()
  await until(() => !isAlive(orphan))
})

test('a line of 100 MB is skipped in little memory, and the next one arrives', async () => {
  const { ask, heard, link } = await script(`
    const handle = () => {
      const piece = 'x'.repeat(1 << 20)
      for (let sent = 0; sent < 100; sent++) require('node:fs').writeSync(1, piece)
      require('node:fs').writeSync(1, '\\n')
      return {}
    }
    ${answering}`)
  const before = process.memoryUsage().rss
  assert.ok((await ask(rpc(1, 'ping'))).result)
  assert.ok(process.memoryUsage().rss - before < 128 * 1024 * 1024)
  assert.deepEqual(heard.noises, [{ from: 'stdout', text: 'a line of more than 33554432 bytes' }])
  await link.close()
})

test('an answer too long to take is lost as that, wherever it says what it answers', async () => {
  const { send, ask, heard, link } = await script(
    `
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id } = JSON.parse(line)
      const result = { text: 'x'.repeat(id === 3 ? 1 : 200_000) }
      console.log(JSON.stringify(id === 1 ? { jsonrpc: '2.0', id, result } : { result, jsonrpc: '2.0', id }))
    })`,
    { caps: { maxMessageBytes: 100_000 } },
  )
  await send(rpc(1, 'ping'))
  await send(rpc(2, 'ping'))
  assert.ok((await ask(rpc(3, 'ping'))).result)
  const lost = heard.losses.map(({ id, failure }) => [id, failure.kind, failure.ran])
  assert.deepEqual(lost, [
    [1, 'TooLarge', 'unknown'],
    [2, 'TooLarge', 'unknown'],
  ])
  await link.close()
})

test('a server that does not read is waited for, and told of when it never does', async () => {
  const { send, link, heard } = await script(`
    setTimeout(() => process.exit(0), 300); process.stdin.pause()`)
  const big = rpc(1, 'ping', { text: 'x'.repeat(4 << 20) })
  const failure = await failureOf(send(big))
  assert.deepEqual([failure.kind, failure.ran], ['ConnectionLost', 'unknown'])
  await until(() => heard.ends.length > 0)
  assert.equal(heard.ends[0]?.kind, 'ServerExited')
  await link.close()
})

test('who gives up does not wait for a server that does not read', async () => {
  const { send, link, heard } = await script('setInterval(() => {}, 1e6); process.stdin.pause()')
  const aborting = new AbortController()
  const sent = send(rpc(1, 'ping', { text: 'x'.repeat(4 << 20) }), { signal: aborting.signal })
  setTimeout(() => aborting.abort(), 50)
  await sent
  assert.deepEqual([heard.ends, heard.losses], [[], []])
  await link.close()
})

test('a server that closes its output or input, and goes on, is lost and ended', async () => {
  for (const code of ['closeSync(1)', 'closeSync(0)']) {
    const { heard, link, send } = await script(
      `setInterval(() => {}, 1e6); setTimeout(() => require("node:fs").${code}, 50)`,
    )
    await until(async () => {
      await send(rpc(1, 'ping')).catch(() => {})
      return heard.ends.length > 0
    })
    assert.deepEqual([heard.ends[0]?.kind, heard.ends[0]?.ran], ['ConnectionLost', 'unknown'])
    await link.close()
  }
})

test('standard error is passed on where that is wanted', async () => {
  const passed: string[] = []
  const { write } = process.stderr
  process.stderr.write = (chunk: string | Uint8Array) => passed.push(Buffer.from(chunk).toString()) > 0
  const { ask, link } = await script(`console.error('a word'); const handle = () => ({}); ${answering}`, {
    stderr: 'forward',
  })
  await ask(rpc(1, 'ping'))
  await link.close()
  process.stderr.write = write
  assert.match(passed.join(''), /a word/)
})

test('the environment is small, the directory as told', async () => {
  process.env['DRAGOMAN_TEST_SECRET'] = 'secret'
  const code = `const handle = () => ({ env: process.env, cwd: process.cwd() }); ${answering}`
  const { ask, link } = await script(code, { env: { GIVEN: 'yes' }, cwd: '/' })
  const { env, cwd } = (await ask(rpc(1, 'ping'))).result as unknown as { env: Record<string, string>; cwd: string }
  assert.deepEqual(
    [env['GIVEN'], env['PATH'], env['DRAGOMAN_TEST_SECRET'], cwd],
    ['yes', process.env['PATH'], undefined, '/'],
  )
  await link.close()
  delete process.env['DRAGOMAN_TEST_SECRET']
})
