import { answersAtOnce } from '../model/at-once.ts'
import type { Clock } from '../model/ports.ts'
import { Refusal } from '../model/refusal.ts'
import type { AppendOptions, Listed, ListOptions, LogPage, PutOptions, Store, Versioned } from '../model/store.ts'
import { StoreUnavailable } from '../model/store-unavailable.ts'
import { createBus } from './bus.ts'
import { createExpiringMap, nowhere, type Expiring } from './expiring-map.ts'
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

interface Kept extends Member, Expiring {
  readonly key: string
  value: string
  version: number
}

interface NamedLog extends Expiring {
  readonly log: MemoryLog
}

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
  const values = createExpiringMap<Kept>((gone) => {
    length -= gone.length
    groups.remove(gone)
  })
  const logs = createExpiringMap<NamedLog>(({ key, log }) => (length -= key.length + log.length))
  const bus = createBus()
  let closed = false

  function mustBeOpen(): void {
    if (closed) throw new StoreUnavailable('The store is closed')
  }

  /** Stands before all that is done: what has expired is gone, and stays so until it is done. @returns the time */
  function begin(): number {
    mustBeOpen()
    const now = clock()
    values.expire(now)
    logs.expire(now)
    return now
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
      mustLetGo(groups.heaviest(grown))
    }
  }

  function makeRoom(group: string, maxInGroup: number): void {
    while (groups.size(group) >= maxInGroup) {
      mustLetGo(groups.oldest(group))
    }
  }

  function mustLetGo(key: string | undefined): void {
    const next = key === undefined ? undefined : values.get(key)
    if (next === undefined) throw new Refusal('StoreFull')
    values.delete(next)
  }

  function get(key: string): Versioned | undefined {
    begin()
    const found = values.get(key)
    return found && { value: found.value, version: found.version }
  }

  function put(key: string, value: string, putOptions: PutOptions = {}): number | undefined {
    begin()
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
    values.renew(old, expiresAt)
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
    const kept: Kept = {
      key,
      value,
      length: added,
      version,
      evict,
      group: undefined,
      older: undefined,
      newer: undefined,
      expiresAt,
      place: nowhere,
    }
    length += added
    groups.add(kept)
    values.add(kept)
    return version
  }

  function remove(key: string, ifVersion?: number): boolean {
    begin()
    const old = values.get(key)
    if (old === undefined || (ifVersion !== undefined && ifVersion !== old.version)) return false
    values.delete(old)
    return true
  }

  function list(group: string, { after, limit = 100 }: ListOptions): readonly Listed[] {
    begin()
    const keys = groups.sorted(group)
    const first = after === undefined ? 0 : keys.findIndex((key) => byBytes(key, after) > 0)
    if (first < 0) return []
    return keys.slice(first, first + limit).flatMap((key) => {
      const found = values.get(key)
      return found === undefined ? [] : [{ key, value: found.value, version: found.version }]
    })
  }

  function append(name: string, value: string, appendOptions: AppendOptions): number {
    const now = begin()
    const { expiresAt } = appendOptions
    const old = logs.get(name)
    mustFit(old === undefined, value.length + (old === undefined ? name.length : 0))
    const named = old ?? { key: name, log: createMemoryLog(), expiresAt, place: nowhere }
    length += old === undefined ? name.length : -named.log.length
    const sequence = named.log.append(value, now, appendOptions)
    length += named.log.length
    if (old === undefined) logs.add(named)
    else logs.renew(old, expiresAt)
    return sequence
  }

  function read(name: string, after: number): LogPage {
    begin()
    return logs.get(name)?.log.read(after) ?? { entries: [], evictedThrough: 0 }
  }

  const store: Store = {
    durable: false,
    get: async (key) => get(key),
    put: async (key, value, putOptions) => put(key, value, putOptions),
    delete: async (key, ifVersion) => remove(key, ifVersion),
    list: async (group, listOptions = {}) => list(group, listOptions),
    append: async (log, value, appendOptions) => append(log, value, appendOptions),
    read: async (log, after) => read(log, after),
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
