import { request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fetchHandler } from '../../../src/transport/serve/fetch.ts'
import type { HttpOptions } from '../../../src/transport/serve/http-types.ts'
import { serveHttp } from '../../../src/transport/serve/node.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { modernVersion, peerOf, standIn } from './stand-in.ts'
import type { Heard, StandIn } from './stand-in.ts'

export interface SentEvent {
  readonly id?: string
  readonly event?: string
  readonly retry?: string
  readonly data?: string
  readonly comment?: string
}

/** A response while it comes in. */
export interface Response {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  text: string
  ended: boolean
  readonly done: Promise<void>
  abort(): void
}

export interface Sending {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

export interface Door {
  readonly served: StandIn
  send(sending: Sending): Promise<Response>
  close(options?: { readonly graceMs?: number }): Promise<void>
}

export type OpenDoor = (options?: HttpOptions, revisions?: readonly string[]) => Promise<Door>

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))

/** A real socket, so that what a socket can break is seen to break. */
export const openNode: OpenDoor = async (options, revisions) => {
  const served = standIn()
  const server = await serveHttp(peerOf(served, revisions), { store: memoryStore(), ...options })
  return {
    served,
    close: (closing) => server.close(closing),
    send: ({ method = 'POST', path = '/mcp', headers = {}, body }) =>
      new Promise((resolve, reject) => {
        const request = httpRequest(
          { port: server.port, host: '127.0.0.1', method, path, headers, agent: false },
          (incoming) => {
            const response = {
              status: incoming.statusCode ?? 0,
              headers: new Map(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
              text: '',
              ended: false,
              abort: () => request.destroy(),
              done: new Promise<void>((settle) => incoming.on('close', () => settle())),
            }
            incoming.setEncoding('utf8').on('data', (chunk: string) => (response.text += chunk))
            incoming.on('close', () => (response.ended = true)).on('error', () => {})
            resolve(response)
          },
        )
        request.on('error', reject)
        request.end(body === undefined ? undefined : textOf(body))
      }),
  }
}

/** The same over web standard requests, without a socket. */
export const openFetch: OpenDoor = async (options, revisions) => {
  const served = standIn()
  const handler = fetchHandler(peerOf(served, revisions), { store: memoryStore(), ...options })
  return {
    served,
    close: (closing) => handler.close(closing),
    async send({ method = 'POST', path = '/mcp', headers = {}, body }) {
      const aborting = new AbortController()
      const { host = 'localhost', ...rest } = headers
      const answer = await handler(
        new Request(`http://${host}${path}`, {
          method,
          headers: rest,
          signal: aborting.signal,
          ...(body !== undefined && { body: textOf(body) }),
        }),
      )
      const reader = answer.body?.getReader()
      const response = {
        status: answer.status,
        headers: new Map(answer.headers),
        text: '',
        ended: false,
        abort: () => void reader?.cancel().catch(() => {}),
        done: Promise.resolve(),
      }
      const read = async (): Promise<void> => {
        const decoder = new TextDecoder()
        for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
          response.text += decoder.decode(part.value, { stream: true })
        }
        response.ended = true
      }
      response.done = read()
      return response
    },
  }
}

export const doors: readonly (readonly [name: string, open: OpenDoor])[] = [
  ['node', openNode],
  ['fetch', openFetch],
]

export function events({ text }: Response): SentEvent[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((block) =>
      Object.fromEntries(
        block.split('\n').map((line) => {
          const [, name = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? []
          return [name === '' ? 'comment' : name, value]
        }),
      ),
    )
}

/** Every message of a response so far, whether it came as JSON or as events. */
export function messages(response: Response): Heard[] {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return response.text === '' ? [] : [JSON.parse(response.text)].flat()
  }
  return events(response)
    .filter(({ data, event }) => data !== undefined && data !== '' && event !== 'endpoint')
    .flatMap(({ data }) => JSON.parse(data ?? ''))
}

/** Waits until `test` holds, for at most two seconds. */
export async function until<T>(test: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  for (let tries = 0; tries < 400; tries++) {
    const found = await test()
    if (found !== undefined && found !== false) return found
    await sleep(5)
  }
  throw new Error(`waited in vain for ${test.toString()}`)
}

const both = 'application/json, text/event-stream'

export function modernHeaders(
  body: { readonly method?: unknown; readonly params?: unknown },
  extra: Record<string, string> = {},
): Record<string, string> {
  const name = (body.params as { name?: string } | undefined)?.name
  return {
    'content-type': 'application/json',
    accept: both,
    'mcp-protocol-version': modernVersion,
    'mcp-method': String(body.method),
    ...(name !== undefined && { 'mcp-name': name }),
    ...extra,
  }
}

export function legacyHeaders(session?: string, extra: Record<string, string> = {}): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: both,
    ...(session !== undefined && { 'mcp-session-id': session }),
    ...extra,
  }
}
