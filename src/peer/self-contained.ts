import type { Codec, Envelope, RequestMeta } from '../codec/codec.ts'
import { checkHeaders } from '../codec/header-plan.ts'
import { resolveFeatures } from '../codec/profile.ts'
import { isObject, own, type JsonObject } from '../model/json.ts'
import { Refusal } from '../model/refusal.ts'
import { decodeHeaderValue } from '../wire/header-value.ts'
import type { RequestMessage } from '../wire/envelope.ts'
import type { Features } from '../model/served.ts'
import type { Dialect } from './answering.ts'
import { checkRequest, serverFeatures } from './methods.ts'
import type { PeerOptions, ReadHeader, SelfContainedScope } from './peer.ts'

/** The request that a codec has apart from the others: whoever serves a revision answers it, whatever its params. */
const introduces = 'server/discover'

/**
 * Settles what a self-contained request is spoken in, or refuses it. The checks stand in the order in which they are
 * made: version header equals body, required `_meta`, version header there, revision served, `Mcp-Method`, `Mcp-Name`,
 * method, params, `Mcp-Param-*`. What follows (lookup, features, state, arguments) is the server's.
 * @throws Refusal
 */
export function readDialect(request: RequestMessage, scope: SelfContainedScope, options: PeerOptions): Dialect {
  const { header, principal } = scope
  const envelope = envelopeOf(options)
  const meta = metaOf(request)
  checkVersionHeader(meta && envelope.version(meta), header)
  const said = readMeta(meta, envelope)
  if (header && header('mcp-protocol-version') === undefined) throw new Refusal('HeaderMismatch')
  const codec = served(said.version, options)
  if (header) checkRoutingHeaders(request, codec, header)
  if (request.method !== introduces) {
    const features = serverFeatures(codec, scope.transport, options.served, principal)
    checkRequest(request, codec, features, principal, options)
  }
  if (header) checkParamHeaders(request, header, scope, options)
  return {
    codec,
    principal,
    client: said.client,
    logLevel: said.logLevel,
    session: undefined,
    features: () => featuresOf(codec, said, scope, options),
  }
}

function envelopeOf({ codecs }: PeerOptions): Envelope {
  const envelope = codecs.all.find((codec) => codec.envelope)?.envelope
  if (!envelope) throw new Refusal('InvalidRequest')
  return envelope
}

function metaOf({ params = {} }: RequestMessage): JsonObject | undefined {
  const meta = own(params, '_meta')
  return isObject(meta) ? meta : undefined
}

function checkVersionHeader(inBody: unknown, header: ReadHeader | undefined): void {
  const inHeader = header?.('mcp-protocol-version')
  if (inHeader !== undefined && typeof inBody === 'string' && inHeader !== inBody) throw new Refusal('HeaderMismatch')
}

function readMeta(meta: JsonObject | undefined, envelope: Envelope): RequestMeta {
  const said = meta ? envelope.read(meta) : 'MalformedRequestMeta'
  if (typeof said === 'string') throw new Refusal(said)
  return said
}

function served(version: string, { codecs }: PeerOptions): Codec {
  const codec = codecs.get(version)
  if (codec?.lifecycle === 'request') return codec
  throw new Refusal('UnsupportedVersion', { data: { requested: version, supported: codecs.supported } })
}

function checkRoutingHeaders({ method, params = {} }: RequestMessage, codec: Codec, header: ReadHeader): void {
  if (readValue(header, 'mcp-method') !== method) throw new Refusal('HeaderMismatch')
  const param = codec.envelope?.named.get(method)
  if (param !== undefined && readValue(header, 'mcp-name') !== own(params, param)) throw new Refusal('HeaderMismatch')
}

function readValue(header: ReadHeader, name: string): string | undefined {
  const raw = header(name)
  return raw === undefined ? undefined : decodeHeaderValue(raw)
}

/** The plan is that of a tool the caller sees, so that a hidden tool differs in nothing from an absent one. */
function checkParamHeaders(
  { method, params = {} }: RequestMessage,
  header: ReadHeader,
  scope: SelfContainedScope,
  options: PeerOptions,
): void {
  if (method !== 'tools/call') return
  const plan = options.served.headerPlan(params.name as string, scope.principal)
  if (plan && !checkHeaders(plan, (params.arguments ?? {}) as JsonObject, header)) throw new Refusal('HeaderMismatch')
}

function featuresOf(codec: Codec, said: RequestMeta, scope: SelfContainedScope, options: PeerOptions): Features {
  const { principal, transport } = scope
  if (Object.keys(said.capabilities).length === 0) return serverFeatures(codec, transport, options.served, principal)
  const serverCapabilities = options.served.describe(principal).capabilities
  return resolveFeatures({ codec, clientCapabilities: said.capabilities, serverCapabilities, transport })
}
