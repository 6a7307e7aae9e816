import type { Codec, Transport } from '../codec/codec.ts'
import { createBag, type Bag } from '../model/bag.ts'
import { isObject, own } from '../model/json.ts'
import type { Change, Principal } from '../model/notification.ts'
import { guarded } from '../model/ports.ts'
import { Refusal } from '../model/refusal.ts'
import { timerMs } from '../model/timer.ts'
import { isRequestId, notificationText, type RequestMessage } from '../wire/envelope.ts'
import { Answering, type Dialect, type Shared } from './answering.ts'
import { createEncoder } from './encoder.ts'
import { agree, briefId, discovery, introduction, openSession } from './handshake.ts'
import { checkRequest } from './methods.ts'
import { createInFlight } from './in-flight.ts'
import type { Answer, Exchange, InFlight, Outlet, Peer, PeerOptions, SelfContainedScope, Session } from './peer.ts'
import { readDialect } from './self-contained.ts'

/** Makes the serving side of the protocol for one served value. */
export function createPeer(given: PeerOptions): Peer {
  const options = { ...given, logger: guarded(given.logger) }
  const { codecs, served } = options
  const encoder = createEncoder(options)
  const shared: Shared = { options, encoder, open: createBag() }
  const newest = codecs.newest
  const selfContained = codecs.all.find((codec) => codec.lifecycle === 'request') ?? newest
  const withHandshake = codecs.newestWithHandshake ?? newest

  function answerSelfContained(request: RequestMessage, scope: SelfContainedScope): Exchange {
    const twin = scope.inFlight?.get(request.id) !== undefined
    try {
      if (twin) throw new Refusal('DuplicateInFlight')
      const dialect = readDialect(request, scope, options)
      if (request.method === 'server/discover') return settled(discover(request, dialect.codec, scope))
      return begin(request, dialect, scope.outlet, scope.inFlight)
    } catch (thrown) {
      return settled(encoder.failure(request.id, request.method, thrown, codecFor(request)))
    }
  }

  /** The codec in whose terms a request is refused that did not get far enough to settle one. */
  function codecFor({ params }: RequestMessage): Codec {
    const meta = params && own(params, '_meta')
    const named = isObject(meta) ? selfContained.envelope?.version(meta) : undefined
    const codec = typeof named === 'string' ? codecs.get(named) : undefined
    return codec?.lifecycle === 'request' ? codec : selfContained
  }

  function discover(request: RequestMessage, codec: Codec, { principal }: SelfContainedScope): Answer {
    return encoder.introduction(request.id, discovery(principal, options), codec)
  }

  function begin(request: RequestMessage, dialect: Dialect, outlet: Outlet, inFlight: InFlight | undefined): Exchange {
    const answering = new Answering(shared, request, dialect, outlet, inFlight)
    inFlight?.add(request.id, answering)
    void answering.run()
    return answering
  }

  function initialize(
    request: RequestMessage,
    principal: Principal | undefined,
    transport: Transport,
    inFlight: InFlight = createInFlight(),
  ): ReturnType<Peer['initialize']> {
    try {
      const agreed = agree(request, options)
      const names = { key: Buffer.from(options.random(18)).toString('base64url'), initializeId: briefId(request.id) }
      const session = openSession(agreed, names, transport, inFlight, options)
      const answer = encoder.introduction(request.id, introduction(session.codec, principal, options), session.codec)
      return { answer, session, agreed }
    } catch (thrown) {
      return { answer: encoder.failure(request.id, request.method, thrown, withHandshake) }
    }
  }

  function answerInSession(
    request: RequestMessage,
    session: Session,
    outlet: Outlet,
    principal: Principal | undefined,
  ): Exchange {
    const { codec, client, logLevel, inFlight } = session
    try {
      const features = session.features(principal)
      if (inFlight.get(request.id) !== undefined) throw new Refusal('DuplicateInFlight')
      if (request.method === 'initialize') throw new Refusal('InvalidRequest')
      checkRequest(request, codec, features, principal, options)
      if (request.method === 'ping') return settled(encoder.result(request.id, 'ping', {}, codec, undefined))
      const dialect = { codec, client, principal, logLevel, session, features: () => features }
      return begin(request, dialect, outlet, inFlight)
    } catch (thrown) {
      return settled(encoder.failure(request.id, request.method, thrown, codec))
    }
  }

  function announce(change: Change, session: Session, principal: Principal | undefined): string | undefined {
    if (!change.visibleTo(principal, session.key)) return undefined
    const { codec, subscriptions } = session
    const features = session.features(principal)
    if (change.kind === 'task') {
      const told = features.has('tasks') ? encoder.notification(change.toSession, codec) : undefined
      return told && notificationText(change.toSession.method, told)
    }
    if (change.kind === 'resource') {
      if (!subscriptions.has(change.uri)) return undefined
      const told = { method: 'notifications/resources/updated', params: { uri: change.uri } } as const
      return notificationText(told.method, encoder.notification(told, codec))
    }
    if (!features.has(`${change.kind}.listChanged`)) return undefined
    return notificationText(`notifications/${change.kind}/list_changed`, undefined)
  }

  return {
    codecs,
    served,
    refuse: (id, refusal, codec = withHandshake) => encoder.failure(id, undefined, refusal, codec),
    isSelfContained: ({ method, params }, versionHeader) => {
      if (selfContained.lifecycle !== 'request') return false
      const meta = params && own(params, '_meta')
      if (isObject(meta) && selfContained.envelope?.version(meta) !== undefined) return true
      return method !== 'initialize' && versionHeader !== undefined && codecs.isSelfContainedDate(versionHeader)
    },
    answerSelfContained,
    initialize,
    resume: (agreed, transport) => openSession(agreed, agreed, transport, createInFlight(), options),
    answerInSession,
    notified: (method, params, session) => {
      if (method === 'notifications/initialized') session.initialized = true
      if (method === 'notifications/cancelled' && isObject(params))
        cancelled(own(params, 'requestId'), own(params, 'reason'), session.inFlight)
    },
    responded: (response, session) => {
      if (response.id !== undefined) session.asks.get(response.id)?.settle(response)
    },
    announce,
    drain: (graceMs) => drain(shared.open, graceMs),
  }
}

/** Cancels what `id` names; an unknown id, or one of something finished, is no fault (specification, cancellation). */
export function cancelled(id: unknown, reason: unknown, inFlight: InFlight): void {
  if (isRequestId(id)) inFlight.get(id)?.cancel(typeof reason === 'string' ? reason : undefined)
}

function settled(answer: Answer): Exchange {
  return { answer: Promise.resolve(answer), cancel: () => {}, stop: () => {}, leave: () => {} }
}

/** Ends what has no end of its own, waits for the rest, and gives up on what takes longer. */
async function drain(open: Bag<Answering>, graceMs: number): Promise<void> {
  for (const answering of open.all()) answering.end?.()
  const rest = Promise.all(open.all().map((answering) => answering.answer))
  let timer: NodeJS.Timeout | undefined
  await Promise.race([rest, new Promise((resolve) => (timer = setTimeout(resolve, timerMs(graceMs))))])
  clearTimeout(timer)
  for (const answering of open.all()) answering.stop(new Refusal('OutcomeUnknown'))
}
