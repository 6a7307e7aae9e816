import { never } from './expiry.ts'
import { nowMs } from './postgres-schema.ts'

/** The statements of a store, by name. Versions and sequences are returned as numbers that JavaScript has. */
export type PostgresStatements = Readonly<
  Record<
    | 'get'
    | 'overwrite'
    | 'create'
    | 'replace'
    | 'remove'
    | 'list'
    | 'makeRoom'
    | 'append'
    | 'read'
    | 'sweepKept'
    | 'sweepLogs'
    | 'sweepMessages',
    string
  >
>

/** Statements over the tables in `schema`, which is a plain name. Each is whole by itself. */
export function postgresStatements(schema: string): PostgresStatements {
  const nextVersion = `nextval('${schema}.version')`
  const insert = `
    INSERT INTO ${schema}.kept (key, value, version, expires_at, evict) VALUES ($1, $2, ${nextVersion}, $3, $4)
    ON CONFLICT (key) DO UPDATE SET
      value = excluded.value, version = ${nextVersion}, expires_at = excluded.expires_at, evict = excluded.evict`

  return {
    get: `SELECT value, version::float8 FROM ${schema}.kept WHERE key = $1 AND expires_at > ${nowMs}`,
    overwrite: `${insert} RETURNING version::float8`,
    create: `${insert} WHERE kept.expires_at <= ${nowMs} RETURNING version::float8`,
    replace: `
      UPDATE ${schema}.kept SET value = $2, version = ${nextVersion}, expires_at = $3, evict = $4
      WHERE key = $1 AND version = $5 AND expires_at > ${nowMs} RETURNING version::float8`,
    remove: `
      DELETE FROM ${schema}.kept WHERE key = $1 AND ($2::bigint IS NULL OR (version = $2 AND expires_at > ${nowMs}))
      RETURNING expires_at > ${nowMs} AS live`,
    list: `
      SELECT key, value, version::float8 FROM ${schema}.kept
      WHERE key >= $1 AND key < $2 AND key > $3 AND expires_at > ${nowMs} ORDER BY key LIMIT $4`,
    makeRoom: `SELECT ${schema}.make_room($1, $2, $3, $4, $5)::float8 AS left`,
    append: `SELECT ${schema}.append($1, $2, $3, $4, $5, $6, $7)::float8 AS sequence`,
    read: `
      SELECT (SELECT min(sequence) FROM ${schema}.log_entry WHERE log = $1)::float8 AS first,
        entry.sequence::float8, entry.value
      FROM ${schema}.log LEFT JOIN ${schema}.log_entry AS entry ON entry.log = log.name AND entry.sequence > $2
      WHERE log.name = $1 AND log.expires_at > ${nowMs} ORDER BY entry.sequence`,
    sweepKept: `
      DELETE FROM ${schema}.kept WHERE key IN (
        SELECT key FROM ${schema}.kept WHERE expires_at <= ${nowMs} AND expires_at < ${never}
        LIMIT 400 FOR UPDATE SKIP LOCKED)`,
    sweepLogs: `
      WITH gone AS (
        DELETE FROM ${schema}.log WHERE name IN (
          SELECT name FROM ${schema}.log WHERE expires_at <= ${nowMs} LIMIT 40 FOR UPDATE SKIP LOCKED)
        RETURNING name)
      DELETE FROM ${schema}.log_entry WHERE log IN (SELECT name FROM gone)`,
    sweepMessages: `DELETE FROM ${schema}.message WHERE at < ${nowMs} - 60000`,
  }
}
