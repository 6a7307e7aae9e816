import type { Eviction } from '../model/store.ts'

/**
 * How many values this process may still add to each group before it counts again. Counting costs as much as the group
 * is long, so that a sixteenth of its bound is taken at once.
 */
export interface Rooms {
  /** Whether a value may be added without counting. */
  has(group: string): boolean
  /** Notes that a value may have been added. */
  take(group: string): void
  /** How many values to let go of, so that one and some more fit. */
  excess(max: number, count: number): number
  /** Notes what was counted, after what had to go has gone. */
  counted(group: string, max: number, count: number): void
  /** Forgets what was counted. */
  clear(): void
}

/** More groups than this are not remembered at once. */
const maxGroups = 10_000

/** Knows no group yet, so that each is counted first. */
export function createRooms(): Rooms {
  const rooms = new Map<string, number>()
  return {
    has: (group) => (rooms.get(group) ?? 0) > 0,
    take(group) {
      const room = rooms.get(group) ?? 0
      if (room > 1) rooms.set(group, room - 1)
      else rooms.delete(group)
    },
    excess: (max, count) => (count < max ? 0 : count - max + share(max)),
    counted(group, max, count) {
      if (rooms.size >= maxGroups) rooms.clear()
      rooms.set(group, Math.min(max - count, share(max)))
    },
    clear: () => rooms.clear(),
  }
}

function share(max: number): number {
  return Math.max(1, Math.floor(max / 16))
}

/** How databases keep when a value may go: in the order of going, 0 for never. */
export const evictionRank: Readonly<Record<Eviction, number>> = { never: 0, first: 1, last: 2 }
