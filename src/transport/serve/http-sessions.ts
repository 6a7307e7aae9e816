import { createSessionBus, type SessionNews } from '../../durable/session-bus.ts'
import type { SessionTicket } from '../../durable/session-ticket.ts'
import { createSessionBook } from '../../durable/sessions.ts'
import { own, type JsonObject } from '../../model/json.ts'
import type { LogLevel } from '../../model/nouns.ts'
import { guarded } from '../../model/ports.ts'
import type { Random } from '../../model/ports.ts'
import { isRefusal, Refusal } from '../../model/refusal.ts'
import type { RefusalKind } from '../../model/refusal.ts'
import { isStoreUnavailable } from '../../model/store-unavailable.ts'
import type { Peer, ReadHeader, Session, SessionChange } from '../../peer/peer.ts'
import { defaultCaps } from '../../wire/caps.ts'
import { asError, isRequestId, readMessage } from '../../wire/envelope.ts'
import type { Message, RequestId, RequestMessage, ResponseMessage } from '../../wire/envelope.ts'
import type { Accepted } from '../../wire/media.ts'
import { answerHeaders, Answering } from './answering.ts'
import { routeBatch, sharedHeader } from './batch.ts'
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
  /** POST of what is no response, although it would answer the request `answers` of the server. */
  receiveMalformed(visit: Visit, answers: RequestId): Promise<void>
  /** DELETE. */
  end(visit: Visit): Promise<void>
  /** Ends the streams that answer nothing. */
  quiet(): void
  /** Hears of other processes no more. */
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
  const { seal, store, random } = options
  const logger = guarded(options.logger)
  const clock = options.clock ?? Date.now
  const { maxBatch, maxInFlight } = { ...defaultCaps, ...options.caps }

  const bus =
    store &&
    createSessionBus({
      store,
      random,
      logger,
      onNews: (news) =>
        void heard(news).catch((error: unknown) => logger.warn('news of a session was lost', { error })),
      onMissed: () => void missed().catch((error: unknown) => logger.warn('news of sessions were lost', { error })),
    })
  const tell = async (news: SessionNews): Promise<void> => bus?.tell(news)

  function toLive(session: Session, ticket: SessionTicket): Live {
    session.keep = (change) => keep(ticket, session, change)
    if (store !== undefined) session.asking = (id, ms) => record(askName(session, id), ms)
    const streams = createSessionStreams(peer, session, ticket.key, { ...options, clock, random, logger, tell }, open)
    return { session, streams }
  }

  async function keep(ticket: SessionTicket, session: Session, change: SessionChange): Promise<void> {
    await book.change(ticket, (kept) => changed(kept, change, session.maxSubscriptions))
    await tell({ kind: 'changed', key: session.key })
  }

  /** Where the store is away, only this process takes in the answer. */
  async function record(ask: string, ms: number): Promise<void> {
    try {
      await store?.put(ask, '', { expiresAt: clock() + ms, maxInGroup: maxAsks, evict: 'first' })
    } catch (error) {
      logger.warn('other processes cannot be told of a question', { error })
    }
  }

  /** Tells the process where the question waits of its answer, once, and nobody of what answers no question. */
  async function handOn(response: ResponseMessage, session: Session): Promise<void> {
    try {
      const { id } = response
      const ask = typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? askName(session, id) : undefined
      const found = ask === undefined ? undefined : await store?.get(ask)
      if (ask === undefined || found === undefined || !(await store?.delete(ask, found.version))) {
        return logger.debug('a response that nobody waits for', { transport: 'http' })
      }
      await tell({ kind: 'answer', key: session.key, response: asJson(response) })
    } catch (error) {
      logger.warn('an answer for another process was lost', { error })
    }
  }

  const book = createSessionBook<Live>({
    seal: options.sessions === 'stored' ? undefined : seal,
    store,
    clock,
    random,
    ...(options.sessionIdleMs !== undefined && { idleMs: options.sessionIdleMs }),
    ...(options.maxSessions !== undefined && { maxLive: options.maxSessions }),
    revive(ticket, changes) {
      if (peer.codecs.get(ticket.revision) === undefined) return undefined
      const session = peer.resume(ticket, 'http')
      session.initialized = true
      takeIn(session, changes)
      return toLive(session, ticket)
    },
    update: ({ session }, changes) => takeIn(session, changes),
    drop({ session, streams }) {
      // Whoever waits for them is told; not that there is no such session, which would promise that nothing ran.
      for (const exchange of session.inFlight.all()) exchange.stop(new Refusal('OutcomeUnknown'))
      streams.close()
    },
    busy: ({ session, streams }) => session.inFlight.size > 0 || streams.busy,
  })

  /** Takes in what another process tells of a session that may be here too. */
  async function heard(news: SessionNews): Promise<void> {
    const live = book.get(news.key)?.live
    if (news.kind === 'ended') return void book.ended(news.key, news.until)
    if (live === undefined) return
    if (news.kind === 'changed') await book.refresh(news.key)
    else if (news.kind === 'cancel') live.session.inFlight.get(news.id)?.cancel(news.reason)
    else if (news.kind === 'answer') {
      const message = readMessage(news.response)
      if (message.kind === 'response') peer.responded(message, live.session)
    } else live.streams.heard(news)
  }

  /** The store was away: whatever others told meanwhile is looked up, or taken for granted. */
  async function missed(): Promise<void> {
    await book.refresh()
    for (const { streams } of book.live()) streams.catchUp()
  }

  const stopAnnouncing = peer.served.onChange((change) => {
    let told = 0
    for (const { session, streams } of book.live()) {
      if (!streams.listening) continue
      const text = peer.announce(change, session, streams.listener)
      if (text !== undefined && streams.announce(text)) told += 1
    }
    return told
  })

  /** Takes in what is no request: what is for another process is told to it. */
  function take(message: Message, session: Session): void {
    if (message.kind === 'response') {
      const { id } = message
      if (id !== undefined && !session.asks.has(id)) void handOn(message, session)
      else peer.responded(message, session)
    } else if (message.kind === 'notification') {
      peer.notified(message.method, message.params, session)
      const id = message.params && own(message.params, 'requestId')
      if (message.method !== 'notifications/cancelled' || !isRequestId(id) || session.inFlight.get(id)) return
      const reason = message.params && own(message.params, 'reason')
      void tell({ kind: 'cancel', key: session.key, id, reason: typeof reason === 'string' ? reason : undefined })
    }
  }

  /** Runs what a visit asks for; whatever goes wrong on the way is answered. */
  async function answered(visit: Visit, id: RequestId | undefined, run: () => Promise<void>): Promise<void> {
    try {
      void bus?.listen()
      await run()
    } catch (error) {
      const refusal = isRefusal(error)
        ? error
        : isStoreUnavailable(error)
          ? busy
          : new Refusal('InternalError', { cause: error })
      if (refusal.kind === 'InternalError') logger.error('a session could not be served', { error })
      const answer = peer.refuse(id, refusal)
      visit.reply.full(answer.status, answerHeaders(answer), answer.text)
    }
  }

  function refuse(reply: HttpReply, kind: RefusalKind, id?: RequestId, session?: Session): void {
    const answer = peer.refuse(id, new Refusal(kind), session?.codec)
    reply.full(answer.status, answerHeaders(answer), answer.text)
  }

  /** The session of a request; refuses and returns `undefined` when there is none. */
  async function enter({ request, reply, principal }: Visit, id?: RequestId): Promise<Live | undefined> {
    const sessionId = request.header('mcp-session-id')
    if (sessionId === undefined) return void refuse(reply, 'MissingSession', id)
    const entry = await book.find(sessionId, principal)
    if (entry === undefined) return void refuse(reply, 'UnknownSession', id)
    const { session } = entry.live
    const version = request.header('mcp-protocol-version')
    if (version === undefined || session.codec.http.versionHeader !== 'session') return entry.live
    if (version === session.codec.revision) return entry.live
    return void refuse(reply, 'BadVersionHeader', id, session)
  }

  async function initialize(visit: Visit, request: RequestMessage, accepted: Accepted): Promise<void> {
    const { principal, reply } = visit
    const earlier = visit.request.header('mcp-session-id')
    if (earlier !== undefined && (await book.find(earlier, principal)) !== undefined) {
      return refuse(reply, 'InvalidRequest', request.id)
    }
    if (open.closing) return refuse(reply, 'Overloaded', request.id)
    const { answer, session, agreed } = peer.initialize(request, principal, 'http')
    if (session === undefined || agreed === undefined) return new Answering({ reply, accepted }).finish(answer)
    const opening = { ...agreed, principal: principal?.id, initializeId: session.initializeId }
    const id = await book.open(opening, (ticket) => toLive(Object.assign(session, { key: ticket.key }), ticket))
    new Answering({ reply, accepted, headers: ['mcp-session-id', id] }).finish(answer)
  }

  /** Whether a request cannot be taken in, nor waited for. @param apart responses that it needs and that are open already */
  const isFull = ({ inFlight }: Session, apart = 0): boolean =>
    open.closing || open.isFull(apart) || inFlight.size >= maxInFlight

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
      if (isFull(session)) return refuse(visit.reply, 'Overloaded', message.id, session)
      const answering = createReply(visit, live, accepted, visit.request.header)
      return open.add(peer.answerInSession(message, session, answering, visit.principal), answering)
    }
    take(message, session)
    visit.reply.full(202, [])
  }

  /** The question fails at once, wherever it waits; the client is told that its answer was none. */
  async function receiveMalformed(visit: Visit, answers: RequestId): Promise<void> {
    const live = await enter(visit)
    if (live === undefined) return
    take(asError(answers), live.session)
    refuse(visit.reply, 'InvalidRequest', undefined, live.session)
  }

  async function receiveBatch(visit: Visit, entries: readonly unknown[], accepted: Accepted): Promise<void> {
    if (visit.request.header('mcp-session-id') === undefined) return refuse(visit.reply, 'InvalidRequest')
    const live = await enter(visit)
    if (live === undefined) return
    const { session } = live
    if (!session.codec.batch || entries.length === 0 || entries.length > maxBatch) {
      return refuse(visit.reply, 'InvalidRequest', undefined, session)
    }
    const answering = createReply(visit, live, accepted, sharedHeader(visit.request.header))
    const stop = open.watch(answering)
    routeBatch(
      peer,
      session,
      entries,
      (message, settle) => {
        if (message.kind === 'refused') {
          if (message.answers !== undefined) take(asError(message.answers), session)
          return settle(peer.refuse(message.id, message.refusal, session.codec))
        }
        if (message.kind === 'request') {
          // The batch has one response for all of them, which is watched.
          if (isFull(session, 1)) {
            return settle(peer.refuse(message.id, new Refusal('Overloaded'), session.codec))
          }
          const exchange = peer.answerInSession(message, session, answering, visit.principal)
          return open.add(exchange, { finish: settle, keepAlive: () => {} })
        }
        take(message, session)
        settle(undefined)
      },
      ({ wellFormed, answers }) => {
        stop()
        if (answers.length === 0) answering.finish(undefined)
        else answering.finishAll(answers, wellFormed === 0 ? 400 : 200)
      },
    )
  }

  async function listen(visit: Visit, accepted: Accepted): Promise<void> {
    if (!accepted.sse) return refuse(visit.reply, 'NotAcceptable')
    const live = await enter(visit)
    if (live === undefined) return
    await bus?.listen()
    const lastEventId = visit.request.header('last-event-id')
    // What takes the place of a stream that is open takes no more room.
    const apart = lastEventId !== undefined || live.streams.listening ? 1 : 0
    if (open.closing || open.isFull(apart)) return refuse(visit.reply, 'Overloaded', undefined, live.session)
    if (lastEventId === undefined || !live.session.codec.http.resumable)
      return live.streams.listen(visit.reply, visit.principal)
    if (!(await live.streams.resume(visit.reply, lastEventId, visit.principal))) {
      refuse(visit.reply, 'StreamGap', undefined, live.session)
    }
  }

  async function end(visit: Visit): Promise<void> {
    if ((await enter(visit)) === undefined) return
    const { principal, request, reply } = visit
    const entry = await book.find(request.header('mcp-session-id') ?? '', principal)
    if (entry === undefined) return refuse(reply, 'UnknownSession')
    await book.end(entry)
    const { key, issuedAt } = entry.ticket
    await tell({ kind: 'ended', key, until: issuedAt + 24 * 3_600_000 })
    reply.full(204, [])
  }

  return {
    receive: (visit, message, accepted) =>
      answered(visit, message.kind === 'request' ? message.id : undefined, () => receive(visit, message, accepted)),
    receiveMalformed: (visit, answers) => answered(visit, undefined, () => receiveMalformed(visit, answers)),
    receiveBatch: (visit, entries, accepted) =>
      answered(visit, undefined, () => receiveBatch(visit, entries, accepted)),
    listen: (visit, accepted) => answered(visit, undefined, () => listen(visit, accepted)),
    end: (visit) => answered(visit, undefined, () => end(visit)),
    quiet() {
      stopAnnouncing()
      for (const { streams } of book.live()) streams.close()
    },
    close: () => bus?.close(),
  }
}

