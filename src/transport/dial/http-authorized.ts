import type { Authorization } from '../../model/authorization.ts'
import { CallFailed, isCallFailed } from '../../model/failure.ts'
import type { HttpListener, HttpRequest, HttpSend, ReadHeader } from './http-types.ts'

/**
 * How often one request is sent at most, the first time included: enough for new credentials, a nonce for them, wider
 * scopes, a nonce again, and one to spare. Whoever makes the credentials has limits of its own.
 */
const maxTries = 6
/** Bytes of a refusal that are kept while it is dealt with. */
const maxHeldBytes = 64 * 1024

/**
 * Puts credentials on every request, and deals with what is refused for want of them (RFC 9110, §11.6.1; the
 * specification's "Authorization"): a 401, and a 403 with a challenge, go to `authorization`, and the request is sent again
 * if that says so. A refusal that remains is passed on like any other response.
 */
export function withAuthorization(inner: HttpSend, authorization: Authorization): HttpSend {
  return {
    send: (request, listener) => attempt(inner, authorization, request, listener),
    close: () => inner.close(),
  }
}

function attempt(
  inner: HttpSend,
  authorization: Authorization,
  request: HttpRequest,
  listener: HttpListener,
): () => void {
  const about = { url: request.url.href, method: request.method }
  let abort = (): void => {}
  let stopped = false
  /** Told that nobody waits any more; made only for a request that is challenged. */
  let waiting: AbortController | undefined

  async function send(tries: number): Promise<void> {
    const credentials = await authorization.headers(about)
    if (stopped) return
    const headers = { ...request.headers, ...credentials }
    abort = inner.send({ ...request, headers }, watch(tries))
  }

  function begin(tries: number): void {
    send(tries).catch(fail)
  }

  function fail(cause: unknown): void {
    if (stopped) return
    const message = 'no credentials could be had'
    listener.fail(isCallFailed(cause) ? cause : new CallFailed('Unauthorized', { ran: 'no', message, cause }))
  }

  /** Listens to one try. */
  function watch(tries: number): HttpListener {
    let held: Held | undefined
    return {
      head(status, header) {
        const challenged = isChallenge(status, header)
        if (!challenged) authorization.answered?.(about, header)
        if (!challenged || tries >= maxTries) return listener.head(status, header)
        const refusal = hold(listener)
        held = refusal
        const letGo = abort
        waiting = new AbortController()
        const revision = request.revision ?? request.headers['mcp-protocol-version']
        const challenge = { ...about, status, header, signal: waiting.signal }
        listener.authorizing?.(true)
        authorization
          .challenged(revision === undefined ? challenge : { ...challenge, revision })
          .then((again) => {
            if (stopped) return
            listener.authorizing?.(false)
            if (!again) return refusal.release(status, header)
            if (!refusal.ended) letGo()
            begin(tries + 1)
          })
          .catch(fail)
      },
      data: (chunk) => (held ?? listener).data(chunk),
      end: () => (held ?? listener).end(),
      fail: (failure) => (held ?? listener).fail(failure),
    }
  }

  begin(1)
  return () => {
    stopped = true
    abort()
    waiting?.abort(new CallFailed('Cancelled', { ran: 'no', message: 'nobody waits for the credentials any more' }))
  }
}

function isChallenge(status: number, header: ReadHeader): boolean {
  return status === 401 || (status === 403 && header('www-authenticate') !== undefined)
}

/** A response that waits for what becomes of it. */
interface Held extends Omit<HttpListener, 'head'> {
  /** Whether all of it came. */
  readonly ended: boolean
  /** Passes it on, what came and what is still to come. */
  release(status: number, header: ReadHeader): void
}

function hold(listener: HttpListener): Held {
  const chunks: Uint8Array[] = []
  let size = 0
  let released = false
  let ended = false
  return {
    get ended() {
      return ended
    },
    data(chunk) {
      if (released) return listener.data(chunk)
      size += chunk.length
      if (size <= maxHeldBytes) chunks.push(chunk)
    },
    end() {
      ended = true
      if (released) listener.end()
    },
    // It was refused either way; a body that was cut off is as good as none.
    fail() {
      this.end()
    },
    release(status, header) {
      released = true
      listener.head(status, header)
      for (const chunk of chunks) listener.data(chunk)
      if (ended) listener.end()
    },
  }
}
