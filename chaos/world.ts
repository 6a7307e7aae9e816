// The world outside: a table of effects that no part of the library writes to, and a list of deaths that are due.
import Database from 'libsql'

/** Where a process may be told to die. */
export const deathPlaces = ['start', 'effect', 'steps', 'end'] as const

/** One of {@link deathPlaces}: before the effect, right after it, between two steps, or before the result is recorded. */
export type DeathPlace = (typeof deathPlaces)[number]

/** Effects that were had, one row each, however often the same one. */
export interface World {
  /** Has the effect of `call`, unconditionally, as a world does that knows no keys. */
  act(call: string, what: string): void
  /** Has the effect unless one with this key was had: what an upstream does that takes keys. */
  actOnce(call: string, what: string, key: string): void
  /** Kills this process the first time that `call` comes to `place`, if that was planned. */
  pass(call: string, place: DeathPlace): void
  plan(call: string, place: DeathPlace): void
  /** Adds one to what the subscribed resource holds. */
  touch(): void
  touched(): number
  /** How often each effect was had. */
  effects(): ReadonlyMap<string, number>
  deaths(): number
  close(): void
}

/** Opens the file at `path`, which any number of processes may share. */
export function openWorld(path: string): World {
  const db = new Database(path)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 10000')
  db.exec('CREATE TABLE IF NOT EXISTS effects (call TEXT, what TEXT, key TEXT UNIQUE)')
  db.exec('CREATE TABLE IF NOT EXISTS deaths (call TEXT, place TEXT, died INTEGER, PRIMARY KEY (call, place))')
  db.exec('CREATE TABLE IF NOT EXISTS touches (one INTEGER)')
  const insert = db.prepare('INSERT INTO effects (call, what) VALUES (?, ?)')
  const insertOnce = db.prepare('INSERT OR IGNORE INTO effects (call, what, key) VALUES (?, ?, ?)')
  const die = db.prepare('UPDATE deaths SET died = 1 WHERE call = ? AND place = ? AND died = 0')
  const plan = db.prepare('INSERT INTO deaths (call, place, died) VALUES (?, ?, 0)')
  const touch = db.prepare('INSERT INTO touches (one) VALUES (1)')
  const number = (sql: string): number => (db.prepare(sql).get() as { n: number }).n // as the statement says
  return {
    act: (call, what) => void insert.run(call, what),
    actOnce: (call, what, key) => void insertOnce.run(call, what, key),
    pass(call, place) {
      if (die.run(call, place).changes === 1) process.kill(process.pid, 'SIGKILL')
    },
    plan: (call, place) => void plan.run(call, place),
    touch: () => void touch.run(),
    touched: () => number('SELECT count(*) AS n FROM touches'),
    effects() {
      const sql = "SELECT call || ' ' || what AS name, count(*) AS n FROM effects GROUP BY call, what"
      const rows = db.prepare(sql).all() as { name: string; n: number }[] // as the statement says
      return new Map(rows.map(({ name, n }) => [name, n]))
    },
    deaths: () => number('SELECT count(*) AS n FROM deaths WHERE died = 1'),
    close: () => void db.close(),
  }
}
