/** Numbers that look random and are the same for the same seed (mulberry32). */
export interface Dice {
  /** A whole number from 0 to `below` - 1. */
  roll(below: number): number
  /** Whether something happens that happens so often in a hundred. */
  percent(chance: number): boolean
  pick<T>(from: readonly T[]): T
}

/** Dice whose rolls follow from `seed`. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const roll = (below: number): number => Math.floor(next() * below)
  return {
    roll,
    percent: (chance) => roll(100) < chance,
    pick(from) {
      const found = from[roll(from.length)]
      if (found === undefined) throw new Error('nothing to pick from')
      return found
    },
  }
}
