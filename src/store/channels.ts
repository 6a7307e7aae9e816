import type { Bus } from './bus.ts'

/** The connection that messages come on. */
export interface ChannelWire {
  subscribe(channel: string): Promise<void>
  unsubscribe(channel: string): Promise<void>
}

/** The channels of a store that somebody in this process listens to. */
export interface Channels {
  /** As `subscribe` of the port; rejects when the wire does, and then nobody listens. */
  subscribe(channel: string, listener: (message: string) => void, missed?: () => void): Promise<() => Promise<void>>
}

/** Listens to each channel once, however many listeners `bus` has for it. */
export function createChannels(bus: Bus, wire: ChannelWire): Channels {
  const listening = new Set<string>()
  const changing = new Map<string, Promise<void>>()

  async function change(channel: string): Promise<void> {
    const wanted = bus.has(channel)
    if (wanted === listening.has(channel)) return
    if (wanted) {
      await wire.subscribe(channel)
      listening.add(channel)
    } else {
      listening.delete(channel)
      await wire.unsubscribe(channel)
    }
  }

  /** One change of a channel at a time, so that the last one decides. */
  async function align(channel: string): Promise<void> {
    const before = changing.get(channel) ?? Promise.resolve()
    const mine = before.then(() => change(channel))
    const settled = mine.catch(() => {})
    changing.set(channel, settled)
    try {
      await mine
    } finally {
      if (changing.get(channel) === settled) changing.delete(channel)
    }
  }

  return {
    async subscribe(channel, listener, missed) {
      const stop = bus.subscribe(channel, listener, missed)
      try {
        await align(channel)
      } catch (error) {
        stop()
        throw error
      }
      return async () => {
        stop()
        // Nobody hears what still comes, so a connection that is down is no harm.
        await align(channel).catch(() => {})
      }
    },
  }
}