const busy = new Refusal('Overloaded', { retryAfter: 1 })

/** Questions that wait on all processes together; for those over it only the process that asked takes in the answer. */
const maxAsks = 100_000

function askName({ key }: Session, id: string): string {
  return `asks/${key}/${id}`
}

/**
 * What is kept of a session after a change: the log level, and the resources it is told about.
 * @throws Refusal `Overloaded` for one resource more than `max`
 */
function changed(kept: JsonObject, change: SessionChange, max: number): JsonObject {
  if ('logLevel' in change) return { ...kept, logLevel: change.logLevel }
  const uri = 'subscribe' in change ? change.subscribe : change.unsubscribe
  const others = subscriptionsOf(kept).filter((one) => one !== uri)
  if ('subscribe' in change && others.length >= max) throw new Refusal('Overloaded')
  return { ...kept, subscriptions: 'subscribe' in change ? [...others, uri] : others }
}

/** Brings a session up to what is kept of it; written by {@link changed}, so of its shape. */
function takeIn(session: Session, kept: JsonObject): void {
  if (kept.logLevel !== undefined) session.logLevel = kept.logLevel as LogLevel
  session.subscriptions.clear()
  // A process with a lower cap serves what another one let in, but for what is over its own.
  for (const uri of subscriptionsOf(kept).slice(0, session.maxSubscriptions)) session.subscriptions.add(uri)
}

function subscriptionsOf(kept: JsonObject): readonly string[] {
  return (kept.subscriptions ?? []) as readonly string[]
}

/** A response as it came, so that another process can read it. */
function asJson({ id, result, error }: ResponseMessage): JsonObject {
  return { jsonrpc: '2.0', id, result, error } as JsonObject
}
