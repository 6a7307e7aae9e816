/** A value and the version it was read at. */
export interface Versioned {
  readonly value: string
  readonly version: number
}

/** A value of a group, with its key. */
export interface Listed extends Versioned {
  readonly key: string
}

/** When a value may be put, how long it stays, and what gives way for it. */
export interface PutOptions {
  /** The version the key must still have; 0: the key must be absent; left out: whatever is there is overwritten. */
  readonly ifVersion?: number
  /** Milliseconds since the epoch; left out: the value stays. */
  readonly expiresAt?: number
  /**
   * Values the group of the key holds at most, counted where this put adds one: then the group lets go of the oldest
   * evictable ones, or refuses with `StoreFull`. A store that several processes write to may go over it by what they
   * put at the same moment, SQLite and PostgreSQL by up to a sixteenth per process. Left out: no bound.
   */
  readonly maxInGroup?: number
  /**
   * Whether the value may be let go for new ones of its group, or of others where the store itself is full: all of the
   * `first` before any of the `last`. Default `never`.
   */
  readonly evict?: Eviction
}

/** Which values a full group lets go of. */
export type Eviction = 'never' | 'first' | 'last'

/** Which part of a group is listed. */
export interface ListOptions {
  /** Only keys behind this one; left out: from the first. */
  readonly after?: string
  /** At most this many, at least 1. Default 100. */
  readonly limit?: number
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

/** How much of a log is kept, and how long. Whatever the bounds, the newest entry stays. */
export interface AppendOptions {
  /** The log keeps this many entries, newest first to stay. */
  readonly maxEntries: number
  /** UTF-8 bytes of the entries that the log keeps. Default: no bound. */
  readonly maxBytes?: number
  /** Milliseconds after which an entry gives way to the next one appended. Default: no bound. */
  readonly maxAgeMs?: number
  /** Milliseconds since the epoch at which the whole log goes. */
  readonly expiresAt: number
}

/**
 * What the library needs of a place to keep things: versioned values, logs and a bus.
 *
 * Keys, and names of logs and channels, are 1 to 512 bytes of UTF-8 without NUL. The text of a key before its first `/`
 * is its group: the values of a group are counted and listed together, and a cluster keeps them together. Values,
 * entries and messages are any well-formed text.
 *
 * Every method rejects with `StoreUnavailable` when the store cannot be reached, within a bounded time, and with the
 * refusal `StoreFull` when there is no room; none of them ever half happens. Each store goes by its own clock.
 */
export interface Store {
  /** Whether what is put here outlives the process. */
  readonly durable: boolean
  get(key: string): Promise<Versioned | undefined>
  /**
   * Resolves to the new version, or `undefined` when `ifVersion` did not hold. The versions of a key grow and are never
   * used twice, not even after a deletion.
   */
  put(key: string, value: string, options?: PutOptions): Promise<number | undefined>
  /** Deletes what is there, or with `ifVersion` only that version. Resolves to whether there was something to delete. */
  delete(key: string, ifVersion?: number): Promise<boolean>
  /** The values of a group, in the order of the bytes of their keys. */
  list(group: string, options?: ListOptions): Promise<readonly Listed[]>
  /** Resolves to the sequence of the new entry. */
  append(log: string, value: string, options: AppendOptions): Promise<number>
  read(log: string, after: number): Promise<LogPage>
  /** Tells all who listen, in whatever process; best effort, and only to those who are connected. */
  publish(channel: string, message: string): Promise<void>
  /**
   * Listens until the returned function is called. Messages of one publisher come in their order. `missed` is called
   * once messages may have been lost, because the store was away: what they told of has to be looked up.
   */
  subscribe(channel: string, listener: (message: string) => void, missed?: () => void): Promise<() => Promise<void>>
  close(): Promise<void>
}
