// Clients that send a call again, with the same key, until they are told what it came to.
import { request as httpRequest } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** A JSON-RPC message, as far as the clients look at it. */
export interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> }
}

/** What a client was told in the end: that the call was done, or that nobody knows. */
export interface Told {
  readonly end: 'done' | 'unknown'
  /** How often the call was sent. */
  readonly sent: number
  /** Whether the answer was marked as told again. */
  readonly replayed: boolean
}

/** A response whose body is read as it comes. */
interface Got {
  readonly status: number
  readonly sessionId: string | undefined
  readonly text: string
  /** Whether the body came to its end. */
  readonly whole: boolean
}

/** What clients that still wait were told last, by call: for whoever watches. */
export const lastTold: Map<string, string> = new Map()

const modern = '2026-07-28'
const retryMs = 100
/** A call that has no answer after so many tries has none at all. */
const maxTries = 600

/** Sends one request on a connection of its own. */
export function send(
  url: string,
  method: string,
  headers: Record<string, string>,
  body: unknown,
  onText?: (text: string) => void,
): Promise<Got> {
  return new Promise((resolve) => {
    let text = ''
    let status = 0
    let sessionId: string | undefined
    const finish = (whole: boolean): void => resolve({ status, sessionId, text, whole })
    const request = httpRequest(url, { method, headers, agent: false, timeout: 15_000 }, (response) => {
      status = response.statusCode ?? 0
      const id = response.headers['mcp-session-id']
      sessionId = typeof id === 'string' ? id : undefined
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
        onText?.(part)
      })
      response.on('end', () => finish(response.complete))
      response.on('error', () => finish(false))
      response.on('close', () => finish(response.complete))
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => finish(false))
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** The last message of a body, JSON or events. */
function lastOf({ text, whole }: Got): Message | undefined {
  if (!whole || text === '') return undefined
  const data =
    text
      .match(/^data: ?(\{.*)$/gm)
      ?.at(-1)
      ?.replace(/^data: ?/, '') ?? text
  return data.startsWith('{') ? (JSON.parse(data) as Message) : undefined // a message, as any server sends
}

/** Whether the answer settles the call; anything else has to be sent again. */
function verdictOf(message: Message | undefined): Told['end'] | undefined {
  if (message?.error?.data?.['since'] !== undefined) return 'unknown'
  const content = message?.result?.['content'] as { text?: string }[] | undefined
  return content?.[0]?.text?.startsWith('did ') ? 'done' : undefined
}

/** Calls a tool in rounds, with the key in `_meta` or in the header. */
export async function callModern(url: string, tool: string, call: string, by: 'meta' | 'header'): Promise<Told> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': modern,
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    'io.modelcontextprotocol/clientInfo': { name: 'chaos', version: '1' },
    ...(by === 'meta' && { 'dev.dragoman/idempotencyKey': call }),
  }
  const headers = {
    ...json,
    'mcp-protocol-version': modern,
    'mcp-method': 'tools/call',
    'mcp-name': tool,
    ...(by === 'header' && { 'idempotency-key': call }),
  }
  let retry = {}
  for (let sent = 1; sent <= maxTries; sent++) {
    const params = { name: tool, arguments: { call }, ...retry, _meta }
    const message = lastOf(await send(url, 'POST', headers, { jsonrpc: '2.0', id: sent, method: 'tools/call', params }))
    lastTold.set(call, JSON.stringify(message?.error ?? message?.result ?? 'nothing').slice(0, 160))
    const end = verdictOf(message)
    if (end !== undefined) return { end, sent, replayed: isReplayed(message) }
    const { resultType, requestState } = message?.result ?? {}
    const answers = { sure: { action: 'accept', content: { sure: true } } }
    if (resultType === 'input_required') retry = { requestState, inputResponses: answers }
    else await delay(retryMs)
  }
  throw new Error(`${call} was never answered`)
}

function isReplayed(message: Message | undefined): boolean {
  const meta = message?.result?.['_meta'] as Record<string, unknown> | undefined
  return meta?.['dev.dragoman/replayed'] === true
}

/** One session, for as long as the test lasts: whatever dies, its id stays good. */
export interface LegacyClient {
  /** Calls a tool under a request id of its own; the id is the key. */
  call(tool: string, call: string): Promise<Told>
  /** Times that the session was refused as unknown: none is allowed. */
  readonly lost: number
  /** Streams on which a message was missing that nobody told of. */
  readonly gaps: number
  /** Streams that were taken up again. */
  readonly resumed: number
  /** Reads the subscribed resource whenever it is told that it changed. @returns the way to stop, and what was last read */
  subscribe(uri: string): Promise<{ stop(): void; last(): string | undefined }>
}

/** Shakes hands, however often that takes. */
export async function connectLegacy(url: string): Promise<LegacyClient> {
  const revision = '2025-11-25'
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'chaos', version: '1' } }
  let sessionId: string | undefined
  while (sessionId === undefined) {
    const got = await send(url, 'POST', json, { jsonrpc: '2.0', id: 'i', method: 'initialize', params })
    if (lastOf(got)?.result) sessionId = got.sessionId
    else await delay(retryMs)
  }
  const headers = { ...json, 'mcp-session-id': sessionId, 'mcp-protocol-version': revision }
  const get = { ...headers, accept: 'text/event-stream' }
  let ids = 0
  let lost = 0
  let gaps = 0
  let resumed = 0

  /** Sends a request until it is answered, by resuming its stream where it broke. */
  async function ask(
    method: string,
    asked: object,
    settled: (message: Message) => boolean,
  ): Promise<[Message, number]> {
    const id = ++ids
    for (let sent = 1; sent <= maxTries; sent++) {
      const reader = createReader(id)
      const body = { jsonrpc: '2.0', id, method, params: asked }
      const got = await send(url, 'POST', headers, body, reader.take)
      if (got.status === 404) lost += 1
      let answer = reader.answer() ?? (got.text.startsWith('{') ? lastOf(got) : undefined)
      for (let tries = 0; answer === undefined && reader.lastEventId() !== '' && tries < 20; tries++) {
        await delay(50)
        reader.reset()
        const again = await send(url, 'GET', { ...get, 'last-event-id': reader.lastEventId() }, undefined, reader.take)
        resumed += 1
        if (again.status === 400) break
        answer = reader.answer()
        if (reader.told()) break
      }
      if (reader.gap()) gaps += 1
      lastTold.set(JSON.stringify(asked), JSON.stringify(answer?.error ?? answer?.result ?? got.status).slice(0, 160))
      if (answer !== undefined && settled(answer)) return [answer, sent]
      await delay(retryMs)
    }
    throw new Error(`${method} was never answered`)
  }

  return {
    get lost() {
      return lost
    },
    get gaps() {
      return gaps
    },
    get resumed() {
      return resumed
    },
    async call(tool, call) {
      const asked = { name: tool, arguments: { call }, _meta: { progressToken: call } }
      const [message, sent] = await ask('tools/call', asked, (answer) => verdictOf(answer) !== undefined)
      return { end: verdictOf(message) ?? 'unknown', sent, replayed: isReplayed(message) }
    },
    async subscribe(uri) {
      let last: string | undefined
      let stopped = false
      let reading = Promise.resolve()
      const read = async (): Promise<void> => {
        const [message] = await ask('resources/read', { uri }, (answer) => answer.result !== undefined)
        last = (message.result?.['contents'] as { text: string }[] | undefined)?.[0]?.text
      }
      await ask('resources/subscribe', { uri }, (answer) => answer.result !== undefined)
      await read()
      const listen = async (): Promise<void> => {
        let lastEventId = ''
        const reader = eventReader((id, data) => {
          if (id !== '') lastEventId = id
          if (data.includes('notifications/resources/updated')) reading = reading.then(read)
        })
        while (!stopped) {
          const resume: Record<string, string> = lastEventId === '' ? {} : { 'last-event-id': lastEventId }
          const got = await send(url, 'GET', { ...get, ...resume }, undefined, reader.take)
          if (got.status === 404) lost += 1
          if (got.status === 400) lastEventId = ''
          reader.reset()
          await delay(20)
        }
      }
      void listen()
      return { stop: () => void (stopped = true), last: () => last }
    },
  }
}

