import type { Clock } from '../model/ports.ts'
import type { Store } from '../model/store.ts'
import { isStoreUnavailable } from '../model/store-unavailable.ts'

/** What tasks are written to and looked up in. */
export type TaskStore = Pick<Store, 'get' | 'put' | 'delete' | 'list'>

/** A store, and whether what it says of leases can be gone by. */
export interface WatchedStore extends TaskStore {
  /**
   * Whether the store was away a moment ago, for so long that leases may have run out although whoever holds them lives:
   * they get the time to say so.
   */
  isJustBack(): boolean
}

/** Notices when `store` is away. @param leaseMs for how long whoever holds a lease may be silent */
export function watched(store: TaskStore, clock: Clock, leaseMs: number): WatchedStore {
  // Leases are renewed three times while they last, so a shorter outage ends none.
  const longMs = leaseMs / 2
  let reachedAt = clock()
  let isAway = false
  let backUntil = -Infinity

  const through =
    <Args extends readonly unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        const result = await method(...args)
        const now = clock()
        if (isAway && now - reachedAt >= longMs) backUntil = now + longMs
        isAway = false
        reachedAt = now
        return result
      } catch (error) {
        isAway ||= isStoreUnavailable(error)
        throw error
      }
    }

  return {
    get: through((key) => store.get(key)),
    put: through((key, value, options) => store.put(key, value, options)),
    delete: through((key, ifVersion) => store.delete(key, ifVersion)),
    list: through((group, options) => store.list(group, options)),
    isJustBack: () => clock() < backUntil,
  }
}
