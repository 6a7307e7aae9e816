import { Refusal } from './refusal.ts'

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

/** Whether `error` is a {@link StoreUnavailable}, also one of another copy of this package. Never throws, whatever `error` is. */
export function isStoreUnavailable(error: unknown): error is StoreUnavailable {
  try {
    return error instanceof Error && error.name === 'StoreUnavailable' && 'attempted' in error
  } catch {
    // A getter or a proxy of whoever threw it.
    return false
  }
}

/** What a caller is told where a store was away: that nothing was run. `undefined` for any other error. */
export function fromStoreError(error: unknown): Refusal | undefined {
  if (!isStoreUnavailable(error)) return undefined
  return new Refusal('IdempotencyUnavailable', { cause: error, ran: error.attempted })
}
