import { answersAtOnce } from '../model/at-once.ts'
import type { Clock } from '../model/ports.ts'
import { Refusal } from '../model/refusal.ts'
import type { AppendOptions, Listed, ListOptions, PutOptions, Store, Versioned } from '../model/store.ts'
import { StoreUnavailable } from '../model/store-unavailable.ts'
import { createBus } from './bus.ts'
import { createExpiringMap } from './expiring-map.ts'
import { byBytes, createGroups, groupOf, type Member } from './groups.ts'
import { createMemoryLog, type MemoryLog } from './memory-log.ts'

/** How much a store in memory holds. */
export interface MemoryStoreOptions {
  /** Tells when things expire. Default: `Date.now`. */
  readonly clock?: Clock
  /** Values and logs it holds at most. Default: 100,000. */
  readonly maxKeys?: number
  /** UTF-16 units it holds at most, in keys, values and log entries together. Default: 128 Mi, which are 128 to 256 MiB. */
  readonly maxLength?: number
}

interface Kept extends Member {
  value: string
  version: number
}

interface NamedLog {
  readonly name: string
  readonly log: MemoryLog
}

const nothingKept: readonly string[] = []

/**
 * A store in the memory of this process: nothing survives it, nothing leaves it, and no timer keeps it alive.
 * What does not fit makes what may be let go give way: first ones before last ones, and of these the oldest of the group
 * that holds most of them, so that whoever fills the store pays for it. What still does not fit is refused with
 * `StoreFull`, and then nothing has given way.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const { clock = Date.now, maxKeys = 100_000, maxLength = 128 * 1024 * 1024 } = options
  let length = 0
  // One count for all keys: a version is never used twice, so a key deleted and put again is told from the old one.
  let lastVersion = 0
  const groups = createGroups()
  const values = createExpiringMap<Kept>(clock, (gone) => {
    length -= gone.length
    groups.remove(gone)
  })
  const logs = createExpiringMap<NamedLog>(clock, ({ name, log }) => (length -= name.length + log.length))
  const bus = createBus()
  let closed = false

  function mustBeOpen(): void {
    if (closed) throw new StoreUnavailable('The store is closed')
  }

  /** Does it, or rejects. */
  async function whileOpen<Result>(run: () => Result): Promise<Result> {
    mustBeOpen()
    return run()
  }

  /** Lets go of what may go until there is room. @param grown what is there already, and gets longer */
  function mustFit(isNew: boolean, added: number, grown?: Kept): void {
    const isFull = (): boolean => (isNew && values.size + logs.size >= maxKeys) || length + added > maxLength
    if (!isFull()) return
    if (length + added - groups.evictable(grown) > maxLength) throw new Refusal('StoreFull')
    while (isFull()) {
      const next = groups.heaviest(grown)
      if (next === undefined) throw new Refusal('StoreFull')
      values.delete(next)
    }
  }

  function makeRoom(group: string, maxInGroup: number): void {
    while (groups.size(group) >= maxInGroup) {
      const oldest = groups.oldest(group)
      if (oldest === undefined) throw new Refusal('StoreFull')
      values.delete(oldest)
    }
  }

  function get(key: string): Versioned | undefined {
    mustBeOpen()
    const found = values.get(key)
    return found && { value: found.value, version: found.version }
  }

  function put(key: string, value: string, putOptions: PutOptions = {}): number | undefined {
    mustBeOpen()
    const { ifVersion, expiresAt = Infinity, evict = 'never' } = putOptions
    const old = values.get(key)
    if (ifVersion !== undefined && ifVersion !== (old?.version ?? 0)) return undefined
    if (old === undefined) return add(key, value, putOptions)
    const added = value.length - old.value.length
    mustFit(false, added, old)
    length += added
    old.value = value
    old.version = ++lastVersion
    groups.renew(old, evict, key.length + value.length)
    values.set(key, old, expiresAt)
    return lastVersion
  }

  function add(
    key: string,
    value: string,
    { expiresAt = Infinity, evict = 'never', maxInGroup = Infinity }: PutOptions,
  ): number {
    const group = maxInGroup === Infinity ? undefined : groupOf(key)
    if (group !== undefined) makeRoom(group, maxInGroup)
    const added = key.length + value.length
    mustFit(true, added)
    const version = ++lastVersion
    const nowhere = { group: undefined, older: undefined, newer: undefined }
    const kept: Kept = { key, value, length: added, version, evict, ...nowhere }
    length += added
    groups.add(kept)
    values.set(key, kept, expiresAt)
    return version
  }

  function remove(key: string, ifVersion?: number): boolean {
    mustBeOpen()
    const old = values.get(key)
    if (old === undefined || (ifVersion !== undefined && ifVersion !== old.version)) return false
    values.delete(key)
    return true
  }

  function list(group: string, { after, limit = 100 }: ListOptions): readonly Listed[] {
    // Asking for the size lets go of what has expired, so that the names of the group are those of values.
    const keys = values.size === 0 ? nothingKept : groups.sorted(group)
    const first = after === undefined ? 0 : keys.findIndex((key) => byBytes(key, after) > 0)
    if (first < 0) return []
    return keys.slice(first, first + limit).flatMap((key) => {
      const found = values.get(key)
      return found === undefined ? [] : [{ key, value: found.value, version: found.version }]
    })
  }

  function append(name: string, value: string, appendOptions: AppendOptions): number {
    const old = logs.get(name)
    const named: NamedLog = old ?? { name, log: createMemoryLog() }
    mustFit(old === undefined, value.length + (old === undefined ? name.length : 0))
    length += old === undefined ? name.length : -named.log.length
    const sequence = named.log.append(value, clock(), appendOptions)
    length += named.log.length
    logs.set(name, named, appendOptions.expiresAt)
    return sequence
  }

  const store: Store = {
    durable: false,
    get: async (key) => get(key),
    put: async (key, value, putOptions) => put(key, value, putOptions),
    delete: async (key, ifVersion) => remove(key, ifVersion),
    list: (group, listOptions = {}) => whileOpen(() => list(group, listOptions)),
    append: (log, value, appendOptions) => whileOpen(() => append(log, value, appendOptions)),
    read: (log, after) => whileOpen(() => logs.get(log)?.log.read(after) ?? { entries: [], evictedThrough: 0 }),
    publish: (channel, message) => whileOpen(() => bus.publish(channel, message)),
    subscribe: (channel, listener) =>
      whileOpen(() => {
        const stop = bus.subscribe(channel, listener)
        return async () => stop()
      }),
    async close() {
      closed = true
      bus.clear()
      values.clear()
      logs.clear()
      groups.clear()
    },
  }
  return answersAtOnce(store, { get, put, delete: remove })
}
