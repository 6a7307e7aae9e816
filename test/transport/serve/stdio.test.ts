import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { seizeStdout } from '../../../src/transport/serve/stdout.ts'
import { serveStdio } from '../../../src/transport/serve/stdio.ts'
import type { StdioOptions } from '../../../src/transport/serve/stdio.ts'
import { until } from './doors.ts'
import { call, initialize, modern, modernCall, notification, peerOf, rpc, said, standIn } from './stand-in.ts'
import type { Heard } from './stand-in.ts'

function inProcess(options: StdioOptions = {}) {
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  let text = ''
  stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const served = standIn()
  const server = serveStdio(peerOf(served), { stdin, stdout, ...options })
  const lines = (): string[] => text.split('\n').slice(0, -1)
  const answers = (): Heard[] => lines().map((line) => JSON.parse(line))
  return {
    stdin,
    stdout,
    served,
    server,
    answers,
    answer: (id: unknown) => until(() => answers().find((m) => m.id === id)),
  }
}

function child() {
  const path = fileURLToPath(new URL('stdio-server.ts', import.meta.url))
  const process_ = spawn(process.execPath, ['--import', 'tsx', path], { stdio: ['pipe', 'pipe', 'pipe'] })
  const heard = { out: '', err: '' }
  process_.stdout.on('data', (chunk: Buffer) => (heard.out += chunk.toString()))
  process_.stderr.on('data', (chunk: Buffer) => (heard.err += chunk.toString()))
  const answers = (): Heard[] =>
    heard.out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  const answer = async (id: unknown): Promise<Heard> => {
    for (let tries = 0; tries < 800; tries++) {
      const found = answers().find((message) => message.id === id)
      if (found !== undefined) return found
      await sleep(10)
    }
    throw new Error(`no answer to ${String(id)}: ${heard.out} ${heard.err}`)
  }
  const closed = once(process_, 'close')
  return {
    process: process_,
    heard,
    answers,
    answer,
    closed,
    write: (message: unknown) => process_.stdin.write(`${JSON.stringify(message)}\n`),
  }
}

test('lines are messages, however they are cut and ended', async () => {
  const c = inProcess()
  c.stdin.write(
    `${JSON.stringify(modern(1, 'server/discover'))}\r\n\n  \n${JSON.stringify(modern(2, 'server/discover'))}\n`,
  )
  await Promise.all([c.answer(1), c.answer(2)])
  const bytes = Buffer.from(`${JSON.stringify(modernCall(3, 'echo', { text: 'é\u2028🙂' }))}\n`)
  for (let at = 0; at < bytes.length; at += 7) c.stdin.write(bytes.subarray(at, at + 7))
  assert.equal(said(await c.answer(3)), 'é\u2028🙂')
  await c.server.close()
})

test('a line over the cap is refused once, and the next one served', async () => {
  const c = inProcess({ caps: { maxMessageBytes: 1_000 } })
  c.stdin.write(`${JSON.stringify(modernCall(1, 'echo', { text: 'x'.repeat(100_000) }))}\n`)
  c.stdin.write(`${JSON.stringify(modernCall(2, 'echo', { text: 'alive' }))}\n`)
  assert.equal(said(await c.answer(2)), 'alive')
  assert.deepEqual(
    c.answers().map((m) => m.id ?? null),
    [null, 2],
  )
  await c.server.close()
})

test('a last line without its end is answered, and the end of input drains', async () => {
  const c = inProcess({ graceMs: 1_000 })
  c.stdin.write(`${JSON.stringify(modernCall(1, 'slow', { ms: 50 }))}\n`)
  c.stdin.end(JSON.stringify(modernCall(2, 'echo', { text: 'last' })))
  await c.server.closed
  assert.deepEqual(
    c.answers().map((m) => m.id),
    [2, 1],
  )
  for (const event of ['data', 'error']) assert.equal(c.stdin.listenerCount(event), 0)
})

/** A session whose call waits for an answer of the client. */
async function asking(graceMs: number) {
  const c = inProcess({ graceMs })
  const write = (message: unknown) => c.stdin.write(`${JSON.stringify(message)}\n`)
  write(initialize('i', '2025-11-25', { elicitation: {} }))
  write(call(1, 'ask'))
  const question = await until(() => c.answers().find((m) => m.method === 'elicitation/create'))
  return { ...c, write, question }
}

