import { unlink } from 'node:fs/promises'
import { createConnection as dial, createServer } from 'node:net'
import type { AddressInfo, ListenOptions, Server, Socket } from 'node:net'
import { checkPrincipal } from '../../model/notification.ts'
import type { Principal } from '../../model/notification.ts'
import { guarded } from '../../model/ports.ts'
import type { Logger } from '../../model/ports.ts'
import { isRefusal } from '../../model/refusal.ts'
import type { Refusal } from '../../model/refusal.ts'
import { timerMs } from '../../model/timer.ts'
import type { Peer } from '../../peer/peer.ts'
import { defaultCaps } from '../../wire/caps.ts'
import type { Caps } from '../../wire/caps.ts'
import { isLoopback } from './guard.ts'
import { serveLines } from './line-server.ts'
import type { LineServer } from './line-server.ts'

/** Where to listen, and to whom. */
export interface ServeSocketOptions {
  /** A Unix socket, or on Windows a named pipe; instead of `port`. Only its owner may connect. */
  readonly path?: string
  /** A TCP port; 0, the default, takes a free one. */
  readonly port?: number
  /** The address of the TCP port; `127.0.0.1` by default. */
  readonly host?: string
  /** Tells on whose behalf a connection speaks, or refuses it. Taking longer than the cap `headersTimeoutMs` refuses it too. */
  readonly authenticate?: (socket: Socket) => Principal | Refusal | undefined | Promise<Principal | Refusal | undefined>
  /** Listens on an address that others can reach although nobody is asked who they are. */
  readonly allowUnauthenticated?: boolean
  readonly caps?: Partial<Caps>
  readonly logger?: Logger
  /** Milliseconds that calls in flight may take to end once their client is gone; 2,000 by default. */
  readonly graceMs?: number
  /** Connections at once; further ones are closed at once. 100 by default. */
  readonly maxConnections?: number
}

/** A server that listens. Disposing of it closes it. */
export interface SocketServer extends AsyncDisposable {
  /** The path, or `host:port`. */
  readonly address: string
  readonly port: number | undefined
  /**
   * Stops listening, lets every connection finish what is in flight, and closes it; also one whose client keeps its half
   * open, a second later.
   */
  close(): Promise<void>
}

/** Milliseconds in which a client has to take note that its connection was closed. */
const lingerMs = 1_000

/**
 * Serves a peer over a Unix socket, a named pipe or TCP: one message a line, each connection like a stdio of its own.
 * @throws Error for an address that others can reach when there is no `authenticate`, unless told that this is meant
 */
export async function serveSocket(peer: Peer, options: ServeSocketOptions = {}): Promise<SocketServer> {
  const { path, port = 0, host = '127.0.0.1', authenticate, graceMs = 2_000 } = options
  const logger = guarded(options.logger)
  if (path === undefined && !isLoopback(host) && authenticate === undefined && options.allowUnauthenticated !== true) {
    throw new Error(
      `listening on ${host} lets others in: set authenticate, or allowUnauthenticated to serve whoever comes`,
    )
  }
  const caps = { ...defaultCaps, ...options.caps }
  const sockets = new Map<Socket, LineServer | undefined>()

  async function accept(socket: Socket): Promise<void> {
    sockets.set(socket, undefined)
    socket.on('error', (error) => logger.debug('a connection broke', { error }))
    socket.on('close', () => sockets.delete(socket))
    const late = setTimeout(() => {
      logger.warn('nobody told in time who is connecting')
      socket.destroy()
    }, timerMs(caps.headersTimeoutMs))
    socket.on('close', () => clearTimeout(late))
    const principal = authenticate === undefined ? undefined : await authenticate(socket)
    clearTimeout(late)
    if (isRefusal(principal)) return void socket.destroy()
    checkPrincipal(principal)
    if (socket.destroyed) return
    const lines = serveLines(peer, {
      input: socket,
      output: socket,
      write: (text) => socket.write(text),
      transport: 'socket',
      principal,
      caps,
      logger,
      graceMs,
      admits: startsAsJson,
      hurries: socket,
    })
    sockets.set(socket, lines)
    await lines.closed
    // What the client still sends is thrown away, and it is not waited for much longer.
    socket
      .end()
      .resume()
      .setTimeout(timerMs(caps.stallTimeoutMs), () => socket.destroy())
  }

  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accept(socket).catch((error: unknown) => {
      logger.error('nobody could tell who is connecting', { error })
      socket.destroy()
    })
  })
  server.maxConnections = options.maxConnections ?? 100
  if (path === undefined) await listen(server, { port, host })
  else await listenAt(server, path)
  const bound = toPort(server.address())
  const close = async (): Promise<void> => {
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
    // Whoever is not known yet has nothing in flight.
    await Promise.all([...sockets].map(async ([socket, lines]) => lines?.close() ?? void socket.destroy()))
    const late = setTimeout(() => [...sockets.keys()].forEach((socket) => socket.destroy()), lingerMs)
    await stopped
    clearTimeout(late)
  }
  return { address: path ?? `${host}:${bound}`, port: bound, close, [Symbol.asyncDispose]: close }
}

/** A web page can be made to post to a port of its visitor's machine; what it sends begins with the words of HTTP. */
function startsAsJson(line: Uint8Array): boolean {
  const first = line.find((byte) => byte !== 0x20 && byte !== 0x09)
  return first === 0x7b || first === 0x5b
}

/** Listens on a Unix socket that nobody but its owner can open, in place of one that a dead process left behind. */
async function listenAt(server: Server, path: string): Promise<void> {
  const options = { path, readableAll: false, writableAll: false }
  const before = process.umask(0o177)
  try {
    await listen(server, options)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') || (await answers(path)))
      throw error
    await unlink(path)
    await listen(server, options)
  } finally {
    process.umask(before)
  }
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(path)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

function listen(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(options, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function toPort(address: AddressInfo | string | null): number | undefined {
  return typeof address === 'object' && address !== null ? address.port : undefined
}
