import { createRequire } from 'node:module'

/** A statement that was compiled once. */
export interface SqliteStatement {
  /** Runs it to its end, so that no lock outlives the call. @returns the rows */
  all(...parameters: readonly (string | number)[]): readonly unknown[]
  /** The same, where rows are not wanted; it costs half. */
  run(...parameters: readonly (string | number)[]): {
    readonly changes: number | bigint
    /** The id of the latest row that this connection added, by whatever statement. */
    readonly lastInsertRowid: number | bigint
  }
}

/** What node:sqlite, libsql and better-sqlite3 have in common. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  close(): unknown
}

/** A package that brings SQLite. */
export type SqliteDriver = 'node:sqlite' | 'libsql' | 'better-sqlite3'

type Constructor = new (path: string) => SqliteDatabase

const drivers: readonly SqliteDriver[] = ['node:sqlite', 'libsql', 'better-sqlite3']

/**
 * Opens a file with `driver`, or the first one that is there: the runtime's own, libsql, better-sqlite3.
 * @throws if there is no driver, or the file cannot be opened
 */
export function openDatabase(path: string, driver: SqliteDriver | undefined): SqliteDatabase {
  for (const name of driver === undefined ? drivers : [driver]) {
    const Database = load(name)
    if (Database !== undefined) return new Database(path)
  }
  const wanted = driver ?? 'libsql'
  throw new Error(`No driver for SQLite: this runtime has no node:sqlite. Install one, as in: npm install ${wanted}`)
}

function load(name: SqliteDriver): Constructor | undefined {
  try {
    // Drivers are CommonJS or built in; loading them only here keeps them optional.
    const module: unknown = createRequire(import.meta.url)(name)
    return constructorOf(module)
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

function constructorOf(module: unknown): Constructor | undefined {
  const found = isRecord(module) && 'DatabaseSync' in module ? module.DatabaseSync : module
  // The shape of three known packages; their own types are not at hand where they are not installed.
  return typeof found === 'function' ? (found as Constructor) : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_UNKNOWN_BUILTIN_MODULE'
}

/** Whether another connection held the file for as long as one waited. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === 'SQLITE_BUSY'
}

/** Whether the disk, or what the file may take of it, is full, or a text is longer than SQLite takes. */
export function hasNoRoom(error: unknown): boolean {
  const code = resultCode(error)
  return code === 'SQLITE_FULL' || code === 'SQLITE_TOOBIG'
}

const codes: ReadonlyMap<number, string> = new Map([
  [5, 'SQLITE_BUSY'],
  [13, 'SQLITE_FULL'],
  [18, 'SQLITE_TOOBIG'],
])

/** The primary result code: libsql and better-sqlite3 name it, node:sqlite has its number. */
function resultCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('errcode' in error && typeof error.errcode === 'number') return codes.get(error.errcode & 0xff)
  const name = 'code' in error ? String(error.code) : ''
  return /^SQLITE_(?:BUSY|FULL|TOOBIG)/.exec(name)?.[0]
}
