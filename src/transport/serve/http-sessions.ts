import { createSessionBook } from '../../durable/sessions.ts'
import type { SessionTicket } from '../../durable/sessions.ts'
import { silent } from '../../model/ports.ts'
import type { Random } from '../../model/ports.ts'
import { Refusal } from '../../model/refusal.ts'
import type { RefusalKind } from '../../model/refusal.ts'
import type { Peer, ReadHeader, Session } from '../../peer/peer.ts'
import { defaultCaps } from '../../wire/caps.ts'
import type { Message, RequestId, RequestMessage } from '../../wire/envelope.ts'
import type { Accepted } from '../../wire/media.ts'
import { answerHeaders, Answering } from './answering.ts'
import { routeBatch } from './batch.ts'
import type { Visit } from './http.ts'
import type { HttpOptions, HttpReply } from './http-types.ts'
import type { OpenExchanges } from './open-exchanges.ts'
import { createSessionStreams } from './session-streams.ts'
import type { SessionStreams } from './session-streams.ts'

/** The side of an endpoint that speaks to clients with a handshake. */
export interface HttpSessions {
  receive(visit: Visit, message: Message, accepted: Accepted): Promise<void>
  receiveBatch(visit: Visit, entries: readonly unknown[], accepted: Accepted): Promise<void>
  /** GET: the stream for what is said unasked, or one that broke and is taken up again. */
  listen(visit: Visit, accepted: Accepted): Promise<void>
  /** DELETE. */
  end(visit: Visit): Promise<void>
  /** Ends the streams that answer nothing. */
  close(): void
}

interface Live {
  readonly session: Session
  readonly streams: SessionStreams
}

