/** Something that goes when its time has come. It is its own entry of the map, since a store has very many of them. */
export interface Expiring {
  readonly key: string
  /** Milliseconds since the epoch; `Infinity` for never. Changed by {@link ExpiringMap.renew} alone. */
  expiresAt: number
  /** Its place among those that will go, for the map; {@link nowhere} outside of it. */
  place: number
}

/** The place of what is in no map, or stays for ever. */
export const nowhere = -1

/** A map whose entries go when they are told that their time has come: it has neither a clock nor a timer. */
export interface ExpiringMap<Item extends Expiring> {
  readonly size: number
  /** Lets go of all whose time has come. @param now milliseconds since the epoch */
  expire(now: number): void
  get(key: string): Item | undefined
  /** Takes in what has a key that nothing here has. */
  add(item: Item): void
  /** Gives another time to what is here. */
  renew(item: Item, expiresAt: number): void
  /** Lets go of what is here. */
  delete(item: Item): void
  clear(): void
}

/** @param onGone told of all that leaves the map, deleted or expired */
export function createExpiringMap<Item extends Expiring>(onGone: (item: Item) => void): ExpiringMap<Item> {
  const items = new Map<string, Item>()
  /** A binary heap, soonest first, of all that will go. */
  const due: Item[] = []

  function remove(item: Item): void {
    items.delete(item.key)
    if (item.place !== nowhere) takeOut(due, item)
    onGone(item)
  }

  return {
    get size() {
      return items.size
    },
    expire(now) {
      for (let soonest = due[0]; soonest !== undefined && soonest.expiresAt <= now; soonest = due[0]) remove(soonest)
    },
    get: (key) => items.get(key),
    add(item) {
      items.set(item.key, item)
      if (item.expiresAt !== Infinity) rise(due, item, due.length)
    },
    renew(item, expiresAt) {
      item.expiresAt = expiresAt
      if (item.place === nowhere) {
        if (expiresAt !== Infinity) rise(due, item, due.length)
      } else if (expiresAt === Infinity) takeOut(due, item)
      else settle(due, item)
    },
    delete: remove,
    clear() {
      for (const item of items.values()) onGone(item)
      items.clear()
      due.length = 0
    },
  }
}

function takeOut<Item extends Expiring>(heap: Item[], item: Item): void {
  const last = heap.pop()
  if (last !== undefined && last !== item) {
    last.place = item.place
    settle(heap, last)
  }
  item.place = nowhere
}

/** Moves an item, which may have come to be too low or too high, to where it belongs. */
function settle<Item extends Expiring>(heap: Item[], item: Item): void {
  const { place } = item
  rise(heap, item, place)
  if (item.place === place) sink(heap, item, place)
}

/** Puts an item to `place`, or above it for as long as it goes sooner than what is there. */
function rise<Item extends Expiring>(heap: Item[], item: Item, place: number): void {
  let at = place
  while (at > 0) {
    const above = (at - 1) >> 1
    const parent = heap[above]
    if (parent === undefined || parent.expiresAt <= item.expiresAt) break
    put(heap, parent, at)
    at = above
  }
  put(heap, item, at)
}

/** Puts an item to `place`, or below it for as long as something there goes sooner. */
function sink<Item extends Expiring>(heap: Item[], item: Item, place: number): void {
  let at = place
  for (;;) {
    const left = 2 * at + 1
    const right = left + 1
    const below = (heap[right]?.expiresAt ?? Infinity) < (heap[left]?.expiresAt ?? Infinity) ? right : left
    const child = heap[below]
    if (child === undefined || child.expiresAt >= item.expiresAt) break
    put(heap, child, at)
    at = below
  }
  put(heap, item, at)
}

function put<Item extends Expiring>(heap: Item[], item: Item, place: number): void {
  heap[place] = item
  item.place = place
}
