import type { Eviction } from '../model/store.ts'

/** Which keys each group has, and which of them goes first. */
export interface Groups {
  /** Notes that `key` was put just now. @param before what it was put with the last time, where it was there already */
  put(key: string, evict: Eviction, before: Eviction | undefined): void
  remove(key: string, evict: Eviction): void
  size(group: string): number
  /** The key to let go of next, if there is one. */
  oldest(group: string): string | undefined
  /** All keys, by their bytes in UTF-8. */
  sorted(group: string): readonly string[]
  clear(): void
}

/** Each in the order of putting. */
type Group = Readonly<Record<Eviction, Set<string>>>

const evictions = ['never', 'first', 'last'] as const

/** The text of a key before its first `/`; `undefined` where there is none. */
export function groupOf(key: string): string | undefined {
  const slash = key.indexOf('/')
  return slash < 0 ? undefined : key.slice(0, slash)
}

/** Keeps the groups of the keys it is told of; keys without a group are passed over. */
export function createGroups(): Groups {
  const groups = new Map<string, Group>()
  const sizeOf = (group: Group): number => group.never.size + group.first.size + group.last.size

  return {
    put(key, evict, before) {
      const name = groupOf(key)
      if (name === undefined) return
      const known = groups.get(name)
      const group = known ?? { never: new Set(), first: new Set(), last: new Set() }
      if (known === undefined) groups.set(name, group)
      if (before !== undefined) group[before].delete(key)
      group[evict].add(key)
    },
    remove(key, evict) {
      const name = groupOf(key)
      const group = name === undefined ? undefined : groups.get(name)
      if (name === undefined || group === undefined) return
      group[evict].delete(key)
      if (sizeOf(group) === 0) groups.delete(name)
    },
    size(name) {
      const group = groups.get(name)
      return group === undefined ? 0 : sizeOf(group)
    },
    oldest(name) {
      const group = groups.get(name)
      return group?.first.values().next().value ?? group?.last.values().next().value
    },
    sorted(name) {
      const group = groups.get(name)
      return evictions.flatMap((each) => [...(group?.[each] ?? [])]).sort(byBytes)
    },
    clear: () => groups.clear(),
  }
}

/** The order of UTF-8, which is that of code points; that of `<` puts surrogates before U+E000. */
export function byBytes(one: string, two: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(two))
}
