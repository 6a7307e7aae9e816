// Every door of a server, with one way to put a text through it and to get what is said to it.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { connect } from 'node:net'
import { connectInMemory, fetchHandler, serveHttp, serveStdio } from '../../src/index.ts'
import type { HttpDoorOptions, Server } from '../../src/index.ts'
import { encodeHeaderValue } from '../../src/wire/header-value.ts'
import { serveSocket } from '../../src/socket.ts'
import { modernHeaders } from '../transport/serve/doors.ts'

/** What came back for one text. */
export interface Said {
  /** Over HTTP; of HTTP+SSE only where the post itself was refused. */
  readonly status?: number
  readonly message?: Answer
}

/** A message, read as loosely as tests read it. */
export interface Answer {
  readonly id?: string | number | null
  readonly method?: string
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

export interface Door {
  /** Resolves with the answer to the text's id, or to no id; `{}` after `ms` without one. */
  say(text: string | Uint8Array, ms?: number): Promise<Said>
  /** Initializes; what is said afterwards belongs to that session. */
  shake(revision: string, capabilities?: object): Promise<Said>
  /** Every message that came, whatever it answers. */
  readonly heard: readonly Answer[]
  close(): Promise<void>
}

export interface DoorOptions {
  readonly caps?: HttpDoorOptions['caps']
  /** On whose behalf; over HTTP the bearer token is the principal's id. */
  readonly as?: string
  readonly scopes?: readonly string[]
}

export type Open = (server: Server, options?: DoorOptions) => Promise<Door>

const initialize = (protocolVersion: string, capabilities: object): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 'handshake',
    method: 'initialize',
    params: { protocolVersion, capabilities, clientInfo: { name: 'hostile', version: '1' } },
  })

/** What waits for which id. A text whose id cannot be read waits for the next message without one. */
function createInbox(): {
  heard: Answer[]
  wait(text: string | Uint8Array, ms: number): Promise<Answer | undefined>
  drop(): void
  take(message: unknown): void
} {
  const waiting: { id: unknown; resolve(message: Answer | undefined): void }[] = []
  const heard: Answer[] = []
  return {
    heard,
    wait: (text, ms) =>
      new Promise((resolve) => {
        const entry = {
          id: idOf(text),
          resolve(message: Answer | undefined) {
            clearTimeout(limit)
            resolve(message)
          },
        }
        const limit = setTimeout(() => {
          waiting.splice(waiting.indexOf(entry), 1)
          resolve(undefined)
        }, ms)
        waiting.push(entry)
      }),
    /** Nothing will come for what was waited for last. */
    drop: () => waiting.pop()?.resolve(undefined),
    take(came) {
      for (const message of (Array.isArray(came) ? came : [came]) as Answer[]) {
        heard.push(message)
        if (message.method !== undefined) continue
        const at = waiting.findIndex(({ id }) => id === message.id || (message.id ?? null) === null)
        if (at >= 0) waiting.splice(at, 1)[0]?.resolve(message)
      }
    },
  }
}

function idOf(text: string | Uint8Array): unknown {
  try {
    const value = JSON.parse(typeof text === 'string' ? text : Buffer.from(text).toString('utf8')) as
      | { id?: unknown }
      | { id?: unknown }[]
    return (Array.isArray(value) ? value[0] : value)?.id
  } catch {
    return undefined
  }
}

const principalOf = ({ as, scopes = [] }: DoorOptions) =>
  as !== undefined && { principal: { id: as, scopes: new Set(scopes) } }
const patience = 3_000

function overLines(
  write: (text: string | Uint8Array) => void,
  inbox: ReturnType<typeof createInbox>,
  close: () => Promise<unknown>,
): Door {
  const say: Door['say'] = async (text, ms = patience) => {
    const answer = inbox.wait(text, ms)
    write(text)
    const message = await answer
    return message ? { message } : {}
  }
  return {
    say,
    heard: inbox.heard,
    shake: (revision, capabilities = {}) => say(initialize(revision, capabilities)),
    close: async () => void (await close()),
  }
}

/** Hands each line of a stream to `take`, as JSON. */
function readLines(stream: NodeJS.ReadableStream, take: (message: unknown) => void): void {
  let rest = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(JSON.parse(line))
  })
}

