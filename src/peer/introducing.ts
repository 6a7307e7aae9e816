import type { Codec } from '../codec/codec.ts'
import { metaKeys } from '../codec/envelope.ts'
import { CallFailed } from '../model/failure.ts'
import { isObject, own, type Json, type JsonObject } from '../model/json.ts'
import type { Implementation } from '../model/nouns.ts'
import type { CallerOptions, Introduction } from './calling.ts'

const ignore = (): void => {}

/** The params of `initialize`. */
export function handshakeParams(codec: Codec, { info, capabilities }: CallerOptions): JsonObject {
  const params = { protocolVersion: codec.revision, capabilities, clientInfo: info as unknown as JsonObject }
  return codec.introduction.params.encode(params, ignore)
}

/** What a server answered to `initialize`. @throws CallFailed `ProtocolViolation` for what is no such answer */
export function readHandshake(result: JsonObject): Introduction {
  const revision = own(result, 'protocolVersion')
  if (typeof revision !== 'string') throw strange('The answer to initialize names no revision')
  return { ...described(result, own(result, 'serverInfo')), revision, supported: [] }
}

/** What a server answered to `server/discover`. @throws CallFailed `ProtocolViolation` for what is no such answer */
export function readDiscovery(codec: Codec, result: JsonObject): Introduction {
  const supported = own(result, 'supportedVersions')
  if (!Array.isArray(supported)) throw strange('The answer to server/discover names no revisions')
  const meta = own(result, '_meta')
  const signed = isObject(meta) ? own(meta, metaKeys.server) : undefined
  return {
    ...described(result, signed ?? own(result, 'serverInfo')),
    revision: codec.revision,
    supported: supported.filter((one: Json): one is string => typeof one === 'string'),
  }
}

/** What both have. A server that leaves out what it must say is taken to offer nothing, rather than turned away. */
function described(result: JsonObject, info: Json | undefined): Omit<Introduction, 'revision' | 'supported'> {
  const capabilities = own(result, 'capabilities')
  const instructions = own(result, 'instructions')
  const ttlMs = own(result, 'ttlMs')
  return {
    info: toImplementation(info),
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
    ttlMs: typeof ttlMs === 'number' ? ttlMs : undefined,
  }
}

function toImplementation(info: Json | undefined): Implementation | undefined {
  if (!isObject(info)) return undefined
  const name = own(info, 'name')
  const version = own(info, 'version') ?? ''
  return typeof name === 'string' && typeof version === 'string' ? { ...info, name, version } : undefined
}

function strange(message: string): CallFailed {
  return new CallFailed('ProtocolViolation', { ran: 'no', message })
}
