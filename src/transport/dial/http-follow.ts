import { timerMs } from '../../model/timer.ts'
import { CallFailed } from '../../model/failure.ts'
import type { JsonObject } from '../../model/json.ts'
import { createSseDecoder, type SseDecoder } from '../../wire/sse.ts'
import { retryAfterOf } from './http-failures.ts'
import { isEventStream, type Abandonable, type HttpRoom } from './http-room.ts'
import type { HttpListener, ReadHeader } from './http-types.ts'
import { readMessages, tellNoise } from './messages.ts'

/** A stream that is to be followed by GET. */
export interface FollowOptions {
  /** Where to resume; empty: from now on. */
  readonly lastEventId: string
  /** Milliseconds to wait before coming back, as the server last said. */
  readonly retryMs: number | undefined
  /** Whether to wait before the first time as well. */
  readonly again: boolean
  /** Failures in a row after which it is given up. */
  readonly maxFailures: number
  /** The server took the stream up, again or for the first time. */
  opened?(): void
  /** It broke, or the server ended it; it will be taken up again. */
  broke?(): void
  message(message: JsonObject): void
  /** An event was too large, and is skipped. @param head how it begins */
  overflow(head: string): void
  /** An event holds more than is taken, and is skipped. @param failure what becomes of the request that it answers */
  tooMuch?(data: string, failure: CallFailed): void
  /** The stream cannot be had, or not any more. Told once, as the last. */
  lost(failure: CallFailed): void
}

/** The longest wait between two tries. A server may ask for more, but for no more than an hour. */
const maxBackoffMs = 30_000
const maxRetryMs = 3_600_000
/** The shortest wait, whatever the server asks for, where the last try brought no message. */
const fruitlessMs = 100
/** Statuses that may be otherwise the next time. 409: the server has not noticed yet that the stream before broke. */
const passing: ReadonlySet<number> = new Set([408, 409, 425, 429])

/**
 * Reads a stream by GET, and takes it up again where it broke for as long as that works
 * (specification, "Resumability and Redelivery"): after the wait that the server asked for, and after longer ones when it
 * cannot be reached.
 */
export function follow(room: HttpRoom, options: FollowOptions): Abandonable {
  let { lastEventId, retryMs } = options
  let failures = 0
  /** Streams in a row that the server took up, and ended without having said anything. */
  let silences = 0
  /** Whether the last try brought a message. That there is none to begin with is no fault. */
  let isFruitful = true
  let begun = false
  let timer: NodeJS.Timeout | undefined
  let abort = (): void => {}
  let over = false

  const self: Abandonable = {
    abandon() {
      over = true
      clearTimeout(timer)
      abort()
      room.open.delete(self)
    },
  }

  function lose(failure: CallFailed): void {
    if (over) return
    self.abandon()
    options.lost(failure)
  }

  function wait(failure: CallFailed, atLeastMs = 0): void {
    if (over) return
    if (failures > options.maxFailures) return lose(failure)
    if (!isResumable(lastEventId)) {
      // A stream that has to go on where it broke cannot; the other one begins anew.
      if (options.lastEventId !== '') return lose(failure)
      lastEventId = ''
    }
    const asked = retryMs === undefined || isFruitful ? retryMs : Math.max(retryMs, fruitlessMs)
    const base = Math.min(asked ?? room.retryMs, maxRetryMs)
    const tries = failures + silences
    const longer = Math.min(base * 2 ** Math.max(0, tries - 1), Math.max(base, maxBackoffMs))
    // The server's own wait is kept to; after failures many clients should not come back at once.
    const jitter = tries === 0 ? 1 : 1 + Math.random() / 4
    timer = setTimeout(get, timerMs(Math.max(longer * jitter, atLeastMs)))
  }

  function get(): void {
    isFruitful = false
    const resuming = lastEventId === '' ? undefined : { 'last-event-id': lastEventId }
    abort = room.send.send(room.request('GET', { accept: 'text/event-stream', ...resuming }), listener())
  }

  function listener(): HttpListener {
    let decoder: SseDecoder | undefined
    return {
      head(status, header) {
        // Some servers have no stream, and say so by 404: that is no word on the session.
        const gone = (begun || lastEventId !== '') && room.seen(status, header)
        const refusal = refusalOf(status, header)
        if (refusal === undefined) {
          begun = true
          failures = 0
          silences += 1
          decoder = decode()
          options.opened?.()
        } else if (gone || !refusal.passing) lose(refusal.failure)
        else {
          abort()
          failures += 1
          wait(refusal.failure, (refusal.failure.retryAfter ?? 0) * 1_000)
        }
      },
      data: (chunk) => decoder?.push(chunk),
      end() {
        if (decoder === undefined || over) return
        options.broke?.()
        wait(broken('the server ended the stream'))
      },
      fail(failure) {
        if (over) return
        if (decoder === undefined) failures += 1
        else options.broke?.()
        wait(failure)
      },
    }
  }

  function decode(): SseDecoder {
    return createSseDecoder({
      maxBytes: room.caps.maxMessageBytes,
      onEvent({ data, id, event }) {
        if (over) return
        // The event before, told once more and saying nothing, is no progress.
        if (id !== lastEventId || data !== '') silences = 0
        if (id !== '') lastEventId = id
        if (data === '') return
        isFruitful = true
        deliver(room, event, data, options)
      },
      onRetry(milliseconds) {
        silences = 0
        retryMs = milliseconds
      },
      onOverflow: options.overflow,
    })
  }

  room.open.add(self)
  if (options.again) wait(broken('the stream broke'))
  else get()
  return self
}

/** Whether a stream can be resumed from an event: its id has to stand in a header, as it is. Empty: from now on. */
export function isResumable(id: string): boolean {
  return /^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(id)
}

/** Hands on what an event carries; one that is no message is told as noise. */
export function deliver(
  room: HttpRoom,
  event: string,
  data: string,
  { message, tooMuch }: Pick<FollowOptions, 'message' | 'tooMuch'>,
): void {
  const read = (): boolean => readMessages(data, room.caps, message, (failure) => tooMuch?.(data, failure))
  if (event !== 'message' || !read()) tellNoise(room.listener(), 'stream', data)
}

function broken(message: string): CallFailed {
  return new CallFailed('ConnectionLost', { ran: 'unknown', message })
}

function refusalOf(status: number, header: ReadHeader): { failure: CallFailed; passing: boolean } | undefined {
  if (status === 200 && isEventStream(header)) return undefined
  const message = `the stream cannot be taken up: the server answered with HTTP status ${status}`
  const retryAfter = retryAfterOf(header)
  const failure = new CallFailed('ConnectionLost', {
    ran: 'unknown',
    message,
    status,
    ...(retryAfter !== undefined && { retryAfter }),
  })
  return { failure, passing: status >= 500 ? status !== 501 : passing.has(status) }
}
