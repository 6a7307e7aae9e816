import { checkPrincipal } from '../../model/notification.ts'
import type { Principal } from '../../model/notification.ts'
import { guarded } from '../../model/ports.ts'
import { isRefusal, Refusal } from '../../model/refusal.ts'
import type { RefusalKind } from '../../model/refusal.ts'
import type { Peer } from '../../peer/peer.ts'
import { defaultCaps } from '../../wire/caps.ts'
import { readMessage } from '../../wire/envelope.ts'
import type { Message, RequestId } from '../../wire/envelope.ts'
import { parseJson } from '../../wire/json.ts'
import { accepts, isJsonMediaType } from '../../wire/media.ts'
import type { Accepted } from '../../wire/media.ts'
import { answerHeaders, Answering } from './answering.ts'
import { preflight, withCors } from './cors.ts'
import { createGuard } from './guard.ts'
import type { Authenticate, HttpOptions, HttpReply, HttpRequest } from './http-types.ts'
import { createOpenExchanges } from './open-exchanges.ts'
import { createHttpSessions } from './http-sessions.ts'
import { createHttpSse } from './http-sse.ts'
import type { HttpSse } from './http-sse.ts'
import { createSeats } from './seats.ts'

/** One HTTP request on its way, after the checks that look at its head. */
export interface Visit {
  readonly request: HttpRequest
  readonly reply: HttpReply
  readonly principal: Principal | undefined
}

/** An endpoint that speaks every revision over HTTP; it knows neither Node's nor the web's idea of a request. */
export interface HttpEndpoint {
  /** Answers one request. Never throws. */
  handle(request: HttpRequest, reply: HttpReply): void
  /**
   * Refuses new requests, waits at most `graceMs` for what is in flight, gives up on the rest, and ends every stream. Until
   * then answers to what a client was asked, and notifications, are still taken in.
   */
  close(graceMs: number): Promise<void>
}

