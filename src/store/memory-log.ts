import type { AppendOptions, LogPage } from '../model/store.ts'

interface Entry {
  readonly value: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** A log in memory. */
export interface MemoryLog {
  /** UTF-16 units of the values. */
  readonly length: number
  /** @returns the sequence of the new entry */
  append(value: string, now: number, bounds: AppendOptions): number
  read(after: number): LogPage
}

/** An empty log that keeps itself within the bounds of its latest append. */
export function createMemoryLog(): MemoryLog {
  const entries: Entry[] = []
  let evictedThrough = 0
  let length = 0
  let bytes = 0

  function evictOldest(): void {
    const gone = entries.shift()?.value ?? ''
    length -= gone.length
    bytes -= Buffer.byteLength(gone)
    evictedThrough++
  }

  return {
    get length() {
      return length
    },
    append(value, now, { maxEntries, maxBytes = Infinity, maxAgeMs = Infinity }) {
      entries.push({ value, at: now })
      length += value.length
      bytes += Buffer.byteLength(value)
      const tooOld = now - maxAgeMs
      while (entries.length > 1) {
        if (entries.length <= maxEntries && bytes <= maxBytes && (entries[0]?.at ?? now) >= tooOld) break
        evictOldest()
      }
      return evictedThrough + entries.length
    },
    read(after) {
      const first = Math.max(after, evictedThrough)
      const kept = entries.slice(first - evictedThrough)
      return { entries: kept.map(({ value }, at) => ({ sequence: first + at + 1, value })), evictedThrough }
    },
  }
}
