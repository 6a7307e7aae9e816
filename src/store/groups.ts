import type { Eviction } from '../model/store.ts'

/** A value in its group: a link in the chain of those that give way alike, in the order of putting. */
export interface Member {
  readonly key: string
  evict: Eviction
  /** Absent while the value is in no group. */
  group: Group | undefined
  older: Member | undefined
  newer: Member | undefined
}

interface Chain {
  oldest: Member | undefined
  newest: Member | undefined
}

/** The values whose keys have one group. */
export interface Group {
  readonly name: string
  size: number
  readonly chains: Readonly<Record<Eviction, Chain>>
}

/** Which values each group has, and which of them goes first. */
export interface Groups {
  /** Takes in what was put just now, as the newest of those that give way like it. A key without a group is passed over. */
  add(member: Member): void
  /** What is there was put again just now, and gives way as `evict` says. */
  renew(member: Member, evict: Eviction): void
  remove(member: Member): void
  size(group: string): number
  /** The key to let go of next, if there is one. */
  oldest(group: string): string | undefined
  /** All keys, by their bytes in UTF-8. */
  sorted(group: string): readonly string[]
  clear(): void
}

const evictions = ['never', 'first', 'last'] as const

/** The text of a key before its first `/`; `undefined` where there is none. */
export function groupOf(key: string): string | undefined {
  const slash = key.indexOf('/')
  return slash < 0 ? undefined : key.slice(0, slash)
}

/** Keeps the groups of the values it is told of. In chains, since a `Set` finds its first the slower the more went before. */
export function createGroups(): Groups {
  const groups = new Map<string, Group>()

  return {
    add(member) {
      const name = groupOf(member.key)
      if (name === undefined) return
      const group = groups.get(name) ?? emptyGroup(name)
      if (group.size === 0) groups.set(name, group)
      group.size++
      member.group = group
      link(member, group.chains[member.evict])
    },
    renew(member, evict) {
      const { group } = member
      if (group !== undefined) {
        unlink(member, group.chains[member.evict])
        link(member, group.chains[evict])
      }
      member.evict = evict
    },
    remove(member) {
      const { group } = member
      if (group === undefined) return
      unlink(member, group.chains[member.evict])
      member.group = undefined
      group.size--
      if (group.size === 0) groups.delete(group.name)
    },
    size: (name) => groups.get(name)?.size ?? 0,
    oldest(name) {
      const chains = groups.get(name)?.chains
      return (chains?.first.oldest ?? chains?.last.oldest)?.key
    },
    sorted(name) {
      const keys: string[] = []
      for (const each of evictions) {
        for (let member = groups.get(name)?.chains[each].oldest; member; member = member.newer) keys.push(member.key)
      }
      return keys.sort(byBytes)
    },
    clear: () => groups.clear(),
  }
}

function emptyGroup(name: string): Group {
  const empty = (): Chain => ({ oldest: undefined, newest: undefined })
  return { name, size: 0, chains: { never: empty(), first: empty(), last: empty() } }
}

function link(member: Member, chain: Chain): void {
  const before = chain.newest
  member.older = before
  if (before === undefined) chain.oldest = member
  else before.newer = member
  chain.newest = member
}

function unlink(member: Member, chain: Chain): void {
  const { older, newer } = member
  if (older === undefined) chain.oldest = newer
  else older.newer = newer
  if (newer === undefined) chain.newest = older
  else newer.older = older
  member.older = undefined
  member.newer = undefined
}

/** The order of UTF-8, which is that of code points; that of `<` puts surrogates before U+E000. */
export function byBytes(one: string, two: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(two))
}
