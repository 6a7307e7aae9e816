import { setTimeout as delay } from 'node:timers/promises'
import { Refusal } from '../model/refusal.ts'
import { StoreUnavailable } from '../model/store-unavailable.ts'
import { hasNoRoom, isBusy, openDatabase, type SqliteDatabase, type SqliteDriver } from './sqlite-driver.ts'
import { migrations } from './sqlite-schema.ts'
import { createWriter } from './sqlite-writer.ts'

/** How a file is opened. */
export interface SqliteFileOptions {
  readonly path: string
  readonly driver: SqliteDriver | undefined
  readonly synchronous: 'normal' | 'full'
  readonly maxPages: number | undefined
  /** Milliseconds that a call waits at most for others to let go of the file. */
  readonly timeoutMs: number
}

/** A query as a function: parameters in their order, rows out. */
export type Query<Row> = (...parameters: readonly (string | number)[]) => readonly Row[]

/** A change as a function: parameters in their order, the number of rows that changed out. */
export type Change = (...parameters: readonly (string | number)[]) => number

/** The adding of one row as a function: parameters in their order, the row's id out; `undefined` where none was added. */
export type Insertion = (...parameters: readonly (string | number)[]) => number | undefined

/** One open file. */
export interface SqliteFile {
  /** A query that is compiled once; its rows are as `sql` names them, which the type has to say. */
  query<Row>(sql: string): Query<Row>
  /** A change that is compiled once. */
  change(sql: string): Change
  /** An insertion that is compiled once. It costs half of a query that returns the id. */
  insertion(sql: string): Insertion
  /**
   * Reads, at once where the file lets it.
   * @throws StoreUnavailable when it does not in time
   */
  read<Result>(work: () => Result): Promise<Result>
  /**
   * Writes, in the order of calls, as a whole or not at all. `work` may be run again where others failed beside it, so it
   * does nothing but write. `single` promises that it is one statement, which is a whole by itself.
   * @throws StoreUnavailable when it cannot in time, Refusal `StoreFull` when the disk is full, or a text is too long
   */
  write<Result>(work: () => Result, single?: boolean): Promise<Result>
  /** Calls `listener` whenever something that was written is taken back. */
  onRollback(listener: () => void): void
  close(): void
}

/** A blocked call blocks the process: SQLite itself waits no longer than this, in milliseconds; the rest is waited for beside. */
const busyTimeoutMs = 10

/** Opens a file, and brings its tables up to date. @throws StoreUnavailable if that fails */
export function openFile(options: SqliteFileOptions): SqliteFile {
  const { path, timeoutMs } = options
  const database = openTables(options)
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const listeners: (() => void)[] = []
  let closed = false
  const writer = createWriter({
    begin: () => begin.run(),
    commit: () => commit.run(),
    rollBack() {
      rollBack(database)
      for (const listener of listeners) listener()
    },
    timeoutMs,
    toError: (error) => toStoreError(error, path),
  })

  return {
    query<Row>(sql: string): Query<Row> {
      const statement = database.prepare(sql)
      return (...parameters) => statement.all(...parameters) as Row[] // as its documentation says
    },
    change(sql) {
      const statement = database.prepare(sql)
      return (...parameters) => Number(statement.run(...parameters).changes)
    },
    insertion(sql) {
      const statement = database.prepare(sql)
      return (...parameters) => {
        const { changes, lastInsertRowid } = statement.run(...parameters)
        return Number(changes) === 0 ? undefined : Number(lastInsertRowid)
      }
    },
    async read(work) {
      for (const deadline = performance.now() + timeoutMs; ; await delay(2 + Math.random() * 10)) {
        if (closed) throw new StoreUnavailable('The store is closed')
        try {
          return work()
        } catch (error) {
          if (!isBusy(error) || performance.now() >= deadline) throw toStoreError(error, path)
        }
      }
    },
    write: (work, single = false) => writer.write(work, single),
    onRollback: (listener) => void listeners.push(listener),
    close() {
      if (closed) return
      closed = true
      writer.close()
      database.close()
    },
  }
}

function openTables({ path, driver, synchronous, maxPages, timeoutMs }: SqliteFileOptions): SqliteDatabase {
  try {
    const database = openDatabase(path, driver)
    // Turning to WAL, and the first tables, need the file alone: processes that start together wait for one another.
    const deadline = performance.now() + timeoutMs
    patiently(deadline, () => database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`))
    patiently(deadline, () => database.exec('PRAGMA journal_mode = WAL'))
    database.exec(`PRAGMA synchronous = ${synchronous}`)
    patiently(deadline, () => migrate(database))
    if (maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${Math.floor(maxPages)}`)
    return database
  } catch (error) {
    throw toStoreError(error, path)
  }
}

/** The process has nothing else to do yet, so it may sleep. */
function patiently(deadline: number, work: () => void): void {
  for (;;) {
    try {
      return void work()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 + Math.random() * 20)
    }
  }
}

function migrate(database: SqliteDatabase): void {
  const versionOf = (): number => {
    const [row] = database.prepare('PRAGMA user_version').all() as { user_version: number }[] // the pragma's one row
    return row?.user_version ?? 0
  }
  if (versionOf() >= migrations.length) return
  database.exec('BEGIN IMMEDIATE')
  try {
    for (const sql of migrations.slice(versionOf())) database.exec(sql)
    database.exec(`PRAGMA user_version = ${Math.max(migrations.length, versionOf())}`)
    database.exec('COMMIT')
  } catch (error) {
    rollBack(database)
    throw error
  }
}

/** What went wrong matters more than that SQLite may have rolled back by itself. */
function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {}
}

function toStoreError(error: unknown, path: string): Error {
  if (error instanceof Refusal || error instanceof StoreUnavailable) return error
  if (hasNoRoom(error)) return new Refusal('StoreFull', { cause: error })
  const reason = error instanceof Error ? error.message : String(error)
  return new StoreUnavailable(`SQLite file ${path}: ${reason}`, { cause: error })
}
