import { createCodec } from './build.ts'
import { supersetOf } from './project.ts'
import { revision20241105 } from './2024-11-05.ts'
import { revision20250326 } from './2025-03-26.ts'
import { revision20250618 } from './2025-06-18.ts'
import { revision20251125 } from './2025-11-25.ts'
import { revision20260728 } from './2026-07-28.ts'
import type { Codec } from './codec.ts'
import { lazy, type Revision } from './define.ts'

/** The published revisions, oldest first. */
export const revisions: () => readonly Revision[] = lazy(() => [
  revision20241105(),
  revision20250326(),
  revision20250618(),
  revision20251125(),
  revision20260728(),
])

/** What `initialize` comes to. */
export interface Negotiation {
  /** What the server answers with. */
  readonly codec: Codec
  /** Whether that is what the client offered. */
  readonly echoed: boolean
}

/** The revisions that a peer speaks. */
export interface Codecs {
  /** Newest first. */
  readonly all: readonly Codec[]
  readonly newest: Codec
  readonly newestWithHandshake: Codec | undefined
  /** The names of all of them, newest first. */
  readonly supported: readonly string[]
  get(revision: string): Codec | undefined
  /** Whether any known revision, served or not, defines a request of this name. What none defines may be an extension's. */
  knows(method: string): boolean
  /**
   * What to answer to the `protocolVersion` of `initialize`: one that is spoken here and has a handshake is echoed, any
   * other date countered with the newest that has one. `undefined`: it is no date, so the request is MalformedInitialize;
   * or there is no {@link Codecs.newestWithHandshake}, so that nothing can be agreed on.
   */
  negotiate(offered: unknown): Negotiation | undefined
  /**
   * Whether a version header names a time since requests stand alone, whether that revision is served or not. Never where
   * only revisions with a handshake are served: then no request is taken to stand alone.
   */
  isSelfContainedDate(header: string): boolean
  /**
   * The same registry, cut down to some of its revisions.
   * @throws TypeError for none, and for one that is not here.
   */
  pin(revisions: readonly string[]): Codecs
}

/**
 * The codecs of `known` revisions. What any of them defines is known to all, so that each leaves out what it does not
 * define itself and carries what nobody does. Everything is compiled here, nothing per message.
 */
export function createCodecs(known: readonly Revision[] = revisions()): Codecs {
  const superset = supersetOf(known)
  const newestFirst = [...known].sort((a, b) => (a.revision < b.revision ? 1 : -1))
  const all = newestFirst.map((revision) => createCodec(revision, superset))
  const methods = new Set(known.flatMap((revision) => [...Object.keys(revision.requests), ...introductions]))
  const selfContained = all.filter((codec) => codec.lifecycle === 'request').at(-1)?.revision
  return serve(all, { methods, selfContained })
}

const introductions = ['initialize', 'server/discover']

/** What is known whether it is served or not. */
interface Known {
  readonly methods: ReadonlySet<string>
  /** The earliest revision whose requests stand alone. */
  readonly selfContained: string | undefined
}

function serve(all: readonly Codec[], known: Known): Codecs {
  const [newest] = all
  if (!newest) throw new TypeError('At least one revision has to be served')
  const byRevision = new Map(all.map((codec) => [codec.revision, codec]))
  const newestWithHandshake = all.find((codec) => codec.lifecycle === 'session')
  const standsAlone = all.some((codec) => codec.lifecycle === 'request')
  const { selfContained } = known
  return {
    all,
    newest,
    newestWithHandshake,
    supported: [...byRevision.keys()],
    get: (revision) => byRevision.get(revision),
    knows: (method) => known.methods.has(method),
    negotiate(offered) {
      if (typeof offered !== 'string' || !isDate(offered) || !newestWithHandshake) return undefined
      const spoken = byRevision.get(offered)
      return spoken?.lifecycle === 'session'
        ? { codec: spoken, echoed: true }
        : { codec: newestWithHandshake, echoed: false }
    },
    isSelfContainedDate: (header) =>
      standsAlone && selfContained !== undefined && header >= selfContained && isDate(header),
    pin(wanted) {
      for (const revision of wanted)
        if (!byRevision.has(revision)) throw new TypeError(`${revision} is not a revision served here`)
      return serve(
        all.filter((codec) => wanted.includes(codec.revision)),
        known,
      )
    },
  }
}

/** Whether `text` is a day of the calendar, written `YYYY-MM-DD`. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}
