use std::path::PathBuf;

/// What can go wrong with one of the two databases.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file was written by a newer cmem; it was not touched.
    #[error("{path} was written by a newer cmem (schema {found}, this one knows {known})")]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its `user_version`.
        found: i64,
        /// The newest this build knows.
        known: i64,
    },
    /// The file is damaged or is no database.
    #[error("{path} is not a readable database: {reason}")]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
    /// There is no database yet and the caller only reads.
    #[error("{path} does not exist yet")]
    Missing {
        /// The database.
        path: PathBuf,
    },
    /// The bundled SQLite is too old to be safe with many short writers.
    #[error("SQLite {0} is too old (3.51.3 or newer is needed)")]
    OldSqlite(String),
    /// The file cannot be opened or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Nobody waits for the answer any more; nothing was written.
    #[error("whoever asked does not wait any more")]
    Cancelled,
    /// A statement failed.
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    /// A stored value does not fit its type.
    #[error("a stored value cannot be read: {0}")]
    Value(#[from] serde_json::Error),
}

impl StoreError {
    /// Whether a value was not acceptable, and the database is well.
    pub fn is_about_a_value(&self) -> bool {
        match self {
            Self::Value(_) => true,
            Self::Sql(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation),
            _ => false,
        }
    }

    /// Whether another process holds the database: worth another try.
    pub fn is_busy(&self) -> bool {
        matches!(
            self,
            Self::Sql(error) if matches!(
                error.sqlite_error_code(),
                Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
            )
        )
    }
}
