import { setTimeout as delay } from 'node:timers/promises'
import { isStoreUnavailable } from '../model/store-unavailable.ts'
import { timerMs } from '../model/timer.ts'

/** How often something is tried again while the store is away, and how far apart. */
export interface Patience {
  readonly times: number
  readonly everyMs: number
}

/** What has happened is told to the store with patience, since it is known here alone: for ten minutes. */
export const recordPatience: Patience = { times: 1_200, everyMs: 500 }

/**
 * Does something that needs the store, again and again while that is away, but keeps no process alive for it.
 * @param onDelay told of the first failure
 * @throws what `attempt` threw last
 */
export async function retried<T>(
  { times, everyMs }: Patience,
  attempt: () => Promise<T>,
  onDelay?: (error: unknown) => void,
): Promise<T> {
  for (let left = times; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      if (!isStoreUnavailable(error) || left === 0) throw error
      if (left === times) onDelay?.(error)
    }
    await delay(timerMs(everyMs), undefined, { ref: false })
  }
}
