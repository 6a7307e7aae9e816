import type { Clock } from '../model/ports.ts'
import { Refusal } from '../model/refusal.ts'
import type { AppendOptions, LogPage, PutOptions, Store, Versioned } from '../model/store.ts'
import { createBus } from './bus.ts'
import { createExpiringMap } from './expiring-map.ts'

export interface MemoryStoreOptions {
  /** Tells when things expire. Default: `Date.now`. */
  readonly clock?: Clock
  /** Values and logs it holds at most. Default: 100,000. */
  readonly maxKeys?: number
  /** UTF-16 units it holds at most, in keys, values and log entries together. Default: 128 Mi, which are 128 to 256 MiB. */
  readonly maxLength?: number
}

interface Kept extends Versioned {
  /** UTF-16 units of the key and the value. */
  readonly length: number
}

interface Log {
  readonly values: string[]
  evictedThrough: number
  /** UTF-16 units of the name and the values. */
  length: number
}

/**
 * A store in the memory of this process: nothing survives it, nothing leaves it, and no timer keeps it alive.
 * What is new and does not fit is refused with `StoreFull`; what is there stays until it expires or is deleted.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const { clock = Date.now, maxKeys = 100_000, maxLength = 128 * 1024 * 1024 } = options
  let length = 0
  // One count for all keys: a version is never used twice, so a key deleted and put again is told from the old one.
  let lastVersion = 0
  const values = createExpiringMap<Kept>(clock, (gone) => (length -= gone.length))
  const logs = createExpiringMap<Log>(clock, (gone) => (length -= gone.length))
  const bus = createBus()
  let closed = false

  function mustBeOpen(): void {
    if (closed) throw new Error('The store is closed')
  }

  function mustFit(isNew: boolean, added: number): void {
    if ((isNew && values.size + logs.size >= maxKeys) || length + added > maxLength) throw new Refusal('StoreFull')
  }

  function put(key: string, value: string, { ifVersion, expiresAt = Infinity }: PutOptions): number | undefined {
    const old = values.get(key)
    if (ifVersion !== undefined && ifVersion !== (old?.version ?? 0)) return undefined
    const next: Kept = { value, version: lastVersion + 1, length: key.length + value.length }
    const added = next.length - (old?.length ?? 0)
    mustFit(old === undefined, added)
    lastVersion = next.version
    length += added
    values.set(key, next, expiresAt)
    return next.version
  }

  function append(name: string, value: string, { maxEntries, expiresAt }: AppendOptions): number {
    const old = logs.get(name)
    const log: Log = old ?? { values: [], evictedThrough: 0, length: 0 }
    const added = value.length + (old === undefined ? name.length : 0)
    mustFit(old === undefined, added)
    log.values.push(value)
    log.length += added
    length += added
    logs.set(name, log, expiresAt)
    const sequence = log.evictedThrough + log.values.length
    while (log.values.length > maxEntries) evictOldest(log)
    return sequence
  }

  function evictOldest(log: Log): void {
    const held = log.values.shift()?.length ?? 0
    log.length -= held
    length -= held
    log.evictedThrough++
  }

  function read(name: string, after: number): LogPage {
    const { values: all, evictedThrough } = logs.get(name) ?? { values: [], evictedThrough: 0 }
    const first = Math.max(after, evictedThrough)
    const entries = all.slice(first - evictedThrough).map((value, at) => ({ sequence: first + at + 1, value }))
    return { entries, evictedThrough }
  }

  return {
    durable: false,
    async get(key) {
      mustBeOpen()
      const found = values.get(key)
      return found && { value: found.value, version: found.version }
    },
    async put(key, value, putOptions = {}) {
      mustBeOpen()
      return put(key, value, putOptions)
    },
    async delete(key) {
      mustBeOpen()
      values.delete(key)
    },
    async append(log, value, appendOptions) {
      mustBeOpen()
      return append(log, value, appendOptions)
    },
    async read(log, after) {
      mustBeOpen()
      return read(log, after)
    },
    async publish(channel, message) {
      mustBeOpen()
      bus.publish(channel, message)
    },
    async subscribe(channel, listener) {
      mustBeOpen()
      return bus.subscribe(channel, listener)
    },
    async close() {
      closed = true
      bus.clear()
      values.clear()
      logs.clear()
    },
  }
}