/** Serves sessions over HTTP (specification up to the last revision with a handshake, "Session Management"). */
export function createHttpSessions(
  peer: Peer,
  options: HttpOptions & { readonly random: Random },
  open: OpenExchanges,
): HttpSessions {
  const { logger = silent, seal, random } = options
  const clock = options.clock ?? Date.now
  const { maxBatch, maxInFlight } = { ...defaultCaps, ...options.caps }

  const toLive = (session: Session, ticket: SessionTicket): Live => ({
    session,
    streams: createSessionStreams(peer, session, ticket.key, { ...options, clock, random, logger }, open),
  })
  const book = createSessionBook<Live>({
    seal,
    clock,
    random,
    ...(options.sessionIdleMs !== undefined && { idleMs: options.sessionIdleMs }),
    ...(options.maxSessions !== undefined && { maxLive: options.maxSessions }),
    revive(ticket) {
      if (peer.codecs.get(ticket.revision) === undefined) return undefined
      const session = peer.resume(ticket, undefined, 'http')
      session.initialized = true
      return toLive(session, ticket)
    },
    busy: ({ session, streams }) => session.inFlight.size > 0 || streams.listening,
  })
  const stopAnnouncing = peer.served.onChange((change) => {
    let told = 0
    for (const { session, streams } of book.live()) {
      if (!streams.listening) continue
      const text = peer.announce(change, session)
      if (text !== undefined && streams.announce(text)) told += 1
    }
    return told
  })

  function refuse(reply: HttpReply, kind: RefusalKind, id?: RequestId, session?: Session): void {
    const answer = peer.refuse(id, new Refusal(kind), session?.codec)
    reply.full(answer.status, answerHeaders(answer), answer.text)
  }

  /** The session of a request; refuses and returns `undefined` when there is none. */
  async function enter({ request, reply, principal }: Visit, id?: RequestId): Promise<Live | undefined> {
    const sessionId = request.header('mcp-session-id')
    if (sessionId === undefined) return void refuse(reply, 'MissingSession', id)
    const entry = await book.find(sessionId, principal?.id)
    if (entry === undefined) return void refuse(reply, 'UnknownSession', id)
    const { session } = entry.live
    session.principal = principal
    const version = request.header('mcp-protocol-version')
    if (version === undefined || session.codec.http.versionHeader !== 'session') return entry.live
    if (peer.codecs.get(version) !== undefined) return entry.live
    return void refuse(reply, 'BadVersionHeader', id, session)
  }

  async function initialize(visit: Visit, request: RequestMessage, accepted: Accepted): Promise<void> {
    const { principal, reply } = visit
    const earlier = visit.request.header('mcp-session-id')
    if (earlier !== undefined && (await book.find(earlier, principal?.id)) !== undefined) {
      return refuse(reply, 'InvalidRequest', request.id)
    }
    const { answer, session, agreed } = peer.initialize(request, principal, 'http')
    if (session === undefined || agreed === undefined) return new Answering({ reply, accepted }).finish(answer)
    const opening = { ...agreed, principal: principal?.id, initializeId: request.id }
    const id = book.open(opening, (ticket) => toLive(Object.assign(session, { key: ticket.key }), ticket))
    new Answering({ reply, accepted, headers: ['mcp-session-id', id] }).finish(answer)
  }

  function createReply({ reply }: Visit, { streams }: Live, accepted: Accepted, header: ReadHeader): Answering {
    const elsewhere = (text: string): boolean => streams.listening && streams.announce(text)
    return new Answering({ reply, accepted, header, elsewhere, resumable: streams.opener })
  }

  async function receive(visit: Visit, message: Message, accepted: Accepted): Promise<void> {
    if (message.kind === 'request' && message.method === 'initialize') return initialize(visit, message, accepted)
    const live = await enter(visit, message.kind === 'request' ? message.id : undefined)
    if (live === undefined) return
    const { session } = live
    if (message.kind === 'request') {
      if (session.inFlight.size >= maxInFlight) return refuse(visit.reply, 'Overloaded', message.id, session)
      const answering = createReply(visit, live, accepted, visit.request.header)
      return open.add(message.id, peer.answerInSession(message, session, answering), answering)
    }
    if (message.kind === 'notification') peer.notified(message.method, message.params, session)
    else peer.responded(message, session)
    visit.reply.full(202, [])
  }

  async function receiveBatch(visit: Visit, entries: readonly unknown[], accepted: Accepted): Promise<void> {
    if (visit.request.header('mcp-session-id') === undefined) return refuse(visit.reply, 'InvalidRequest')
    const live = await enter(visit)
    if (live === undefined) return
    const { session } = live
    if (!session.codec.batch || entries.length === 0 || entries.length > maxBatch) {
      return refuse(visit.reply, 'InvalidRequest', undefined, session)
    }
    const answering = createReply(visit, live, accepted, ofBatch(visit.request.header))
    const stop = open.watch(answering)
    routeBatch(
      peer,
      session,
      entries,
      (message, settle) => {
        if (message.kind === 'refused') return settle(peer.refuse(message.id, message.refusal, session.codec))
        if (message.kind === 'request') {
          if (session.inFlight.size >= maxInFlight) {
            return settle(peer.refuse(message.id, new Refusal('Overloaded'), session.codec))
          }
          const exchange = peer.answerInSession(message, session, answering)
          return open.add(message.id, exchange, { finish: settle, keepAlive: () => {} })
        }
        if (message.kind === 'notification') peer.notified(message.method, message.params, session)
        else peer.responded(message, session)
        settle(undefined)
      },
      ({ wellFormed, answers }) => {
        stop()
        if (answers.length === 0) answering.finish(undefined)
        else answering.finishAll(answers, wellFormed === 0 ? 400 : 200)
      },
    )
  }

  return {
    receive,
    receiveBatch,
    async listen(visit, accepted) {
      if (!accepted.sse) return refuse(visit.reply, 'NotAcceptable')
      const live = await enter(visit)
      if (live === undefined) return
      const lastEventId = visit.request.header('last-event-id')
      if (lastEventId === undefined || !live.session.codec.http.resumable) return live.streams.listen(visit.reply)
      if (!(await live.streams.resume(visit.reply, lastEventId))) {
        refuse(visit.reply, 'StreamGap', undefined, live.session)
      }
    },
    async end(visit) {
      const live = await enter(visit)
      if (live === undefined) return
      await book.end(visit.request.header('mcp-session-id') ?? '')
      live.streams.close()
      for (const exchange of live.session.inFlight.values()) exchange.cancel('the session was ended')
      visit.reply.full(204, [])
    },
    close() {
      stopAnnouncing()
      for (const { streams } of book.live()) streams.close()
    },
  }
}

/** The headers of a batch, but for the key of a single call: it cannot be that of each. */
function ofBatch(header: ReadHeader): ReadHeader {
  return (name) => (name === 'idempotency-key' ? undefined : header(name))
}
