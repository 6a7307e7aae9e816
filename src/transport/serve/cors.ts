import type { Answer } from '../../peer/peer.ts'
import type { HttpReply, HttpRequest } from './http-types.ts'

/** The headers of a request that the protocol, and what travels with it, gives a meaning to. */
const requestHeaders = [
  'accept',
  'authorization',
  'baggage',
  'content-type',
  'idempotency-key',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'traceparent',
  'tracestate',
].join(', ')

/** Header names that arguments are repeated in. */
const paramHeader = /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/

/**
 * Answers a preflight (Fetch standard, "CORS-preflight fetch"). It comes before anybody is asked who they are, since
 * browsers send no credentials with it. `Mcp-Param-*` cannot be listed beforehand, so those that are asked for are.
 */
export function preflight(request: HttpRequest, reply: HttpReply, methods: string): void {
  const asked = (request.header('access-control-request-headers') ?? '').toLowerCase().split(',')
  const params = asked.map((name) => name.trim()).filter((name) => paramHeader.test(name))
  reply.full(204, [
    'access-control-allow-methods',
    methods,
    'access-control-allow-headers',
    [requestHeaders, ...params].join(', '),
    'access-control-max-age',
    '600',
    'allow',
    methods,
  ])
}

/** Lets a web page of `origin`, which the guard let pass, read the response. */
export function withCors(reply: HttpReply, origin: string): HttpReply {
  return new CorsReply(reply, [
    'access-control-allow-origin',
    origin,
    'access-control-expose-headers',
    'mcp-session-id, mcp-protocol-version, www-authenticate, retry-after',
    'vary',
    'origin',
  ])
}

class CorsReply implements HttpReply {
  readonly #reply: HttpReply
  readonly #cors: readonly string[]

  constructor(reply: HttpReply, cors: readonly string[]) {
    this.#reply = reply
    this.#cors = cors
  }

  full(status: number, headers: readonly string[], text?: string, pieces?: Answer['pieces']): void {
    this.#reply.full(status, [...headers, ...this.#cors], text, pieces)
  }

  head(status: number, headers: readonly string[]): void {
    this.#reply.head(status, [...headers, ...this.#cors])
  }

  write(text: string): void {
    this.#reply.write(text)
  }

  end(): void {
    this.#reply.end()
  }

  onClose(listener: () => void): void {
    this.#reply.onClose(listener)
  }

  get closed(): boolean {
    return this.#reply.closed
  }
}
