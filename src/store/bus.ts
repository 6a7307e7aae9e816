/** Publishing and subscribing within one process. */
export interface Bus {
  /** Delivers `message` to those who listen now: after the caller has gone on, and in the order of publishing. */
  publish(channel: string, message: string): void
  /** Returns the way to stop; afterwards nothing is delivered, not even what was published before. */
  subscribe(channel: string, listener: (message: string) => void): () => Promise<void>
  clear(): void
}

interface Subscription {
  readonly listener: (message: string) => void
}

/** A bus with nobody on it. */
export function createBus(): Bus {
  const channels = new Map<string, Set<Subscription>>()
  return {
    publish(channel, message) {
      for (const subscription of channels.get(channel) ?? []) {
        // One microtask each, so that a listener that throws takes nothing from the others.
        queueMicrotask(() => {
          if (channels.get(channel)?.has(subscription)) subscription.listener(message)
        })
      }
    },
    subscribe(channel, listener) {
      const subscription: Subscription = { listener }
      const subscriptions = channels.get(channel) ?? new Set()
      channels.set(channel, subscriptions.add(subscription))
      return async () => {
        subscriptions.delete(subscription)
        if (subscriptions.size === 0 && channels.get(channel) === subscriptions) channels.delete(channel)
      }
    },
    clear() {
      channels.clear()
    },
  }
}
