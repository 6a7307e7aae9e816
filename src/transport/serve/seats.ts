import type { Caps } from '../../wire/caps.ts'

/** Something that takes a seat for as long as it is open. */
export interface Seated {
  readonly closed: boolean
}

/** Counts what has no end of its own, so that nobody holds open more of it than the caps allow. */
export interface Seats {
  /** Takes a seat for `guest` until it is closed. @returns `false` when there is none left, for it or for anybody */
  take(guest: Seated, principal: string | undefined): boolean
}

/** Guests are not asked to tell when they go: those that have gone are found when the seats run short. */
export function createSeats({ maxListeners, maxListenersEach }: Caps): Seats {
  const taken = new Map<Seated, string | undefined>()
  let each = new Map<string, number>()
  let enough = 0

  function sweep(): void {
    each = new Map()
    for (const [guest, principal] of taken) {
      if (guest.closed) taken.delete(guest)
      else count(principal)
    }
    // Twice what is left: so the work of all sweeps together stays in proportion to the guests that came.
    enough = Math.min(maxListeners, taken.size * 2 + 16)
  }

  function count(principal: string | undefined): void {
    if (principal !== undefined) each.set(principal, (each.get(principal) ?? 0) + 1)
  }

  const isFull = (principal: string | undefined): boolean =>
    taken.size >= maxListeners || (principal !== undefined && (each.get(principal) ?? 0) >= maxListenersEach)

  return {
    take(guest, principal) {
      if (taken.size >= enough || isFull(principal)) sweep()
      if (isFull(principal)) return false
      taken.set(guest, principal)
      count(principal)
      return true
    },
  }
}
