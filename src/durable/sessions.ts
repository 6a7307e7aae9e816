import { isObject, type JsonObject } from '../model/json.ts'
import type { Principal } from '../model/notification.ts'
import type { Clock, Random, Seal } from '../model/ports.ts'
import { Refusal } from '../model/refusal.ts'
import type { Store } from '../model/store.ts'
import { digest } from './digest.ts'
import { sealedId, toJson, toTicket, type SessionTicket } from './session-ticket.ts'

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
  open(opening: SessionOpening, toLive: (ticket: SessionTicket) => Live): Promise<string>
  /**
   * `undefined` for an id that is unknown, altered, too old, ended, or another principal's: nobody can tell which.
   * Rejects while the store is away that would know.
   */
  find(id: string, principal: Principal | undefined): Promise<SessionEntry<Live> | undefined>
  /** Keeps what requests change of a session, for every process. @param change makes the next out of what is kept */
  change(ticket: SessionTicket, change: (kept: JsonObject) => JsonObject): Promise<void>
  /** Ends a session for good, in every process that looks it up. */
  end(entry: SessionEntry<Live>): Promise<void>
  /** Takes in that another process ended a session. @returns what was kept of it here */
  ended(key: string, until: number): Live | undefined
  /** What this process keeps of the session with this key. */
  get(key: string): SessionEntry<Live> | undefined
  /** Reads again what was changed of a session, or of all of them: other processes changed it, or may have. */
  refresh(key?: string): Promise<void>
  /** Every session that this process keeps something of. */
  live(): Iterable<Live>
}

/** What a session book is made of. */
export interface SessionBookOptions<Live> {
  /**
   * Seals the ids, so that a session needs nothing but its id. Without it ids are random: a session is kept in the store,
   * and where there is none, it lives no longer than what the process keeps of it.
   */
  readonly seal: Seal | undefined
  /** Keeps what requests change, and which sessions were ended. Without it, the process does. */
  readonly store: Store | undefined
  readonly clock: Clock
  readonly random: Random
  /**
   * Makes anew what a process keeps of a session; `undefined` when its revision is no longer served. What its principal
   * may do goes by each request, not by the session.
   */
  revive(ticket: SessionTicket, changes: JsonObject): Live | undefined
  /** Brings what a process keeps up to what was changed elsewhere. */
  update(live: Live, changes: JsonObject): void
  /** Lets go of what a process keeps of a session that has ended. */
  drop(live: Live): void
  /** Whether the session must be kept although it is idle. */
  busy(live: Live): boolean
  /** Milliseconds after which a session ends whatever happens; 24 hours by default. */
  readonly ageMs?: number
  /** Milliseconds without a request after which what is kept is let go; 30 minutes by default. */
  readonly idleMs?: number
  /** Idle sessions that the process keeps something of, at most; 10,000 by default, 200 where all of it can be had again. */
  readonly maxLive?: number
}

const maxTombstones = 100_000
/** Sessions that are changed or ended, of which the store knows at most. */
const maxStored = 100_000
/** Bytes of a random id, and the characters that they make; sealed ids are longer. */
const randomBytes = 18
const randomLength = 24

interface Kept<Live> extends SessionEntry<Live> {
  readonly id: string
  usedAt: number
}

/** What the store has of a session: its ticket where its id does not say it, and what was changed, or that it has ended. */
interface Stored {
  readonly ticket?: JsonObject
  readonly changes?: JsonObject
  readonly ended?: true
}

