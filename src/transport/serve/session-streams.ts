import type { SessionNews } from '../../durable/session-bus.ts'
import type { Change, Principal } from '../../model/notification.ts'
import type { Clock, Logger, Random } from '../../model/ports.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Store } from '../../model/store.ts'
import type { Peer, Session } from '../../peer/peer.ts'
import { sseComment, sseEvent } from '../../wire/sse.ts'
import { sseHeaders } from './answering.ts'
import type { StreamOpener } from './answering.ts'
import { createEventStream, readEventId, readStream, writeStream } from './event-stream.ts'
import type { EventId, EventStream } from './event-stream.ts'
import { followStream, type Follower } from './follow-stream.ts'
import type { HttpOptions, HttpReply } from './http-types.ts'
import type { OpenExchanges } from './open-exchanges.ts'

/** The streams of one session: one of its own for what is said unasked, and those of its calls. */
export interface SessionStreams {
  /** Whether somebody hears what is said unasked, or will be able to. */
  readonly listening: boolean
  /** On whose behalf somebody does, with what the credentials of that very request grant. */
  readonly listener: Principal | undefined
  /** Whether any stream is open here, or may be taken up again. */
  readonly busy: boolean
  /** Opens the streams of calls; `undefined` where they cannot be resumed. */
  readonly opener: StreamOpener | undefined
  /** Says something unasked. @returns whether it reaches anybody */
  announce(text: string): boolean
  /** Makes `reply` the session's own stream; the one before is ended, wherever it is. */
  listen(reply: HttpReply, listener: Principal | undefined): void
  /** Goes on with a stream after one of its events. @returns `false` when the session has no such stream, or event on it */
  resume(reply: HttpReply, lastEventId: string, listener: Principal | undefined): Promise<boolean>
  /** Takes in what another process tells of the session's streams. */
  heard(news: SessionNews): void
  /** Tells whoever listens of all that may have changed unheard. */
  catchUp(): void
  /** Ends the session's own stream. Those of its calls end with their answers. */
  close(): void
}

/** What a session's streams are made of. */
export interface SessionStreamsOptions extends HttpOptions {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Tells the other processes. */
  tell(news: SessionNews): Promise<void>
}

/** What the id of a session's own stream begins with; those of its calls begin with a `c`. */
const ownMark = 'o'
const lists = ['tools', 'prompts', 'resources'] as const

