-- A project is a place: the main checkout of a repository (worktree = ''), one linked worktree of it,
-- or a directory outside git. `key` is the canonical common directory (or the directory itself).
CREATE TABLE projects (
  id         INTEGER PRIMARY KEY,
  key        TEXT NOT NULL,
  worktree   TEXT NOT NULL DEFAULT '',
  name       TEXT NOT NULL UNIQUE,
  root       TEXT NOT NULL,
  remote     TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (key, worktree)
) STRICT;

-- Places that the user says are the project at another key.
CREATE TABLE aliases (
  key   TEXT PRIMARY KEY,
  means TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One session in one project: a session that moves into a worktree has a second row.
CREATE TABLE sessions (
  id         INTEGER PRIMARY KEY,
  session    TEXT NOT NULL,
  project    INTEGER NOT NULL REFERENCES projects (id),
  branch     TEXT,
  head_start TEXT,
  head_last  TEXT,
  started_at INTEGER NOT NULL,
  last_at    INTEGER NOT NULL,
  platform   TEXT NOT NULL DEFAULT 'claude', -- the agent that it ran in
  UNIQUE (session, project)
) STRICT;
CREATE INDEX sessions_project ON sessions (project, last_at);

-- A branch that was checked out in a linked worktree ('' = detached), with what tells later whether it was merged.
CREATE TABLE branches (
  id           INTEGER PRIMARY KEY,
  project      INTEGER NOT NULL REFERENCES projects (id),
  name         TEXT NOT NULL,
  born         TEXT NOT NULL, -- when it was made ('' = not known): another of its name is another row
  base         TEXT, -- where it began
  head         TEXT, -- its last commit
  own          TEXT, -- its last commit that is its own work
  adopted_into INTEGER REFERENCES projects (id),
  matched_by   TEXT,
  reason       TEXT,
  adopted_at   INTEGER,
  held         INTEGER NOT NULL DEFAULT 0, -- the user took an adoption back
  UNIQUE (project, name, born)
) STRICT;

-- In which state a repository was last looked at for merged branches.
CREATE TABLE adoption_checks (
  key     TEXT PRIMARY KEY,
  state   TEXT NOT NULL,
  failure TEXT,
  at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE prompts (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  uid         TEXT NOT NULL UNIQUE,
  project     INTEGER NOT NULL REFERENCES projects (id),
  branch      INTEGER REFERENCES branches (id),
  merged_into INTEGER REFERENCES projects (id),
  session     TEXT NOT NULL,
  number      INTEGER NOT NULL,
  text        TEXT NOT NULL,
  created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX prompts_project ON prompts (project, created_at);
CREATE INDEX prompts_merged ON prompts (merged_into, created_at) WHERE merged_into IS NOT NULL;
CREATE INDEX prompts_branch ON prompts (branch) WHERE branch IS NOT NULL;
CREATE INDEX prompts_session ON prompts (session, number);

CREATE TABLE observations (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  uid            TEXT NOT NULL UNIQUE,
  project        INTEGER NOT NULL REFERENCES projects (id),
  branch         INTEGER REFERENCES branches (id),
  merged_into    INTEGER REFERENCES projects (id),
  type           TEXT NOT NULL,
  title          TEXT NOT NULL,
  subtitle       TEXT NOT NULL,
  narrative      TEXT NOT NULL,
  facts          TEXT NOT NULL, -- JSON array of strings, as are the next four
  concepts       TEXT NOT NULL,
  keywords       TEXT NOT NULL,
  files_read     TEXT NOT NULL,
  files_modified TEXT NOT NULL,
  priority       TEXT NOT NULL DEFAULT 'normal',
  pinned         INTEGER NOT NULL DEFAULT 0,
  status         TEXT NOT NULL DEFAULT 'active',
  superseded_by  INTEGER REFERENCES observations (id),
  expires_at     INTEGER,
  hit_count      INTEGER NOT NULL DEFAULT 0,
  last_hit_at    INTEGER,
  source         TEXT NOT NULL DEFAULT 'observer',
  session        TEXT NOT NULL,
  prompt_number  INTEGER,
  agent          TEXT,
  model          TEXT NOT NULL,
  tokens_spent   INTEGER NOT NULL DEFAULT 0,
  content_key    BLOB NOT NULL, -- hash of the normalised title and narrative
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  UNIQUE (project, content_key)
) STRICT;
CREATE INDEX observations_project ON observations (project, created_at);
CREATE INDEX observations_state ON observations (project, status, created_at);
CREATE INDEX observations_merged ON observations (merged_into, status, created_at, project)
  WHERE merged_into IS NOT NULL;
CREATE INDEX observations_scope ON observations (id, project, merged_into);
CREATE INDEX observations_branch ON observations (branch) WHERE branch IS NOT NULL;
CREATE INDEX observations_created ON observations (created_at);
CREATE INDEX observations_session ON observations (session, created_at);
CREATE INDEX observations_kept ON observations (project) WHERE pinned = 1 OR priority = 'high';

CREATE INDEX observations_superseded ON observations (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX observations_waiting ON observations (project) WHERE status = 'review';
CREATE INDEX observations_expiring ON observations (expires_at)
  WHERE expires_at IS NOT NULL AND status IN ('active', 'review');

-- All that an observation would supersede, while it waits for review.
CREATE TABLE contested (
  observation INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
  old         INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
  PRIMARY KEY (observation, old)
) STRICT, WITHOUT ROWID;
CREATE INDEX contested_old ON contested (old);
CREATE TRIGGER observations_decided AFTER UPDATE OF status ON observations WHEN new.status <> 'review'
BEGIN
  DELETE FROM contested WHERE observation = new.id;
END;

-- In which observations a path stands, as they spell it. Follows the rows by itself.
CREATE TABLE files (
  path        TEXT NOT NULL,
  modified    INTEGER NOT NULL, -- 1 = it changed the file, 0 = it read it
  observation INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
  PRIMARY KEY (path, modified, observation)
) STRICT, WITHOUT ROWID;
CREATE INDEX files_observation ON files (observation);
CREATE TRIGGER observations_files_added AFTER INSERT ON observations
BEGIN
  INSERT INTO files (path, modified, observation)
    SELECT path, max(modified), new.id FROM
      (SELECT value AS path, 1 AS modified FROM json_each(new.files_modified)
       UNION ALL SELECT value, 0 FROM json_each(new.files_read)) GROUP BY path;
END;
CREATE TRIGGER observations_files_changed AFTER UPDATE OF files_read, files_modified ON observations
BEGIN
  DELETE FROM files WHERE observation = old.id;
  INSERT INTO files (path, modified, observation)
    SELECT path, max(modified), new.id FROM
      (SELECT value AS path, 1 AS modified FROM json_each(new.files_modified)
       UNION ALL SELECT value, 0 FROM json_each(new.files_read)) GROUP BY path;
END;

-- What an observation said before it was edited.
CREATE TABLE revisions (
  id          INTEGER PRIMARY KEY,
  observation INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
  draft       TEXT NOT NULL, -- its texts, as JSON
  until       INTEGER NOT NULL -- when they were replaced
) STRICT;
CREATE INDEX revisions_observation ON revisions (observation, id);

-- From which observations one was put together.
CREATE TABLE sources (
  observation INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
  source      INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
  PRIMARY KEY (observation, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX sources_source ON sources (source);

CREATE TABLE summaries (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  uid           TEXT NOT NULL UNIQUE,
  project       INTEGER NOT NULL REFERENCES projects (id),
  branch        INTEGER REFERENCES branches (id),
  merged_into   INTEGER REFERENCES projects (id),
  session       TEXT NOT NULL,
  prompt_number INTEGER,
  request       TEXT NOT NULL,
  investigated  TEXT NOT NULL,
  learned       TEXT NOT NULL,
  completed     TEXT NOT NULL,
  next_steps    TEXT NOT NULL,
  notes         TEXT NOT NULL,
  model         TEXT NOT NULL,
  created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX summaries_project ON summaries (project, created_at);
CREATE INDEX summaries_merged ON summaries (merged_into, created_at) WHERE merged_into IS NOT NULL;
CREATE INDEX summaries_branch ON summaries (branch) WHERE branch IS NOT NULL;
CREATE INDEX summaries_session ON summaries (session, created_at);

-- The consumer's half of exactly-once: a batch is recorded in the transaction that stores its records.
CREATE TABLE batches (
  id         TEXT PRIMARY KEY,
  class      TEXT NOT NULL, -- 'stored' or 'nothing'
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Files of uses whose lines were counted: what a crash left behind is not counted again. Gone with the file.
CREATE TABLE counted_uses (file TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- Every call of an observer, whatever its answer was worth: what the daily caps and `cmem stats` count.
CREATE TABLE calls (
  id            INTEGER PRIMARY KEY,
  batch         TEXT NOT NULL,
  provider      TEXT NOT NULL,
  model         TEXT NOT NULL,
  class         TEXT NOT NULL, -- of the answer: 'stored', 'nothing', or that of the failure
  input_tokens  INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  at            INTEGER NOT NULL
) STRICT;
CREATE INDEX calls_at ON calls (at);
CREATE INDEX calls_answered ON calls (provider, at) WHERE class IN ('stored', 'nothing');

-- The outbox: notices of observations, at most one to each destination. One is 'sending' before anything goes out,
-- and what a drainer that was killed left so is never sent again.
CREATE TABLE notices (
  id          INTEGER PRIMARY KEY,
  observation INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
  destination TEXT NOT NULL, -- 'telegram' or 'webhook'
  state       TEXT NOT NULL DEFAULT 'pending', -- 'pending', 'sending', 'sent' or 'given_up'
  tries       INTEGER NOT NULL DEFAULT 0,
  queued_at   INTEGER NOT NULL,
  due_at      INTEGER NOT NULL,
  held        INTEGER NOT NULL DEFAULT 0, -- the server itself said when to come again
  reason      TEXT, -- of the last failure, without secrets
  remedy      TEXT,
  changed_at  INTEGER NOT NULL,
  UNIQUE (observation, destination)
) STRICT;
CREATE INDEX notices_open ON notices (destination, due_at) WHERE state IN ('pending', 'sending');

-- Text indexes hold what index::split makes of the texts: tokens separated by blanks. The ascii tokenizer
-- keeps every non-ASCII character inside a token, so that the split is decided in one place only.
CREATE VIRTUAL TABLE observations_fts USING fts5 (
  title, keywords, facts, narrative, files,
  content = '', contentless_delete = 1, tokenize = 'ascii'
);
CREATE VIRTUAL TABLE summaries_fts USING fts5 (text, content = '', contentless_delete = 1, tokenize = 'ascii');
CREATE VIRTUAL TABLE prompts_fts USING fts5 (text, content = '', contentless_delete = 1, tokenize = 'ascii');
INSERT INTO observations_fts (observations_fts, rank) VALUES ('secure-delete', 1);
INSERT INTO summaries_fts (summaries_fts, rank) VALUES ('secure-delete', 1);
INSERT INTO prompts_fts (prompts_fts, rank) VALUES ('secure-delete', 1);

-- Models whose vectors are kept: the embedded one, and 'endpoint/NAME' for those of an embeddings endpoint. Vectors of
-- different models are never compared; another dimension is another model.
CREATE TABLE models (
  id          INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  dimension   INTEGER NOT NULL,
  answered_at INTEGER NOT NULL DEFAULT 0, -- when an endpoint last answered so
  UNIQUE (name, dimension)
) STRICT;

INSERT INTO models (name, dimension) VALUES ('cmse-base-1', 256);

-- What an observation means. A row that changes gets a new id, so that a cache knows what it has not seen.
CREATE TABLE vectors (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  observation INTEGER NOT NULL REFERENCES observations (id),
  model       INTEGER NOT NULL REFERENCES models (id),
  vector      BLOB, -- signed bytes; NULL = there is nothing to embed, or the endpoint refused it
  tokens      BLOB, -- word pieces of the embedded model, three bytes each; NULL = the row of an endpoint's model
  UNIQUE (observation, model)
) STRICT;
CREATE INDEX vectors_model ON vectors (model, id);
CREATE INDEX vectors_refused ON vectors (model) WHERE vector IS NULL;

-- In how many observations a word piece occurs; piece -1 counts the observations.
CREATE TABLE pieces (
  piece        INTEGER PRIMARY KEY,
  observations INTEGER NOT NULL
) STRICT;

-- How often rows of `vectors` were taken away or moved: a cache from before is of no use.
CREATE TABLE vector_epoch (epoch INTEGER NOT NULL) STRICT;
INSERT INTO vector_epoch VALUES (0);

-- Which memory this is: a folder that several take in remembers with each what they agreed on.
CREATE TABLE identity (id TEXT NOT NULL) STRICT;
INSERT INTO identity VALUES (lower(hex(randomblob(8))));

-- Why the embeddings endpoint is not asked for now; at most one row.
CREATE TABLE embedding_pause (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  fingerprint TEXT NOT NULL, -- of the settings that failed
  class       TEXT NOT NULL,
  message     TEXT NOT NULL, -- without secrets
  remedy      TEXT NOT NULL,
  failures    INTEGER NOT NULL, -- in a row
  since       INTEGER NOT NULL,
  until       INTEGER NOT NULL
) STRICT;
