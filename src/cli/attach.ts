import { connect, type Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { defaultCaps } from '../wire/caps.ts'
import { errorText, notificationText } from '../wire/envelope.ts'
import { createLineSplitter } from '../wire/lines.ts'
import type { Address } from './address.ts'
import { createWaiting } from './waiting.ts'
import { timerMs } from '../model/timer.ts'

/** How a client that only speaks stdio is joined to a running application. */
export interface AttachOptions {
  readonly address: Address
  readonly input: Readable
  readonly output: Writable
  /** Told what goes on, in a line; never on `output`, which is the client's. */
  readonly log: (line: string) => void
  /** Milliseconds without an answer, or progress on it, after which a request is answered with an error; 0: never. */
  readonly timeoutMs: number
  /** Milliseconds that connecting may take. */
  readonly connectTimeoutMs: number
}

/** Milliseconds that the application may take to finish once the client is gone. */
const graceMs = 10_000
const tooLong = { code: -32600, message: 'The message is too large.' }

/**
 * Carries lines between a client and an application until the client's input ends. It dials when there is something to
 * say, and again after the application was gone, so that an application may start late and restart. Whatever happens on
 * the far side, each request is answered.
 */
export async function attach({
  address,
  input,
  output,
  log,
  timeoutMs,
  connectTimeoutMs,
}: AttachOptions): Promise<void> {
  let link: Promise<Socket | undefined> | undefined
  const say = (line: string | Uint8Array): boolean => {
    output.write(line)
    return output.write('\n')
  }
  const waiting = createWaiting(timeoutMs, say, (id) => {
    const text = notificationText('notifications/cancelled', { requestId: id, reason: 'no answer in time' })
    void link?.then((socket) => socket?.write(`${text}\n`))
  })

  async function dial(): Promise<Socket | undefined> {
    const socket = await opened(address, connectTimeoutMs)
    if (typeof socket === 'string') {
      log(`cannot connect: ${socket}`)
      link = undefined
      return undefined
    }
    const lines = createLineSplitter({
      maxBytes: defaultCaps.maxUnreadBytes,
      onLine: (line) => {
        if (waiting.came(parsed(line)) && !say(line)) socket.pause()
      },
      onOverflow: () => log('a message of the application was too long and is lost'),
    })
    const onDrain = (): void => void socket.resume()
    output.on('drain', onDrain)
    socket
      .on('data', (chunk: Buffer) => lines.push(chunk))
      .on('drain', () => input.resume())
      .on('error', (error) => log(`connection lost: ${error.message}`))
    socket.on('close', () => {
      output.off('drain', onDrain)
      input.resume()
      link = undefined
      waiting.giveUp()
    })
    return socket
  }

  const fromClient = createLineSplitter({
    maxBytes: defaultCaps.maxMessageBytes,
    onLine(line) {
      // The line is only lent, and connecting takes a while.
      const kept = Buffer.concat([line, Buffer.from('\n')])
      waiting.sent(parsed(line))
      link ??= dial()
      void link.then((socket) => {
        if (socket === undefined) waiting.giveUp()
        else if (!socket.write(kept)) input.pause()
      })
    },
    onOverflow: () => say(errorText(undefined, tooLong)),
  })

  await new Promise<void>((resolve) => {
    input.on('data', (chunk: Buffer) => fromClient.push(chunk))
    input.once('end', () => {
      fromClient.end()
      resolve()
    })
  })
  const socket = await link
  if (socket === undefined || socket.destroyed) return
  await new Promise<void>((resolve) => {
    const limit = setTimeout(() => socket.destroy(), graceMs)
    socket.once('close', () => {
      clearTimeout(limit)
      resolve()
    })
    socket.end()
  })
}

/** The connected socket, or why there is none. */
function opened(address: Address, timeoutMs: number): Promise<Socket | string> {
  return new Promise((resolve) => {
    const socket = connect(address)
    const fail = (why: string): void => {
      socket.destroy()
      resolve(why)
    }
    const onError = (error: Error): void => fail(error.message)
    const limit = setTimeout(fail, timerMs(timeoutMs), 'no answer in time')
    socket.once('error', onError).once('connect', () => {
      clearTimeout(limit)
      socket.off('error', onError)
      resolve(socket)
    })
    socket.once('close', () => clearTimeout(limit))
  })
}

function parsed(line: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(line).toString('utf8'))
  } catch {
    return undefined
  }
}
