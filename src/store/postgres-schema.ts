import { never } from './expiry.ts'

/** Milliseconds since the epoch at which the statement began; the same throughout it, so that an index can be used. */
export const nowMs = 'floor(extract(epoch FROM now()) * 1000)::bigint'

/**
 * What brings the tables in `schema` from each version to the next. Applied ones never change, and new ones only add, so
 * that older processes go on while a newer one has migrated.
 */
export function migrations(schema: string): readonly string[] {
  return [
    `
    CREATE SEQUENCE ${schema}.version;

    CREATE TABLE ${schema}.kept (
      key text COLLATE "C" PRIMARY KEY,
      value text NOT NULL,
      version bigint NOT NULL,
      expires_at bigint NOT NULL,
      evict smallint NOT NULL
    );
    CREATE INDEX kept_expiry ON ${schema}.kept (expires_at) WHERE expires_at < ${never};

    CREATE TABLE ${schema}.log (
      name text COLLATE "C" PRIMARY KEY,
      sequence bigint NOT NULL,
      bytes bigint NOT NULL,
      expires_at bigint NOT NULL
    );
    CREATE INDEX log_expiry ON ${schema}.log (expires_at);

    -- before: bytes of all the entries that the log ever had before this one.
    CREATE TABLE ${schema}.log_entry (
      log text COLLATE "C" NOT NULL,
      sequence bigint NOT NULL,
      value text NOT NULL,
      before bigint NOT NULL,
      at bigint NOT NULL,
      PRIMARY KEY (log, sequence)
    );

    -- Messages that are too long for a notification.
    CREATE TABLE ${schema}.message (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      text text NOT NULL,
      at bigint NOT NULL
    );

    -- Lets the group between two keys go of the oldest that may go, so that a value fits. Returns how many are left; -1
    -- when it is full; nothing when the key is there already.
    CREATE FUNCTION ${schema}.make_room(from_key text, to_key text, new_key text, at_most bigint, share bigint)
    RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      present bigint;
      gone bigint;
    BEGIN
      PERFORM FROM ${schema}.kept WHERE key = new_key AND expires_at > ${nowMs};
      IF FOUND THEN RETURN NULL; END IF;
      SELECT count(*) INTO present FROM ${schema}.kept
        WHERE key >= from_key AND key < to_key AND expires_at > ${nowMs};
      IF present < at_most THEN RETURN present; END IF;
      DELETE FROM ${schema}.kept WHERE key IN (
        SELECT key FROM ${schema}.kept
        WHERE key >= from_key AND key < to_key AND evict > 0 AND expires_at > ${nowMs}
        ORDER BY evict, version LIMIT present - at_most + share FOR UPDATE SKIP LOCKED
      );
      GET DIAGNOSTICS gone = ROW_COUNT;
      RETURN CASE WHEN present - gone >= at_most THEN -1 ELSE present - gone END;
    END $$;

    CREATE FUNCTION ${schema}.append(
      log_name text, entry text, entry_bytes bigint, max_entries bigint, max_bytes bigint, max_age bigint, until bigint
    ) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      now_ms bigint := ${nowMs};
      newest bigint;
      total bigint;
      oldest record;
    BEGIN
      INSERT INTO ${schema}.log AS known (name, sequence, bytes, expires_at) VALUES (log_name, 1, entry_bytes, until)
      ON CONFLICT (name) DO UPDATE SET
        sequence = CASE WHEN known.expires_at > now_ms THEN known.sequence + 1 ELSE 1 END,
        bytes = CASE WHEN known.expires_at > now_ms THEN known.bytes + entry_bytes ELSE entry_bytes END,
        expires_at = until
      RETURNING sequence, bytes INTO newest, total;
      DELETE FROM ${schema}.log_entry
        WHERE log = log_name AND (newest = 1 OR sequence <= least(newest - max_entries, newest - 1));
      INSERT INTO ${schema}.log_entry (log, sequence, value, before, at)
        VALUES (log_name, newest, entry, total - entry_bytes, now_ms);
      WHILE max_bytes IS NOT NULL OR max_age IS NOT NULL LOOP
        SELECT sequence, before, at INTO oldest FROM ${schema}.log_entry
          WHERE log = log_name ORDER BY sequence LIMIT 1;
        EXIT WHEN oldest.sequence >= newest
          OR (total - oldest.before <= coalesce(max_bytes, total) AND oldest.at >= now_ms - coalesce(max_age, now_ms));
        DELETE FROM ${schema}.log_entry WHERE log = log_name AND sequence = oldest.sequence;
      END LOOP;
      RETURN newest;
    END $$;
    `,
  ]
}
