import type { Socket } from 'node:net'
import { timerMs } from '../../model/timer.ts'
import { CallFailed } from '../../model/failure.ts'
import type { Link, LinkListener } from '../../peer/link.ts'
import type { Caps } from '../../wire/caps.ts'
import { capsOf } from './caps.ts'
import { closedFailure } from './closed.ts'
import { createLinePipe, type LinePipe } from './line-pipe.ts'

/** A server that listens on a socket. */
export interface SocketOptions {
  /** A Unix socket, or on Windows a named pipe; instead of `port`. */
  readonly path?: string
  readonly port?: number
  /** `127.0.0.1` by default. */
  readonly host?: string
  readonly caps?: Partial<Caps>
  /** Milliseconds that connecting may take; 10,000 by default. */
  readonly connectTimeoutMs?: number
  /** Milliseconds that what was written may take to leave at the end; 2,000 by default. */
  readonly graceMs?: number
}

/** A link over a Unix socket, a named pipe or TCP, one message a line. */
export function createSocketLink(options: SocketOptions): Link {
  const caps = capsOf(options.caps)
  let connecting: Promise<Socket> | undefined
  let closed = false
  let pipe: LinePipe | undefined
  let listener: LinkListener | undefined
  let failure = new CallFailed('ConnectionLost', { ran: 'no', message: 'the connection is not open' })

  function lose(cause?: Error): void {
    const hearing = listener
    if (hearing === undefined) return
    listener = undefined
    failure = new CallFailed('ConnectionLost', { ran: 'no', message: 'the server closed the connection', cause })
    hearing.closed(new CallFailed('ConnectionLost', { ran: 'unknown', message: failure.message, cause }))
  }

  return {
    transport: 'socket',
    async open(hearing) {
      connecting = connect(options)
      const opened = await connecting
      if (closed) throw failure
      listener = hearing
      pipe = createLinePipe({ output: opened, caps, listener: () => listener, from: 'stream', gone: () => failure })
      const lines = pipe
      opened.on('data', lines.receive)
      opened.on('end', () => {
        lines.end()
        opened.end()
      })
      opened.on('error', lose).on('close', () => lose())
    },
    send: (outgoing) => (listener && pipe ? pipe.send(outgoing) : Promise.reject(failure)),
    agree() {},
    async close() {
      listener = undefined
      closed = true
      failure = closedFailure()
      const socket = await connecting?.catch(() => undefined)
      if (socket !== undefined) await end(socket, options.graceMs ?? 2_000)
    },
  }
}

async function connect(options: SocketOptions): Promise<Socket> {
  const { path, port = 0, host = '127.0.0.1', connectTimeoutMs = 10_000 } = options
  // Loaded here: a client of servers elsewhere starts sooner without it.
  const { connect: dial } = await import('node:net')
  const socket = path === undefined ? dial({ host, port, keepAlive: true, noDelay: true }) : dial({ path })
  const where = path ?? `${host}:${port}`
  return new Promise((resolve, reject) => {
    const fail = (message: string, cause?: Error): void => {
      clearTimeout(timer)
      socket.destroy()
      reject(new CallFailed('Unreachable', { ran: 'no', message: `cannot connect to ${where}: ${message}`, cause }))
    }
    const timer = setTimeout(() => fail(`no connection within ${connectTimeoutMs} ms`), timerMs(connectTimeoutMs))
    const onError = (error: Error): void => fail(error.message, error)
    socket.once('error', onError).once('connect', () => {
      clearTimeout(timer)
      socket.off('error', onError)
      resolve(socket)
    })
  })
}

async function end(socket: Socket, graceMs: number): Promise<void> {
  if (socket.closed) return
  await new Promise<void>((resolve) => {
    const limit = setTimeout(() => socket.destroy(), timerMs(graceMs))
    socket.once('close', () => {
      clearTimeout(limit)
      resolve()
    })
    // What still comes is thrown away, so that the end is seen.
    socket.resume().end()
  })
}
