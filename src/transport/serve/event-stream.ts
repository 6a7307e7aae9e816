import { createEventLog, readEvents } from '../../durable/event-log.ts'
import type { EventLogOptions, EventPage, LoggedEvent } from '../../durable/event-log.ts'
import type { Store } from '../../model/store.ts'
import { sseComment, sseEvent } from '../../wire/sse.ts'
import type { HttpReply } from './http-types.ts'

/** How the events of a stream are kept and told. */
export interface EventStreamOptions extends EventLogOptions {
  /** Milliseconds after which a client is to come back. */
  readonly retryMs: number
  /** Whether the stream opens with an event that only carries an id. */
  readonly primed: boolean
  /** Whether its end is kept, so that whoever takes it up after its last event need not wait for more. */
  readonly ends: boolean
  /** The error that tells a client of events which are gone. */
  gapText(): string
  /** Called once the stream has ended and all of it is stored. */
  onStored(): void
  /** Called when there is more to read, once another process follows the stream; and when that asks. */
  onGrown(): void
}

/**
 * The events of one stream, each with an id, which go on being kept while nobody reads them
 * (specification, "Resumability and Redelivery"). At most one response reads it at a time.
 */
export interface EventStream {
  readonly id: string
  /** The number of the newest event; 0 before the first. */
  readonly sequence: number
  /** Makes `reply`, whose head is sent, the reader. @param retryMs instead of the usual delay */
  open(reply: HttpReply, retryMs?: number): void
  /** Keeps a message and sends it to the reader, if there is one. */
  push(text: string, final: boolean): void
  /** Tells the reader when to come back. */
  retry(retryMs: number): void
  /** Makes `reply` the reader in place of the one before; it gets what came after `sequence` first. */
  resume(reply: HttpReply, sequence: number): Promise<void>
  /** From now on another process is told when there is more to read. */
  follow(): void
  /** Lets the reader know that somebody is still there. */
  keepAlive(): void
  /** Ends the stream and whatever reads it. */
  close(): void
}

/** Opens the stream `id` of the session whose key is `owner`: under another session's key there is no such stream. */
export function createEventStream(owner: string, id: string, options: EventStreamOptions): EventStream {
  const log = createEventLog(logName(owner, id), options)
  let reader: HttpReply | undefined
  let ended = false
  let endKept = !options.ends
  let followed = false

  const grown = (): void => {
    if (followed) void log.stored().then(options.onGrown)
  }
  const endReader = (): void => {
    reader?.end()
    reader = undefined
  }
  const eventOf = (event: Pick<LoggedEvent, 'sequence' | 'text'>): string =>
    sseEvent(event.text, { id: `${id}.${event.sequence}` })

  return {
    id,
    get sequence() {
      return log.sequence
    },
    open(reply, retryMs = options.retryMs) {
      reader = reply
      if (options.primed) reply.write(sseEvent('', { id: `${id}.${log.sequence}`, retry: retryMs }))
    },
    push(text, final) {
      const sequence = log.append(text, final)
      endKept ||= final
      if (reader?.closed === false) reader.write(eventOf({ sequence, text }))
      grown()
    },
    retry(retryMs) {
      if (reader?.closed === false) reader.write(sseEvent('', { id: `${id}.${log.sequence}`, retry: retryMs }))
    },
    async resume(reply, sequence) {
      endReader()
      let seen = sequence
      do {
        const page = await log.read(seen)
        writePage(reply, page, eventOf, options.gapText)
        seen = page.events.at(-1)?.sequence ?? log.sequence
      } while (seen < log.sequence && !reply.closed)
      if (ended) return reply.end()
      endReader()
      reader = reply
    },
    follow() {
      followed = true
      grown()
    },
    keepAlive() {
      if (reader?.closed === false) reader.write(sseComment('keep-alive'))
    },
    close() {
      ended = true
      endReader()
      if (!endKept) {
        endKept = true
        log.append(nothing, true)
        grown()
      }
      void log.stored().then(options.onStored)
    },
  }
}

/** The text of the event that is kept as the end of a stream without a last message, and is sent to nobody. */
const nothing = ''

/** What is kept of a stream after one of its events. */
export interface StreamPage extends EventPage {
  /** Nothing follows these events. */
  readonly ended: boolean
  /** What is kept ends before the event that was asked for. */
  readonly beyond: boolean
}

/** The events of a stream, whichever process writes it. `undefined`: nothing is kept of it. */
export async function readStream(
  owner: string,
  id: string,
  after: number,
  store: Store,
): Promise<StreamPage | undefined> {
  const kept = await readEvents(logName(owner, id), store, 0)
  const last = kept?.events.at(-1)
  if (kept === undefined || last === undefined) return undefined
  const events = kept.events.filter(({ sequence }) => sequence > after)
  return {
    events,
    gap: events.some(({ sequence }, index) => sequence !== after + 1 + index),
    ended: last.final,
    beyond: last.sequence < after,
  }
}

/** Writes events that were kept, and first the error that tells of those that were not. */
export function writeStream(reply: HttpReply, id: string, page: EventPage, gapText: () => string): void {
  writePage(reply, page, (event) => sseEvent(event.text, { id: `${id}.${event.sequence}` }), gapText)
}

/** What an event id names: a stream, and the number of the event on it. */
export interface EventId {
  readonly stream: string
  readonly sequence: number
}

/** Reads an event id; `undefined` for what is none of ours. */
export function readEventId(text: string): EventId | undefined {
  const [, stream, digits] = /^([\w-]{8,64})\.(\d{1,15})$/.exec(text) ?? []
  return stream === undefined ? undefined : { stream, sequence: Number(digits) }
}

function writePage(
  reply: HttpReply,
  page: EventPage,
  eventOf: (event: LoggedEvent) => string,
  gapText: () => string,
): void {
  if (page.gap) reply.write(sseEvent(gapText()))
  for (const event of page.events) if (event.text !== nothing) reply.write(eventOf(event))
}

function logName(owner: string, id: string): string {
  return `events/${owner}/${id}`
}
