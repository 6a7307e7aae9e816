import type { Awaitable } from '../model/at-once.ts'
import { Refusal } from '../model/refusal.ts'

/** Whether a run is still this process's, as has to be known before it begins another effect. */
export interface Hold {
  /** Why the run goes no further here, once it is known to be another's; `undefined` until then. */
  readonly lost: Refusal | undefined
  /** Known at once while the lease lasts by this process's clock, else looked up. Rejects while the store stays away. */
  isOurs(): Awaitable<boolean>
  /** Sets who is told once the run is known to be another's. Absent where the signal of the call's context says so. */
  onLost?(listener: (reason: Refusal) => void): void
}

/**
 * What a run is told that another process may have done by now. Whoever called is told that nobody knows, and learns the
 * truth when asking again. @param since milliseconds since the epoch
 */
export function takenOver(since: number): Refusal {
  return new Refusal('OutcomeUnknown', {
    data: { since: new Date(since).toISOString() },
    message: 'This run was taken over, since its lease had run out',
    ran: 'unknown',
  })
}
