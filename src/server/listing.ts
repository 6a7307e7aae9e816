import type { CacheHints } from '../model/nouns.ts'
import { lasting } from '../model/lasting.ts'
import { Refusal } from '../model/refusal.ts'
import type { Principal } from '../model/notification.ts'
import type { Core } from './core.ts'
import type { Shelf, Snapshot } from './registry.ts'
import type { ListKind } from './server.ts'
import { isVisible } from './visibility.ts'

type Entry<K extends ListKind> = Snapshot[K]['ordered'][number]
type Noun<K extends ListKind> = Entry<K>['listing']

/** One page of a list; the same object each time, so that its bytes can be kept beside it. */
type Page<K extends ListKind> = { readonly [List in K]: readonly Noun<K>[] } & CacheHints & {
    readonly nextCursor?: string
  }

const defaultPageSize = 100
/** A cursor stays good this long. */
const cursorTtlMs = 30 * 24 * 3600_000
/** A page with a cursor is kept this long, so that its cursor is good for a sensible walk whenever it is handed out. */
const keepPagesMs = cursorTtlMs / 2
/** How many views of one list (by what the caller sees) are kept. */
const maxViews = 64

interface Kept {
  readonly page: unknown
  /** Milliseconds since the epoch; past it the page is made anew. */
  readonly until: number
}

/** Pages by shelf, then by what the caller sees of it and where the page starts. A new shelf starts anew. */
const pages = new WeakMap<object, Map<string, Kept>>()

/** The page of `list` that starts after `cursor`, as `principal` sees it. @throws Refusal `BadCursor` */
export function listPage<K extends ListKind>(
  list: K,
  cursor: string | undefined,
  principal: Principal | undefined,
  core: Core,
): Page<K> {
  const shelf = core.snapshot()[list] as Shelf<Entry<K>>
  const after = cursor === undefined ? undefined : readCursor(list, cursor, core)
  const start = after === undefined ? 0 : placeAfter(after, shelf, core)
  const view = `${viewOf(shelf, principal)}\n${start}`
  const kept = keptPages(shelf)
  const known = kept.get(view)
  // A shelf is on one list of one server, so what is kept of it is a page of this list.
  if (known && core.ports.clock() < known.until) return known.page as Page<K>
  const page = buildPage(list, shelf, start, principal, core)
  if (kept.size >= maxViews) kept.clear()
  kept.set(view, { page, until: page.nextCursor === undefined ? Infinity : core.ports.clock() + keepPagesMs })
  return page
}

function keptPages(shelf: object): Map<string, Kept> {
  const known = pages.get(shelf)
  if (known) return known
  const fresh = new Map<string, Kept>()
  pages.set(shelf, fresh)
  return fresh
}

/** Callers of whom this is equal see the same list. */
function viewOf(
  shelf: Shelf<{ readonly scopes: readonly string[] | undefined }>,
  principal: Principal | undefined,
): string {
  if (!shelf.scoped) return principal === undefined ? 'everybody' : 'anybody'
  return shelf.ordered.map((entry) => (isVisible(entry, principal) ? '1' : '0')).join('')
}

function buildPage<K extends ListKind>(
  list: K,
  shelf: Shelf<Entry<K>>,
  after: number,
  principal: Principal | undefined,
  core: Core,
): Page<K> {
  const size = core.options.pageSize ?? defaultPageSize
  const visible = shelf.ordered.filter((entry) => isVisible(entry, principal))
  const next = visible.findIndex((entry) => placeOf(entry, shelf) > after)
  const start = next < 0 ? visible.length : next
  const shown = visible.slice(start, start + size)
  const last = shown.at(-1)
  const more = last !== undefined && start + size < visible.length
  return lasting({
    [list]: Object.freeze(shown.map((entry) => entry.listing)),
    ...(more && { nextCursor: writeCursor(list, last.key, placeOf(last, shelf), core) }),
    ...hintsOf(list, shelf.scoped || principal !== undefined, core),
  }) as Page<K>
}

function placeOf({ key }: { readonly key: string }, shelf: Shelf<unknown>): number {
  return shelf.places.get(key) ?? 0
}

function hintsOf(list: ListKind, personal: boolean, core: Core): CacheHints {
  const given = core.options.cache?.[list]
  return { ttlMs: given?.ttlMs ?? 0, cacheScope: personal ? 'private' : (given?.cacheScope ?? 'public') }
}

/** Where a page ended. */
interface PageEnd {
  readonly last: string
  readonly place: number
  /** Whose places these are: another process has others. */
  readonly of: string
}

const names = new WeakMap<Core, string>()

function nameOf(core: Core): string {
  const name = names.get(core) ?? Buffer.from(core.ports.random(6)).toString('base64url')
  names.set(core, name)
  return name
}

/** Here places say it best, also once the entry is gone or back at the end; elsewhere its key has to. */
function placeAfter({ last, place, of }: PageEnd, shelf: Shelf<unknown>, core: Core): number {
  return of === nameOf(core) ? place : (shelf.places.get(last) ?? place)
}

function writeCursor(list: ListKind, last: string, place: number, core: Core): string {
  return core.ports.seal.seal('cursor', { list, last, place, of: nameOf(core) }, core.ports.clock() + cursorTtlMs)
}

function readCursor(list: ListKind, cursor: string, core: Core): PageEnd {
  const opened = core.ports.seal.open('cursor', cursor)
  if (opened === undefined || opened === 'expired' || opened.list !== list) throw new Refusal('BadCursor')
  const { last, place, of } = opened
  if (typeof last !== 'string' || typeof place !== 'number' || typeof of !== 'string') throw new Refusal('BadCursor')
  return { last, place, of }
}
