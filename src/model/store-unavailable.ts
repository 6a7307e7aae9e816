/** What is known of an attempt that failed: it had no effect, or it may have had its whole effect. */
export type Attempted = 'no' | 'unknown'

/**
 * A store could not be reached, or did not answer in time. The attempt did all of what was asked or nothing;
 * `attempted` tells whether it can have done anything.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
  readonly attempted: Attempted

  constructor(message: string, details: { readonly attempted?: Attempted; readonly cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.attempted = details.attempted ?? 'no'
  }
}

/** Whether `error` is a {@link StoreUnavailable}, also one of another copy of this package. */
export function isStoreUnavailable(error: unknown): error is StoreUnavailable {
  return error instanceof Error && error.name === 'StoreUnavailable' && 'attempted' in error
}
