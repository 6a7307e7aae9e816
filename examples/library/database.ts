import { createRequire } from 'node:module'
import { books } from './books.ts'

/** As much of a SQLite driver as the library needs; `node:sqlite`, libsql and better-sqlite3 all have it. */
export interface Database {
  exec(sql: string): unknown
  prepare(sql: string): {
    all(...values: (string | number)[]): unknown[]
    get(...values: (string | number)[]): unknown
    run(...values: (string | number)[]): unknown
  }
  close(): void
}

type Driver = new (file: string) => Database

/** Opens the library's file, and fills it if it is new. `:memory:` keeps everything in this process. */
export function openDatabase(file: string): Database {
  const Driver = findDriver()
  const database = new Driver(file)
  database.exec('pragma busy_timeout = 5000')
  database.exec(tables)
  const add = database.prepare('insert or ignore into books values (?, ?, ?, ?, ?)')
  database.exec('begin immediate')
  for (const book of books) add.run(...book)
  database.exec('commit')
  return database
}

const tables = `
  create table if not exists books (
    id integer primary key, title text not null, author text not null, language text not null, year integer not null
  );
  create table if not exists loans (
    id integer primary key, book integer not null references books, reader text not null,
    lent_on text not null default current_date, due_on text not null, returned_on text
  );
  create unique index if not exists one_reader_at_a_time on loans (book) where returned_on is null;
`

/** SQLite comes with Node from 22.13 on; before, the package libsql brings it. */
function findDriver(): Driver {
  const require = createRequire(import.meta.url)
  try {
    return require('node:sqlite').DatabaseSync
  } catch {
    return require('libsql')
  }
}
