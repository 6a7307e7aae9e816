import type { Readable, Writable } from 'node:stream'
import type { Principal } from '../../model/notification.ts'
import { silent } from '../../model/ports.ts'
import type { Logger } from '../../model/ports.ts'
import type { Peer } from '../../peer/peer.ts'
import { defaultCaps } from '../../wire/caps.ts'
import type { Caps } from '../../wire/caps.ts'
import { createLineSplitter } from '../../wire/lines.ts'
import { createConnection } from './connection.ts'
import { seizeStdout } from './stdout.ts'

export interface StdioOptions {
  /** Where messages come from; `process.stdin` by default. */
  readonly stdin?: Readable
  /** Where messages go; by default `process.stdout`, which is then closed to everybody else. */
  readonly stdout?: Writable
  /** On whose behalf everything is asked. */
  readonly principal?: Principal
  readonly caps?: Partial<Caps>
  readonly logger?: Logger
  /** Milliseconds that calls in flight may take to end once the client is gone; 2,000 by default. */
  readonly graceMs?: number
  /** Whether SIGTERM and SIGINT drain and end the process; by default only with the process's own stdin. */
  readonly signals?: boolean
}

export interface StdioServer extends AsyncDisposable {
  /** Resolves when everything is answered or given up, after the end of input, a signal or {@link StdioServer.close}. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/**
 * Serves a peer over standard input and output, one message a line (specification, "stdio").
 * When input ends, what is in flight is answered and everything let go, so that the process can end by itself.
 */
export function serveStdio(peer: Peer, options: StdioOptions = {}): StdioServer {
  const stdin = options.stdin ?? process.stdin
  const output = openOutput(options.stdout)
  const caps: Caps = { ...defaultCaps, ...options.caps }
  const logger = options.logger ?? silent
  const connection = createConnection(peer, {
    transport: 'stdio',
    principal: options.principal,
    caps,
    logger,
    send(text) {
      // A client that does not read is not read from either, so that no more answers pile up.
      if (!output.write(`${text}\n`)) stdin.pause()
    },
  })
  const lines = createLineSplitter({
    maxBytes: caps.maxMessageBytes,
    onLine: (line) => connection.receive(line),
    onOverflow: () => connection.overflow(),
  })

  const onData = (chunk: Buffer | string): void => lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  const onEnd = (): void => {
    lines.end()
    void close()
  }
  const onDrain = (): void => void stdin.resume()
  const onError = (error: Error): void => {
    logger.warn('the client is gone', { transport: 'stdio', error })
    void close()
  }
  const signals = (options.signals ?? options.stdin === undefined) ? drainOnSignals(() => close()) : undefined

  async function release(): Promise<void> {
    await connection.close(options.graceMs ?? 2_000)
    stdin.off('data', onData).off('end', onEnd).off('error', onError).pause()
    output.stream.off('drain', onDrain)
    await output.release()
    output.stream.off('error', onError)
    signals?.stop()
  }
  let finish = (): void => {}
  const closed = new Promise<void>((resolve) => (finish = resolve))
  let closing = false
  function close(): Promise<void> {
    if (!closing) {
      closing = true
      void release().then(finish)
    }
    return closed
  }

  output.stream.on('drain', onDrain).on('error', onError)
  stdin.on('data', onData).on('end', onEnd).on('error', onError)
  return { closed, close, [Symbol.asyncDispose]: close }
}

interface Output {
  readonly stream: Writable
  write(text: string): boolean
  /** Resolves once everything written has left, or the stream is broken. */
  release(): Promise<void>
}

function openOutput(given: Writable | undefined): Output {
  const stream = given ?? process.stdout
  const seized = given === undefined ? seizeStdout() : undefined
  return {
    stream,
    write: (text) => (seized === undefined ? stream.write(text) : seized.write(text)),
    async release() {
      while (stream.writableNeedDrain && !stream.destroyed) {
        await new Promise((resolve) => stream.once('drain', resolve).once('close', resolve))
      }
      seized?.release()
    },
  }
}

/** Ends the process by way of `drain`: gently, and by the signal itself if something still holds it a second later. */
function drainOnSignals(drain: () => Promise<void>): { stop(): void } {
  const onSignal = (signal: NodeJS.Signals): void => {
    void drain().then(() => setTimeout(() => process.kill(process.pid, signal), 1_000).unref())
  }
  process.once('SIGTERM', onSignal).once('SIGINT', onSignal)
  return { stop: () => void process.off('SIGTERM', onSignal).off('SIGINT', onSignal) }
}
