/** Bytes that arrive in pieces. What is added is copied once, or a constant number of times over all. */
export interface Accumulator {
  readonly length: number
  add(bytes: Uint8Array): void
  /** Everything added since the last `take`; the accumulator is empty afterwards and keeps no hold of it. */
  take(): Uint8Array
}

const none = new Uint8Array(0)
const smallest = 1024

/** Makes an empty accumulator. */
export function createAccumulator(): Accumulator {
  let held = none
  let length = 0
  return {
    get length() {
      return length
    },
    add(bytes) {
      const needed = length + bytes.length
      if (needed > held.length) {
        // Doubling keeps a peer that writes byte by byte linear in time, and within twice its bytes in memory.
        const grown = new Uint8Array(Math.max(needed, held.length * 2, smallest))
        grown.set(held.subarray(0, length))
        held = grown
      }
      held.set(bytes, length)
      length = needed
    },
    take() {
      const taken = held.subarray(0, length)
      held = none
      length = 0
      return taken
    },
  }
}