export const openMemory: Open = async (server, options = {}) => {
  const inbox = createInbox()
  const link = connectInMemory(server, {
    graceMs: 0,
    ...(options.caps && { caps: options.caps }),
    ...principalOf(options),
  })
  link.onMessage((text) => inbox.take(JSON.parse(text)))
  return overLines(
    (text) => link.send(typeof text === 'string' ? text : Buffer.from(text).toString('latin1')),
    inbox,
    () => link.close(),
  )
}

export const openStdio: Open = async (server, options = {}) => {
  const inbox = createInbox()
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  readLines(stdout, inbox.take)
  const ended = serveStdio(server, {
    stdin,
    stdout,
    graceMs: 0,
    ...(options.caps && { caps: options.caps }),
    ...principalOf(options),
  })
  const write = (text: string | Uint8Array): void =>
    void stdin.write(Buffer.concat([Buffer.from(text), Buffer.from('\n')]))
  return overLines(write, inbox, () => {
    stdin.end()
    return ended
  })
}

export const openSocket: Open = async (server, options = {}) => {
  const inbox = createInbox()
  const listening = await serveSocket(server, {
    graceMs: 0,
    ...(options.caps && { caps: options.caps }),
    authenticate: () => (options.as === undefined ? undefined : { id: options.as, scopes: new Set(options.scopes) }),
  })
  const socket = connect(listening.port ?? 0, '127.0.0.1').on('error', () => {})
  readLines(socket, inbox.take)
  const write = (text: string | Uint8Array): void =>
    void socket.write(Buffer.concat([Buffer.from(text), Buffer.from('\n')]))
  return overLines(write, inbox, () => {
    socket.destroy()
    return listening.close()
  })
}

/** Who bears a token is its name; scopes follow it: `ada read,write`. */
export const byToken: NonNullable<HttpDoorOptions['authenticate']> = (request) => {
  const [, id, scopes = ''] = /^Bearer (\S+) ?(\S*)$/.exec(request.header('authorization') ?? '') ?? []
  return id === undefined ? undefined : { id, scopes: new Set(scopes.split(',')) }
}

type Post = (
  headers: Record<string, string>,
  text: string | Uint8Array,
  inbox: ReturnType<typeof createInbox>,
) => Promise<{ status: number; session: string | undefined }>

/** The headers with names of any characters, as HTTP carries them. */
function encoded(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, name.startsWith('mcp-') ? encodeHeaderValue(value) : value]),
  )
}

/** The headers that a client would send with `text`, as far as it can be read. */
export function headersFor(text: string | Uint8Array, session: string | undefined): Record<string, string> {
  const base = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  if (session !== undefined) return { ...base, 'mcp-session-id': session }
  try {
    const value = JSON.parse(Buffer.from(text).toString('utf8')) as { method?: string; params?: { _meta?: object } }
    return value.params?._meta === undefined ? base : encoded(modernHeaders(value))
  } catch {
    return base
  }
}

function overHttp(post: Post, options: DoorOptions, close: () => Promise<unknown>): Door {
  const inbox = createInbox()
  let session: string | undefined
  const auth =
    options.as === undefined ? undefined : { authorization: `Bearer ${options.as} ${(options.scopes ?? []).join(',')}` }
  const say: Door['say'] = async (text, ms = patience) => {
    const answer = inbox.wait(text, ms)
    const { status, session: opened } = await post({ ...headersFor(text, session), ...auth }, text, inbox)
    session ??= opened
    if (status === 202) return { status }
    const message = await answer
    return message ? { status, message } : { status }
  }
  return {
    say,
    heard: inbox.heard,
    shake: (revision, capabilities = {}) => say(initialize(revision, capabilities)),
    close: async () => void (await close()),
  }
}

/** Hands on the messages of a body as they come, be they JSON or events. @returns what takes in its pieces */
function createBodyReader(type: string, take: (message: unknown) => void): { push(part: string): void; end(): void } {
  let rest = ''
  const events = type.startsWith('text/event-stream')
  return {
    push(part) {
      rest += part
      if (!events) return
      const blocks = rest.split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const data = block
          .split('\n')
          .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
          .join('\n')
        if (data !== '' && !block.includes('event: endpoint')) take(JSON.parse(data))
      }
    },
    end() {
      if (!events && rest !== '') take(JSON.parse(rest))
    },
  }
}

