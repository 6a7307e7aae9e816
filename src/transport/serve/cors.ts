import type { Answer } from '../../peer/peer.ts'
import type { HttpReply } from './http-types.ts'

/** Lets a web page of `origin`, which the guard let pass, read the response. */
export function withCors(reply: HttpReply, origin: string): HttpReply {
  return new CorsReply(reply, [
    'access-control-allow-origin',
    origin,
    'access-control-expose-headers',
    'mcp-session-id, www-authenticate, retry-after',
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
