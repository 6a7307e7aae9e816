/** Keeps everything in a SQLite file, for the processes of one machine. */
export { sqlite } from './store/sqlite.ts'
export type { SqliteStoreOptions } from './store/sqlite.ts'
export type { SqliteDriver } from './store/sqlite-driver.ts'
