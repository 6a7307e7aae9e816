import type { Clock } from '../model/ports.ts'

/** A map whose entries go when their time has come. It runs no timer: what has expired goes with the next access. */
export interface ExpiringMap<Value> {
  readonly size: number
  get(key: string): Value | undefined
  /** @param expiresAt milliseconds since the epoch; `Infinity` for ever */
  set(key: string, value: Value, expiresAt: number): void
  delete(key: string): void
  clear(): void
}

interface Entry<Value> {
  readonly value: Value
  readonly expiresAt: number
}

interface Due {
  readonly key: string
  readonly expiresAt: number
}

/** @param onGone told of every value whose key leaves the map, deleted or expired; not of one that is replaced */
export function createExpiringMap<Value>(clock: Clock, onGone: (value: Value) => void): ExpiringMap<Value> {
  const entries = new Map<string, Entry<Value>>()
  /** A binary heap, soonest first. It may name entries that were replaced or deleted since. */
  let due: Due[] = []

  function expire(): void {
    const now = clock()
    for (let soonest = due[0]; soonest !== undefined && soonest.expiresAt <= now; soonest = due[0]) {
      pop(due)
      if (entries.get(soonest.key)?.expiresAt === soonest.expiresAt) remove(soonest.key)
    }
  }

  function remove(key: string): void {
    const entry = entries.get(key)
    if (entry === undefined) return
    entries.delete(key)
    onGone(entry.value)
  }

  /** Keeps the heap within twice the entries, however often one of them is replaced. */
  function schedule(key: string, expiresAt: number): void {
    if (expiresAt === Infinity) return
    if (due.length > 2 * entries.size + 64) {
      due = []
      for (const [other, entry] of entries) if (entry.expiresAt !== Infinity) push(due, { key: other, ...entry })
    } else push(due, { key, expiresAt })
  }

  return {
    get size() {
      expire()
      return entries.size
    },
    get(key) {
      expire()
      return entries.get(key)?.value
    },
    set(key, value, expiresAt) {
      entries.set(key, { value, expiresAt })
      schedule(key, expiresAt)
      expire()
    },
    delete(key) {
      expire()
      remove(key)
    },
    clear() {
      for (const key of entries.keys()) remove(key)
      due = []
    },
  }
}

function push(heap: Due[], item: Due): void {
  let at = heap.length
  while (at > 0) {
    const above = (at - 1) >> 1
    const parent = heap[above]
    if (parent === undefined || parent.expiresAt <= item.expiresAt) break
    heap[at] = parent
    at = above
  }
  heap[at] = item
}

function pop(heap: Due[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    const left = 2 * at + 1
    const right = left + 1
    const below = (heap[right]?.expiresAt ?? Infinity) < (heap[left]?.expiresAt ?? Infinity) ? right : left
    const child = heap[below]
    if (child === undefined || child.expiresAt >= last.expiresAt) break
    heap[at] = child
    at = below
  }
  heap[at] = last
}
