import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { Peer } from '../../peer/peer.ts'
import { createLineSplitter } from '../../wire/lines.ts'
import { createConnection } from './connection.ts'
import type { ConnectionOptions } from './connection.ts'
import { timerMs } from '../../model/timer.ts'

/** What lines are read from and written to, and how patiently. */
export interface LineServerOptions extends Omit<ConnectionOptions, 'send'> {
  readonly input: Readable
  readonly output: Writable
  /** Writes to `output`. `false`: it wants to be drained first. */
  write(text: string): boolean
  /** Milliseconds that calls in flight may take to end once the client is gone, and what was written to leave. */
  readonly graceMs: number
  /** Whether a line may be a message; the first that may not is refused, and ends the connection whatever follows. */
  readonly admits?: (line: Uint8Array) => boolean
  /**
   * The socket that is read and written, where a client is cut off that takes nothing for a while, or is slow to end a line.
   * Without it only its unread bytes are bounded.
   */
  readonly hurries?: Socket
}

/** A connection with one message a line, over any pair of streams. */
export interface LineServer {
  /** Resolves when everything is answered or given up, after the end of input, an error or {@link LineServer.close}. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/** Serves a peer over two byte streams. It lets both of them go at the end, and closes neither. */
export function serveLines(peer: Peer, options: LineServerOptions): LineServer {
  const { input, output, caps, logger, transport, graceMs, admits, hurries } = options
  const unread = hurries && createWatch(hurries, caps.stallTimeoutMs, () => cut())
  const unfinished = createTimer(caps.messageTimeoutMs, () => cut())
  const connection = createConnection(peer, {
    transport,
    principal: options.principal,
    caps,
    logger,
    send(text) {
      // A client that does not read is not read from either, so that no more answers pile up.
      // However long one answer is: only what waited before it tells whether anybody reads.
      const waiting = output.writableLength
      if (options.write(`${text}\n`)) return
      input.pause()
      if (waiting > caps.maxUnreadBytes) cut()
      else unread?.start()
    },
  })
  let barred = false
  const lines = createLineSplitter({
    maxBytes: caps.maxMessageBytes,
    onLine(line) {
      unfinished.stop()
      if (barred) return
      connection.receive(line)
      check(line)
    },
    onOverflow(head) {
      if (barred) return
      connection.overflow()
      check(head)
    },
  })

  /** @param head of a line, or all of it */
  function check(head: Uint8Array): void {
    if (admits?.(head) !== false) return
    barred = true
    leave()
  }

  const onData = (chunk: Buffer | string): void => {
    lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    if (!lines.midway) unfinished.stop()
    else if (hurries) unfinished.start()
  }
  const onEnd = (): void => {
    lines.end()
    leave()
  }
  const onDrain = (): void => {
    unread?.stop()
    input.resume()
  }
  const onError = (error: Error): void => {
    logger.warn('the client is gone', { transport, error })
    leave()
  }

  /** Lets go of a client that holds up what it takes part in. */
  function cut(): void {
    logger.warn('a client was too slow and is cut off', { transport })
    output.destroy()
    leave()
  }

  /** Nothing more comes from the client, so that nobody waits for its answers. */
  function leave(): void {
    connection.endInput()
    void close()
  }

  async function release(): Promise<void> {
    unread?.stop()
    unfinished.stop()
    await connection.close(graceMs)
    input.off('data', onData).off('end', onEnd).off('error', onError).pause()
    output.off('drain', onDrain)
    await drained(output, graceMs)
    output.off('error', onError)
  }
  let closing: Promise<void> | undefined
  let finish = (): void => {}
  const closed = new Promise<void>((resolve) => (finish = resolve))
  function close(): Promise<void> {
    closing ??= release().then(finish)
    return closed
  }

  output.on('drain', onDrain).on('error', onError)
  input.on('data', onData).on('end', onEnd).on('error', onError)
  return { closed, close }
}

interface Timer {
  /** Does nothing while it runs. */
  start(): void
  stop(): void
}

/** Calls `onTime` once nothing of what waits on `socket` has left for `ms`; bytes of one long write count as they go. */
function createWatch(socket: Socket, ms: number, onTime: () => void): Timer {
  let running = false
  return {
    start() {
      if (running) return
      running = true
      socket.setTimeout(timerMs(ms)).on('timeout', onTime)
    },
    stop() {
      running = false
      socket.setTimeout(0).off('timeout', onTime)
    },
  }
}

function createTimer(ms: number, onTime: () => void): Timer {
  let timer: NodeJS.Timeout | undefined
  return {
    start() {
      timer ??= setTimeout(onTime, timerMs(ms)).unref()
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

/** Waits until everything written has left, for at most `ms`, or until the stream is broken. */
async function drained(stream: Writable, ms: number): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return
  await new Promise<void>((resolve) => {
    const limit = setTimeout(resolve, timerMs(ms))
    const done = (): void => {
      clearTimeout(limit)
      resolve()
    }
    stream.once('drain', done).once('close', done)
  })
}
