const known = new WeakSet<object>()

/**
 * Freezes a value and promises that nothing within it will ever change either, so that what was written of it may be
 * kept. Only for values that are made here: a frozen value of somebody else may change further down.
 */
export function lasting<T extends object>(value: T): Readonly<T> {
  known.add(value)
  return Object.freeze(value)
}

/** Whether {@link lasting} was said of this very value. */
export function isLasting(value: object): boolean {
  return known.has(value)
}
