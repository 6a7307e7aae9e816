import type { Clock } from '../model/ports.ts'
import { Refusal } from '../model/refusal.ts'
import type { Listed, ListOptions, PutOptions, Versioned } from '../model/store.ts'
import { never, toExpiry } from './expiry.ts'
import { groupOf } from './groups.ts'
import { createRooms, evictionRank } from './rooms.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { fromKept, toKept } from './text.ts'

/** The values of one file. `get` and `list` belong into `read` of the file, the others into `write`. */
export interface SqliteValues {
  get(key: string): Versioned | undefined
  put(key: string, value: string, options: PutOptions): number | undefined
  /** Whether a put is a whole by itself. */
  isOneStatement(options: PutOptions): boolean
  delete(key: string, ifVersion: number | undefined): boolean
  list(group: string, options: ListOptions): readonly Listed[]
  /** Deletes some of what has expired. */
  sweep(now: number): void
}

interface Version {
  readonly version: number
}

/** Rows that one sweep deletes at most. */
const sweepAtMost = 200

/** The values kept in `file`. */
export function sqliteValues(file: SqliteFile, clock: Clock): SqliteValues {
  const { query, change, insertion } = file
  const range = 'key >= ? AND key < ?'
  const version = 'id + updates AS version'
  const select = query<Versioned>(`SELECT value, ${version} FROM kept WHERE key = ? AND expires_at > ?`)
  const insert = `
    INSERT INTO kept (key, value, updates, expires_at, evict, put_at) VALUES (?, ?, 0, ?, ?, ?) ON CONFLICT (key) DO`
  const add = insertion(`${insert} NOTHING`)
  const overwrite = query<Version>(`${insert}
    UPDATE SET value = excluded.value, updates = kept.updates + 1,
      expires_at = excluded.expires_at, evict = excluded.evict, put_at = excluded.put_at
    RETURNING ${version}`)
  const update = 'UPDATE kept SET value = ?, updates = updates + 1, expires_at = ?, evict = ?, put_at = ?'
  const replace = change(`${update} WHERE key = ? AND id + updates = ? AND expires_at > ?`)
  const replaceExpired = query<Version>(`${update} WHERE key = ? AND expires_at <= ? RETURNING ${version}`)
  const remove = query<Version & { expires_at: number }>(
    `DELETE FROM kept WHERE key = ? RETURNING ${version}, expires_at`,
  )
  const raiseIds = change("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'kept'")
  const page = query<Listed>(`
    SELECT key, value, ${version} FROM kept WHERE ${range} AND key > ? AND expires_at > ? ORDER BY key LIMIT ?`)
  const count = query<{ n: number }>(`SELECT count(*) AS n FROM kept WHERE ${range} AND expires_at > ?`)
  const evict = query<Version>(`
    DELETE FROM kept WHERE id IN (
      SELECT id FROM kept WHERE ${range} AND evict > 0 AND expires_at > ? ORDER BY evict, put_at LIMIT ?
    ) RETURNING ${version}`)
  const expire = query<Version>(`
    DELETE FROM kept WHERE id IN (
      SELECT id FROM kept WHERE expires_at <= ? AND expires_at < ${never} LIMIT ${sweepAtMost}
    ) RETURNING ${version}`)
  const rooms = createRooms()
  file.onRollback(() => rooms.clear())
  let lastPut = 0

  /** Microseconds, each later than the one before: the order in which values are let go. */
  function putAt(now: number): number {
    lastPut = Math.max(lastPut + 1, now * 1000)
    return lastPut
  }

  function letGo(gone: readonly Version[]): void {
    if (gone.length > 0) raiseIds(gone.reduce((most, { version }) => Math.max(most, version), 0))
  }

  function makeRoom(group: string, max: number, now: number): void {
    const [from, to] = rangeOf(group)
    const counted = count(from, to, now)[0]?.n ?? 0
    const gone = evict(from, to, now, rooms.excess(max, counted))
    letGo(gone)
    const left = counted - gone.length
    if (left >= max) throw new Refusal('StoreFull')
    rooms.counted(group, max, left)
  }

  function write(
    key: string,
    value: string,
    { ifVersion, expiresAt, evict: when = 'never' }: PutOptions,
    now: number,
  ): number | undefined {
    const rank = evictionRank[when]
    const kept = toKept(value)
    const until = toExpiry(expiresAt)
    const at = putAt(now)
    if (ifVersion === undefined) return overwrite(key, kept, until, rank, at)[0]?.version
    // A row that was never updated has its id for a version.
    if (ifVersion === 0)
      return add(key, kept, until, rank, at) ?? replaceExpired(kept, until, rank, at, key, now)[0]?.version
    return replace(kept, until, rank, at, key, ifVersion, now) > 0 ? ifVersion + 1 : undefined
  }

  return {
    get(key) {
      const [found] = select(key, clock())
      return found && { value: fromKept(found.value), version: found.version }
    },
    put(key, value, options) {
      const now = clock()
      const { ifVersion = 0, maxInGroup } = options
      const group = maxInGroup === undefined || ifVersion !== 0 ? undefined : groupOf(key)
      if (group === undefined || maxInGroup === undefined) return write(key, value, options, now)
      if (!rooms.has(group) && select(key, now).length === 0) makeRoom(group, maxInGroup, now)
      const version = write(key, value, options, now)
      if (version !== undefined) rooms.take(group)
      return version
    },
    // A new key may have to take the place of one that has expired, and a group may have to make room.
    isOneStatement: ({ ifVersion, maxInGroup }) => ifVersion !== 0 && maxInGroup === undefined,
    delete(key, ifVersion) {
      const now = clock()
      if (ifVersion !== undefined && select(key, now)[0]?.version !== ifVersion) return false
      const gone = remove(key)
      letGo(gone)
      return gone.some((row) => row.expires_at > now)
    },
    list(group, { after = '', limit = 100 }) {
      const rows = page(...rangeOf(group), after, clock(), limit)
      return rows.map(({ key, value, version }) => ({ key, value: fromKept(value), version }))
    },
    sweep: (now) => letGo(expire(now)),
  }
}

/** The keys of a group are those from the first up to and without the second; `0` is what follows `/`. */
function rangeOf(group: string): [string, string] {
  return [`${group}/`, `${group}0`]
}
