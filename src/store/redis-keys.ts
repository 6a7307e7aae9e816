import { groupOf } from './groups.ts'

/** How keys, logs and channels are called in Redis. */
export interface RedisKeys {
  value(key: string): string
  /** The sets of the group that `key` belongs to; none where it has no group. */
  setsOf(key: string): readonly string[]
  /** The set of all keys of a group, and what precedes a key in the name of its value. */
  group(name: string): { readonly all: string; readonly base: string }
  log(name: string): string
  channel(name: string): string
  /** Undoes `channel`. */
  channelOf(text: string): string
}

/**
 * Names below `prefix`. All that one script touches has one hash tag, the group, so that a cluster keeps it in one slot;
 * what is alone has none.
 */
export function redisKeys(prefix: string): RedisKeys {
  const inGroup = (group: string, kind: string): string => `${prefix}{${tagOf(group)}}${kind}:`
  return {
    value(key) {
      const group = groupOf(key)
      return group === undefined ? `${prefix}v:${key}` : `${inGroup(group, 'v')}${key}`
    },
    setsOf(key) {
      const group = groupOf(key)
      return group === undefined ? [] : ['all', 'expiring', 'evictable'].map((kind) => inGroup(group, kind) + group)
    },
    group: (name) => ({ all: inGroup(name, 'all') + name, base: inGroup(name, 'v') }),
    log: (name) => `${prefix}l:${name}`,
    channel: (name) => `${prefix}c:${name}`,
    channelOf: (text) => text.slice(prefix.length + 'c:'.length),
  }
}

/** A tag ends at the first brace, and an empty one does not count. The name itself follows in the key. */
function tagOf(group: string): string {
  return `g${group.replaceAll('}', ')')}`
}
