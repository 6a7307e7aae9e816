import type { Clock, Logger, Random } from '../../model/ports.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Peer, Session } from '../../peer/peer.ts'
import { sseComment, sseEvent } from '../../wire/sse.ts'
import { sseHeaders } from './answering.ts'
import type { StreamOpener } from './answering.ts'
import { createEventStream, readEventId, replay } from './event-stream.ts'
import type { EventStream } from './event-stream.ts'
import type { HttpOptions, HttpReply } from './http-types.ts'
import type { OpenExchanges } from './open-exchanges.ts'

/** The streams of one session: one of its own for what is said unasked, and those of its calls. */
export interface SessionStreams {
  /** Whether somebody hears what is said unasked, or will be able to. */
  readonly listening: boolean
  /** Opens the streams of calls; `undefined` where they cannot be resumed. */
  readonly opener: StreamOpener | undefined
  /** Says something unasked. @returns whether it reaches anybody */
  announce(text: string): boolean
  /** Makes `reply` the session's own stream; the one before is ended. */
  listen(reply: HttpReply): void
  /** Goes on with a stream after one of its events. @returns `false` when the session has no such stream */
  resume(reply: HttpReply, lastEventId: string): Promise<boolean>
  close(): void
}

/** What a session's streams are made of. */
export interface SessionStreamsOptions extends HttpOptions {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** @param key the session's own, under which its events are kept */
export function createSessionStreams(
  peer: Peer,
  session: Session,
  key: string,
  options: SessionStreamsOptions,
  open: OpenExchanges,
): SessionStreams {
  const { store, clock, random, logger, keepEventsMs = 5 * 60_000 } = options
  const { resumable, priming } = session.codec.http
  const streams = new Map<string, EventStream>()
  const gapText = (): string => peer.refuse(undefined, new Refusal('StreamGap'), session.codec).text
  const opener = resumable && store !== undefined ? { primed: priming, open: openStream(store) } : undefined

  let own: EventStream | undefined
  let reader: HttpReply | undefined
  let readUntil = 0

  function openStream(kept: NonNullable<typeof store>): StreamOpener['open'] {
    return (reply, retryMs) => {
      const id = Buffer.from(random(12)).toString('base64url')
      const stream = createEventStream(key, id, {
        store: kept,
        clock,
        maxEvents: options.maxEvents ?? 1_000,
        keepMs: keepEventsMs,
        retryMs: options.retryMs ?? 1_000,
        primed: priming,
        gapText,
        onLost: (error) => logger.error('an event could not be kept', { error }),
        onStored: () => streams.delete(id),
      })
      streams.set(id, stream)
      stream.open(reply, retryMs)
      return stream
    }
  }

  /** Keeps the response alive for as long as it is open. */
  function watch(reply: HttpReply): void {
    const stop = open.watch({
      keepAlive() {
        if (reply.closed) stop()
        else reply.write(sseComment('keep-alive'))
      },
    })
    reply.onClose(() => {
      stop()
      if (reader === reply) readUntil = clock() + keepEventsMs
    })
  }

  function start(reply: HttpReply): HttpReply {
    reply.head(200, sseHeaders)
    // Something has to be written for the head to leave.
    reply.write(sseComment('open'))
    watch(reply)
    return reply
  }

  function listening(): boolean {
    if (reader === undefined) return false
    return !reader.closed || (own !== undefined && clock() < readUntil)
  }

  function close(): void {
    own?.close()
    own = undefined
    reader?.end()
    reader = undefined
  }

  return {
    get listening() {
      return listening()
    },
    opener,
    announce(text) {
      if (!listening()) return false
      if (own !== undefined) own.push(text, false)
      else reader?.write(sseEvent(text))
      return true
    },
    listen(reply) {
      close()
      reader = start(reply)
      own = opener?.open(reply)
    },
    async resume(reply, lastEventId) {
      const place = readEventId(lastEventId)
      if (place === undefined || store === undefined) return false
      const stream = streams.get(place.stream)
      if (stream === undefined) {
        return replay(key, place.stream, place.sequence, { store, gapText }, () => start(reply))
      }
      if (stream === own) reader = reply
      await stream.resume(start(reply), place.sequence)
      return true
    },
    close() {
      close()
      for (const stream of streams.values()) stream.close()
    },
  }
}
