import { never } from './expiry.ts'

/** What brings a file from each version of its tables to the next; applied ones never change. */
export const migrations: readonly string[] = [
  `
  -- No deleted value had a version above the floor.
  CREATE TABLE meta (one INTEGER PRIMARY KEY CHECK (one = 1), floor INTEGER NOT NULL);
  INSERT INTO meta VALUES (1, 0);

  CREATE TABLE kept (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    version INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    evict INTEGER NOT NULL,
    put_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX kept_expiry ON kept (expires_at) WHERE expires_at < ${never};

  CREATE TABLE log (
    name TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX log_expiry ON log (expires_at);

  -- before: bytes of all the entries that the log ever had before this one.
  CREATE TABLE log_entry (
    log TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    value TEXT NOT NULL,
    before INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (log, sequence)
  ) WITHOUT ROWID;

  CREATE TABLE message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    origin TEXT NOT NULL,
    channel TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL
  );
  `,
  `
  -- A table with ids: what is put at one time then lies on one page, where keys would spread it over as many.
  ALTER TABLE kept RENAME TO kept_by_key;
  DROP INDEX kept_expiry;
  -- The version of a value is id + updates. No id was the version of a deleted value, since ids never come again and
  -- whoever deletes a value raises the count of ids to its version.
  CREATE TABLE kept (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    value TEXT NOT NULL,
    updates INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    evict INTEGER NOT NULL,
    put_at INTEGER NOT NULL
  );
  CREATE INDEX kept_expiry ON kept (expires_at) WHERE expires_at < ${never};
  INSERT INTO sqlite_sequence (name, seq) SELECT 'kept', floor FROM meta;
  INSERT INTO kept (id, key, value, updates, expires_at, evict, put_at)
    SELECT nth, key, value, version - nth, expires_at, evict, put_at
    FROM (SELECT row_number() OVER (ORDER BY put_at) AS nth, * FROM kept_by_key);
  DROP TABLE kept_by_key;
  DROP TABLE meta;
  `,
]
