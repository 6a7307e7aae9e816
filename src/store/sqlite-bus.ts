import { randomUUID } from 'node:crypto'
import { timerMs } from '../model/timer.ts'
import type { Clock } from '../model/ports.ts'
import type { Bus } from './bus.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { fromKept, toKept } from './text.ts'

/** Messages between the processes that share a file. */
export interface SqliteBus {
  publish(channel: string, message: string): Promise<void>
  /** Hears what is published from now on. Belongs into `read` of the file. */
  listen(): void
  /** Stops looking. */
  rest(): void
}

interface Row {
  readonly id: number
  readonly channel: string
  readonly text: string
}

/** Milliseconds that a message stays for others to find. */
const keepMs = 60_000
/** Messages read at once. */
const batch = 500
/** Every so many messages the old ones are deleted. */
const pruneEvery = 64

/**
 * SQLite tells nobody of a change, so those who listen look every `pollMs` whether others wrote to the file. Own messages
 * go to `bus` directly.
 */
export function sqliteBus(
  { query, change, read, write }: SqliteFile,
  bus: Bus,
  clock: Clock,
  pollMs: number,
): SqliteBus {
  const origin = randomUUID()
  const insert = change('INSERT INTO message (origin, channel, text, at) VALUES (?, ?, ?, ?)')
  const prune = change('DELETE FROM message WHERE at < ?')
  // Counts the commits of other connections, at the price of no lock.
  const changes = query<{ data_version: number }>('PRAGMA data_version')
  const newest = query<{ id: number }>('SELECT coalesce(max(seq), 0) AS id FROM sqlite_sequence')
  const since = query<Row>(
    `SELECT id, channel, text FROM message WHERE id > ? AND origin <> ? ORDER BY id LIMIT ${batch}`,
  )
  let published = 0
  let timer: NodeJS.Timeout | undefined
  let seen = 0
  let seenVersion = -1
  let lookedAt = 0

  function look(): void {
    const version = changes()[0]?.data_version ?? 0
    const rows = version === seenVersion ? [] : since(seen, origin)
    for (const { id, channel, text } of rows) {
      seen = id
      bus.publish(channel, fromKept(text))
    }
    if (rows.length < batch) seenVersion = version
    // Whoever slept for longer than messages are kept may have slept through some.
    if (performance.now() - lookedAt > keepMs / 2) bus.missed()
    lookedAt = performance.now()
  }

  function lookLater(): void {
    timer = setTimeout(() => {
      // A file that cannot be read now is looked at again, and told of if that takes too long.
      void read(look)
        .catch(() => {})
        .finally(() => timer && lookLater())
    }, timerMs(pollMs))
    timer.unref()
  }

  return {
    async publish(channel, message) {
      const isTime = published++ % pruneEvery === 0
      await write(() => {
        insert(origin, channel, toKept(message), clock())
        if (isTime) prune(clock() - keepMs)
      }, !isTime)
      bus.publish(channel, message)
    },
    listen() {
      if (timer !== undefined) return
      seen = newest()[0]?.id ?? 0
      seenVersion = -1
      lookedAt = performance.now()
      lookLater()
    },
    rest() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
