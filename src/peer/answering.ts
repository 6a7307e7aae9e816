import type { Codec } from '../codec/codec.ts'
import type { Call } from '../model/call.ts'
import { isObject, own, type JsonObject } from '../model/json.ts'
import type { Implementation, LogLevel } from '../model/nouns.ts'
import type { Notification, Principal } from '../model/notification.ts'
import type { Refusal } from '../model/refusal.ts'
import type { CallContext, Features, SessionState } from '../model/served.ts'
import { idText, notificationText, type RequestMessage } from '../wire/envelope.ts'
import { askClient } from './asking.ts'
import { nowhere, type Bag, type Placed } from '../model/bag.ts'
import { briefId } from './handshake.ts'
import type { Encoder } from './encoder.ts'
import { headerOfCall } from './header-of-call.ts'
import type { Answer, Exchange, InFlight, Outlet, PeerOptions, ReadHeader, SendAsk, Session } from './peer.ts'

/** What one request is spoken in: said by the request itself, or agreed in its session. */
export interface Dialect {
  readonly codec: Codec
  readonly client: Implementation | undefined
  readonly principal: Principal | undefined
  readonly logLevel: LogLevel | undefined
  readonly session: Session | undefined
  readonly features: () => Features
}

/** What all exchanges of a peer share. */
export interface Shared {
  readonly options: PeerOptions
  readonly encoder: Encoder
  /** Everything in flight, on all connections. */
  readonly open: Bag<Answering>
}

let aborted: AbortController | undefined

/** What a call has that was cancelled before anybody looked. Made when it is needed: the runtime loads it only then. */
function cancelledBefore(): AbortController {
  if (aborted === undefined) {
    aborted = new AbortController()
    aborted.abort(new Error('The call was cancelled'))
  }
  return aborted
}

/** A call whose stream has an end only from outside. */
const endless = 'subscriptions/listen'

/**
 * One request on its way through: the context that its handler sees, and the exchange that its transport holds. It
 * settles once; after that nothing it says is sent any more.
 */
export class Answering implements CallContext, Exchange, Placed {
  place: number = nowhere
  readonly answer: Promise<Answer | undefined>
  readonly end: (() => void) | undefined
  readonly #shared: Shared
  readonly #request: RequestMessage
  readonly #dialect: Dialect
  readonly #outlet: Outlet
  /** Where the id is taken until the exchange is settled. */
  readonly #inFlight: InFlight | undefined
  readonly #meta: JsonObject
  #settle: (answer: Answer | undefined) => void = () => {}
  #settled = false
  #pending: Set<() => void> | undefined
  #cancelled = false
  #detached = false
  #controller: AbortController | undefined
  #features: Features | undefined

  constructor(
    shared: Shared,
    request: RequestMessage,
    dialect: Dialect,
    outlet: Outlet,
    inFlight: InFlight | undefined,
  ) {
    this.#shared = shared
    this.#request = request
    this.#dialect = dialect
    this.#outlet = outlet
    this.#inFlight = inFlight
    const meta = request.params && own(request.params, '_meta')
    this.#meta = isObject(meta) ? meta : {}
    this.end = request.method === endless ? () => this.#abort('ended') : undefined
    this.answer = new Promise((resolve) => {
      this.#settle = resolve
    })
    shared.open.add(this)
  }

