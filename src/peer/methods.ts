import type { Codec, RequestCodec, Transport } from '../codec/codec.ts'
import { resolveFeatures } from '../codec/profile.ts'
import { isObject, own, type JsonObject } from '../model/json.ts'
import type { ServerCapabilities } from '../model/nouns.ts'
import type { Principal } from '../model/notification.ts'
import { Refusal } from '../model/refusal.ts'
import type { Features, Served } from '../model/served.ts'
import type { RequestMessage } from '../wire/envelope.ts'
import type { PeerOptions } from './peer.ts'

const none = {}

/** By capabilities, revision and transport: what is on whatever the client declares. */
const known = new WeakMap<ServerCapabilities, Map<Codec, Map<Transport, Features>>>()

/** The features of a server before its client declared anything; made once per snapshot of the server. */
export function serverFeatures(
  codec: Codec,
  transport: Transport,
  served: Served,
  principal: Principal | undefined,
): Features {
  const { capabilities } = served.describe(principal)
  const found = known.get(capabilities)?.get(codec)?.get(transport)
  if (found) return found
  const fresh = resolveFeatures({ codec, clientCapabilities: none, serverCapabilities: capabilities, transport })
  const byCodec = known.get(capabilities) ?? new Map<Codec, Map<Transport, Features>>()
  const byTransport = byCodec.get(codec) ?? new Map<Transport, Features>()
  known.set(capabilities, byCodec.set(codec, byTransport.set(transport, fresh)))
  return fresh
}

/**
 * Checks that a request can be answered at all: that its method exists here, and that its params have the shape for it.
 * @throws Refusal `UnknownMethod` for what the revision lacks or the server does not offer, or what the shape deserves
 */
export function checkRequest(
  { method, params = none }: RequestMessage,
  codec: Codec,
  features: Features,
  principal: Principal | undefined,
  options: PeerOptions,
): void {
  const request = codec.requests.get(method) ?? foreign(method, codec, options)
  if (!request || !isOffered(request, features, principal, options.served)) throw new Refusal('UnknownMethod')
  const kind = request.check(params)
  if (kind) throw new Refusal(kind)
  // There would be no room for them later either.
  if (method === 'subscriptions/listen' && subscriptionsIn(params) > options.maxSubscriptions)
    throw new Refusal('MalformedParams')
}

function subscriptionsIn(params: JsonObject): number {
  const filter = own(params, 'notifications')
  const uris = isObject(filter) ? own(filter, 'resourceSubscriptions') : undefined
  return Array.isArray(uris) ? uris.length : 0
}

/** What no revision defines may be the server's own. */
function foreign(method: string, codec: Codec, { codecs, served }: PeerOptions): RequestCodec | undefined {
  return !codecs.knows(method) && served.owns?.(method, codec.revision) ? codec.foreign : undefined
}

function isOffered(
  { needs, extension }: RequestCodec,
  features: Features,
  principal: Principal | undefined,
  served: Served,
): boolean {
  if (needs !== undefined && !features.has(needs)) return false
  return extension === undefined || Object.hasOwn(served.describe(principal).capabilities.extensions ?? none, extension)
}