/** Serves a peer over Streamable HTTP (specification, "Streamable HTTP"), every revision on one path. */
export function createHttpEndpoint(peer: Peer, options: HttpOptions = {}): HttpEndpoint {
  const { path = '/mcp', ssePath = '/sse', authenticate } = options
  const logger = guarded(options.logger)
  const random = options.random ?? ((length) => crypto.getRandomValues(new Uint8Array(length)))
  const caps = { ...defaultCaps, ...options.caps }
  const guard = createGuard(options)
  const open = createOpenExchanges(options.keepAliveMs ?? 15_000, caps.maxOpen)
  const sessions = peer.codecs.newestWithHandshake ? createHttpSessions(peer, { ...options, random }, open) : undefined
  const sse = sessions && createHttpSse(peer, options, random, open)
  const hasStreams = sessions !== undefined && peer.codecs.all.some((codec) => codec.http.sessions)
  const methods = hasStreams ? 'GET, POST, DELETE, OPTIONS' : 'POST, OPTIONS'
  const readAccept = remember(accepts)
  const seats = createSeats(caps)
  let closed = false

  function refuse(reply: HttpReply, refusal: Refusal | RefusalKind, id?: RequestId): void {
    const answer = peer.refuse(id, typeof refusal === 'string' ? new Refusal(refusal) : refusal)
    reply.full(answer.status, answerHeaders(answer), answer.text)
  }

  /** What to do with a request, by path and method. */
  function routeOf({ path: target, method }: HttpRequest): Step | 'NotFound' | NotAllowed {
    const [name = ''] = target === path ? [target] : target.split('?', 1)
    if (sse !== undefined && ssePath !== false && isAt(name, ssePath)) return sseStepOf(method, sse)
    return path === '*' || isAt(name, path) ? (stepOf(method) ?? { allow: methods }) : 'NotFound'
  }

  function handle(request: HttpRequest, reply: HttpReply): void {
    try {
      enter(request, reply)
    } catch (error) {
      fail(reply, 'a request could not be answered', error)
    }
  }

  /** Answers what went wrong unexpectedly. */
  function fail(reply: HttpReply, what: string, error: unknown): void {
    logger.error(what, { error })
    const answer = peer.refuse(undefined, new Refusal('InternalError'))
    reply.full(500, answerHeaders(answer), answer.text)
  }

  function enter(request: HttpRequest, response: HttpReply): void {
    const fault = request.fault(caps)
    if (fault !== undefined) return refuseAs(peer, response, fault)
    const origin = request.header('origin')
    const foreign = guard(request.header('host'), origin)
    if (foreign !== undefined) {
      logger.warn('a request from a foreign place; see the options hosts and origins', { refusal: foreign })
      return refuse(response, foreign)
    }
    const reply = origin === undefined ? response : withCors(response, origin)
    const step = routeOf(request)
    if (step === 'NotFound') return refuse(reply, step)
    if (typeof step === 'object') return refuseWith(reply, 'MethodNotAllowed', ['allow', step.allow])
    if (request.method === 'OPTIONS') return step({ request, reply, principal: undefined })
    if (isShut(request)) return refuse(reply, busy())
    if (authenticate === undefined) return step({ request, reply, principal: undefined })
    void identify(request, reply, authenticate, step)
  }

  /** While the endpoint closes no stream begins; what is posted may be for something that is under way: {@link receive} tells. */
  function isShut({ method }: HttpRequest): boolean {
    return closed || (method === 'GET' && open.closing)
  }

  async function identify(request: HttpRequest, reply: HttpReply, ask: Authenticate, step: Step): Promise<void> {
    try {
      const principal = await ask(request)
      if (isRefusal(principal)) return refuse(reply, principal)
      checkPrincipal(principal)
      if (isShut(request)) refuse(reply, busy())
      else step({ request, reply, principal })
    } catch (error) {
      fail(reply, 'nobody could tell who is asking', error)
    }
  }

  function stepOf(method: string): Step | undefined {
    if (method === 'POST') return post
    if (method === 'OPTIONS') return ({ request, reply }) => preflight(request, reply, methods)
    if (!hasStreams || sessions === undefined) return undefined
    if (method === 'GET')
      return seated((visit) => void sessions.listen(visit, readAccept(visit.request.header('accept'))))
    return method === 'DELETE' ? (visit) => void sessions.end(visit) : undefined
  }

  function sseStepOf(method: string, { listen, receive }: HttpSse): Step | NotAllowed {
    if (method === 'OPTIONS') return ({ request, reply }) => preflight(request, reply, sseMethods)
    if (method === 'GET') {
      return seated((visit) => {
        if (!readAccept(visit.request.header('accept')).sse) refuse(visit.reply, 'NotAcceptable')
        else if (open.isFull()) refuse(visit.reply, busy())
        else listen(visit)
      })
    }
    if (method !== 'POST') return { allow: sseMethods }
    return (visit) =>
      withBody(visit, (body) => {
        if (!receive(visit, body)) refuse(visit.reply, open.closing ? busy() : 'UnknownSession')
      })
  }

  /** A step that takes one of the seats for streams without an end. */
  function seated(step: Step): Step {
    return (visit) => {
      if (seats.take(visit.reply, visit.principal?.id)) step(visit)
      else refuse(visit.reply, busy())
    }
  }

  function refuseWith(reply: HttpReply, kind: RefusalKind, headers: readonly string[]): void {
    const answer = peer.refuse(undefined, new Refusal(kind))
    reply.full(answer.status, [...answerHeaders(answer), ...headers], answer.text)
  }

  function post(visit: Visit): void {
    const accepted = readAccept(visit.request.header('accept'))
    withBody(visit, (body) => receive(visit, body, accepted), accepted.json || accepted.sse)
  }

  /** Hands on the body of a JSON request, or refuses it. */
  function withBody({ request, reply }: Visit, take: (body: Uint8Array) => void, acceptable = true): void {
    if (!isJsonMediaType(request.header('content-type'))) return refuse(reply, 'UnsupportedMediaType')
    const coding = request.header('content-encoding')
    if (coding !== undefined && coding.toLowerCase() !== 'identity') {
      // RFC 9110, section 15.5.16.
      return refuseWith(reply, 'UnsupportedMediaType', ['accept-encoding', 'identity'])
    }
    if (!acceptable) return refuse(reply, 'NotAcceptable')
    const taken = request.body().then((body) => {
      if (body === 'late') refuseAs(peer, reply, 408)
      else if (isRefusal(body)) refuse(reply, body)
      else if (closed) refuse(reply, busy())
      else take(body)
    })
    taken.catch((error: unknown) => fail(reply, 'a request could not be answered', error))
  }

  function receive(visit: Visit, body: Uint8Array, accepted: Accepted): void {
    const parsed = parseJson(body, caps)
    if (parsed.refusal !== undefined) return refuse(visit.reply, parsed.refusal)
    if (Array.isArray(parsed.value)) {
      if (sessions === undefined) return refuse(visit.reply, 'InvalidRequest')
      return void sessions.receiveBatch(visit, parsed.value, accepted)
    }
    const message = readMessage(parsed.value)
    if (message.kind === 'refused') {
      const isOfSession = message.answers !== undefined && visit.request.header('mcp-session-id') !== undefined
      if (isOfSession && sessions !== undefined) return void sessions.receiveMalformed(visit, message.answers)
      return refuse(visit.reply, message.refusal, message.id)
    }
    if (message.kind === 'request' && (open.closing || open.isFull())) return refuse(visit.reply, busy(), message.id)
    const facts = message.kind === 'response' ? {} : message
    if (peer.isSelfContained(facts, visit.request.header('mcp-protocol-version'))) {
      return receiveSelfContained(visit, message, accepted)
    }
    if (sessions !== undefined) return void sessions.receive(visit, message, accepted)
    if (message.kind !== 'request' || message.method !== 'initialize')
      return receiveSelfContained(visit, message, accepted)
    const { answer } = peer.initialize(message, visit.principal, 'http')
    visit.reply.full(answer.status, answerHeaders(answer), answer.text)
  }

  function receiveSelfContained(visit: Visit, message: Message, accepted: Accepted): void {
    const { request, reply, principal } = visit
    if (message.kind === 'notification') return reply.full(202, [])
    if (message.kind === 'response') return refuse(reply, 'InvalidRequest')
    if (message.method === 'subscriptions/listen') {
      if (!accepted.sse) return refuse(reply, 'NotAcceptable', message.id)
      if (!seats.take(reply, principal?.id)) return refuse(reply, busy(), message.id)
    }
    const answering = new Answering({ reply, accepted, header: request.header })
    const exchange = peer.answerSelfContained(message, {
      principal,
      outlet: answering,
      header: request.header,
      transport: 'http',
    })
    const codec = peer.codecs.get(request.header('mcp-protocol-version') ?? '')
    if (codec?.http.disconnectCancels !== false) reply.onClose(() => exchange.leave())
    open.add(exchange, answering)
  }

  return {
    handle,
    async close(graceMs) {
      sessions?.quiet()
      await Promise.all([open.drain(graceMs), sse?.close(graceMs)])
      closed = true
      sessions?.close()
    },
  }
}

type Step = (visit: Visit) => void

/** The methods that there are in place of the one that was asked for. */
interface NotAllowed {
  readonly allow: string
}

const sseMethods = 'GET, POST, OPTIONS'

/** With and without a slash at the end, and never by a redirect. */
function isAt(target: string, path: string): boolean {
  return target === path || (target.length === path.length + 1 && target === `${path}/`)
}

function refuseAs(peer: Peer, reply: HttpReply, status: number): void {
  const answer = peer.refuse(undefined, new Refusal('InvalidRequest'))
  reply.full(status, answerHeaders(answer), answer.text)
}

function busy(): Refusal {
  return new Refusal('Overloaded', { retryAfter: 1 })
}

/** Keeps the last result, since clients repeat their headers. */
function remember<Result>(read: (text: string | undefined) => Result): (text: string | undefined) => Result {
  let last: { readonly text: string | undefined; readonly result: Result } | undefined
  return (text) => {
    if (last?.text !== text || last === undefined) last = { text, result: read(text) }
    return last.result
  }
}
