import { isObject, own } from '../model/json.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { Implementation } from '../model/nouns.ts'
import type { Clock, Random, Seal } from '../model/ports.ts'

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

/** What is told when a session is opened; the rest of its ticket is the book's own. */
export type SessionOpening = Omit<SessionTicket, 'key' | 'issuedAt'>

/** A session that was found. */
export interface SessionEntry<Live> {
  readonly ticket: SessionTicket
  /** What the process keeps of the session: it may be made anew from the ticket at any time. */
  readonly live: Live
}

/** The sessions of one endpoint. `Live` is whatever the process keeps of a session besides its ticket. */
export interface SessionBook<Live> {
  /** Opens a session. @returns its id: visible ASCII, at most 1 KiB (specification, "Session Management") */
  open(opening: SessionOpening, toLive: (ticket: SessionTicket) => Live): string
  /** `undefined` for an id that is unknown, altered, too old, ended, or another principal's: nobody can tell which. */
  find(id: string, principal: string | undefined): Promise<SessionEntry<Live> | undefined>
  /** Ends a session for good. @returns what was kept of it */
  end(id: string): Promise<Live | undefined>
  /** Every session that this process keeps something of. */
  live(): Iterable<Live>
}

/** What a session book is made of. */
export interface SessionBookOptions<Live> {
  /** Seals the ids. Without it they are random, and a session lives no longer than what the process keeps of it. */
  readonly seal: Seal | undefined
  readonly clock: Clock
  readonly random: Random
  /** Makes anew what a process keeps of a session; `undefined` when its revision is no longer served. */
  revive(ticket: SessionTicket): Live | undefined
  /** Whether the session must be kept although it is idle. */
  busy(live: Live): boolean
  /** Milliseconds after which a session ends whatever happens; 24 hours by default. */
  readonly ageMs?: number
  /** Milliseconds without a request after which what is kept is let go; 30 minutes by default. */
  readonly idleMs?: number
  /** Sessions that the process keeps something of, at most; 10,000 by default. */
  readonly maxLive?: number
}

const maxIdLength = 1024
/** Stands for a client whose name is too long for an id. */
const nobody: Implementation = { name: 'unknown', version: '0' }
const maxTombstones = 100_000

interface Kept<Live> extends SessionEntry<Live> {
  usedAt: number
}

/** Keeps the sessions of one endpoint in this process, with ids that any process holding the keys can take up. */
export function createSessionBook<Live>(options: SessionBookOptions<Live>): SessionBook<Live> {
  const { seal, clock, random, revive, busy } = options
  const { ageMs = 24 * 3_600_000, idleMs = 30 * 60_000, maxLive = 10_000 } = options
  // Both in the order of use, the one to go first at the front.
  const kept = new Map<string, Kept<Live>>()
  const ended = new Map<string, number>()

  function keep(id: string, ticket: SessionTicket, live: Live): Kept<Live> {
    const entry: Kept<Live> = { ticket, live, usedAt: clock() }
    kept.set(id, entry)
    letGo()
    return entry
  }

  function letGo(): void {
    const idleSince = clock() - idleMs
    // Busy ones go to the back, so the walk ends after one round.
    let left = kept.size
    for (const [id, entry] of kept) {
      if (left === 0 || (entry.usedAt > idleSince && kept.size <= maxLive)) return
      left -= 1
      kept.delete(id)
      if (busy(entry.live)) kept.set(id, Object.assign(entry, { usedAt: clock() }))
    }
  }

  function use(id: string, entry: Kept<Live>): void {
    entry.usedAt = clock()
    kept.delete(id)
    kept.set(id, entry)
  }

  function read(id: string): SessionTicket | undefined {
    const opened = seal?.open('session', id)
    return typeof opened === 'object' ? toTicket(opened) : undefined
  }

  return {
    open(opening, toLive) {
      const ticket: SessionTicket = { ...opening, key: randomText(random), issuedAt: clock() }
      const id = sealedId(seal, ticket, ageMs) ?? randomText(random)
      keep(id, ticket, toLive(ticket))
      return id
    },
    async find(id, principal) {
      const here = kept.get(id)
      const ticket = here?.ticket ?? read(id)
      if (ticket === undefined || ticket.principal !== principal) return undefined
      if (ticket.issuedAt + ageMs <= clock() || ended.has(ticket.key)) return undefined
      if (here !== undefined) {
        use(id, here)
        return here
      }
      const live = revive(ticket)
      return live === undefined ? undefined : keep(id, ticket, live)
    },
    async end(id) {
      const here = kept.get(id)
      const ticket = here?.ticket ?? read(id)
      kept.delete(id)
      if (ticket !== undefined) bury(ended, ticket.key, ticket.issuedAt + ageMs, clock())
      return here?.live
    },
    *live() {
      for (const entry of kept.values()) yield entry.live
    },
  }
}

function bury(ended: Map<string, number>, key: string, until: number, now: number): void {
  ended.set(key, until)
  for (const [old, expiresAt] of ended) {
    if (expiresAt > now && ended.size <= maxTombstones) return
    ended.delete(old)
  }
}

/** The sealed id of a session, leaving out what makes it too long; `undefined` when even that does not help. */
function sealedId(seal: Seal | undefined, ticket: SessionTicket, ageMs: number): string | undefined {
  for (const content of [ticket, { ...ticket, client: nobody }]) {
    const id = seal?.seal('session', toJson(content), ticket.issuedAt + ageMs)
    if (id !== undefined && id.length <= maxIdLength) return id
  }
  return undefined
}

function toJson(ticket: SessionTicket): JsonObject {
  const { key, revision, capabilities, client, principal, initializeId, issuedAt } = ticket
  return {
    k: key,
    r: revision,
    c: outline(capabilities, 4),
    n: [client.name, client.version],
    p: principal,
    i: initializeId,
    t: issuedAt,
  }
}

function toTicket(json: JsonObject): SessionTicket | undefined {
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

/** Capabilities with what negotiation looks at: names, and switches down to `depth`. */
function outline(object: JsonObject, depth: number): JsonObject {
  const kept: [string, Json][] = []
  for (const name of Object.keys(object)) {
    const value = own(object, name)
    if (name === 'experimental') continue
    if (isObject(value)) kept.push([name, depth > 1 ? outline(value, depth - 1) : {}])
    else if (typeof value === 'boolean') kept.push([name, value])
  }
  return Object.fromEntries(kept)
}

function randomText(random: Random): string {
  return Buffer.from(random(18)).toString('base64url')
}
