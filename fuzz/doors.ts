// Every kind of door, as a fuzzer uses it: everything is thrown at it, then it is closed, and what came is looked at.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectInMemory, serveHttp, serveStdio } from '../src/index.ts'
import type { Server } from '../src/index.ts'
import { headersFor } from '../test/hostile/doors.ts'
import { versionKey } from './judge.ts'
import { canary } from './mutate.ts'
import type { Dice } from './random.ts'

/** What became of a case. */
export interface Outcome {
  /** The texts that were taken in as messages of their own, in order. */
  readonly sent: readonly (string | Uint8Array)[]
  /** What was sent besides; whatever came in answer to that is not in {@link heard}. */
  readonly spoiled?: readonly Uint8Array[]
  /** Everything that came, in order. */
  readonly heard: readonly string[]
  /** What the door itself did wrong. */
  readonly faults: readonly string[]
}

/** Throws `texts` at a door of `server`. */
export type Throw = (server: Server, texts: readonly Buffer[], dice: Dice) => Promise<Outcome>

const askTimeoutMs = 20

/** The lines that bytes are to whoever reads lines; blank ones are none. */
function linesOf(texts: readonly Buffer[]): Buffer[] {
  const whole = Buffer.concat(texts.flatMap((text) => [text, Buffer.from('\n')]))
  const lines: Buffer[] = []
  for (let start = 0, end = whole.indexOf(10); end >= 0; start = end + 1, end = whole.indexOf(10, start)) {
    const line = whole.subarray(start, whole[end - 1] === 13 && end > start ? end - 1 : end)
    if (line.some((byte) => byte !== 32 && byte !== 9)) lines.push(line)
  }
  return lines
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const memory: Throw = async (server, texts, dice) => {
  const heard: string[] = []
  const link = connectInMemory(server, { graceMs: 0, askTimeoutMs })
  link.onMessage((text) => heard.push(text))
  const sent = texts.map((bytes) => bytes.toString('utf8'))
  for (const text of sent) {
    link.send(text)
    if (dice.percent(50)) await turn()
  }
  await turn()
  await link.close()
  await turn()
  return { sent, heard, faults: [] }
}

const stdio: Throw = async (server, texts, dice) => {
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  const chunks: Buffer[] = []
  stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = serveStdio(server, { stdin, stdout, graceMs: 0, askTimeoutMs })
  // Cut anywhere, as pipes do.
  let rest = Buffer.concat(texts.flatMap((text) => [text, Buffer.from('\n')]))
  while (rest.length > 0) {
    const cut = 1 + dice.roll(rest.length)
    stdin.write(rest.subarray(0, cut))
    rest = rest.subarray(cut)
    if (dice.percent(30)) await turn()
  }
  stdin.end()
  await ended
  await turn()
  const heard = Buffer.concat(chunks).toString('utf8').split('\n')
  const faults = heard.pop() === '' ? [] : ['the last line has no end']
  return { sent: linesOf(texts), heard, faults }
}

interface Fetched {
  readonly status: number
  readonly messages: readonly string[]
  readonly session: string | undefined
}

/** The messages of a whole body, JSON or events. */
function messagesOf(type: string, body: string): string[] {
  if (!type.startsWith('text/event-stream')) return body === '' ? [] : [body]
  const data = body.split('\n\n').filter((block) => !block.includes('event: endpoint'))
  return data
    .map((block) =>
      block
        .split('\n')
        .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
        .join('\n'),
    )
    .filter((text) => text !== '')
}

function exchange(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: Buffer,
): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { port, host: '127.0.0.1', method, path, headers, agent: false },
      (response: IncomingMessage) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('error', reject).on('end', () => {
          const type = response.headers['content-type'] ?? ''
          resolve({
            status: response.statusCode ?? 0,
            messages: messagesOf(type, text),
            session: response.headers['mcp-session-id']?.toString(),
          })
        })
      },
    )
    request.on('error', reject).end(body)
  })
}

/** A header, now and then, that is not what the body says. */
function spoilHeaders(headers: Record<string, string>, dice: Dice): Record<string, string> {
  if (!dice.percent(15)) return headers
  const name = dice.pick([...Object.keys(headers), 'mcp-session-id', 'last-event-id', 'idempotency-key', 'mcp-name'])
  return {
    ...headers,
    [name]: dice.pick([canary, '', '=?base64?!?=', 'application/json', '2025-06-18', 'x'.repeat(9_000)]),
  }
}

