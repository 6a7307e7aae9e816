import type { Readable, Writable } from 'node:stream'
import { checkPrincipal } from '../../model/notification.ts'
import type { Principal } from '../../model/notification.ts'
import { guarded } from '../../model/ports.ts'
import type { Logger } from '../../model/ports.ts'
import type { Peer } from '../../peer/peer.ts'
import { defaultCaps } from '../../wire/caps.ts'
import type { Caps } from '../../wire/caps.ts'
import { serveLines } from './line-server.ts'
import { seizeStdout } from './stdout.ts'

/** What is read and written, and how patiently. */
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

/** Standard input and output being served. Disposing of it closes it. */
export interface StdioServer extends AsyncDisposable {
  /** Resolves when everything is answered or given up, after the end of input, a signal or {@link StdioServer.close}. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/**
 * Serves a peer over standard input and output, one message a line (specification, "stdio").
 * When input ends, what is in flight is answered and everything let go, so that the process can end by itself.
 * @throws TypeError for a principal that is none
 */
export function serveStdio(peer: Peer, options: StdioOptions = {}): StdioServer {
  const { graceMs = 2_000, principal } = options
  checkPrincipal(principal)
  const logger = guarded(options.logger)
  const seized = options.stdout === undefined ? seizeStdout() : undefined
  const output = options.stdout ?? process.stdout
  const lines = serveLines(peer, {
    input: options.stdin ?? process.stdin,
    output,
    write: seized === undefined ? (text) => output.write(text) : (text) => seized.write(text),
    transport: 'stdio',
    principal,
    caps: { ...defaultCaps, ...options.caps },
    logger,
    graceMs,
  })
  const signals = (options.signals ?? options.stdin === undefined) ? drainOnSignals(() => lines.close()) : undefined
  const closed = lines.closed.then(() => {
    seized?.release()
    signals?.stop()
  })
  const close = (): Promise<void> => lines.close().then(() => closed)
  return { closed, close, [Symbol.asyncDispose]: close }
}

/** Ends the process by way of `drain`: gently, and by the signal itself if something still holds it a second later. */
function drainOnSignals(drain: () => Promise<void>): { stop(): void } {
  const onSignal = (signal: NodeJS.Signals): void => {
    void drain().then(() => setTimeout(() => process.kill(process.pid, signal), 1_000).unref())
  }
  process.once('SIGTERM', onSignal).once('SIGINT', onSignal)
  return { stop: () => void process.off('SIGTERM', onSignal).off('SIGINT', onSignal) }
}
