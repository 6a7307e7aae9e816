import { timerMs } from '../model/timer.ts'
import { StoreUnavailable } from '../model/store-unavailable.ts'

/** Told instead of an answer that did not come in time. */
export class Late extends StoreUnavailable {
  constructor(message: string) {
    super(message, { attempted: 'unknown' })
  }
}

/** `work`, or after `ms` milliseconds a rejection; what `work` comes to then is passed over. */
export function within<Result>(ms: number, work: Promise<Result>, message: string): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Late(message)), timerMs(ms))
    work.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error instanceof Error ? error : new Error(String(error)))
      },
    )
  })
}

/** Something that is up or down, and can be waited for. */
export interface Gate {
  readonly isOpen: boolean
  open(): void
  shut(): void
  /** Resolves once it is open. @throws StoreUnavailable if it is not within `ms` milliseconds */
  pass(ms: number): Promise<void>
}

/** A gate that is shut. @param message what those hear who could not pass */
export function createGate(message: () => string): Gate {
  const waiting = new Set<() => void>()
  let isOpen = false
  return {
    get isOpen() {
      return isOpen
    },
    open() {
      isOpen = true
      for (const resume of waiting) resume()
    },
    shut() {
      isOpen = false
    },
    pass(ms) {
      if (isOpen) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const settle = (then: () => void): void => {
          clearTimeout(timer)
          waiting.delete(resume)
          then()
        }
        const resume = (): void => settle(resolve)
        const timer = setTimeout(() => settle(() => reject(new StoreUnavailable(message()))), timerMs(ms))
        waiting.add(resume)
      })
    },
  }
}
