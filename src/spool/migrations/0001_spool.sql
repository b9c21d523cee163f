-- Where a session worked, resolved while the directory was there.
CREATE TABLE places (
  id       INTEGER PRIMARY KEY,
  session  TEXT NOT NULL,
  cwd      TEXT NOT NULL,
  identity TEXT NOT NULL, -- JSON of model::Identity
  seen_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX places_cwd ON places (session, cwd);

-- Events waiting for the observer. A row is deleted once its batch is recorded in memory.db.
CREATE TABLE events (
  id          INTEGER PRIMARY KEY,
  session     TEXT NOT NULL,
  place       INTEGER NOT NULL REFERENCES places (id),
  kind        TEXT NOT NULL,
  tool        TEXT,
  body        TEXT NOT NULL,             -- JSON of model::Event
  at          INTEGER NOT NULL,
  ends_turn   INTEGER NOT NULL,
  parked      INTEGER NOT NULL DEFAULT 0,
  batch       TEXT,                      -- set while a drainer works on it
  lease_until INTEGER,
  attempts    INTEGER NOT NULL DEFAULT 0, -- failures held against it: they lead to parking
  failed      INTEGER NOT NULL DEFAULT 0, -- failures in a row, the provider's own among them
  batch_limit INTEGER,                   -- largest batch to try it in; NULL = any
  due_at      INTEGER NOT NULL DEFAULT 0,
  tried_at    INTEGER NOT NULL DEFAULT 0,
  class       TEXT,                      -- of the last failure
  reason      TEXT
) STRICT;
CREATE INDEX events_waiting ON events (session, place, id) WHERE parked = 0 AND batch IS NULL;
CREATE INDEX events_batch ON events (batch) WHERE batch IS NOT NULL;

-- What was delivered, so that the same call from two hook registrations is one event, drained or not.
CREATE TABLE deliveries (
  key BLOB PRIMARY KEY,
  at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Sessions that were shown something at a start.
CREATE TABLE sessions (
  session  TEXT PRIMARY KEY,
  cwd      TEXT NOT NULL,
  notified INTEGER NOT NULL, -- the health notice was shown
  shown    TEXT NOT NULL,    -- JSON array: observations already injected
  shown_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- seen = stored + nothing + dropped + skipped:* + rows in events, at any commit.
CREATE TABLE ledger (
  entry TEXT PRIMARY KEY,
  count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Files that others wrote, and how much of them was taken in.
CREATE TABLE taken_files (
  path   TEXT PRIMARY KEY,
  bytes  INTEGER NOT NULL,
  digest TEXT NOT NULL -- of the whole, where it is no log; else ''
) STRICT, WITHOUT ROWID;

CREATE TABLE state (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