/** @param key the session's own, under which its events are kept */
export function createSessionStreams(
  peer: Peer,
  session: Session,
  key: string,
  options: SessionStreamsOptions,
  open: OpenExchanges,
): SessionStreams {
  const { clock, random, logger, tell, keepEventsMs = 5 * 60_000 } = options
  const { resumable, priming } = session.codec.http
  const store = resumable ? options.store : undefined
  const streams = new Map<string, EventStream>()
  const followers = new Map<string, Set<Follower>>()
  const gapText = (): string => peer.refuse(undefined, new Refusal('StreamGap'), session.codec).text
  const opener = store && { primed: priming, open: openStream('c', store) }
  const ownOpener = store && openStream(ownMark, store)

  let own: EventStream | undefined
  let reader: HttpReply | undefined
  let listener: Principal | undefined
  let readUntil = 0

  function openStream(mark: string, kept: Store): StreamOpener['open'] {
    return (reply, retryMs) => {
      const id = mark + Buffer.from(random(12)).toString('base64url')
      const stream = createEventStream(key, id, {
        store: kept,
        clock,
        maxEvents: options.maxEvents ?? 1_000,
        keepMs: keepEventsMs,
        retryMs: options.retryMs ?? 1_000,
        primed: priming,
        ends: mark !== ownMark,
        gapText,
        onLost: (error) => logger.error('an event could not be kept', { error }),
        onStored: () => streams.delete(id),
        onGrown: () => void tell({ kind: 'grown', key, stream: id }),
      })
      streams.set(id, stream)
      stream.open(reply, retryMs)
      return stream
    }
  }

  /** Keeps the response alive, and counts it, for as long as it is open: until it ends, whoever ends it. */
  function watched(reply: HttpReply): HttpReply {
    const stop = open.watch({ keepAlive: () => reply.write(sseComment('keep-alive')) })
    const stream: HttpReply = {
      full: (...whole) => reply.full(...whole),
      head: (status, headers) => reply.head(status, headers),
      write: (text) => reply.write(text),
      onClose: (listener) => reply.onClose(listener),
      end() {
        stop()
        reply.end()
      },
      get closed() {
        return reply.closed
      },
    }
    reply.onClose(() => {
      stop()
      if (reader === stream) readUntil = clock() + keepEventsMs
    })
    return stream
  }

  function start(reply: HttpReply): HttpReply {
    reply.head(200, sseHeaders)
    // Something has to be written for the head to leave.
    reply.write(sseComment('open'))
    return watched(reply)
  }

  function listening(): boolean {
    if (reader === undefined) return false
    return !reader.closed || (own !== undefined && clock() < readUntil)
  }

  function closeOwn(): void {
    own?.close()
    own = undefined
    reader?.end()
    reader = undefined
  }

  /** Makes `reply`, whose head is sent, the reader of a new stream of the session's own. */
  function goLive(reply: HttpReply, who: Principal | undefined): void {
    reader = reply
    listener = who
    own = ownOpener?.(reply)
    void tell({ kind: 'listening', key })
  }

  function announce(text: string): boolean {
    if (!listening()) return false
    if (own !== undefined) own.push(text, false)
    else reader?.write(sseEvent(text))
    return true
  }

  function catchUp(): void {
    if (!listening()) return
    const visibleTo = (): boolean => true
    const updates = [...session.subscriptions].map((uri): Change => ({ kind: 'resource', uri, visibleTo }))
    for (const change of [...lists.map((kind): Change => ({ kind, visibleTo })), ...updates]) {
      const text = peer.announce(change, session, listener)
      if (text !== undefined) announce(text)
    }
  }

  /** The session's own stream was in another process, which may be dead: what happened since may have gone unheard. */
  async function takeOver(reply: HttpReply, place: EventId, kept: Store, who: Principal | undefined): Promise<boolean> {
    const { stream, sequence } = place
    const page = await readStream(key, stream, sequence, kept)
    if (page === undefined && sequence > 0) return false
    closeOwn()
    const live = start(reply)
    // An event that was sent and is not kept may have been the last of several.
    if (page !== undefined) writeStream(live, stream, { ...page, gap: page.gap || page.beyond }, gapText)
    goLive(live, who)
    catchUp()
    return true
  }

  async function follow(reply: HttpReply, { stream, sequence }: EventId, kept: Store): Promise<boolean> {
    const group = followers.get(stream) ?? new Set()
    followers.set(stream, group)
    return followStream({
      read: (after) => readStream(key, stream, after, kept),
      write: (page) => writeStream(reply, stream, page, gapText),
      start: () => start(reply),
      ask: () => tell({ kind: 'follow', key, stream }),
      after: sequence,
      begin: (follower) => void group.add(follower),
      end: (follower) => {
        group.delete(follower)
        if (group.size === 0 && followers.get(stream) === group) followers.delete(stream)
      },
    })
  }

  return {
    get listening() {
      return listening()
    },
    get busy() {
      return listening() || streams.size > 0 || followers.size > 0
    },
    get listener() {
      return listener
    },
    opener,
    announce,
    listen(reply, who) {
      closeOwn()
      goLive(start(reply), who)
    },
    async resume(reply, lastEventId, who) {
      const place = readEventId(lastEventId)
      if (place === undefined || store === undefined) return false
      const stream = streams.get(place.stream)
      if (stream === undefined) {
        return place.stream.startsWith(ownMark) ? takeOver(reply, place, store, who) : follow(reply, place, store)
      }
      if (place.sequence > stream.sequence) return false
      const live = start(reply)
      if (stream === own) {
        reader = live
        listener = who
      }
      await stream.resume(live, place.sequence)
      return true
    },
    heard(news) {
      if (news.kind === 'listening') closeOwn()
      else if (news.kind === 'follow') streams.get(news.stream)?.follow()
      else if (news.kind === 'grown') for (const follower of followers.get(news.stream) ?? []) follower.grown()
    },
    catchUp,
    close: closeOwn,
  }
}
