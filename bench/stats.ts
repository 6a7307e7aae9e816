// The arithmetic of the benchmarks.

/** The middle of `values`, or the mean of the middle two. @throws for none */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const high = sorted[middle]
  const low = sorted[sorted.length % 2 === 0 ? middle - 1 : middle]
  if (high === undefined || low === undefined) throw new Error('There is no median of nothing')
  return (low + high) / 2
}

/**
 * The median of `measured[i] / baseline[i]`. Both of a pair were measured in one round, so what slowed the machine down
 * for a while slowed down both, and their ratio tells more than that of two medians. @throws for lists of unlike length
 */
export function medianRatio(measured: readonly number[], baseline: readonly number[]): number {
  if (measured.length !== baseline.length) throw new Error('Each measurement needs its baseline')
  return median(measured.map((value, index) => value / (baseline[index] ?? Number.NaN)))
}

/** The order in which round `round` takes `items`: each round starts with another one, so that none is always first. */
export function rotated<T>(items: readonly T[], round: number): readonly T[] {
  const start = items.length === 0 ? 0 : round % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
