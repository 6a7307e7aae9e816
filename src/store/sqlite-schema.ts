import { never } from './expiry.ts'

/** What brings a file from each version of its tables to the next; applied ones never change, and new ones only add. */
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
]
