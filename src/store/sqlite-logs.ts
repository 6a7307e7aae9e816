import type { Clock } from '../model/ports.ts'
import type { AppendOptions, LogPage } from '../model/store.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { fromKept, toKept } from './text.ts'

/** The logs of one file. `read` belongs into `read` of the file, the others into `write`. */
export interface SqliteLogs {
  append(name: string, value: string, options: AppendOptions): number
  read(name: string, after: number): LogPage
  /** Deletes some of what has expired. */
  sweep(now: number): void
}

interface Head {
  readonly sequence: number
  readonly bytes: number
  readonly expires_at: number
}

interface Oldest {
  readonly sequence: number
  readonly before: number
  readonly at: number
}

/** A row of the page; without an entry where none is after the one asked for. */
interface Row {
  readonly first: number
  readonly sequence: number | null
  readonly value: string | null
}

/** Logs that one sweep deletes at most. */
const sweepAtMost = 20

/** The logs kept in `file`. */
export function sqliteLogs({ query, change }: SqliteFile, clock: Clock): SqliteLogs {
  const head = query<Head>('SELECT sequence, bytes, expires_at FROM log WHERE name = ?')
  const putHead = change(`
    INSERT INTO log (name, sequence, bytes, expires_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence, bytes = excluded.bytes, expires_at = excluded.expires_at`)
  const insert = change('INSERT INTO log_entry (log, sequence, value, before, at) VALUES (?, ?, ?, ?, ?)')
  const oldest = query<Oldest>('SELECT sequence, before, at FROM log_entry WHERE log = ? ORDER BY sequence LIMIT 1')
  const removeThrough = change('DELETE FROM log_entry WHERE log = ? AND sequence <= ?')
  const clear = change('DELETE FROM log_entry WHERE log = ?')
  const removeHead = change('DELETE FROM log WHERE name = ?')
  const expired = query<{ name: string }>(`SELECT name FROM log WHERE expires_at <= ? LIMIT ${sweepAtMost}`)
  const page = query<Row>(`
    SELECT (SELECT min(sequence) FROM log_entry WHERE log = log.name) AS first, entry.sequence, entry.value
    FROM log LEFT JOIN log_entry AS entry ON entry.log = log.name AND entry.sequence > ?
    WHERE log.name = ? AND log.expires_at > ? ORDER BY entry.sequence`)

  function trim(name: string, sequence: number, bytes: number, now: number, bounds: AppendOptions): void {
    const { maxEntries, maxBytes, maxAgeMs } = bounds
    const byCount = Math.min(sequence - maxEntries, sequence - 1)
    if (byCount > 0) removeThrough(name, byCount)
    if (maxBytes === undefined && maxAgeMs === undefined) return
    for (;;) {
      const [first] = oldest(name)
      if (first === undefined || first.sequence >= sequence) return
      if (bytes - first.before <= (maxBytes ?? Infinity) && first.at >= now - (maxAgeMs ?? Infinity)) return
      removeThrough(name, first.sequence)
    }
  }

  return {
    append(name, value, options) {
      const now = clock()
      const [known] = head(name)
      const isOver = known !== undefined && known.expires_at <= now
      if (isOver) clear(name)
      const before = isOver ? 0 : (known?.bytes ?? 0)
      const bytes = before + Buffer.byteLength(value)
      const sequence = (isOver ? 0 : (known?.sequence ?? 0)) + 1
      insert(name, sequence, toKept(value), before, now)
      putHead(name, sequence, bytes, options.expiresAt)
      trim(name, sequence, bytes, now, options)
      return sequence
    },
    read(name, after) {
      const rows = page(after, name, clock())
      const entries = rows.flatMap(({ sequence, value }) =>
        sequence === null || value === null ? [] : [{ sequence, value: fromKept(value) }],
      )
      return { entries, evictedThrough: (rows[0]?.first ?? 1) - 1 }
    },
    sweep(now) {
      for (const { name } of expired(now)) {
        clear(name)
        removeHead(name)
      }
    },
  }
}
