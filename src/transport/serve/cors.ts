import type { HttpReply } from './http-types.ts'

/** Lets a web page of `origin`, which the guard let pass, read the response. */
export function withCors(reply: HttpReply, origin: string): HttpReply {
  const cors = [
    'access-control-allow-origin',
    origin,
    'access-control-expose-headers',
    'mcp-session-id, www-authenticate, retry-after',
    'vary',
    'origin',
  ]
  return {
    full: (status, headers, text) => reply.full(status, [...headers, ...cors], text),
    head: (status, headers) => reply.head(status, [...headers, ...cors]),
    write: (text) => reply.write(text),
    end: () => reply.end(),
    onClose: (listener) => reply.onClose(listener),
    get closed() {
      return reply.closed
    },
  }
}
