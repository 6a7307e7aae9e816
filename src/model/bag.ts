/** What can be in a {@link Bag}: it remembers its own place. */
export interface Bagged {
  /** The bag's own business; -1 outside. */
  slot: number
}

/**
 * An unordered collection for what comes and goes with every request. Under such churn a `Map` or `Set` leaves a chain
 * of dead tables behind, which keeps everything that was ever in it alive until the next full collection.
 */
export interface Bag<Item extends Bagged> {
  readonly size: number
  add(item: Item): void
  /** Does nothing for what is not in it. */
  remove(item: Item): void
  /** What is in it now; later changes do not show. */
  items(): readonly Item[]
}

export function createBag<Item extends Bagged>(): Bag<Item> {
  const items: Item[] = []
  return {
    get size() {
      return items.length
    },
    add(item) {
      item.slot = items.length
      items.push(item)
    },
    remove(item) {
      const { slot } = item
      if (slot < 0 || items[slot] !== item) return
      item.slot = -1
      const last = items.pop()
      if (last === undefined || last === item) return
      last.slot = slot
      items[slot] = last
    },
    items: () => [...items],
  }
}
