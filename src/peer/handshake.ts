import type { Codec, Transport } from '../codec/codec.ts'
import { resolveFeatures } from '../codec/profile.ts'
import { outline } from '../durable/session-ticket.ts'
import { isObject, own, type JsonObject } from '../model/json.ts'
import type { ClientCapabilities, Implementation, LogLevel, ServerCapabilities } from '../model/nouns.ts'
import type { Principal } from '../model/notification.ts'
import { Refusal } from '../model/refusal.ts'
import type { Features, Served } from '../model/served.ts'
import type { RequestId, RequestMessage } from '../wire/envelope.ts'
import type { Agreed, InFlight, PeerOptions, Session, SessionNames } from './peer.ts'

/** Until a client says otherwise, sessions hear of logs from here up (specification, `logging/setLevel`: the server's choice). */
const initialLogLevel: LogLevel = 'info'

/**
 * Reads `initialize` and settles the revision: one we speak is echoed, any other date countered.
 * @throws Refusal `MalformedInitialize`, or `UnsupportedVersion` where no revision with a handshake is served
 */
export function agree({ params = {} }: RequestMessage, { codecs }: PeerOptions): Agreed {
  const offered = own(params, 'protocolVersion')
  if (!codecs.newestWithHandshake) {
    const requested = typeof offered === 'string' ? offered : ''
    throw new Refusal('UnsupportedVersion', { data: { requested, supported: codecs.supported } })
  }
  const capabilities = own(params, 'capabilities')
  const client = own(params, 'clientInfo')
  const settled = codecs.negotiate(offered)
  if (!settled || !isObject(capabilities) || !isImplementation(client)) throw new Refusal('MalformedInitialize')
  return { revision: settled.codec.revision, capabilities: outline(capabilities), client: brief(client) }
}

/** UTF-16 units that are kept of what a client calls itself, and of the id of its `initialize`. */
const maxKept = 256

/** Nothing that a client says is too long to be served, but what a session keeps of it is bounded. */
function brief(client: JsonObject & Implementation): Implementation {
  const version = own(client, 'version')
  const title = own(client, 'title')
  return {
    name: cut(client.name),
    ...(typeof version === 'string' && { version: cut(version) }),
    ...(typeof title === 'string' && { title: cut(title) }),
  } as Implementation
}

function cut(text: string): string {
  // A copy, since a slice would hold on to all of it.
  return text.length <= maxKept ? text : Buffer.from(text.slice(0, maxKept)).toString()
}

/** What is kept of the id of `initialize`, to know it again. */
export function briefId(id: RequestId): RequestId {
  return typeof id === 'string' ? cut(id) : id
}

/** Only the name decides: clients of every age leave the rest out at times. */
function isImplementation(value: unknown): value is JsonObject & Implementation {
  return isObject(value) && typeof own(value, 'name') === 'string'
}

/** The session that `agreed` amounts to, here or on another replica than the one that agreed. @throws Refusal `UnnegotiableVersion` */
export function openSession(
  agreed: Agreed,
  { key, initializeId }: SessionNames,
  transport: Transport,
  inFlight: InFlight,
  options: PeerOptions,
): Session {
  const { served, codecs } = options
  const codec = codecs.get(agreed.revision)
  if (codec?.lifecycle !== 'session') throw new Refusal('UnnegotiableVersion')
  const clientCapabilities = codec.clientCapabilities.decode(agreed.capabilities) as ClientCapabilities
  return {
    codec,
    features: featuresBy(served, (serverCapabilities) =>
      resolveFeatures({ codec, clientCapabilities, serverCapabilities, transport }),
    ),
    client: agreed.client,
    inFlight,
    key,
    initializeId,
    asks: new Map(),
    subscriptions: new Subscriptions(options.maxSubscriptions),
    maxSubscriptions: options.maxSubscriptions,
    logLevel: initialLogLevel,
    initialized: false,
  }
}

/** Resolves anew only where the server describes itself by another object than it did the last time. */
function featuresBy(served: Served, resolve: (declared: ServerCapabilities) => Features): Session['features'] {
  let last: { readonly declared: ServerCapabilities; readonly features: Features } | undefined
  return (principal) => {
    const { capabilities: declared } = served.describe(principal)
    if (last?.declared !== declared) last = { declared, features: resolve(declared) }
    return last.features
  }
}

/** The resources that a session is told about. @throws Refusal `Overloaded` for one over the cap */
class Subscriptions extends Set<string> {
  readonly #max: number

  constructor(max: number) {
    super()
    this.#max = max
  }

  override add(uri: string): this {
    if (this.size >= this.#max && !this.has(uri)) throw new Refusal('Overloaded')
    return super.add(uri)
  }
}

/** The result of `initialize`, in the model's terms. */
export function introduction(codec: Codec, principal: Principal | undefined, { served }: PeerOptions): JsonObject {
  const { info, instructions, capabilities } = served.describe(principal)
  return {
    protocolVersion: codec.revision,
    capabilities: capabilities,
    serverInfo: info as unknown as JsonObject,
    ...(instructions !== undefined && { instructions }),
  }
}

/** The result of `server/discover`, in the model's terms. */
export function discovery(principal: Principal | undefined, { served, codecs }: PeerOptions): JsonObject {
  const { info, instructions, capabilities, hints } = served.describe(principal)
  return {
    supportedVersions: codecs.supported,
    capabilities: capabilities,
    serverInfo: info as unknown as JsonObject,
    ...(instructions !== undefined && { instructions }),
    ...(hints as JsonObject),
  }
}
