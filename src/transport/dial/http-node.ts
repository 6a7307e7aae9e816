import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type { SecureContextOptions } from 'node:tls'
import { timerMs } from '../../model/timer.ts'
import { CallFailed } from '../../model/failure.ts'
import { unsendable, type HttpListener, type HttpRequest, type HttpSend } from './http-types.ts'

/** How connections are made. */
export interface NodeSendOptions {
  /** Milliseconds that connecting may take, TLS included. */
  readonly connectTimeoutMs: number
  /** Milliseconds that an unused connection is kept. */
  readonly idleSocketMs: number
  /** The most bytes that the headers of a response may have. */
  readonly maxHeaderBytes: number
  /** Makes and keeps the connections, instead of an agent of the link's own; its owner closes it. */
  readonly agent?: Agent | undefined
  /** Certificates and keys for https. */
  readonly tls?: SecureContextOptions | undefined
}

/** Milliseconds of silence after which a connection is probed, so that a dead one is found out. */
const probeMs = 15_000

/** Sends by `node:http` or `node:https` to one origin, over connections that are kept. */
export async function createNodeSend(origin: URL, options: NodeSendOptions): Promise<HttpSend> {
  const secure = origin.protocol === 'https:'
  // Loaded here: a client of servers elsewhere starts sooner without it.
  const { Agent, request: open } = secure ? await import('node:https') : await import('node:http')
  const agent =
    options.agent ??
    new Agent({
      keepAlive: true,
      keepAliveMsecs: probeMs,
      timeout: options.idleSocketMs,
      scheduling: 'lifo',
      ...options.tls,
    })
  const host = origin.hostname.replace(/^\[(.*)\]$/, '$1')
  const { maxHeaderBytes: maxHeaderSize } = options
  const fixed = { agent, host, port: origin.port, maxHeaderSize }
  const connected = secure ? 'secureConnect' : 'connect'

  return {
    send({ method, url, headers, body }, listener) {
      let carrier: ClientRequest
      try {
        carrier = open({ ...fixed, method, path: url.pathname + url.search, headers: flatten(url, headers, body) })
      } catch (error) {
        return unsendable(error, listener)
      }
      return carry(carrier, body, listener, { connected, origin, connectTimeoutMs: options.connectTimeoutMs })
    },
    close() {
      if (options.agent === undefined) agent.destroy()
    },
  }
}

/** Names and values in turn, which Node writes down as they are, without a table of headers for each request. */
function flatten(url: URL, headers: HttpRequest['headers'], body: string | undefined): string[] {
  const flat = ['host', url.host]
  for (const name in headers) flat.push(name, headers[name] ?? '')
  if (body !== undefined) flat.push('content-length', String(Buffer.byteLength(body)))
  return flat
}

interface CarryOptions {
  readonly connected: 'connect' | 'secureConnect'
  readonly origin: URL
  readonly connectTimeoutMs: number
}

/** Tells `listener` what becomes of one request. */
function carry(
  carrier: ClientRequest,
  body: string | undefined,
  listener: HttpListener,
  { connected, origin, connectTimeoutMs }: CarryOptions,
): () => void {
  let reached = false
  let over = false
  let timer: NodeJS.Timeout | undefined

  function fail(error: Error | undefined): void {
    clearTimeout(timer)
    if (over) return
    over = true
    carrier.destroy()
    listener.fail(toFailure(error, reached, origin))
  }

  carrier.on('socket', (socket) => {
    if (!socket.connecting) {
      reached = true
      return
    }
    timer = setTimeout(() => fail(new Error(`no connection within ${connectTimeoutMs} ms`)), timerMs(connectTimeoutMs))
    socket.once(connected, () => {
      reached = true
      clearTimeout(timer)
    })
  })
  let responded = false
  carrier.on('response', (response: IncomingMessage) => {
    if (over) return void response.resume()
    responded = true
    response.on('data', (chunk: Buffer) => over || listener.data(chunk))
    response.on('end', () => {
      if (over) return
      over = true
      listener.end()
    })
    response.on('error', fail).on('close', fail)
    listener.head(response.statusCode ?? 0, (name) => {
      const value = response.headers[name]
      return typeof value === 'object' ? value.join(', ') : value
    })
  })
  // A response that ends with its connection does so after the request is closed.
  carrier.on('error', fail).on('close', () => responded || fail(undefined))
  carrier.end(body)
  return () => {
    clearTimeout(timer)
    over = true
    carrier.destroy()
  }
}

function toFailure(error: Error | undefined, reached: boolean, { origin }: URL): CallFailed {
  const code = error !== undefined && 'code' in error ? String(error.code) : ''
  const why = error?.message || code || 'the connection was closed'
  if (!reached)
    return new CallFailed('Unreachable', { ran: 'no', message: `cannot reach ${origin}: ${why}`, cause: error })
  const details = { ran: 'unknown', cause: error } as const
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new CallFailed('TooLarge', { ...details, message: `${origin} sent too many bytes of headers` })
  }
  if (code.startsWith('HPE_')) {
    return new CallFailed('ProtocolViolation', { ...details, message: `${origin} does not speak HTTP: ${why}` })
  }
  return new CallFailed('ConnectionLost', { ...details, message: `the connection to ${origin} broke: ${why}` })
}