/** Keeps the sessions of one endpoint, so that any process with the same seal or store can take them up. */
export function createSessionBook<Live>(options: SessionBookOptions<Live>): SessionBook<Live> {
  const { seal, store, clock, random, revive, busy } = options
  const { ageMs = 24 * 3_600_000, idleMs = 30 * 60_000, maxLive = store === undefined ? 10_000 : 200 } = options
  // Both in the order of use, the one to go first at the front.
  const kept = new Map<string, Kept<Live>>()
  const ended = new Map<string, number>()
  const byKey = new Map<string, Kept<Live>>()

  function keep(id: string, ticket: SessionTicket, live: Live): Kept<Live> {
    const entry: Kept<Live> = { id, ticket, live, usedAt: clock() }
    kept.set(id, entry)
    byKey.set(ticket.key, entry)
    letGo()
    makeRoom()
    return entry
  }

  function forget({ id, ticket }: Kept<Live>): void {
    kept.delete(id)
    byKey.delete(ticket.key)
  }

  /** Lets go of what was idle for too long. */
  function letGo(): void {
    const idleSince = clock() - idleMs
    // Busy ones go to the back, so the walk ends after one round.
    let left = kept.size
    for (const [id, entry] of kept) {
      if (left === 0 || entry.usedAt > idleSince) return
      left -= 1
      if (!busy(entry.live)) forget(entry)
      else {
        kept.delete(id)
        kept.set(id, Object.assign(entry, { usedAt: clock() }))
      }
    }
  }

  /** Lets go of the idle ones over the bound, those first that were used longest ago. */
  function makeRoom(): void {
    if (kept.size <= maxLive) return
    const idle = [...kept.values()].filter(({ live }) => !busy(live))
    for (const entry of idle.slice(0, Math.max(0, idle.length - maxLive))) forget(entry)
  }

  function use(entry: Kept<Live>): Kept<Live> {
    entry.usedAt = clock()
    kept.delete(entry.id)
    kept.set(entry.id, entry)
    return entry
  }

  async function stored(key: string): Promise<Stored> {
    const found = await store?.get(nameOf(key))
    return found === undefined ? {} : (JSON.parse(found.value) as Stored)
  }

  /** Writes what the store is to have of a session, out of what it has. */
  async function rewrite(ticket: SessionTicket, next: (before: Stored) => Stored): Promise<void> {
    if (store === undefined) return
    const name = nameOf(ticket.key)
    for (;;) {
      const found = await store.get(name)
      const value = JSON.stringify(next(found === undefined ? {} : (JSON.parse(found.value) as Stored)))
      const expiresAt = ticket.issuedAt + ageMs
      const put = { ifVersion: found?.version ?? 0, expiresAt, maxInGroup: maxStored, evict: 'first' } as const
      if ((await store.put(name, value, put)) !== undefined) return
    }
  }

  /** The ticket that an id is, or stands for, and what else is known of the session. */
  async function look(id: string): Promise<{ readonly ticket: SessionTicket; readonly known: Stored } | undefined> {
    if (seal === undefined || id.length === randomLength) {
      const known = await stored(digest(id))
      const ticket = known.ticket && toTicket(known.ticket)
      return ticket && { ticket, known }
    }
    const opened = seal.open('session', id)
    const ticket = isObject(opened) ? toTicket(opened) : undefined
    if (ticket === undefined || ticket.issuedAt + ageMs <= clock() || ended.has(ticket.key)) return undefined
    return { ticket, known: await stored(ticket.key) }
  }

  function bury(key: string, until: number): void {
    ended.set(key, until)
    for (const [old, expiresAt] of ended) {
      if (expiresAt > clock() && ended.size <= maxTombstones) return
      ended.delete(old)
    }
  }

  function takeEnd(key: string, until: number): Live | undefined {
    const entry = byKey.get(key)
    if (entry !== undefined) {
      forget(entry)
      options.drop(entry.live)
    }
    bury(key, until)
    return entry?.live
  }

  async function reread(entry: Kept<Live>): Promise<void> {
    if (!busy(entry.live)) return forget(entry)
    const known = await stored(entry.ticket.key)
    if (known.ended) takeEnd(entry.ticket.key, entry.ticket.issuedAt + ageMs)
    else options.update(entry.live, known.changes ?? {})
  }

  const isOver = ({ key, issuedAt }: SessionTicket): boolean => issuedAt + ageMs <= clock() || ended.has(key)

  return {
    async open(opening, toLive) {
      if (seal?.loading) await loaded(seal.loading)
      const text = randomText(random)
      const ticket: SessionTicket = { ...opening, key: digest(text), issuedAt: clock() }
      const sealed = seal && sealedId(seal, ticket, ageMs)
      if (sealed === undefined) await rewrite(ticket, () => ({ ticket: toJson(ticket) }))
      keep(sealed ?? text, ticket, toLive(ticket))
      return sealed ?? text
    },
    async find(id, principal) {
      letGo()
      const here = kept.get(id)
      const owner = principal?.id
      if (here !== undefined) return here.ticket.principal !== owner || isOver(here.ticket) ? undefined : use(here)
      if (seal?.loading) await loaded(seal.loading)
      const found = await look(id)
      if (found === undefined || found.known.ended || found.ticket.principal !== owner || isOver(found.ticket))
        return undefined
      // Another request of the session may have come first.
      const meanwhile = kept.get(id)
      if (meanwhile !== undefined) return use(meanwhile)
      const live = revive(found.ticket, found.known.changes ?? {})
      return live === undefined ? undefined : keep(id, found.ticket, live)
    },
    change: (ticket, change) => rewrite(ticket, (before) => ({ ...before, changes: change(before.changes ?? {}) })),
    async end({ ticket }) {
      await rewrite(ticket, () => ({ ended: true }))
      takeEnd(ticket.key, ticket.issuedAt + ageMs)
    },
    ended: takeEnd,
    get: (key) => byKey.get(key),
    async refresh(key) {
      const entries = key === undefined ? [...kept.values()] : [byKey.get(key)]
      for (const entry of entries) if (entry !== undefined) await reread(entry)
    },
    *live() {
      for (const entry of kept.values()) yield entry.live
    },
  }
}

function nameOf(key: string): string {
  return `session/${key}`
}

async function loaded(loading: Promise<void>): Promise<void> {
  await loading.catch((cause: unknown) => {
    throw new Refusal('Overloaded', { retryAfter: 1, cause })
  })
}

function randomText(random: Random): string {
  return Buffer.from(random(randomBytes)).toString('base64url')
}
