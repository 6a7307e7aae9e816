import type { JsonObject } from '../model/json.ts'
import type { Logger } from '../model/ports.ts'

/** Something that a server said may be kept. */
export interface CachedEntry {
  readonly value: JsonObject
  /** Milliseconds since the epoch until which it is good. */
  readonly goodUntil: number
}

/**
 * Where lists and resources are kept while they are good. Keys tell apart server, revision, and, for what is private,
 * the authorization context; a store may forget anything at any time.
 */
export interface ListCache {
  get(key: string): CachedEntry | undefined | Promise<CachedEntry | undefined>
  set(key: string, entry: CachedEntry): void | Promise<void>
  delete(key: string): void | Promise<void>
}

const maxEntries = 1_000

/** A cache in this process's memory; the oldest of more than 1,000 entries is forgotten. */
export function memoryListCache(): ListCache {
  const entries = new Map<string, CachedEntry>()
  return {
    get: (key) => entries.get(key),
    set(key, entry) {
      entries.delete(key)
      entries.set(key, entry)
      const [oldest] = entries.keys()
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
    },
    delete: (key) => void entries.delete(key),
  }
}

/** One client's part of a cache: what is public is shared by all contexts of a server, the rest by none. */
export interface Kept {
  get(name: string): Promise<JsonObject | undefined>
  set(name: string, value: JsonObject, hints: { readonly ttlMs: number; readonly isPublic: boolean }): Promise<void>
  delete(name: string): Promise<void>
}

/**
 * The part of `cache` that belongs to one server, in one revision, for one context. Never rejects: a store that fails has
 * kept nothing.
 */
export function partOf(
  cache: ListCache,
  scope: readonly string[],
  context: string,
  now: () => number,
  logger: Logger,
): Kept {
  const keyOf = (name: string, isPublic: boolean): string => JSON.stringify([...scope, isPublic ? null : context, name])
  const failed = (error: unknown): undefined => {
    logger.warn('the cache failed', { error })
  }
  const kept: Kept = {
    async get(name) {
      for (const isPublic of [false, true]) {
        const entry = await cache.get(keyOf(name, isPublic))
        if (entry && entry.goodUntil > now()) return entry.value
      }
      return undefined
    },
    async set(name, value, { ttlMs, isPublic }) {
      if (ttlMs > 0) await cache.set(keyOf(name, isPublic), { value, goodUntil: now() + ttlMs })
    },
    async delete(name) {
      await cache.delete(keyOf(name, false))
      await cache.delete(keyOf(name, true))
    },
  }
  return {
    get: (name) => kept.get(name).catch(failed),
    set: (name, value, hints) => kept.set(name, value, hints).catch(failed),
    delete: (name) => kept.delete(name).catch(failed),
  }
}
