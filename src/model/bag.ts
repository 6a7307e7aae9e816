/** Something that may be in a {@link Bag}. */
export interface Placed {
  /** Where in the bag it is, for the bag alone; {@link nowhere} outside of it. */
  place: number
}

/** The place of what is in no bag. */
export const nowhere = -1

/**
 * What is under way, in no order. A `Set` would do, but makes itself a new table whenever it gets empty, which it does
 * with nearly every call, and in memory that is looked through seldom.
 */
export interface Bag<Item extends Placed> {
  readonly size: number
  /** Takes in what is nowhere. */
  add(item: Item): void
  /** Takes out what is in it, and does nothing for what is not. */
  remove(item: Item): void
  /** All that is in it now. */
  all(): readonly Item[]
}

/** An empty bag. */
export function createBag<Item extends Placed>(): Bag<Item> {
  const items: Item[] = []
  return {
    get size() {
      return items.length
    },
    add(item) {
      item.place = items.length
      items.push(item)
    },
    remove(item) {
      if (item.place === nowhere) return
      // In no order, so that the last may take the place.
      const last = items.pop()
      if (last !== undefined && last !== item) {
        items[item.place] = last
        last.place = item.place
      }
      item.place = nowhere
    },
    all: () => [...items],
  }
}
