import { CallFailed } from '../../model/failure.ts'
import { unsendable, type HttpListener, type HttpRequest, type HttpSend } from './http-types.ts'

/** As the web standard has it; redirects are never followed by it. */
export type Fetch = (url: URL, init: RequestInit) => Promise<Response>

/** Sends by any `fetch`: that of the runtime, one that goes through a proxy, or a handler in this process. */
export function createFetchSend(fetch: Fetch): HttpSend {
  return {
    send(request, listener) {
      let headers: Headers
      try {
        headers = new Headers(request.headers)
      } catch (error) {
        return unsendable(error, listener)
      }
      const aborting = new AbortController()
      const { signal } = aborting
      void carry(fetch, { ...request, headers }, listener, signal).catch((error: unknown) => {
        if (!signal.aborted) listener.fail(toFailure(error, request.url))
      })
      return () => aborting.abort()
    },
    close() {},
  }
}

interface Written extends Omit<HttpRequest, 'headers'> {
  readonly headers: Headers
}

async function carry(fetch: Fetch, request: Written, listener: HttpListener, signal: AbortSignal): Promise<void> {
  const { method, url, headers, body } = request
  const init = { method, headers, signal, redirect: 'manual' } as const
  const response = await fetch(url, body === undefined ? init : { ...init, body })
  const reader = response.body?.getReader()
  // Not every fetch listens to its signal once the response has begun.
  const stop = (): void => void reader?.cancel().catch(() => {})
  if (signal.aborted) return stop()
  signal.addEventListener('abort', stop)
  listener.head(response.status, (name) => response.headers.get(name) ?? undefined)
  for (let part = await reader?.read(); part?.done === false && !signal.aborted; part = await reader?.read()) {
    listener.data(part.value)
  }
  signal.removeEventListener('abort', stop)
  if (!signal.aborted) listener.end()
}

/** Codes of Node's system errors and of undici, which both mean that no connection came about. */
const unreached: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
])

function toFailure(error: unknown, { origin }: URL): CallFailed {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const why = cause instanceof Error ? cause.message || code : String(cause)
  return unreached.has(code)
    ? new CallFailed('Unreachable', { ran: 'no', message: `cannot reach ${origin}: ${why}`, cause: error })
    : new CallFailed('ConnectionLost', {
        ran: 'unknown',
        message: `the connection to ${origin} broke: ${why}`,
        cause: error,
      })
}
