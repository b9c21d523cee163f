//! Opening a database file: version rules, pragmas and numbered migrations, shared by `memory.db` and `spool.db`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::StoreError;
use crate::config::Paths;
use crate::model::Caller;

/// Oldest SQLite without the WAL-reset race that many short-lived writers hit
/// (<https://sqlite.org/releaselog/3_51_3.html>).
const OLDEST_SQLITE: i32 = 3_051_003;

/// Steps of SQLite's machine (some 100 µs) between two looks at the clock, or at who waits.
const STEPS: i32 = 1_000;

static SCHEMA: Schema = Schema { migrations: &[include_str!("migrations/0001_memory.sql")] };

/// How a database file is made, and brought up to date.
#[derive(Debug)]
pub(crate) struct Schema {
    /// Numbered from 1; a migration that was published is never edited.
    pub migrations: &'static [&'static str],
}

impl Schema {
    fn version(&self) -> i64 {
        i64::try_from(self.migrations.len()).unwrap_or(i64::MAX)
    }
}

/// An open `memory.db`.
#[derive(Debug)]
pub struct Store {
    pub(crate) conn: Connection,
}

impl Store {
    /// Opens for writing; creates and migrates the file if need be.
    ///
    /// # Errors
    /// [`StoreError::Newer`] and [`StoreError::Corrupt`] leave the file as it is.
    pub fn open(paths: &Paths) -> Result<Self, StoreError> {
        Self::open_within(paths, Duration::from_secs(15))
    }

    /// Opens for writing, and waits no longer than `busy` for other writers.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_within(paths: &Paths, busy: Duration) -> Result<Self, StoreError> {
        let conn = open_writable(&paths.memory(), &SCHEMA, busy)?;
        Ok(Self { conn })
    }

    /// Opens for reading only; writers do not disturb it.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when nothing was ever stored.
    pub fn open_read_only(paths: &Paths) -> Result<Self, StoreError> {
        let conn = open_readable(&paths.memory(), &SCHEMA, Duration::from_secs(2))?;
        Ok(Self { conn })
    }

    /// An empty memory that leaves no trace.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn in_passing() -> Result<Self, StoreError> {
        let conn = open_writable(Path::new(":memory:"), &SCHEMA, Duration::ZERO)?;
        Ok(Self { conn })
    }

    /// The folder that it lies in; `None` for one that is not in a file.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let file = Path::new(self.conn.path()?);
        file.parent().map(Path::to_owned)
    }

    /// Opens for a look that somebody waits for: waits for no other process, brings no file up to date, and gives up
    /// what takes longer than `patience`.
    ///
    /// # Errors
    /// As [`Store::open_read_only`]; statements fail once the time is over.
    pub fn glance(paths: &Paths, patience: Duration) -> Result<Self, StoreError> {
        let end = Instant::now() + patience;
        let mut conn = open_existing(&paths.memory(), Duration::ZERO)?;
        if user_version(&conn, &paths.memory())? != SCHEMA.version() {
            return Err(StoreError::Missing { path: paths.memory() });
        }
        conn.progress_handler(STEPS, Some(move || Instant::now() > end))?;
        Ok(Self { conn })
    }

    /// The same, with statements that fail once the caller does not wait any more.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn on_behalf_of(mut self, caller: &Caller) -> Result<Self, StoreError> {
        let gone = caller.gone.clone();
        self.conn.progress_handler(STEPS, Some(move || gone.is_set()))?;
        Ok(self)
    }

    /// The connection, for `index`, `retrieve` and `embeddings`.
    pub(crate) fn conn(&self) -> &Connection {
        &self.conn
    }
}

/// Refuses to run on a SQLite that loses data.
///
/// # Errors
/// [`StoreError::OldSqlite`].
pub fn require_sqlite_version() -> Result<(), StoreError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        return Err(StoreError::OldSqlite(rusqlite::version().to_owned()));
    }
    Ok(())
}

