import { isRefusal, Refusal } from '../../model/refusal.ts'
import { timerMs } from '../../model/timer.ts'
import type { Peer } from '../../peer/peer.ts'
import { defaultCaps } from '../../wire/caps.ts'
import type { Caps } from '../../wire/caps.ts'
import { createHttpEndpoint } from './http.ts'
import type { HttpOptions, HttpReply, HttpRequest } from './http-types.ts'

/** A handler for web standard requests: Workers, Deno, Bun, and frameworks built on `fetch`. */
export interface FetchHandler {
  (request: Request): Promise<Response>
  /** Refuses new requests, waits at most `graceMs` for what is in flight, then gives up on it. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/** Serves a peer on web standard requests. Behind another host than loopback the option `hosts` names it. */
export function fetchHandler(peer: Peer, options: HttpOptions = {}): FetchHandler {
  const endpoint = createHttpEndpoint(peer, options)
  const caps = { ...defaultCaps, ...options.caps }
  const handler = (request: Request): Promise<Response> =>
    new Promise((resolve) => endpoint.handle(toRequest(request, caps), new FetchReply(request.signal, resolve, caps)))
  return Object.assign(handler, {
    close: ({ graceMs = 5_000 }: { readonly graceMs?: number } = {}) => endpoint.close(graceMs),
  })
}

/** Bytes of a refused body that are still read. */
const maxDiscardedBytes = 64 * 1024 * 1024

function toRequest(request: Request, caps: Caps): HttpRequest {
  const url = new URL(request.url)
  return {
    method: request.method,
    path: url.pathname + url.search,
    // A runtime that keeps the header to itself puts the host into the URL.
    header: (name) => request.headers.get(name) ?? (name === 'host' ? url.host : undefined),
    fault: ({ maxHeaders, maxHeaderBytes }) => {
      let count = 0
      let bytes = url.pathname.length + url.search.length
      for (const [name, value] of request.headers) {
        count += 1
        bytes += name.length + value.length
      }
      if (count > maxHeaders || bytes > maxHeaderBytes) return 431
      // Two of them are joined by a comma, which no host has.
      return request.headers.get('host')?.includes(',') === true ? 400 : undefined
    },
    body: () => readBody(request, caps),
  }
}

async function readBody(request: Request, caps: Caps): Promise<Uint8Array | Refusal | 'late'> {
  // Somebody has read it, or is about to.
  if (request.bodyUsed || request.body?.locked === true) return new Refusal('InvalidRequest')
  const reader = request.body?.getReader()
  if (reader === undefined) return new Uint8Array(0)
  let late = false
  const timer = setTimeout(() => {
    // To whoever reads, a stream that is given up looks like one that has ended.
    late = true
    void reader.cancel().catch(() => {})
  }, timerMs(caps.messageTimeoutMs))
  const stop = (): void => clearTimeout(timer)
  try {
    const body = await readAll(reader, Number(request.headers.get('content-length') ?? 0), caps.maxMessageBytes)
    // What is thrown away has no more time than what is taken.
    if (isRefusal(body)) void discard(reader).then(stop, stop)
    else stop()
    return late ? 'late' : body
  } catch {
    stop()
    return late ? 'late' : new Refusal('InvalidRequest')
  }
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  declared: number,
  maxBytes: number,
): Promise<Uint8Array | Refusal> {
  const chunks: Uint8Array[] = []
  let size = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length
    chunks.push(part.value)
    if (Math.max(size, declared) > maxBytes) return new Refusal('BodyTooLarge')
  }
  return join(chunks, size)
}

/** Reads on and throws away, so that the client gets to read the refusal; not for ever. */
async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  let left = maxDiscardedBytes
  for (let part = await reader.read(); !part.done && left > 0; part = await reader.read()) left -= part.value.length
  await reader.cancel()
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  if (chunks.length === 1 && chunks[0] !== undefined) return chunks[0]
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

const encoder = new TextEncoder()

class FetchReply implements HttpReply {
  readonly #signal: AbortSignal
  readonly #respond: (response: Response) => void
  readonly #listeners: (() => void)[] = []
  readonly #caps: Caps
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #closed = false
  #written = 0
  #taken = 0
  #takenAt = 0

  constructor(signal: AbortSignal, respond: (response: Response) => void, caps: Caps) {
    this.#signal = signal
    this.#respond = respond
    this.#caps = caps
  }

  full(status: number, headers: readonly string[], text?: string): void {
    if (this.#closed) return
    // A stream that has begun can only end.
    if (this.#controller !== undefined) return this.end()
    this.#closed = true
    this.#respond(new Response(text ?? null, { status, headers: toHeaders(headers) }))
  }

  head(status: number, headers: readonly string[]): void {
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array>) => {
        this.#controller = controller
      },
      cancel: () => this.#leave(),
    }
    // Counted in bytes from zero, so that the size still desired tells how much nobody has read.
    const body = new ReadableStream<Uint8Array>(source, { highWaterMark: 0, size: ({ byteLength }) => byteLength })
    this.#respond(new Response(body, { status, headers: toHeaders(headers) }))
  }

  write(text: string): void {
    const controller = this.#controller
    if (this.#closed || controller === undefined) return
    if (this.#isStalled(-(controller.desiredSize ?? 0))) {
      controller.error(new Error('Nobody reads'))
      return this.#leave()
    }
    const bytes = encoder.encode(text)
    this.#written += bytes.length
    controller.enqueue(bytes)
  }

  end(): void {
    if (this.#closed) return
    this.#closed = true
    this.#controller?.close()
  }

  onClose(listener: () => void): void {
    this.#listeners.push(listener)
    if (this.#signal.aborted) this.#leave()
    else if (this.#listeners.length === 1) {
      this.#signal.addEventListener('abort', () => this.#leave(), { once: true })
    }
  }

  get closed(): boolean {
    return this.#closed
  }

  #isStalled(unread: number): boolean {
    const taken = this.#written - unread
    const now = Date.now()
    if (taken > this.#taken || unread === 0) {
      this.#taken = taken
      this.#takenAt = now
    }
    return unread > this.#caps.maxUnreadBytes || now - this.#takenAt > this.#caps.stallTimeoutMs
  }

  #leave(): void {
    if (this.#closed) return
    this.#closed = true
    // Nobody reads it, but whoever called the handler is not left waiting.
    this.#respond(new Response(null, { status: 499 }))
    for (const listener of this.#listeners) listener()
  }
}

function toHeaders(flat: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < flat.length; at += 2) headers.append(flat[at] ?? '', flat[at + 1] ?? '')
  return headers
}
