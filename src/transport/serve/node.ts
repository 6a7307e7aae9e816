import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Refusal } from '../../model/refusal.ts'
import { timerMs } from '../../model/timer.ts'
import type { Answer, Peer } from '../../peer/peer.ts'
import { defaultCaps } from '../../wire/caps.ts'
import type { Caps } from '../../wire/caps.ts'
import { isLoopback } from './guard.ts'
import { createHttpEndpoint } from './http.ts'
import type { HttpOptions, HttpReply, HttpRequest } from './http-types.ts'

/** A handler for `node:http`, and for every framework that hands out its requests. */
export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse): void
  /** Refuses new requests, waits at most `graceMs` for what is in flight, then gives up on it. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/** Bytes of a refused body that are still read, so that the client gets to read the refusal. */
const maxDiscardedBytes = 64 * 1024 * 1024
const noBytes = new Uint8Array(0)

/** Serves a peer on requests of `node:http`. */
export function nodeHandler(peer: Peer, options: HttpOptions = {}): NodeHandler {
  const endpoint = createHttpEndpoint(peer, options)
  const caps = { ...defaultCaps, ...options.caps }
  const handler = (request: IncomingMessage, response: ServerResponse): void => {
    endpoint.handle(new NodeRequest(request, caps.maxMessageBytes), new NodeReply(request, response, caps))
  }
  return Object.assign(handler, {
    close: ({ graceMs = 5_000 }: { readonly graceMs?: number } = {}) => endpoint.close(graceMs),
  })
}

class NodeRequest implements HttpRequest {
  readonly #request: IncomingMessage
  readonly #maxBytes: number

  constructor(request: IncomingMessage, maxBytes: number) {
    this.#request = request
    this.#maxBytes = maxBytes
  }

  get method(): string {
    return this.#request.method ?? ''
  }

  get path(): string {
    const target = this.#absolute()
    return target === undefined ? (this.#request.url ?? '') : target.pathname + target.search
  }

  get originalPath(): string | undefined {
    // As connect, Express and their kind leave it.
    const { originalUrl }: IncomingMessage & { readonly originalUrl?: unknown } = this.#request
    return typeof originalUrl === 'string' ? originalUrl : undefined
  }

  readonly header = (name: string): string | undefined => {
    // A host in the target is the one that counts (RFC 9112, section 3.2.2).
    const value = (name === 'host' ? this.#absolute()?.host : undefined) ?? this.#request.headers[name]
    return typeof value === 'object' ? value.join(', ') : value
  }

  fault({ maxHeaders }: Caps): 400 | 431 | undefined {
    const { rawHeaders } = this.#request
    // Their length is for Node to bound, which reads them.
    if (rawHeaders.length > 2 * maxHeaders) return 431
    let hosts = 0
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]
      if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
    }
    return hosts > 1 ? 400 : undefined
  }

