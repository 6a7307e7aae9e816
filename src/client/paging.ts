import { isObject, own, type Json, type JsonObject } from '../model/json.ts'
import type { Logger } from '../model/ports.ts'

/** How much of a list is read. */
export interface PagingLimits {
  readonly maxPages: number
  readonly maxItems: number
}

/** A whole list, and how long it may be kept. */
export interface Whole {
  readonly items: readonly JsonObject[]
  /** Milliseconds: the least that any page said. 0: not at all; `undefined`: no page said anything. */
  readonly ttlMs: number | undefined
  /** Whether every page may be told to anybody. */
  readonly isPublic: boolean
}

/**
 * Reads all pages of a list. A cursor that came before, and what is over a limit, end it: what was read so far is
 * returned and the rest reported. Entries without their name are left out.
 * @param member where the entries are @param named what every entry must be called by
 * @param emptyMeansMore whether an empty cursor is a cursor; older servers end their lists with one
 */
export async function readPages(
  fetch: (cursor: string | undefined) => Promise<JsonObject>,
  { member, named }: { readonly member: string; readonly named: string },
  emptyMeansMore: boolean,
  limits: PagingLimits,
  logger: Logger,
): Promise<Whole> {
  const items: JsonObject[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  let ttlMs: number | undefined
  let isPublic = true
  for (let pages = 1; ; pages++) {
    const page = await fetch(cursor)
    const entries = own(page, member)
    for (const entry of Array.isArray(entries) ? (entries as readonly Json[]) : []) {
      if (isObject(entry) && typeof own(entry, named) === 'string') items.push(entry)
      else logger.warn('an entry of a list has no name and is left out', { list: member })
    }
    const ttl = own(page, 'ttlMs')
    if (typeof ttl === 'number') ttlMs = Math.min(ttlMs ?? Infinity, Math.max(0, ttl))
    isPublic &&= own(page, 'cacheScope') === 'public'
    const next = own(page, 'nextCursor')
    if (typeof next !== 'string' || (next === '' && !emptyMeansMore)) break
    const why = seen.has(next)
      ? 'its cursors repeat'
      : pages >= limits.maxPages || items.length >= limits.maxItems
        ? 'it is too long'
        : undefined
    if (why !== undefined) {
      logger.warn('a list was not read to its end', { list: member, why, pages, items: items.length })
      break
    }
    seen.add(next)
    cursor = next
  }
  return { items: items.slice(0, limits.maxItems), ttlMs, isPublic }
}
