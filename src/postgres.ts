/** Keeps everything in PostgreSQL, through a pool of `pg`. */
export { postgres } from './store/postgres.ts'
export type { PostgresStoreOptions } from './store/postgres.ts'
export { migratePostgres } from './store/postgres-migrate.ts'
export type { Migrated } from './store/postgres-migrate.ts'
export type { PostgresPool, PostgresSource } from './store/postgres-pool.ts'