  /** The target where it names its host, as it does on the way to a proxy; nearly always it is but a path. */
  #absolute(): URL | undefined {
    const { url = '' } = this.#request
    if (url.startsWith('/') || !/^https?:/i.test(url) || !URL.canParse(url)) return undefined
    return new URL(url)
  }

  body(): Promise<Uint8Array | Refusal> {
    if (this.#request.readableEnded) return Promise.resolve(parsedBody(this.#request))
    return readBody(this.#request, this.#maxBytes)
  }
}

/** What a framework left of a body that it has read itself, as its JSON parsers do. */
function parsedBody({ body }: IncomingMessage & { readonly body?: unknown }): Uint8Array | Refusal {
  if (body === undefined) return new Refusal('InvalidRequest')
  if (body instanceof Uint8Array) return body
  try {
    return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  } catch {
    return new Refusal('InvalidRequest')
  }
}

/** Reads a body up to the cap. What is over it is read and thrown away, so that the connection stays usable. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array | Refusal> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = []
    let size = 0
    let refused = false
    const refuse = (): void => {
      refused = true
      chunks = []
      resolve(new Refusal('BodyTooLarge'))
    }
    if (Number(request.headers['content-length']) > maxBytes) refuse()
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (refused) {
        if (size > maxDiscardedBytes) request.destroy()
      } else if (size > maxBytes) refuse()
      else chunks.push(chunk)
    })
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] ?? noBytes) : Buffer.concat(chunks, size)))
    request.on('error', () => resolve(new Refusal('InvalidRequest')))
  })
}

/** A class, since an object literal with a getter costs a hidden class of its own for every request. */
class NodeReply implements HttpReply {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #caps: Caps
  #ended = false
  #stalling = false

  constructor(request: IncomingMessage, response: ServerResponse, caps: Caps) {
    this.#request = request
    this.#response = response
    this.#caps = caps
  }

  full(status: number, headers: readonly string[], text = '', pieces: Answer['pieces'] = [text]): void {
    if (this.#ended) return
    // A stream that has begun can only end.
    if (this.#response.headersSent) return this.end()
    this.#ended = true
    // A body that nobody looked at would stop the next request on this connection.
    if (!this.#request.readableFlowing && !this.#request.complete) this.#request.resume()
    const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
    this.#response.writeHead(status, status === 204 ? [...headers] : [...headers, 'content-length', String(length)])
    if (pieces.length === 1) this.#response.end(text)
    else {
      this.#response.cork()
      for (const piece of pieces) this.#response.write(piece)
      this.#response.end()
    }
    if (this.#response.writableLength > 0) this.#response.setTimeout(timerMs(this.#caps.stallTimeoutMs))
  }

  head(status: number, headers: readonly string[]): void {
    if (!this.#ended) this.#response.writeHead(status, [...headers])
  }

  write(text: string): void {
    if (this.#ended) return
    // However long one event is: only what waited before it tells whether anybody reads.
    const waiting = this.#response.writableLength
    if (this.#response.write(text)) return
    if (waiting > this.#caps.maxUnreadBytes) this.#response.destroy()
    else if (!this.#stalling) this.#awaitReader()
  }

  /** Node cuts a connection off on which nothing moves for that long. */
  #awaitReader(): void {
    this.#stalling = true
    this.#response.setTimeout(timerMs(this.#caps.stallTimeoutMs))
    this.#response.once('drain', () => {
      this.#stalling = false
      this.#response.setTimeout(0)
    })
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#response.end()
    if (this.#response.writableLength > 0) this.#response.setTimeout(timerMs(this.#caps.stallTimeoutMs))
  }

  onClose(listener: () => void): void {
    this.#response.on('close', () => {
      if (!this.#ended) listener()
      this.#ended = true
    })
  }

  get closed(): boolean {
    return this.#ended || this.#response.destroyed
  }
}

/** Where to listen, and to whom. */
export interface ServeHttpOptions extends HttpOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number
  /** The address to listen on; `127.0.0.1` by default. */
  readonly host?: string
  /** Listens on an address that others can reach although nobody is asked who they are. */
  readonly allowUnauthenticated?: boolean
  /** Connections at once; further ones are closed at once. 10,000 by default. */
  readonly maxConnections?: number
}

/** A server that listens. Disposing of it closes it. */
export interface HttpServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly server: Server
  /** Drains, then stops listening; `graceMs` is 5,000 by default. Meanwhile new requests are refused. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/**
 * Listens and serves a peer over HTTP.
 * @throws Error for an address that others can reach when there is no `authenticate`, unless told that this is meant
 */
export async function serveHttp(peer: Peer, options: ServeHttpOptions = {}): Promise<HttpServer> {
  const { host = '127.0.0.1', port = 0, path = '/mcp', authenticate, allowUnauthenticated = false } = options
  if (!isLoopback(host) && authenticate === undefined && !allowUnauthenticated) {
    throw new Error(
      `listening on ${host} lets others in: set authenticate, or allowUnauthenticated to serve whoever comes`,
    )
  }
  const caps = { ...defaultCaps, ...options.caps }
  const handler = nodeHandler(peer, options)
  // Loaded here: a server on other transports starts sooner without it.
  const { createServer } = await import('node:http')
  const server = createServer(
    {
      // Node refuses the byte that makes this number full.
      maxHeaderSize: caps.maxHeaderBytes + 1,
      connectionsCheckingInterval: Math.min(30_000, caps.headersTimeoutMs, caps.messageTimeoutMs),
    },
    handler,
  )
  // Node drops the headers over a count of its own without a word, Origin among them; so all are read, and counted.
  server.maxHeadersCount = 0
  server.maxConnections = options.maxConnections ?? 10_000
  server.headersTimeout = caps.headersTimeoutMs
  server.requestTimeout = caps.messageTimeoutMs
  server.keepAliveTimeout = 30_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  const close = async (closing?: { readonly graceMs?: number }): Promise<void> => {
    // Until all is drained clients may have to come in with answers to what they were asked.
    await handler.close(closing)
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    // Responses that were just ended may still be on their way out.
    const late = setTimeout(() => server.closeAllConnections(), 1_000).unref()
    await stopped
    clearTimeout(late)
  }
  return {
    url: `http://${urlHost(host)}:${bound}${path === '*' ? '/' : path}`,
    port: bound,
    server,
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
