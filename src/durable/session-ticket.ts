import { isObject, own } from '../model/json.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { Implementation } from '../model/nouns.ts'
import type { Seal } from '../model/ports.ts'

/** What a session id says of the handshake behind it; enough to take the session up again in another process. */
export interface SessionTicket {
  /** Unguessable and the session's own; what belongs to the session is stored under it. */
  readonly key: string
  readonly revision: string
  readonly capabilities: JsonObject
  readonly client: Implementation
  /** The principal's id. */
  readonly principal: string | undefined
  /** The id of the `initialize` request. */
  readonly initializeId: string | number
  /** Milliseconds since the epoch. */
  readonly issuedAt: number
}

const maxIdLength = 1024
/** Stands for a client whose name is too long for an id. */
const nobody: Implementation = { name: 'unknown', version: '0' }

/** The sealed id of a session, leaving out what makes it too long; `undefined` when even that does not help. */
export function sealedId(seal: Seal, ticket: SessionTicket, ageMs: number): string | undefined {
  for (const content of [ticket, { ...ticket, client: nobody }]) {
    const id = seal.seal('session', toJson(content), ticket.issuedAt + ageMs)
    if (id.length <= maxIdLength) return id
  }
  return undefined
}

/** A ticket as it is sealed or stored. */
export function toJson(ticket: SessionTicket): JsonObject {
  const { key, revision, capabilities, client, principal, initializeId, issuedAt } = ticket
  return {
    k: key,
    r: revision,
    c: outline(capabilities),
    n: [client.name, client.version],
    p: principal,
    i: initializeId,
    t: issuedAt,
  }
}

/** Reads what {@link toJson} wrote; `undefined` for anything else. */
export function toTicket(json: JsonObject): SessionTicket | undefined {
  const { k: key, r: revision, c: capabilities, n: client, p: principal, i: initializeId, t: issuedAt } = json
  if (typeof key !== 'string' || typeof revision !== 'string' || typeof issuedAt !== 'number') return undefined
  if (typeof initializeId !== 'string' && typeof initializeId !== 'number') return undefined
  const [name, version] = Array.isArray(client) ? client : []
  return {
    key,
    revision,
    capabilities: isObject(capabilities) ? capabilities : {},
    client: typeof name === 'string' && typeof version === 'string' ? { name, version } : nobody,
    principal: typeof principal === 'string' ? principal : undefined,
    initializeId,
    issuedAt,
  }
}

/** Names that an outline keeps, at all depths together; no client has that many. */
const maxNames = 200
/** UTF-16 units of a name that an outline keeps. */
const maxNameLength = 128
const maxOutlineDepth = 4

/**
 * Capabilities with what negotiation looks at: names, and switches down to a depth of 4. What is over a bound is left out,
 * so that a session costs little whatever its client declares.
 */
export function outline(capabilities: JsonObject): JsonObject {
  let left = maxNames
  const outlined = (object: JsonObject, depth: number): JsonObject => {
    const kept: [string, Json][] = []
    for (const name of Object.keys(object)) {
      if (left === 0) break
      const value = own(object, name)
      if (name === 'experimental' || name.length > maxNameLength) continue
      if (!isObject(value) && typeof value !== 'boolean') continue
      left -= 1
      if (typeof value === 'boolean') kept.push([name, value])
      else kept.push([name, depth < maxOutlineDepth ? outlined(value, depth + 1) : {}])
    }
    return Object.fromEntries(kept)
  }
  return outlined(capabilities, 1)
}