/** Hands on whole events: what came of one before its end is not there. */
function eventReader(onEvent: (id: string, data: string) => void): { take(part: string): void; reset(): void } {
  let rest = ''
  return {
    take(part) {
      const events = (rest + part).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        const field = (name: string): string => new RegExp(`^${name}: ?(.*)$`, 'm').exec(event)?.[1] ?? ''
        onEvent(field('id'), field('data'))
      }
    },
    reset: () => void (rest = ''),
  }
}

/** Reads events, and sees whether any is missing of a call that tells its progress as 1, 2, 3 … */
function createReader(id: number) {
  let lastEventId = ''
  let progress = 0
  let gap = false
  let told = false
  let answer: Message | undefined
  const reader = eventReader((eventId, data) => {
    if (eventId !== '') lastEventId = eventId
    if (!data.startsWith('{')) return
    const message = JSON.parse(data) as Message // a message, as any server sends
    if (message.id === id) answer = message
    if (message.error && message.id !== id) told = true
    const now = message.params?.['progress']
    if (typeof now !== 'number') return
    if (now !== progress + 1 && !told) gap = true
    progress = now
  })
  return {
    take: reader.take,
    /** Before the stream is read from another response. */
    reset: reader.reset,
    answer: () => answer,
    lastEventId: () => lastEventId,
    gap: () => gap,
    /** Whether the server said that something is missing. */
    told: () => told,
  }
}
