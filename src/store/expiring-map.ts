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
  readonly key: string
  /** `undefined` once the entry left the map. */
  value: Value | undefined
  expiresAt: number
  /** When the heap looks at the entry, which never moves within it; `Infinity`: it is not in there. */
  dueAt: number
}

interface Due {
  readonly dueAt: number
}

/** @param onGone told of every value whose key leaves the map, deleted or expired; not of one that is replaced */
export function createExpiringMap<Value>(clock: Clock, onGone: (value: Value) => void): ExpiringMap<Value> {
  const entries = new Map<string, Entry<Value>>()
  /** A binary heap, soonest first. It may hold entries that left the map, or that got more time since. */
  let due: Entry<Value>[] = []

  function expire(): void {
    const now = clock()
    for (let soonest = due[0]; soonest !== undefined && soonest.dueAt <= now; soonest = due[0]) {
      pop(due)
      soonest.dueAt = Infinity
      if (soonest.value === undefined) continue
      if (soonest.expiresAt <= now) remove(soonest)
      else schedule(soonest)
    }
  }

  function remove(entry: Entry<Value>): void {
    const { key, value } = entry
    entry.value = undefined
    entries.delete(key)
    if (value !== undefined) onGone(value)
  }

  /** Keeps the heap within twice the entries, however many of them leave before their time. */
  function schedule(entry: Entry<Value>): void {
    if (entry.expiresAt === Infinity) return
    entry.dueAt = entry.expiresAt
    if (due.length <= 2 * entries.size + 64) return push(due, entry)
    due = []
    for (const other of entries.values()) {
      other.dueAt = other.expiresAt
      if (other.dueAt !== Infinity) push(due, other)
    }
  }

  function add(key: string, value: Value, expiresAt: number): void {
    const entry = { key, value, expiresAt, dueAt: Infinity }
    entries.set(key, entry)
    schedule(entry)
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
      const old = entries.get(key)
      if (old === undefined) return add(key, value, expiresAt)
      if (expiresAt < old.dueAt && old.dueAt !== Infinity) {
        old.value = undefined
        return add(key, value, expiresAt)
      }
      old.value = value
      old.expiresAt = expiresAt
      if (old.dueAt === Infinity) schedule(old)
    },
    delete(key) {
      expire()
      const entry = entries.get(key)
      if (entry !== undefined) remove(entry)
    },
    clear() {
      for (const entry of entries.values()) remove(entry)
      due = []
    },
  }
}

function push<Item extends Due>(heap: Item[], item: Item): void {
  let at = heap.length
  while (at > 0) {
    const above = (at - 1) >> 1
    const parent = heap[above]
    if (parent === undefined || parent.dueAt <= item.dueAt) break
    heap[at] = parent
    at = above
  }
  heap[at] = item
}

/** Takes the soonest out. */
function pop(heap: Due[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    const left = 2 * at + 1
    const right = left + 1
    const below = (heap[right]?.dueAt ?? Infinity) < (heap[left]?.dueAt ?? Infinity) ? right : left
    const child = heap[below]
    if (child === undefined || child.dueAt >= last.dueAt) break
    heap[at] = child
    at = below
  }
  heap[at] = last
}
