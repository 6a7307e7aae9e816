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
  /** An event grew too large. Told once for it; it is skipped, and the next one is served. */
  onOverflow(): void
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

/**
 * Reads server-sent events by the rules of the HTML Standard, §9.2.6, in time linear in the bytes.
 * An event that the stream's end cuts off is no event.
 */
export function createSseDecoder(options: SseDecoderOptions): SseDecoder {
  const fields = createFieldReader(options)
  const pending = createAccumulator()
  let skipping = false
  let afterReturn = false

  function keep(part: Uint8Array): void {
    if (skipping) return
    if (pending.length + part.length <= options.maxBytes + fieldBytes) return pending.add(part)
    pending.take()
    skipping = true
    fields.overflow()
  }

  function endLine(rest: Uint8Array): void {
    const alone = pending.length === 0 && rest.length <= options.maxBytes
    if (!alone) keep(rest)
    if (!skipping) fields.line(alone ? rest : pending.take())
    skipping = false
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
  overflow(): void
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

  function overflow(): void {
    if (!overflowing) options.onOverflow()
    overflowing = true
    data = []
  }

  function dispatch(): void {
    lastEventId = id
    if (!overflowing && data.length > 0) options.onEvent({ event: event || 'message', data: data.join('\n'), id })
    overflowing = false
    event = ''
    data = []
    size = 0
  }

  function field(name: string, value: string): void {
    if (name === 'data') {
      size += value.length + (size === 0 ? 0 : 1)
      if (size > options.maxBytes) overflow()
      else if (!overflowing) data.push(value)
    } else if (name === 'event') event = value
    else if (name === 'id') id = value.includes('\0') ? id : value
    else if (name === 'retry' && /^\d{1,15}$/.test(value)) options.onRetry(Number(value))
  }

  return {
    get lastEventId() {
      return lastEventId
    },
    overflow,
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
