import { createBag, nowhere, type Placed } from '../../model/bag.ts'
import { own } from '../../model/json.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/notification.ts'
import type { Logger } from '../../model/ports.ts'
import { Refusal } from '../../model/refusal.ts'
import type { RefusalKind } from '../../model/refusal.ts'
import { timerMs } from '../../model/timer.ts'
import { createInFlight } from '../../peer/in-flight.ts'
import type { Exchange, Outlet, Peer, ReadHeader, SelfContainedScope, Session } from '../../peer/peer.ts'
import type { Caps } from '../../wire/caps.ts'
import { asError, isRequestId, readMessage, resultText } from '../../wire/envelope.ts'
import type { Message, NotificationMessage, RefusedMessage, RequestId, RequestMessage } from '../../wire/envelope.ts'
import { parseJson } from '../../wire/json.ts'
import { routeBatch, sharedHeader } from './batch.ts'
import type { Reply, Route } from './batch.ts'

/** What a duplex channel is served with. */
export interface ConnectionOptions {
  /** Writes one message, or one batch of answers, to the client. */
  send(text: string): void
  readonly transport: SelfContainedScope['transport']
  /** On whose behalf everything on this connection is asked and heard, but for what comes with an {@link Origin}. */
  readonly principal?: Principal | undefined
  readonly caps: Caps
  readonly logger: Logger
  /** Whether what the channel shares its room with is full, so that no request is taken in. */
  isFull?(): boolean
}

/** What the HTTP request that carried a message says besides. */
export interface Origin {
  readonly header: ReadHeader
  /** The same principal as the channel's, with what the credentials of this request grant. */
  readonly principal: Principal | undefined
}

/** An exchange that is waited for. */
interface Tracked extends Placed {
  readonly exchange: Exchange
}

/** What a message brings besides itself. */
interface Way {
  readonly outlet: Outlet
  readonly principal: Principal | undefined
}

/** One duplex channel on which a client may speak every revision at once. */
export interface Connection {
  /** Takes in one message, or one batch, and over HTTP what its request said besides. Whatever cannot be read is answered too. */
  receive(message: Uint8Array | string, from?: Origin): void
  /** Answers a message that was longer than the cap and was thrown away. */
  overflow(): void
  /** The client says nothing more: what it was asked is given up, and it is asked nothing any more. */
  endInput(): void
  /**
   * Refuses new requests, waits at most `graceMs` for what is in flight, then gives up on the rest. Until then answers to
   * what the client was asked, and cancellations, are still taken in.
   */
  close(graceMs: number): Promise<void>
}

/**
 * Serves one duplex channel. Requests that say everything themselves are answered at any time; the others need the
 * handshake first. All of them share one scope of ids.
 */