/// Opens `path` for writing and brings its schema up to date.
pub(crate) fn open_writable(path: &Path, schema: &Schema, busy: Duration) -> Result<Connection, StoreError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = connect(path, flags, busy)?;
    // What is taken away is overwritten at once, whoever does it: nobody can do that later.
    conn.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON")
        .map_err(|error| classify(path, error))?;
    let version = user_version(&conn, path)?;
    if version == schema.version() {
        return Ok(conn);
    }
    refuse_newer(path, version, schema)?;
    migrate(conn, path, schema)
}

/// Opens `path` read-only; a file with an older schema is brought up to date first.
pub(crate) fn open_readable(path: &Path, schema: &Schema, busy: Duration) -> Result<Connection, StoreError> {
    let conn = open_existing(path, busy)?;
    let version = user_version(&conn, path)?;
    refuse_newer(path, version, schema)?;
    if version < schema.version() {
        drop(conn);
        drop(open_writable(path, schema, busy)?);
        return open_readable(path, schema, busy);
    }
    Ok(conn)
}

fn open_existing(path: &Path, busy: Duration) -> Result<Connection, StoreError> {
    if !path.exists() {
        return Err(StoreError::Missing { path: path.to_owned() });
    }
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX, busy)
}

fn connect(path: &Path, flags: OpenFlags, busy: Duration) -> Result<Connection, StoreError> {
    require_sqlite_version()?;
    let conn = Connection::open_with_flags(path, flags).map_err(|error| classify(path, error))?;
    conn.busy_timeout(busy)?;
    conn.set_prepared_statement_cache_capacity(64);
    // A short-lived process is often the last connection, and a checkpoint costs more than its own work. The
    // drainer checkpoints.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Otherwise a statement whose plan might depend on a value is compiled a second time when it is given one.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(conn)
}

fn user_version(conn: &Connection, path: &Path) -> Result<i64, StoreError> {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(|error| classify(path, error))
}

fn refuse_newer(path: &Path, found: i64, schema: &Schema) -> Result<(), StoreError> {
    if found > schema.version() {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: schema.version() });
    }
    Ok(())
}

fn migrate(mut conn: Connection, path: &Path, schema: &Schema) -> Result<Connection, StoreError> {
    // Takes effect only on a file that has no table yet, and must come before the journal mode.
    conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
    let journal: String = conn.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    if journal != "wal" {
        conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    }
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    refuse_newer(path, version, schema)?;
    for migration in schema.migrations.iter().skip(usize::try_from(version).unwrap_or(0)) {
        transaction.execute_batch(migration)?;
    }
    transaction.execute_batch(&format!("PRAGMA user_version = {}", schema.version()))?;
    transaction.commit()?;
    Ok(conn)
}

fn classify(path: &Path, error: rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode::{CannotOpen, DatabaseCorrupt, NotADatabase, PermissionDenied, ReadOnly};
    let path: PathBuf = path.to_owned();
    match error.sqlite_error_code() {
        Some(NotADatabase | DatabaseCorrupt) => StoreError::Corrupt { path, reason: error.to_string() },
        Some(CannotOpen | PermissionDenied | ReadOnly) => {
            StoreError::Io { path, source: std::io::Error::other(error.to_string()) }
        }
        _ => StoreError::Sql(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_broken_off_when_its_caller_has_gone() {
        let caller = Caller::default();
        let store = Store::in_passing().unwrap().on_behalf_of(&caller).unwrap();
        let count = |rows: i64| -> rusqlite::Result<i64> {
            let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT count(*) FROM n";
            store.conn().query_row(sql, [rows], |row| row.get(0))
        };
        assert_eq!(count(10_000), Ok(10_000));
        caller.gone.set();
        // Without an end, it would not come back.
        let error = count(i64::MAX).unwrap_err();
        assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::OperationInterrupted));
    }
}
