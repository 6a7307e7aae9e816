import { checkPrincipal } from '../../model/notification.ts'
import type { Principal } from '../../model/notification.ts'
import { guarded } from '../../model/ports.ts'
import type { Logger } from '../../model/ports.ts'
import type { Peer } from '../../peer/peer.ts'
import { defaultCaps } from '../../wire/caps.ts'
import type { Caps } from '../../wire/caps.ts'
import { createConnection } from './connection.ts'

/** How a link within the process is served. */
export interface MemoryOptions {
  /** On whose behalf everything is asked. */
  readonly principal?: Principal
  readonly caps?: Partial<Caps>
  readonly logger?: Logger
  /** Milliseconds that {@link MemoryLink.close} waits for calls in flight; 2,000 by default. */
  readonly graceMs?: number
}

/** What is due once the running code is done; a good deal cheaper than `queueMicrotask`. */
const later = Promise.resolve()

/** The client's end of a connection within the process. */
export interface MemoryLink {
  /** Sends a message: its text, or a value that is written as JSON first. */
  send(message: unknown): void
  /** Hands the text of every message from now on to `listener`, instead of to {@link MemoryLink.messages}. */
  onMessage(listener: (text: string) => void): void
  /** The texts of the messages that came, in order; ends when the link is closed. */
  messages(): AsyncIterableIterator<string>
  close(): Promise<void>
}

/**
 * Connects to a peer without a wire. Text crosses, as it would anywhere else, and it crosses later, never within `send`.
 * @throws TypeError for a principal that is none
 */
export function connectInMemory(peer: Peer, options: MemoryOptions = {}): MemoryLink {
  checkPrincipal(options.principal)
  const waiting: string[] = []
  let wake = (): void => {}
  let listener = (text: string): void => {
    waiting.push(text)
    wake()
  }
  let closed = false
  const connection = createConnection(peer, {
    transport: 'memory',
    principal: options.principal,
    caps: { ...defaultCaps, ...options.caps },
    logger: guarded(options.logger),
    send: (text) => void later.then(() => listener(text)),
  })

  async function* messages(): AsyncIterableIterator<string> {
    for (;;) {
      const text = waiting.shift()
      if (text !== undefined) yield text
      else if (closed) return
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  return {
    send(message) {
      const text = typeof message === 'string' ? message : JSON.stringify(message)
      void later.then(() => connection.receive(text))
    },
    onMessage(next) {
      listener = next
      for (const text of waiting.splice(0)) next(text)
    },
    messages,
    async close() {
      // What was sent before is on its way.
      await later
      connection.endInput()
      await connection.close(options.graceMs ?? 2_000)
      closed = true
      wake()
    },
  }
}
