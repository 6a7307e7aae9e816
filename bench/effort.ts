// How long the benchmarks look.

export interface Effort {
  /** Rounds of each measurement; their median counts. */
  readonly rounds: number
  /** Milliseconds of load in one round: shorter than what disturbs it, so that all who are compared are disturbed alike. */
  readonly windowMs: number
  /** Rounds in which the official server takes part: it is there for comparison, no budget hangs on it. */
  readonly rivalRounds: number
  /** A server is warm after so many requests of one kind, or as many as it answers in so many milliseconds. */
  readonly warmUp: { readonly requests: number; readonly ms: number }
  /** Processes that are started to tell what starting one costs. */
  readonly spawns: number
  /** Numbers of registered tools. */
  readonly tools: readonly number[]
  /** Requests in flight. */
  readonly inFlight: readonly number[]
}

export const full: Effort = {
  rounds: 21,
  windowMs: 100,
  rivalRounds: 3,
  warmUp: { requests: 20_000, ms: 10_000 },
  spawns: 11,
  tools: [1, 50, 500],
  inFlight: [1, 32],
}

const half = (count: number): number => Math.floor(count / 2)

/** Less of it: half the rounds, each half as long, after a quarter of the warming up. */
export const quick: Effort = {
  tools: [1, 500],
  inFlight: [32],
  rivalRounds: 1,
  rounds: half(full.rounds),
  spawns: half(full.spawns),
  windowMs: half(full.windowMs),
  warmUp: { requests: full.warmUp.requests / 4, ms: full.warmUp.ms / 4 },
}
