import { createAccumulator } from './accumulator.ts'

/** What an event says beside its data. */
export interface SseFields {
  /** Where a client resumes. CR, LF and NUL, which cannot be sent, are left out. */
  readonly id?: string
  /** The event's type; `message` when absent. */
  readonly event?: string
  /** Milliseconds a client is to wait before it comes back. */
  readonly retry?: number
}

/** The text of one server-sent event (HTML Standard, §9.2.5). Data of several lines arrives with its lines parted by LF. */
export function sseEvent(data: string, fields: SseFields = {}): string {
  let head = ''
  if (fields.id !== undefined) head += `id: ${oneLine(fields.id)}\n`
  if (fields.event !== undefined) head += `event: ${oneLine(fields.event)}\n`
  if (fields.retry !== undefined) head += `retry: ${Math.max(0, Math.round(fields.retry))}\n`
  return `${head}${prefixed('data: ', data)}\n`
}

/** The text of a comment, which clients ignore; it keeps an idle connection open. */
export function sseComment(text: string): string {
  return `${prefixed(': ', text)}\n`
}

function prefixed(prefix: string, text: string): string {
  if (!text.includes('\n') && !text.includes('\r')) return `${prefix}${text}\n`
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => `${prefix}${line}\n`)
    .join('')
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, '')
}

/** An event as it was read. */
export interface SseEvent {
  /** The event's type, `message` unless it says otherwise. */
  readonly event: string
  readonly data: string
  /** The id that was last set on the stream, by this event or one before; empty if none was. */
  readonly id: string
}

/** How large events may be, and who is told of them. */
export interface SseDecoderOptions {
  /** The most bytes that one line, or the data of one event, may have. */
  readonly maxBytes: number
  /** An event with data; the data may be empty, as in events that only bring an id. */
  onEvent(event: SseEvent): void
  /** The server wants the client to wait this many milliseconds before it comes back. */
  onRetry(milliseconds: number): void
  /**
   * An event grew too large. Told once for it; it is skipped, and the next one is served.
   * @param head how its data begins, 256 characters at most; empty where what is too large is no data
   */
  onOverflow(head: string): void
  /** An event that grew too large has ended. @param tail how its data does, 256 characters at most */
  onSkipped?(tail: string): void
}

/** Takes in bytes as they come. */
export interface SseDecoder {
  push(chunk: Uint8Array): void
  /** The id to resume after; empty if none came. */
  readonly lastEventId: string
}

const lineFeed = 10
const carriageReturn = 13
/** What a line has besides its data: the longest field name, a colon and a blank. */
const fieldBytes = 7
/** Characters that are told of each end of an event too large, which may take some bytes each. */
const shown = 256
const shownBytes = 4 * shown
const none = new Uint8Array(0)

/**
 * Reads server-sent events by the rules of the HTML Standard, §9.2.6, in time linear in the bytes.
 * An event that the stream's end cuts off is no event.
 */
export function createSseDecoder(options: SseDecoderOptions): SseDecoder {
  const fields = createFieldReader(options)
  const pending = createAccumulator()
  let skipping = false
  /** The last of what is being skipped. */
  let tail: Uint8Array = none
  let afterReturn = false

  function skip(part: Uint8Array): void {
    const missing = shownBytes - part.length
    tail = Buffer.concat([missing > 0 ? tail.subarray(-missing) : none, part.subarray(-shownBytes)])
  }

  function keep(part: Uint8Array): void {
    if (skipping) return skip(part)
    if (pending.length + part.length <= options.maxBytes + fieldBytes) return pending.add(part)
    pending.add(part.subarray(0, shownBytes))
    const begun = pending.take()
    skipping = true
    fields.overflow(begun.subarray(0, shownBytes))
    skip(begun)
    skip(part.subarray(shownBytes))
  }

  function endLine(rest: Uint8Array): void {
    const alone = pending.length === 0 && rest.length <= options.maxBytes
    if (!alone || skipping) keep(rest)
    if (skipping) fields.skipped(tail)
    else fields.line(alone ? rest : pending.take())
    skipping = false
    tail = none
  }

  return {
    push(chunk) {
      if (chunk.length === 0) return
      let start = afterReturn && chunk[0] === lineFeed ? 1 : 0
      let feed = chunk.indexOf(lineFeed, start)
      let turn = chunk.indexOf(carriageReturn, start)
      while (feed !== -1 || turn !== -1) {
        const end = turn === -1 || (feed !== -1 && feed < turn) ? feed : turn
        endLine(chunk.subarray(start, end))
        start = end === turn && feed === end + 1 ? end + 2 : end + 1
        if (feed !== -1 && feed < start) feed = chunk.indexOf(lineFeed, start)
        if (turn !== -1 && turn < start) turn = chunk.indexOf(carriageReturn, start)
      }
      if (start < chunk.length) keep(chunk.subarray(start))
      afterReturn = chunk.at(-1) === carriageReturn
    },
    get lastEventId() {
      return fields.lastEventId
    },
  }
}

interface FieldReader {
  readonly lastEventId: string
  line(bytes: Uint8Array): void
  /** A line is too long. @param head how it begins */
  overflow(head: Uint8Array): void
  /** It has ended. @param tail how */
  skipped(tail: Uint8Array): void
}

/** Puts events together from whole lines. */
function createFieldReader(options: SseDecoderOptions): FieldReader {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let first = true
  let overflowing = false
  let lastEventId = ''
  let id = ''
  let event = ''
  let data: string[] = []
  let size = 0
  /** How the data of an event too large ends, as far as it came. */
  let end = ''
  let inData = false

  function overflow(head: string): void {
    if (!overflowing) options.onOverflow((data[0] ?? head).slice(0, shown))
    overflowing = true
    data = []
  }

  function dispatch(): void {
    lastEventId = id
    if (overflowing) options.onSkipped?.(end)
    else if (data.length > 0) options.onEvent({ event: event || 'message', data: data.join('\n'), id })
    overflowing = false
    end = ''
    event = ''
    data = []
    size = 0
  }

  function field(name: string, value: string): void {
    if (name === 'data') {
      size += value.length + (size === 0 ? 0 : 1)
      if (size > options.maxBytes) {
        overflow(value)
        end = value.slice(-shown)
      } else if (!overflowing) data.push(value)
    } else if (name === 'event') event = value
    else if (name === 'id') id = value.includes('\0') ? id : value
    else if (name === 'retry' && /^\d{1,15}$/.test(value)) options.onRetry(Number(value))
  }

  return {
    get lastEventId() {
      return lastEventId
    },
    overflow(head) {
      const [, value] = /^\uFEFF?data: ?(.*)$/s.exec(decoder.decode(head)) ?? []
      inData = value !== undefined
      overflow(value ?? '')
    },
    skipped(tail) {
      if (inData) end = decoder.decode(tail).slice(-shown)
    },
    line(bytes) {
      const text = decoder.decode(bytes)
      const line = first && text.startsWith('\uFEFF') ? text.slice(1) : text
      first = false
      if (line === '') return dispatch()
      const colon = line.indexOf(':')
      if (colon === 0) return
      if (colon === -1) return field(line, '')
      field(line.slice(0, colon), line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1))
    },
  }
}
