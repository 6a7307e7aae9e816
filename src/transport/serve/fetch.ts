import { Refusal } from '../../model/refusal.ts'
import type { Peer } from '../../peer/peer.ts'
import { defaultCaps } from '../../wire/caps.ts'
import { createHttpEndpoint } from './http.ts'
import type { HttpOptions, HttpReply, HttpRequest } from './http-types.ts'

/** A handler for web standard requests: Workers, Deno, Bun, and frameworks built on `fetch`. */
export interface FetchHandler {
  (request: Request): Promise<Response>
  /** Refuses new requests, waits at most `graceMs` for what is in flight, then cancels it. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/** Serves a peer on web standard requests. Behind another host than loopback the option `hosts` names it. */
export function fetchHandler(peer: Peer, options: HttpOptions = {}): FetchHandler {
  const endpoint = createHttpEndpoint(peer, options)
  const maxBytes = options.caps?.maxMessageBytes ?? defaultCaps.maxMessageBytes
  const handler = (request: Request): Promise<Response> =>
    new Promise((resolve) => endpoint.handle(toRequest(request, maxBytes), new FetchReply(request.signal, resolve)))
  return Object.assign(handler, {
    close: ({ graceMs = 5_000 }: { readonly graceMs?: number } = {}) => endpoint.close(graceMs),
  })
}

function toRequest(request: Request, maxBytes: number): HttpRequest {
  const url = new URL(request.url)
  return {
    method: request.method,
    path: url.pathname + url.search,
    // A runtime that keeps the header to itself puts the host into the URL.
    header: (name) => request.headers.get(name) ?? (name === 'host' ? url.host : undefined),
    body: () => readBody(request, maxBytes),
  }
}

async function readBody(request: Request, maxBytes: number): Promise<Uint8Array | Refusal> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > maxBytes) return new Refusal('BodyTooLarge')
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.length
      // Leaving the loop cancels the stream.
      if (size > maxBytes) return new Refusal('BodyTooLarge')
      chunks.push(chunk)
    }
  } catch {
    return new Refusal('InvalidRequest')
  }
  return join(chunks, size)
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
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #closed = false

  constructor(signal: AbortSignal, respond: (response: Response) => void) {
    this.#signal = signal
    this.#respond = respond
  }

  full(status: number, headers: readonly string[], text?: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#respond(new Response(text ?? null, { status, headers: toHeaders(headers) }))
  }

  head(status: number, headers: readonly string[]): void {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller
      },
      cancel: () => this.#leave(),
    })
    this.#respond(new Response(body, { status, headers: toHeaders(headers) }))
  }

  write(text: string): void {
    if (!this.#closed) this.#controller?.enqueue(encoder.encode(text))
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
