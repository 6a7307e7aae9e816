import type { Writable } from 'node:stream'
import { CallFailed } from '../../model/failure.ts'
import type { LinkListener, Outgoing } from '../../peer/link.ts'
import type { Caps } from '../../wire/caps.ts'
import type { RequestId } from '../../wire/envelope.ts'
import { createLineSplitter } from '../../wire/lines.ts'
import { readMessages, tellNoise, tooLargeFailure } from './messages.ts'
import { answeredBy, createOversizedReader } from './oversized.ts'

/** What one message a line goes over. */
export interface LinePipeOptions {
  readonly output: Writable
  readonly caps: Caps
  /** Who hears of it; nobody any more once the link has ended. */
  listener(): LinkListener | undefined
  /** What stray lines are told as. */
  readonly from: 'stdout' | 'stream'
  /** The failure of a message that can no longer be written. */
  gone(): CallFailed
}

/** One message a line, both ways (specification, "stdio"). */
export interface LinePipe {
  receive(chunk: Uint8Array): void
  /** The input has ended. */
  end(): void
  /** Resolves once there is room for the next message. @throws CallFailed where nothing can be written any more */
  send(outgoing: Outgoing): Promise<void>
}

const room = Promise.resolve()

/** Who gives up does not wait any longer; what was written has left the caller's hands. */
async function unlessAborted(waiting: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return waiting
  let stop = (): void => {}
  const aborted = new Promise<void>((resolve) => {
    stop = () => resolve()
    signal.addEventListener('abort', stop)
  })
  await Promise.race([waiting, aborted]).finally(() => signal.removeEventListener('abort', stop))
}

/**
 * Reads and writes lines; the streams stay their owner's. What is no message is skipped and told as noise. A line too long
 * is skipped too; where it shows which request it answers, that is lost.
 */
export function createLinePipe({ output, caps, listener, from, gone }: LinePipeOptions): LinePipe {
  const lines = createLineSplitter({
    maxBytes: caps.maxMessageBytes,
    onLine(line) {
      const tooMuch = (failure: CallFailed): void => lose(answeredBy(line), failure)
      if (!readMessages(line, caps, (message) => listener()?.message(message, {}), tooMuch)) noise(line)
    },
    onOverflow(head) {
      noise(`a line of more than ${caps.maxMessageBytes} bytes`)
      tooLarge(oversized.begins(head))
    },
    onSkipped: (tail) => tooLarge(oversized.ends(tail)),
  })
  const oversized = createOversizedReader()
  const lose = (id: RequestId | undefined, failure: CallFailed): void => {
    if (id !== undefined) listener()?.lost(id, failure)
  }
  const tooLarge = (id: RequestId | undefined): void => lose(id, tooLargeFailure(caps))
  const noise = (skipped: Uint8Array | string): void => tellNoise(listener(), from, skipped)
  let draining: Promise<void> | undefined

  /** One promise for all that wait: a server that does not read is not written to without end. */
  function drained(): Promise<void> {
    draining ??= new Promise((resolve, reject) => {
      const settle = (): void => {
        output.off('drain', settle).off('close', settle)
        draining = undefined
        if (output.writable) resolve()
        else reject(new CallFailed('ConnectionLost', { ran: 'unknown', message: gone().message }))
      }
      output.on('drain', settle).on('close', settle)
    })
    return draining
  }

  return {
    receive: (chunk) => lines.push(chunk),
    end: () => lines.end(),
    send({ text, signal }) {
      if (signal?.aborted === true) return room
      if (!output.writable) return Promise.reject(gone())
      return output.write(`${text}\n`) ? room : unlessAborted(drained(), signal)
    },
  }
}
