import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHttpLink } from '../../../src/transport/dial/http.ts'
import type { HttpLinkOptions } from '../../../src/transport/dial/http-channel.ts'
import { talk, type Talk } from './support.ts'

/** A request as a scripted server saw it. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** An HTTP server that does what a test says, on a real socket. */
export interface Scripted extends AsyncDisposable {
  readonly url: URL
  readonly seen: Seen[]
  /** Responses whose connection is gone. */
  readonly gone: ServerResponse[]
  talk(options?: HttpLinkOptions): Promise<Talk>
}

export type Script = (seen: Seen, response: ServerResponse, request: IncomingMessage) => void

export async function scripted(script: Script): Promise<Scripted> {
  const seen: Seen[] = []
  const gone: ServerResponse[] = []
  const server = createServer((request, response) => {
    let body = ''
    response.on('close', () => response.writableFinished || gone.push(response))
    request.on('error', () => {})
    request
      .on('data', (chunk: Buffer) => (body += chunk.toString()))
      .on('end', () => {
        const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
        seen.push(one)
        script(one, response, request)
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  return {
    url,
    seen,
    gone,
    talk: (options) => talk(createHttpLink(url, { retryMs: 10, ...options })),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Responds at once. */
export function respond(
  response: ServerResponse,
  status: number,
  body: unknown = '',
  headers: Record<string, string> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}

/** Begins a stream and writes events. */
export function stream(response: ServerResponse, ...events: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(': open\n\n')
  for (const event of events) response.write(event)
}

export const event = (message: unknown, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${typeof message === 'string' ? message : JSON.stringify(message)}\n\n`

export const result = (id: unknown, value: object = {}): object => ({ jsonrpc: '2.0', id, result: value })
export const error = (id: unknown, code = -32600): object => ({
  jsonrpc: '2.0',
  ...(id !== undefined && { id }),
  error: { code, message: 'no' },
})
