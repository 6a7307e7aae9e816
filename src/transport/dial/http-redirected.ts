import type { HttpListener, HttpRequest, HttpSend, ReadHeader } from './http-types.ts'

/** How often one request follows a redirect. */
const maxHops = 2

/**
 * Follows a redirect only where it keeps method and body (307, 308) and stays on the origin; every other one is passed on
 * as the response. A message, and the credentials on it, go to nobody the user did not name.
 */
export function withRedirects(inner: HttpSend): HttpSend {
  return { send: (request, listener) => follow(inner, request, listener, maxHops), close: () => inner.close() }
}

function follow(inner: HttpSend, request: HttpRequest, listener: HttpListener, hops: number): () => void {
  let next: (() => void) | undefined
  const abort = inner.send(request, {
    head(status, header) {
      const url = hops > 0 ? redirection(request.url, status, header) : undefined
      if (url === undefined) return listener.head(status, header)
      // The rest of this response is of no interest, however long it is.
      abort()
      next = follow(inner, { ...request, url }, listener, hops - 1)
    },
    data: (chunk) => listener.data(chunk),
    end: () => listener.end(),
    authorizing: (waiting) => listener.authorizing?.(waiting),
    fail: (failure) => listener.fail(failure),
  })
  return () => {
    abort()
    next?.()
  }
}

function redirection(from: URL, status: number, header: ReadHeader): URL | undefined {
  const location = header('location')
  if ((status !== 307 && status !== 308) || location === undefined || !URL.canParse(location, from.href))
    return undefined
  const to = new URL(location, from)
  return to.origin === from.origin ? to : undefined
}
