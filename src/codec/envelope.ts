import { isObject, own } from '../model/json.ts'
import { logLevels } from '../model/nouns.ts'
import type { Convert, Envelope } from './codec.ts'
import type { JsonObject } from '../model/json.ts'
import type { Implementation, LogLevel } from '../model/nouns.ts'

/** The `_meta` keys of self-contained requests, results and notifications (basic, `_meta`). */
export const metaKeys = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  client: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  server: 'io.modelcontextprotocol/serverInfo',
  subscription: 'io.modelcontextprotocol/subscriptionId',
} as const

const ignore = (): void => {}

/** The envelope of a revision whose requests say everything themselves. */
export function createEnvelope(
  named: Readonly<Record<string, string>>,
  capabilities: Convert,
  implementation: Convert,
): Envelope {
  // An interface has no index signature, but its members are JSON all the same.
  const encodeName = (info: Implementation): JsonObject => implementation.encode(info as unknown as JsonObject, ignore)
  return {
    named: new Map(Object.entries(named)),
    version: (meta) => own(meta, metaKeys.version),
    read(meta) {
      const version = own(meta, metaKeys.version)
      const declared = own(meta, metaKeys.capabilities)
      if (typeof version !== 'string' || !isObject(declared)) return 'MalformedRequestMeta'
      const client = readImplementation(meta)
      if (client === 'malformed') return 'MalformedRequestMeta'
      const logLevel = own(meta, metaKeys.logLevel)
      if (logLevel !== undefined && !isLogLevel(logLevel)) return 'BadLogLevel'
      return { version, capabilities: capabilities.decode(declared), client, logLevel }
    },
    write: (meta, request) => ({
      ...meta,
      [metaKeys.version]: request.version,
      [metaKeys.capabilities]: capabilities.encode(request.capabilities, ignore),
      ...(request.client && { [metaKeys.client]: encodeName(request.client) }),
      ...(request.logLevel && { [metaKeys.logLevel]: request.logLevel }),
    }),
    sign: (result, server) => withMeta(result, metaKeys.server, encodeName(server)),
    tag: (params, id) => withMeta(params, metaKeys.subscription, id),
  }
}

/** `object` with one more member in its `_meta`. A new member stands first, since engines copy after it, not before it, fast. */
function withMeta(object: JsonObject, key: string, value: JsonObject | string | number): JsonObject {
  const meta = own(object, '_meta')
  if (!Object.hasOwn(object, '_meta')) return { _meta: { [key]: value }, ...object }
  return { ...object, _meta: isObject(meta) ? { ...meta, [key]: value } : { [key]: value } }
}

function readImplementation(meta: JsonObject): Implementation | undefined | 'malformed' {
  const info = own(meta, metaKeys.client)
  if (info === undefined) return undefined
  if (!isObject(info)) return 'malformed'
  const name = own(info, 'name')
  const version = own(info, 'version') ?? ''
  return typeof name === 'string' && typeof version === 'string' ? { ...info, name, version } : 'malformed'
}

function isLogLevel(value: unknown): value is LogLevel {
  return logLevels.some((level) => level === value)
}
