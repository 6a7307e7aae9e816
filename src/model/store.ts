/** A value and the version it was read at. */
export interface Versioned {
  readonly value: string
  readonly version: number
}

/** When a value may be put, and how long it stays. */
export interface PutOptions {
  /** The version the key must still have; 0: the key must be absent; left out: whatever is there is overwritten. */
  readonly ifVersion?: number
  /** Milliseconds since the epoch; left out: the value stays. */
  readonly expiresAt?: number
}

/** One entry of a log. */
export interface LogEntry {
  /** Counts up from 1 within its log. */
  readonly sequence: number
  readonly value: string
}

/** The entries of a log after a sequence, oldest first. */
export interface LogPage {
  readonly entries: readonly LogEntry[]
  /** The newest entry that the log has already let go; 0 if none. */
  readonly evictedThrough: number
}

/** How much of a log is kept, and how long. */
export interface AppendOptions {
  /** The log keeps this many entries, newest first to stay. */
  readonly maxEntries: number
  /** Milliseconds since the epoch at which the whole log goes. */
  readonly expiresAt: number
}

/**
 * What the library needs of a place to keep things: versioned values, logs and a bus.
 * Every method rejects when the store cannot be reached; none of them ever half happens.
 */
export interface Store {
  /** Whether what is put here outlives the process. */
  readonly durable: boolean
  get(key: string): Promise<Versioned | undefined>
  /** Resolves to the new version, or `undefined` when `ifVersion` did not hold. */
  put(key: string, value: string, options?: PutOptions): Promise<number | undefined>
  delete(key: string): Promise<void>
  append(log: string, value: string, options: AppendOptions): Promise<number>
  read(log: string, after: number): Promise<LogPage>
  publish(channel: string, message: string): Promise<void>
  subscribe(channel: string, listener: (message: string) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}