/** Whether a text says itself which revision it is in. */
function namesRevision(text: Buffer): boolean {
  try {
    const { params } = JSON.parse(text.toString('utf8')) as { params?: { _meta?: object } }
    return Object.hasOwn(params?._meta ?? {}, versionKey)
  } catch {
    return false
  }
}

const hasId = (text: string): boolean => ((JSON.parse(text) as { id?: unknown }).id ?? null) !== null
const isAnswer = (text: string): boolean => (JSON.parse(text) as { method?: unknown }).method === undefined

const http: Throw = async (server, texts, dice) => {
  const door = await serveHttp(server, { askTimeoutMs })
  const faults: string[] = []
  const sent: Buffer[] = []
  let begun = 0
  let entered = 0
  door.server.on('connection', () => (entered += 1))
  const visit = (method: string, headers: Record<string, string>, text?: Buffer): Promise<Fetched> => {
    begun += 1
    return exchange(door.port, method, '/mcp', headers, text)
  }
  const spoiled: Buffer[] = []
  const heard: string[] = []
  const mayCancel = texts.some((text) => text.includes('notifications/cancelled'))
  let session: string | undefined
  const post = async (text: Buffer): Promise<void> => {
    // What names its revision stands alone, anything else is said in the session, or before there is one.
    const due = namesRevision(text) ? headersFor(text, undefined) : headersFor('', session)
    const headers = spoilHeaders(due, dice)
    try {
      const answer = await visit('POST', headers, text)
      if (answer.status >= 500 && answer.status !== 503) faults.push(`status ${answer.status} to ${text.toString()}`)
      if (answer.status !== 202 && !mayCancel && !answer.messages.some(isAnswer))
        faults.push(`nothing with ${answer.status} to ${text.toString()}`)
      // What a header spoiled is answered too, but in other words; and it may have cancelled something.
      if (headers !== due) return void spoiled.push(text)
      session ??= answer.session
      // A 503 without an id was told before the message was read.
      if (answer.status === 503 && !answer.messages.some(hasId)) return
      heard.push(...answer.messages)
      sent.push(text)
    } catch (error) {
      faults.push(`${String(error)} to ${text.toString()}`)
    }
  }
  const going: Promise<void>[] = []
  for (const text of texts) {
    const posted = post(text)
    going.push(posted)
    // A session starts with its own answer.
    if (session === undefined || dice.percent(30)) await Promise.race([posted, sleep(30)])
  }
  if (session !== undefined && dice.percent(50)) {
    void visit('GET', { accept: 'text/event-stream', 'mcp-session-id': session }).catch(() => {})
    await visit('DELETE', { 'mcp-session-id': session })
  }
  await Promise.race([Promise.all(going), sleep(60)])
  // Whoever only knocks while the door closes may find it closed.
  while (entered < begun) await sleep(1)
  await door.close({ graceMs: 60 })
  const late = await Promise.race([Promise.all(going).then(() => false), sleep(3_000, true)])
  return { sent, spoiled, heard, faults: late ? [...faults, 'a response never ended'] : faults }
}

const sse: Throw = async (server, texts) => {
  const door = await serveHttp(server, { askTimeoutMs })
  const faults: string[] = []
  const sent: Buffer[] = []
  let body = ''
  const path = await new Promise<string>((resolve, reject) => {
    const request = httpRequest(
      { port: door.port, host: '127.0.0.1', path: '/sse', headers: { accept: 'text/event-stream' }, agent: false },
      (stream) => {
        stream
          .setEncoding('utf8')
          .on('error', () => {})
          .on('data', (part: string) => {
            body += part
            const found = /event: endpoint\ndata: (\S+)/.exec(body)?.[1]
            if (found !== undefined) resolve(found)
          })
      },
    )
    request.on('error', reject).end()
  })
  for (const text of texts) {
    try {
      const { status } = await exchange(door.port, 'POST', path, { 'content-type': 'application/json' }, text)
      if (status === 202) sent.push(text)
      else if (status >= 500) faults.push(`status ${status} to ${text.toString()}`)
    } catch (error) {
      faults.push(`${String(error)} to ${text.toString()}`)
    }
  }
  await sleep(10)
  await door.close({ graceMs: 0 })
  await turn()
  return { sent, heard: messagesOf('text/event-stream', body), faults }
}

/** The doors, by name. */
export const doors: Readonly<Record<string, Throw>> = { memory, stdio, http, sse }
