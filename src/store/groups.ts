import type { Eviction } from '../model/store.ts'

/** A value in its group: a link in the chain of those that give way alike, in the order of putting. */
export interface Member {
  readonly key: string
  /** How much it takes, whatever that is counted in. */
  length: number
  evict: Eviction
  /** Absent while the value is in no group. */
  group: Group | undefined
  older: Member | undefined
  newer: Member | undefined
}

interface Chain {
  oldest: Member | undefined
  newest: Member | undefined
  length: number
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
  /** What is there was put again just now: it takes `length`, and gives way as `evict` says. */
  renew(member: Member, evict: Eviction, length: number): void
  remove(member: Member): void
  size(group: string): number
  /** The key to let go of next, if there is one. */
  oldest(group: string): string | undefined
  /** How much letting go of all that may go would free, but for one member. */
  evictable(except: Member | undefined): number
  /** The key to let go of next, of all groups: the oldest of the one that has most to let go of, but for one member. */
  heaviest(except: Member | undefined): string | undefined
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
    renew(member, evict, length) {
      const { group } = member
      if (group !== undefined) unlink(member, group.chains[member.evict])
      member.length = length
      member.evict = evict
      if (group !== undefined) link(member, group.chains[evict])
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
    evictable(except) {
      let sum = 0
      for (const { chains } of groups.values()) sum += chains.first.length + chains.last.length
      return except === undefined || except.evict === 'never' || except.group === undefined ? sum : sum - except.length
    },
    heaviest(except) {
      return (heaviest(groups.values(), 'first', except) ?? heaviest(groups.values(), 'last', except))?.key
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
  const empty = (): Chain => ({ oldest: undefined, newest: undefined, length: 0 })
  return { name, size: 0, chains: { never: empty(), first: empty(), last: empty() } }
}

/** The oldest of the chain that takes most, among those that give way alike. */
function heaviest(all: Iterable<Group>, evict: Eviction, except: Member | undefined): Member | undefined {
  let found: Member | undefined
  let most = -1
  for (const { chains } of all) {
    const { oldest, length } = chains[evict]
    const candidate = oldest === except ? oldest?.newer : oldest
    if (candidate === undefined || length <= most) continue
    found = candidate
    most = length
  }
  return found
}

function link(member: Member, chain: Chain): void {
  const before = chain.newest
  member.older = before
  if (before === undefined) chain.oldest = member
  else before.newer = member
  chain.newest = member
  chain.length += member.length
}

function unlink(member: Member, chain: Chain): void {
  const { older, newer } = member
  if (older === undefined) chain.oldest = newer
  else older.newer = newer
  if (newer === undefined) chain.newest = older
  else newer.older = older
  member.older = undefined
  member.newer = undefined
  chain.length -= member.length
}

/** The order of UTF-8, which is that of code points; that of `<` puts surrogates before U+E000. */
export function byBytes(one: string, two: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(two))
}
