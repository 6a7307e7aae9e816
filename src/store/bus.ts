/** Publishing and subscribing within one process. */
export interface Bus {
  /** Delivers `message` to those who listen now: after the caller has gone on, and in the order of publishing. */
  publish(channel: string, message: string): void
  /** Returns the way to stop; afterwards nothing is delivered, not even what was published before. */
  subscribe(channel: string, listener: (message: string) => void, missed?: () => void): () => void
  /** Tells all who listen that messages may have been lost. */
  missed(): void
  /** The channels that somebody listens to. */
  channels(): readonly string[]
  has(channel: string): boolean
  clear(): void
}

interface Subscription {
  readonly listener: (message: string) => void
  readonly missed: (() => void) | undefined
}

/** A bus with nobody on it. */
export function createBus(): Bus {
  const channels = new Map<string, Set<Subscription>>()

  /** One microtask each, so that a listener that throws takes nothing from the others. */
  function tell(channel: string, subscription: Subscription, deliver: () => void): void {
    queueMicrotask(() => {
      if (channels.get(channel)?.has(subscription)) deliver()
    })
  }

  return {
    publish(channel, message) {
      for (const subscription of channels.get(channel) ?? []) {
        tell(channel, subscription, () => subscription.listener(message))
      }
    },
    subscribe(channel, listener, missed) {
      const subscription: Subscription = { listener, missed }
      const subscriptions = channels.get(channel) ?? new Set()
      channels.set(channel, subscriptions.add(subscription))
      return () => {
        subscriptions.delete(subscription)
        if (subscriptions.size === 0 && channels.get(channel) === subscriptions) channels.delete(channel)
      }
    },
    missed() {
      for (const [channel, subscriptions] of channels) {
        for (const subscription of subscriptions) tell(channel, subscription, () => subscription.missed?.())
      }
    },
    channels: () => [...channels.keys()],
    has: (channel) => channels.has(channel),
    clear: () => channels.clear(),
  }
}
