import type { Codec, Envelope } from '../codec/codec.ts'
import { writeHeaders } from '../codec/header-plan.ts'
import { isObject, own, type JsonObject } from '../model/json.ts'
import type { ClientCapabilities, LogLevel } from '../model/nouns.ts'
import type { HeaderPlan } from '../model/served.ts'
import type { RequestId } from '../wire/envelope.ts'
import { encodeHeaderValue } from '../wire/header-value.ts'
import type { CallerOptions, Request } from './calling.ts'

/** Writes the params of a client's requests. */
export type WriteParams = (codec: Codec, request: Request, params: JsonObject, id: RequestId) => JsonObject | undefined

/**
 * Makes the writer of a client: params with their `_meta`, which has what the caller wants there, a token where word of
 * progress is wanted, and what the client says of itself where each request stands alone. That is the same for most, so
 * it is encoded once. The token is the request's id: unique while it lasts.
 */
export function createParamsWriter({ capabilities, info, logLevel }: CallerOptions): WriteParams {
  let usual: { readonly codec: Codec; readonly level: LogLevel | undefined; readonly said: JsonObject } | undefined

  function saidIn(codec: Codec, envelope: Envelope, more: ClientCapabilities | undefined): JsonObject {
    const level = logLevel()
    if (!more && usual?.codec === codec && usual.level === level) return usual.said
    const all = more ? withCapabilities(capabilities, more) : capabilities
    const said = envelope.write({}, { version: codec.revision, capabilities: all, client: info, logLevel: level })
    if (!more) usual = { codec, level, said }
    return said
  }

  return (codec, request, params, id) => {
    const wantsProgress = request.keepAlive === true || request.onProgress !== undefined
    const meta = wantsProgress ? { ...request.meta, progressToken: id } : request.meta
    if (codec.envelope) return { ...params, _meta: { ...meta, ...saidIn(codec, codec.envelope, request.capabilities) } }
    if (meta !== undefined) return { ...params, _meta: meta }
    return Object.keys(params).length > 0 ? params : undefined
  }
}

/** The client's capabilities and those of one request: what is an object in both is put together. */
function withCapabilities(all: ClientCapabilities, more: ClientCapabilities): ClientCapabilities {
  const merged = Object.entries(more).map(([name, value]) => {
    const there = own(all, name)
    return [name, isObject(there) && isObject(value) ? { ...there, ...value } : value] as const
  })
  return { ...all, ...Object.fromEntries(merged) }
}

/** The HTTP headers that repeat the body, where the revision has any (specification, "Streamable HTTP", standard headers). */
export function headersFor(
  codec: Codec,
  method: string,
  params: JsonObject,
  plan: HeaderPlan | undefined,
): Readonly<Record<string, string>> | undefined {
  if (!codec.envelope) return undefined
  const param = codec.envelope.named.get(method)
  const name = param === undefined ? undefined : own(params, param)
  const args = own(params, 'arguments')
  return {
    'mcp-protocol-version': codec.revision,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': encodeHeaderValue(name) }),
    ...(plan && writeHeaders(plan, isObject(args) ? args : {})),
  }
}