export function createConnection(peer: Peer, options: ConnectionOptions): Connection {
  const { caps, transport, logger } = options
  const inFlight = createInFlight()
  const open = createBag<Tracked>()
  const handshakes = peer.codecs.newestWithHandshake !== undefined
  // A revision of requests that stand alone need not have HTTP+SSE.
  const standAlone =
    transport !== 'http+sse' ||
    peer.codecs.all.some(({ lifecycle, features }) => lifecycle === 'request' && features.has('sse'))
  let session: Session | undefined
  let stopAnnouncing = (): void => {}
  let state: 'open' | 'closing' | 'closed' = 'open'
  let hearing = true
  let listening = 0
  let settled = (): void => {}

  const send = (text: string): void => {
    if (state !== 'closed') options.send(text)
  }
  const ask = (text: string): boolean => {
    if (hearing) send(text)
    return hearing
  }
  const plain: Outlet = { send, ask }
  const usual: Way = { outlet: plain, principal: options.principal }
  const say: Reply = (answer) => {
    if (answer !== undefined) send(answer.text)
  }
  const refuse = (id: RequestId | undefined, kind: RefusalKind, reply: Reply): void => {
    reply(peer.refuse(id, new Refusal(kind), session?.codec))
  }

  function track(exchange: Exchange, reply: Reply): void {
    const tracked = { exchange, place: nowhere }
    open.add(tracked)
    if (exchange.end) listening += 1
    void exchange.answer.then((answer) => {
      open.remove(tracked)
      if (exchange.end) listening -= 1
      reply(answer)
      if (open.size === 0) settled()
    })
  }

  function begin(request: RequestMessage, reply: Reply, { outlet, principal }: Way): void {
    if (state !== 'open' || open.size >= caps.maxInFlight || options.isFull?.())
      return refuse(request.id, 'Overloaded', reply)
    if (!handshakes || peer.isSelfContained(request, undefined)) {
      if (!standAlone) return refuse(request.id, 'InvalidRequest', reply)
      if (!handshakes && request.method === 'initialize') return agree(request, reply, principal)
      if (request.method === 'subscriptions/listen' && listening >= caps.maxListenersEach) {
        return refuse(request.id, 'Overloaded', reply)
      }
      return track(peer.answerSelfContained(request, { principal, outlet, inFlight, transport }), reply)
    }
    if (request.method === 'initialize') return agree(request, reply, principal)
    if (session !== undefined) return track(peer.answerInSession(request, session, outlet, principal), reply)
    if (request.method === 'ping')
      return reply({ text: resultText(request.id, '{}'), status: 200, retryAfter: undefined })
    refuse(request.id, 'NotInitialized', reply)
  }

  function agree(request: RequestMessage, reply: Reply, principal: Principal | undefined): void {
    if (session !== undefined) return refuse(request.id, 'InvalidRequest', reply)
    if (inFlight.get(request.id) !== undefined) return refuse(request.id, 'DuplicateInFlight', reply)
    const agreed = peer.initialize(request, principal, transport, inFlight)
    reply(agreed.answer)
    session = agreed.session
    if (session !== undefined) stopAnnouncing = announceTo(session)
  }

  function announceTo(listener: Session): () => void {
    return peer.served.onChange((change) => {
      const text = peer.announce(change, listener, options.principal)
      if (text === undefined) return 0
      send(text)
      return 1
    })
  }

  function notified({ method, params }: NotificationMessage): void {
    if (method === 'notifications/cancelled') return cancel(params)
    if (session !== undefined) peer.notified(method, params, session)
  }

  function cancel(params: JsonObject | undefined): void {
    const id = params && own(params, 'requestId')
    const reason = params && own(params, 'reason')
    if (isRequestId(id)) inFlight.get(id)?.cancel(typeof reason === 'string' ? reason : undefined)
  }

  function route(message: Message | RefusedMessage, reply: Reply, way: Way): void {
    switch (message.kind) {
      case 'request':
        return begin(message, reply, way)
      case 'refused':
        if (message.answers !== undefined && session) peer.responded(asError(message.answers), session)
        return reply(peer.refuse(message.id, message.refusal, session?.codec))
      case 'notification':
        notified(message)
        return reply(undefined)
      case 'response':
        if (session !== undefined) peer.responded(message, session)
        else logger.debug('a response that nobody waits for', { transport })
        return reply(undefined)
    }
  }

  function receiveBatch(entries: readonly unknown[], { outlet, principal }: Way): void {
    if (!session?.codec.batch || entries.length === 0 || entries.length > caps.maxBatch) {
      return refuse(undefined, 'InvalidRequest', say)
    }
    const { header } = outlet
    const way = { outlet: header ? { ...plain, header: sharedHeader(header) } : plain, principal }
    const each: Route = (message, reply) => route(message, reply, way)
    routeBatch(peer, session, entries, each, ({ answers }) => {
      if (answers.length > 0) send(`[${answers.map((answer) => answer.text).join(',')}]`)
    })
  }

  return {
    receive(message, from) {
      if (state === 'closed') return
      const parsed = parseJson(message, caps)
      if (parsed.refusal !== undefined) return say(peer.refuse(undefined, parsed.refusal, session?.codec))
      const way = from ? { outlet: { ...plain, header: from.header }, principal: from.principal } : usual
      if (Array.isArray(parsed.value)) return receiveBatch(parsed.value, way)
      route(readMessage(parsed.value), say, way)
    },
    overflow() {
      if (state !== 'closed') refuse(undefined, 'BodyTooLarge', say)
    },
    endInput() {
      hearing = false
      for (const waiting of session?.asks.values() ?? []) waiting.abandon(new Refusal('InternalError'))
    },
    async close(graceMs) {
      if (state !== 'open') return
      state = 'closing'
      stopAnnouncing()
      for (const { exchange } of open.all()) exchange.end?.()
      if (open.size > 0) await waitFor((resolve) => (settled = resolve), graceMs)
      // They ran, so nobody may be led to believe that they did not. What they asked is taken back.
      for (const { exchange } of open.all()) exchange.stop(new Refusal('OutcomeUnknown'))
      await Promise.all(open.all().map(({ exchange }) => exchange.answer))
      state = 'closed'
    },
  }
}

/** Waits until `start`'s callback is called, for at most `ms`. */
function waitFor(start: (resolve: () => void) => void, ms: number): Promise<void> {
  return new Promise((resolve) => {
    // Where nothing else holds the process, nothing is left that could settle.
    const timer = setTimeout(resolve, timerMs(ms))
    timer.unref?.()
    start(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