  /** Decodes, hands over, encodes. Whatever goes wrong on the way becomes the answer: this is the only catch. */
  async run(): Promise<void> {
    const { codec } = this.#dialect
    const { id, method, params = {} } = this.#request
    const { encoder, options } = this.#shared
    try {
      const request = codec.requests.get(method) ?? codec.foreign
      const call: Call = { method, params: request.params.decode(params), meta: this.#meta }
      const result = await options.served.handle(call, this)
      this.settle(this.#cancelled ? undefined : encoder.result(id, method, result, codec, this.end ? id : undefined))
    } catch (thrown) {
      this.settle(this.#cancelled ? undefined : encoder.failure(id, method, thrown, codec))
    }
  }

  /** Ends the exchange with `answer`; what comes later is dropped. */
  settle(answer: Answer | undefined): void {
    if (this.#settled) return
    this.#settled = true
    this.#shared.open.remove(this)
    this.#inFlight?.delete(this.#request.id)
    this.#settle(answer)
    // A question that nobody waits for any more is taken back, so that the client's user is not bothered with it.
    if (this.#pending) for (const giveUp of [...this.#pending]) giveUp()
  }

  cancel(reason?: string): void {
    if (this.#settled) return
    this.#cancelled = true
    this.settle(undefined)
    this.#abort(reason ?? 'cancelled')
  }

  leave(): void {
    if (!this.#detached) return this.cancel('the client went away')
    this.#cancelled = true
    this.settle(undefined)
  }

  stop(refusal: Refusal): void {
    const { id, method } = this.#request
    this.settle(this.#shared.encoder.failure(id, method, refusal, this.#dialect.codec))
    this.#abort('stopped')
  }

  #abort(reason: string): void {
    if (this.#controller) this.#controller.abort(new Error(reason))
    else this.#controller = cancelledBefore()
  }

  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal
  }

  get revision(): string {
    return this.#dialect.codec.revision
  }

  get features(): Features {
    return (this.#features ??= this.#dialect.features())
  }

  get defined(): Features {
    return this.#dialect.codec.features
  }

  get principal(): Principal | undefined {
    return this.#dialect.principal
  }

  get client(): Implementation | undefined {
    return this.#dialect.client
  }

  get logLevel(): LogLevel | undefined {
    return this.#dialect.logLevel
  }

  get progressToken(): string | number | undefined {
    const token = own(this.#meta, 'progressToken')
    return typeof token === 'string' || Number.isSafeInteger(token) ? (token as string | number) : undefined
  }

  notify(notification: Notification): void {
    if (this.#settled) return
    const { codec } = this.#dialect
    const params = this.#shared.encoder.notification(notification, codec)
    if (!params) return
    const tagged = this.end && codec.envelope ? codec.envelope.tag(params, this.#request.id) : params
    this.#outlet.send(notificationText(notification.method, tagged))
  }

  get over(): boolean {
    return this.#settled
  }

  get pending(): Set<() => void> {
    return (this.#pending ??= new Set())
  }

  get ask(): CallContext['ask'] {
    const { codec, session } = this.#dialect
    if (codec.asking !== 'live' || !session) return undefined
    const outlet = this.#outlet
    const way: SendAsk = outlet.ask ?? ((text) => (outlet.send(text), true))
    const send: SendAsk = (text) => !this.#settled && way(text)
    return (request) => askClient(request, { codec, session, send, withdraw: way, call: this, ...this.#shared })
  }

  get session(): SessionState | undefined {
    const { session } = this.#dialect
    return (
      session && {
        key: session.key,
        setLogLevel: (logLevel) => {
          session.logLevel = logLevel
          return session.keep?.({ logLevel })
        },
        subscribe: async (uri) => {
          const known = session.subscriptions.has(uri)
          session.subscriptions.add(uri)
          try {
            await session.keep?.({ subscribe: uri })
          } catch (error) {
            if (!known) session.subscriptions.delete(uri)
            throw error
          }
        },
        unsubscribe: (uri) => {
          session.subscriptions.delete(uri)
          return session.keep?.({ unsubscribe: uri })
        },
      }
    )
  }

  get requestKey(): string | undefined {
    const { session } = this.#dialect
    const { id } = this.#request
    return session && briefId(id) !== session.initializeId ? `${session.key} ${idText(id)}` : undefined
  }

  detach(): void {
    this.#detached = true
  }

  get requestId(): string | number {
    return this.#request.id
  }

  get header(): ReadHeader | undefined {
    const { header } = this.#outlet
    return header && headerOfCall(header)
  }

  disconnect(retryMs: number): void {
    if (!this.#settled) this.#outlet.disconnect?.(retryMs)
  }
}
