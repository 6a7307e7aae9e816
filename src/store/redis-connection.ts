/** One connection to Redis, whichever package makes it. It reconnects by itself until it is ended. */
export interface RedisConnection {
  /** Sends one command; rejects at once when the connection is down. */
  command(args: readonly string[]): Promise<unknown>
  subscribe(channel: string): Promise<void>
  unsubscribe(channel: string): Promise<void>
  end(): void
}

/** What a connection tells. */
export interface RedisListeners {
  /** Commands can be sent: at first, and after each loss. */
  ready(): void
  down(reason: Error | undefined): void
  message(channel: string, message: string): void
}

/** Opens a connection; it need not be up yet. */
export type RedisConnect = (listeners: RedisListeners) => RedisConnection

/** Milliseconds before another attempt to connect, after `attempts` that failed. */
export function reconnectDelay(attempts: number): number {
  return Math.min(25 * 2 ** Math.min(attempts, 6), 1000)
}
