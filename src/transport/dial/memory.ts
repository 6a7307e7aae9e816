import { CallFailed } from '../../model/failure.ts'
import type { Link, LinkListener } from '../../peer/link.ts'
import type { Caps } from '../../wire/caps.ts'
import { capsOf } from './caps.ts'
import { closedFailure } from './closed.ts'
import { readMessages, tellNoise } from './messages.ts'
import { answeredBy } from './oversized.ts'

/** The client's end of a connection within the process, as `connectInMemory` of `dragoman/memory` makes one. */
export interface MemoryEnd {
  send(text: string): void
  /** Hands the text of every message to `listener`. */
  onMessage(listener: (text: string) => void): void
  /** Told once the other end is gone by itself; an end that never is has no need of it. */
  onClose?(listener: () => void): void
  close(): void | Promise<void>
}

/** How a link within the process is made, and what it takes in. */
export interface MemoryLinkOptions {
  readonly caps?: Partial<Caps>
}

/** A link over a connection within the process. @param connect makes the client's end; called once, by `open` */
export function createMemoryLink(connect: () => MemoryEnd | Promise<MemoryEnd>, options: MemoryLinkOptions = {}): Link {
  const caps = capsOf(options.caps)
  let connecting: Promise<MemoryEnd> | undefined
  let end: MemoryEnd | undefined
  let closed = false
  let listener: LinkListener | undefined

  function receive(text: string): void {
    const hearing = listener
    if (hearing === undefined) return
    const tooLarge = (failure: CallFailed): void => {
      const id = answeredBy(text)
      if (id !== undefined) hearing.lost(id, failure)
    }
    if (!readMessages(text, caps, (message) => hearing.message(message, {}), tooLarge))
      tellNoise(hearing, 'stream', text)
  }

  function lose(): void {
    const hearing = listener
    listener = undefined
    hearing?.closed(new CallFailed('ConnectionLost', { ran: 'unknown', message: 'the server closed the connection' }))
  }

  return {
    transport: 'memory',
    async open(hearing) {
      try {
        connecting = Promise.resolve(connect())
        end = await connecting
      } catch (cause) {
        throw new CallFailed('Unreachable', { ran: 'no', message: 'the connection could not be made', cause })
      }
      if (closed) throw closedFailure()
      listener = hearing
      end.onClose?.(lose)
      end.onMessage(receive)
    },
    async send({ text, signal }) {
      if (signal?.aborted === true) return
      if (end === undefined || listener === undefined) {
        throw new CallFailed('ConnectionLost', { ran: 'no', message: 'the connection is closed' })
      }
      end.send(text)
    },
    agree() {},
    async close() {
      closed = true
      listener = undefined
      const closing = await connecting?.catch(() => undefined)
      connecting = undefined
      await closing?.close()
    },
  }
}
