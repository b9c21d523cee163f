//! Its database, read without leaving a trace in its folder: not in the file, nor in its log or its shared memory.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::foreign::copy::{self, Folder, Look};
use crate::foreign::{cells, home};

const FILE: &str = "claude-mem.db";

/// The database cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// There is none.
    #[error("{path} is not there")]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A file fails.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is no database, or a damaged one.
    #[error("{path} cannot be read as a database: {reason}")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
    /// Another program's database.
    #[error(
        "{path} is not a database of claude-mem, or of one older than its schema 4: it has no table {table}"
    )]
    Other {
        /// The file.
        path: PathBuf,
        /// What is missing.
        table: &'static str,
    },
    /// Somebody writes to it without a break.
    #[error("{path} changes all the time")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// It changed while it was read in place.
    #[error("{path} changed while it was read")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// SQLite failed.
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
}

impl SourceError {
    /// What the user can do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Missing { .. } => {
                "name the database, or the folder that it lies in, after `--from claude-mem`"
            }
            Self::File { .. } => {
                "check its permissions, and the room in the folder for temporary files (TMPDIR)"
            }
            Self::Corrupt { .. } => "restore it from a backup of claude-mem; it was not touched",
            Self::Other { .. } => "name claude-mem's own database after `--from claude-mem`",
            Self::Busy { .. } => "stop claude-mem's worker, and run this again",
            Self::Changed { .. } => "run this again: what is in memory already is not taken twice",
            Self::Sql(_) => "run this again; `cmem doctor` looks at the memory",
        }
    }
}

/// Where the database is: at `given` (the file, or the folder that it lies in), else where claude-mem keeps it.
pub fn locate(given: Option<&Path>) -> PathBuf {
    let folder = match given {
        Some(path) if path.is_dir() => path.to_owned(),
        Some(path) => return path.to_owned(),
        None => env::var_os("CLAUDE_MEM_DATA_DIR")
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
            .or_else(|| home().map(|home| home.join(".claude-mem")))
            .unwrap_or_default(),
    };
    folder.join(FILE)
}

/// The database as it was at one moment.
#[derive(Debug)]
pub struct Snapshot {
    pub(super) conn: Connection,
    path: PathBuf,
    /// How the file looked before it was read in place; `None` for a copy.
    before: Option<Look>,
    _copy: Option<Folder>,
}

impl Snapshot {
    /// Opens it. Nobody who has it open leaves a log beside it, so without one it is read in place; else a copy is.
    ///
    /// # Errors
    /// [`SourceError`]; the database is as it was.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        if !path.is_file() {
            return Err(SourceError::Missing { path: path.to_owned() });
        }
        let path = fs::canonicalize(path).map_err(|source| failed(path, source))?;
        let before = Look::at(&path);
        let snapshot = match in_place(&path).filter(|_| before.is_alone()) {
            Some(address) => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
                let conn =
                    Connection::open_with_flags(address, flags).map_err(|error| classify(&path, error))?;
                Self { conn, path, before: Some(before), _copy: None }
            }
            None => {
                let of_file = |(path, source)| SourceError::File { path, source };
                let copy = Folder::new().map_err(of_file)?;
                let file = copy.path().join(FILE);
                if !copy::copy(&path, &file).map_err(of_file)? {
                    return Err(SourceError::Busy { path });
                }
                let conn = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_WRITE)
                    .map_err(|error| classify(&path, error))?;
                Self { conn, path, before: None, _copy: Some(copy) }
            }
        };
        for table in ["sdk_sessions", "observations"] {
            let columns =
                cells::columns(&snapshot.conn, table).map_err(|error| classify(&snapshot.path, error))?;
            if columns.is_empty() {
                return Err(SourceError::Other { path: snapshot.path.clone(), table });
            }
        }
        Ok(snapshot)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its schema version, if it says.
    pub fn schema(&self) -> Option<i64> {
        self.conn.query_row("SELECT max(version) FROM schema_versions", [], |row| row.get(0)).ok().flatten()
    }

    /// Whether what was read is the state of one moment.
    ///
    /// # Errors
    /// [`SourceError::Changed`] when somebody wrote while it was read in place.
    pub fn confirm(&self) -> Result<(), SourceError> {
        match &self.before {
            Some(before) if *before != Look::at(&self.path) => {
                Err(SourceError::Changed { path: self.path.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// The address under which SQLite reads a file without locks or files of its own; `None` where it cannot be written.
fn in_place(path: &Path) -> Option<String> {
    let path = path.to_str()?;
    let escaped = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Some(format!("file:{escaped}?mode=ro&immutable=1"))
}

fn failed(path: &Path, source: io::Error) -> SourceError {
    SourceError::File { path: path.to_owned(), source }
}

pub(super) fn classify(path: &Path, error: rusqlite::Error) -> SourceError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            SourceError::Corrupt { path: path.to_owned(), reason: error.to_string() }
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            failed(path, io::Error::other(error.to_string()))
        }
        _ => SourceError::Sql(error),
    }
}
