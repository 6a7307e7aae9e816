import type { Notification } from '../model/notification.ts'
import type { Logger } from '../model/ports.ts'
import { safely } from '../model/safely.ts'
import type { Caller } from '../peer/calling.ts'

/** Who hears what the server tells unasked, in whatever way it is told. */
export interface Listeners {
  tell(notification: Notification): void
  /** What was told before this may have been missed: another session took the place of the last. */
  renewed(): void
  /** The way to the server ended. */
  left(caller: Caller): void
  /** On this way what is told unasked is heard from now on, or no more. */
  hears(caller: Caller, hears: boolean): void
  /** Returns the way to stop. */
  add(listener: Listener): () => void
}

/** One who hears. */
export interface Listener {
  notified?(notification: Notification): void
  renewed?(): void
  left?(caller: Caller): void
  hears?(caller: Caller, hears: boolean): void
}

/** Makes the list. One listener that throws keeps nothing from the others. */
export function createListeners(logger: Logger): Listeners {
  const all = new Set<Listener>()
  const each = (tell: (listener: Listener) => void): void => {
    for (const listener of [...all])
      safely(
        () => tell(listener),
        (error) => logger.error('a listener threw', { error }),
      )
  }
  return {
    tell: (notification) => each((listener) => listener.notified?.(notification)),
    renewed: () => each((listener) => listener.renewed?.()),
    left: (caller) => each((listener) => listener.left?.(caller)),
    hears: (caller, hears) => each((listener) => listener.hears?.(caller, hears)),
    add(listener) {
      all.add(listener)
      return () => void all.delete(listener)
    },
  }
}
