import type { Codec } from '../codec/codec.ts'
import { metaKeys } from '../codec/envelope.ts'
import { resolveFeatures } from '../codec/profile.ts'
import { asUnknown } from '../model/as-unknown.ts'
import { CallFailed } from '../model/failure.ts'
import { isObject, own, type JsonObject } from '../model/json.ts'
import type { Notification, ProgressParams } from '../model/notification.ts'
import { safely } from '../model/safely.ts'
import {
  isRequestId,
  notificationText,
  readMessage,
  requestText,
  type Message,
  type RequestId,
} from '../wire/envelope.ts'
import { createAskDesk } from './calling-asks.ts'
import { decodeResult, failureOf, refusalInResult, requestCodec } from './calling-decode.ts'
import { createParamsWriter, headersFor } from './calling-encode.ts'
import { aborted, createWaitingTable, type Waiting } from './calling-table.ts'
import type { Caller, CallerOptions, Dialect, Request } from './calling.ts'
import { handshakeParams, readDiscovery, readHandshake } from './introducing.ts'
import type { Link, LinkListener, Received } from './link.ts'

const ignore = (): void => {}
const maxNoise = 1024
const always = (): boolean => true

/** Makes the calling side of one link that is not open yet. */
export function createCaller(link: Link, options: CallerOptions): Caller {
  const { transport } = link
  const overHttp = transport === 'http' || transport === 'http+sse'
  const table = createWaitingTable()
  /** Who hears of tasks that requests became, by the token of the request. */
  const lasting = new Map<RequestId, (progress: ProgressParams) => void>()
  const writeParams = createParamsWriter(options)
  const desk = createAskDesk({
    dialect: () => dialect,
    isServing: () => table.size > 0,
    answer: options.answer,
    maxAsks: options.maxAsks,
    send: (text) => void sendQuietly(text),
    noise: (text) => noise(text),
  })
  let dialect: Dialect | undefined
  let lastId = 0
  let ended: CallFailed | undefined

  const noise = (text: string): void => options.noise('stream', text.slice(0, maxNoise))
  /** What is no request has nobody who waits for it. */
  const sendQuietly = (text: string): Promise<void> =>
    link.send({ text }).catch((error: unknown) => noise(`a message could not be sent: ${String(error)}`))

  function send(codec: Codec, request: Request, params: JsonObject): Promise<JsonObject> {
    const { method, signal } = request
    if (ended) return Promise.reject(ended)
    if (signal?.aborted) return Promise.reject(aborted(signal, 'no'))
    const id = ++lastId
    const carrier = overHttp ? new AbortController() : undefined
    const whole = writeParams(codec, request, params, id)
    const text = requestText(id, method, whole)
    const headers = overHttp ? headersFor(codec, method, params, request.headerPlan) : undefined
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        method,
        codec,
        patience: request,
        signal,
        onProgress: request.onProgress,
        progressUntil: request.progressUntil,
        onNotification: request.onNotification,
        begun: false,
        resolve,
        reject: (error) => reject(waiting.begun ? asUnknown(error) : error),
        cancel: (reason) => cancel(id, method, codec, reason, carrier),
      }
      table.add(id, waiting)
      link
        .send({
          text,
          id,
          revision: codec.revision,
          ...(headers && { headers }),
          ...(carrier && { signal: carrier.signal }),
        })
        .catch((error: unknown) => table.take(id)?.reject(error))
    })
  }

  function cancel(
    id: RequestId,
    method: string,
    codec: Codec,
    reason: string,
    carrier: AbortController | undefined,
  ): void {
    // Nobody may cancel a handshake (lifecycle), and who left a probe unanswered may not know what this is.
    const introduces = method === 'initialize' || method === 'server/discover'
    const tells = !introduces && !(carrier && codec.http.disconnectCancels)
    const params =
      tells &&
      codec.clientNotifications.get('notifications/cancelled')?.params.encode({ requestId: id, reason }, ignore)
    if (!params) return carrier?.abort(new Error(reason))
    void sendQuietly(notificationText('notifications/cancelled', params)).then(() => carrier?.abort(new Error(reason)))
  }

  function answered(message: Extract<Message, { readonly kind: 'response' }>, received: Received): void {
    const id = table.answeredBy(message.id, received.on)
    const waiting = id === undefined ? undefined : table.take(id)
    if (!waiting) return noise(`an answer that nothing waits for: ${JSON.stringify(message.id ?? null)}`)
    if (message.error) {
      const failure = failureOf(message.error, waiting.codec, received)
      // What names no request and comes where it was answered already tells of its stream, and not of it.
      const isApart = message.id === undefined && received.status === 200
      return waiting.reject(isApart ? asUnknown(failure) : failure)
    }
    settle(waiting, message.result, id)
  }

  function settle(waiting: Waiting, result: JsonObject, id: RequestId | undefined): void {
    try {
      const decoded = decodeResult(waiting.codec, waiting.method, result)
      if (id !== undefined && own(decoded, 'resultType') === 'task') outlast(waiting, id)
      waiting.resolve(decoded)
    } catch (error) {
      waiting.reject(error)
    }
  }

  /** Goes on hearing of a task that a request became. */
  function outlast({ onProgress, progressUntil }: Waiting, token: RequestId): void {
    if (!onProgress || !progressUntil || progressUntil.aborted) return
    lasting.set(token, onProgress)
    progressUntil.addEventListener('abort', () => lasting.delete(token), { once: true })
  }

  function notified(method: string, params: JsonObject, received: Received): void {
    if (method === 'notifications/progress') return progressed(params)
    if (method === 'notifications/cancelled') return desk.cancelled(params)
    const codec = dialect?.codec
    const convert = codec?.notifications.get(method)
    if (!convert) return noise(`a notification that the revision does not have: ${method}`)
    const decoded = convert.params.decode(params)
    const listener = listenerOf(decoded, received)
    if (listener) listener(method, decoded)
    // The table knows the method, and what it carries is the server's word.
    else options.notified({ method, params: decoded } as unknown as Notification)
  }

  /** Who listens to what the server tags, where it does. */
  function listenerOf(params: JsonObject, received: Received): Waiting['onNotification'] {
    const meta = own(params, '_meta')
    const tag = isObject(meta) ? own(meta, metaKeys.subscription) : undefined
    const id = isRequestId(tag) ? tag : received.on
    return id === undefined ? undefined : table.get(id)?.onNotification
  }

  function progressed(params: JsonObject): void {
    const token = own(params, 'progressToken')
    const waiting = isRequestId(token) ? table.get(token) : undefined
    const onProgress = isRequestId(token) ? (waiting?.onProgress ?? lasting.get(token)) : undefined
    if (!isRequestId(token) || !(waiting ?? onProgress) || typeof own(params, 'progress') !== 'number') {
      return noise('progress of nothing in flight')
    }
    table.heard(token)
    table.begin(token)
    // The two members that every one has were looked at.
    const progress = params as unknown as ProgressParams
    safely(
      () => onProgress?.(progress),
      (error) => noise(`a listener to progress failed: ${String(error)}`),
    )
  }

  const listener: LinkListener = {
    message(json, received) {
      const message = readMessage(json)
      switch (message.kind) {
        case 'response':
          return answered(message, received)
        case 'request':
          // Over one stream a question names no call, so that it may be any that asks.
          if (message.method !== 'ping') table.begin(received.on)
          return desk.take(message)
        case 'notification':
          if (received.on !== undefined) table.begin(received.on)
          return notified(message.method, message.params ?? {}, received)
        case 'refused': {
          const isAnswer = own(json, 'method') === undefined
          const id = isAnswer ? table.answeredBy(message.answers ?? message.id, received.on) : undefined
          const waiting = id === undefined ? undefined : table.take(id)
          if (waiting) return waiting.reject(violation('The answer is no JSON-RPC response'))
          return noise(JSON.stringify(json))
        }
      }
    },
    lost: (id, failure) => table.take(id)?.reject(failure),
    waits: (id, waiting) => table.suspend(id, waiting),
    expired: () => options.expired(),
    hears: (hears) => options.hears?.(hears),
    closed(failure) {
      ended ??= notSent(failure)
      desk.close()
      table.fail(failure)
      options.closed(failure)
    },
    noise: (from, text) => options.noise(from, text),
  }

  return {
    transport,
    get dialect() {
      return dialect
    },
    get size() {
      return table.size
    },
    open: () => link.open(listener),
    discover: async (codec, patience) =>
      readDiscovery(codec, await send(codec, { method: 'server/discover', ...patience }, {})),
    initialize: async (codec, patience) =>
      readHandshake(await send(codec, { method: 'initialize', ...patience }, handshakeParams(codec, options))),
    async agree(codec, introduction) {
      const { capabilities } = introduction
      const clientCapabilities = options.capabilities
      const features = resolveFeatures({ codec, clientCapabilities, serverCapabilities: capabilities, transport })
      dialect = { codec, features, introduction }
      link.agree({ revision: codec.revision, http: codec.http })
      if (codec.lifecycle === 'session')
        await link.send({ text: notificationText('notifications/initialized', undefined) })
    },
    call(request) {
      if (!dialect)
        return Promise.reject(new CallFailed('ProtocolViolation', { ran: 'no', message: 'Nothing was agreed yet' }))
      const { codec } = dialect
      const params = requestCodec(codec, request.method).params.encode(request.params ?? {}, ignore)
      return send(codec, request, params)
    },
    async notify(method, params = {}) {
      const convert = dialect?.codec.clientNotifications.get(method)
      if (!convert) return false
      await link.send({ text: notificationText(method, convert.params.encode(params, ignore)) })
      return true
    },
    listening: async () => (await link.listening?.()) ?? always,
    encodeAnswer(method, answer) {
      // An answer inside a request is bare: it is the result of nothing (multi round-trip requests).
      const { resultType: _, ...bare } = dialect?.codec.asks.get(method)?.result.encode(answer, ignore) ?? answer
      return bare
    },
    refusalIn: (error) => refusalInResult(error, codecOf(dialect)),
    async close(failure = new CallFailed('Cancelled', { ran: 'unknown', message: 'The client was closed' })) {
      ended ??= notSent(failure)
      desk.close()
      table.fail(failure)
      await link.close()
    },
  }
}

/** What becomes of a request that comes after the end. */
function notSent({ kind, message, data }: CallFailed): CallFailed {
  return new CallFailed(kind, { ran: 'no', message, ...(data && { data }) })
}

function codecOf(dialect: Dialect | undefined): Codec {
  if (!dialect) throw violation('Nothing was agreed yet')
  return dialect.codec
}

function violation(message: string): CallFailed {
  return new CallFailed('ProtocolViolation', { ran: 'unknown', message })
}