const httpOptions = (options: DoorOptions): HttpDoorOptions => ({
  ...(options.caps && { caps: options.caps }),
  ...(options.as !== undefined && { authenticate: byToken }),
})

function send(
  port: number,
  path: string,
  method: string,
  headers: Record<string, string>,
  text?: string | Uint8Array,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, host: '127.0.0.1', method, path, headers, agent: false }, resolve)
    request.on('error', reject).end(text)
  })
}

export const openHttp: Open = async (server, options = {}) => {
  const http = await serveHttp(server, httpOptions(options))
  const post: Post = async (headers, text, inbox) => {
    const response = await send(http.port, '/mcp', 'POST', headers, text)
    const reader = createBodyReader(response.headers['content-type'] ?? '', inbox.take)
    response
      .setEncoding('utf8')
      .on('data', reader.push)
      .on('end', reader.end)
      .on('error', () => {})
    return { status: response.statusCode ?? 0, session: response.headers['mcp-session-id']?.toString() }
  }
  return overHttp(post, options, () => http.close({ graceMs: 0 }))
}

export const openFetch: Open = async (server, options = {}) => {
  const handler = fetchHandler(server, httpOptions(options))
  const post: Post = async (headers, text, inbox) => {
    const response = await handler(
      new Request('http://localhost/mcp', { method: 'POST', headers, body: Buffer.from(text) }),
    )
    const reader = createBodyReader(response.headers.get('content-type') ?? '', inbox.take)
    void (async () => {
      const decoder = new TextDecoder()
      for await (const part of response.body ?? []) reader.push(decoder.decode(part, { stream: true }))
      reader.end()
    })().catch(() => {})
    return { status: response.status, session: response.headers.get('mcp-session-id') ?? undefined }
  }
  return overHttp(post, options, () => handler.close({ graceMs: 0 }))
}

export const openSse: Open = async (server, options = {}) => {
  const http = await serveHttp(server, httpOptions(options))
  const inbox = createInbox()
  const auth: Record<string, string> =
    options.as === undefined ? {} : { authorization: `Bearer ${options.as} ${(options.scopes ?? []).join(',')}` }
  const stream = await send(http.port, '/sse', 'GET', { accept: 'text/event-stream', ...auth })
  const reader = createBodyReader('text/event-stream', inbox.take)
  let path: string | undefined
  const opened = new Promise<void>((resolve) => {
    stream
      .setEncoding('utf8')
      .on('error', () => {})
      .on('data', (part: string) => {
        path ??= /event: endpoint\ndata: (\S+)/.exec(part)?.[1]
        if (path !== undefined) resolve()
        reader.push(part)
      })
  })
  await opened
  const say: Door['say'] = async (text, ms = patience) => {
    const answer = inbox.wait(text, ms)
    const response = await send(http.port, path ?? '', 'POST', { 'content-type': 'application/json', ...auth }, text)
    response.resume()
    if (response.statusCode !== 202) {
      inbox.drop()
      return { status: response.statusCode ?? 0 }
    }
    const message = await answer
    return message ? { message } : {}
  }
  return {
    say,
    heard: inbox.heard,
    shake: (revision, capabilities = {}) => say(initialize(revision, capabilities)),
    async close() {
      stream.destroy()
      await http.close({ graceMs: 0 })
    },
  }
}

/** Every door, by name. */
export const doors: Readonly<Record<string, Open>> = {
  memory: openMemory,
  stdio: openStdio,
  socket: openSocket,
  http: openHttp,
  fetch: openFetch,
  'http+sse': openSse,
}

/** Whether requests that stand alone are answered at a door: HTTP+SSE is for those in a session. */
export const answersAlone = (door: string): boolean => door !== 'http+sse'

/** A text as a door takes it: for a session its `_meta` names no revision, and it is as long as before. */
export const spoken = (door: string, text: string): string =>
  answersAlone(door) ? text : text.replace('/protocolVersion', '/protocolVersio?')