test('closing takes in answers and cancellations, and refuses what is new', async () => {
  const { server, write, question, answer, answers, served } = await asking(2_000)
  write(call(2, 'slow', { ms: 5_000 }))
  await until(() => served.begun === 1)
  const before = Date.now()
  const closed = server.close()
  write(call(3, 'echo', { text: 'late' }))
  write(modernCall(4, 'echo', { text: 'late' }))
  write(rpc(5, 'ping'))
  for (const id of [3, 4, 5]) assert.match((await answer(id)).error?.message ?? '', /too much to do/)
  write(notification('notifications/cancelled', { requestId: 2 }))
  write({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } })
  assert.equal(said(await answer(1)), 'decline')
  await closed
  assert.ok(Date.now() - before < 1_000)
  assert.deepEqual(
    answers().filter((m) => m.id === 2),
    [],
  )
})

test('what was asked is given up at the end of the grace, and taken back', async () => {
  const { server, question, answer, answers } = await asking(100)
  const before = Date.now()
  await server.close()
  assert.ok(Date.now() - before >= 90)
  assert.match((await answer(1)).error?.message ?? '', /outcome is not known/)
  assert.equal(answers().find((m) => m.method === 'notifications/cancelled')?.params?.['requestId'], question.id)
})

test('nobody waits for the answers of a client whose input has ended, nor is it asked', async () => {
  const { server, stdin, write, answers, answer } = await asking(2_000)
  write(call(2, 'askLater', { ms: 30 }))
  const before = Date.now()
  stdin.end()
  await server.closed
  assert.ok(Date.now() - before < 1_000)
  for (const id of [1, 2]) assert.ok((await answer(id)).error)
  assert.equal(answers().filter((m) => m.method === 'elicitation/create').length, 1)
})

test('a client that does not read is not read from', async () => {
  const stdout = new PassThrough({ highWaterMark: 1_000 })
  const stdin = new PassThrough()
  const server = serveStdio(peerOf(standIn()), { stdin, stdout, graceMs: 50 })
  stdin.write(`${JSON.stringify(modernCall(1, 'echo', { text: 'x'.repeat(5_000) }))}\n`)
  await until(() => stdin.isPaused())
  stdin.write(`${JSON.stringify(modernCall(2, 'echo', { text: 'later' }))}\n`)
  await sleep(30)
  let text = ''
  stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await until(() => text.includes('later'))
  await server.close()
})

test('a client that breaks the pipe ends the server', async () => {
  const c = inProcess({ graceMs: 20 })
  c.stdout.destroy(new Error('EPIPE'))
  await c.server.closed
})

test('standard output is taken once, and given back', () => {
  const before = process.stdout.write
  const seized = seizeStdout()
  assert.throws(() => seizeStdout(), /already taken/)
  seized.release()
  assert.equal(process.stdout.write, before)
  seizeStdout().release()
})

test('process: stdout carries messages alone, and EOF ends it with status 0', async () => {
  const c = child()
  c.write(modernCall(1, 'noisy'))
  await c.answer(1)
  await until(() => /noise on the log\ninfo too\nraw noise/.test(c.heard.err))
  assert.equal(c.answers().length, 1)
  c.process.stdin.end()
  const before = Date.now()
  assert.deepEqual(await c.closed, [0, null])
  assert.ok(Date.now() - before < 1_500)
})

test('process: a long line is quick', async () => {
  const c = child()
  c.write(modern(0, 'server/discover'))
  await c.answer(0)
  const before = Date.now()
  c.write(modernCall(1, 'echo', { text: 'x'.repeat(3 << 20) }))
  assert.equal(said(await c.answer(1))?.length, 3 << 20)
  assert.ok(Date.now() - before < 3_000)
  c.process.stdin.end()
  await c.closed
})

test('process: SIGTERM answers what is in flight and ends it', async () => {
  const c = child()
  c.write(modern(0, 'server/discover'))
  await c.answer(0)
  c.write(modernCall(1, 'slow', { ms: 300 }))
  await sleep(100)
  c.process.kill('SIGTERM')
  assert.equal(said(await c.answer(1)), 'done')
  assert.deepEqual(await c.closed, [0, null])
})
