import { createAccumulator } from '../../wire/accumulator.ts'

/** A body while it comes in. */
export interface Body {
  /** @returns `false` once it is larger than it may be; what is over is not kept */
  add(chunk: Uint8Array): boolean
  /** All of it. */
  take(): Uint8Array
}

/** Collects a body of at most `maxBytes`. One that comes in one piece is not copied. */
export function createBody(maxBytes: number): Body {
  const none: Uint8Array = new Uint8Array(0)
  let first = none
  let rest: ReturnType<typeof createAccumulator> | undefined
  let size = 0
  return {
    add(chunk) {
      size += chunk.length
      if (size > maxBytes) return false
      if (first.length === 0) first = chunk
      else {
        if (rest === undefined) (rest = createAccumulator()).add(first)
        rest.add(chunk)
      }
      return true
    },
    take: () => rest?.take() ?? first,
  }
}
