//! Taking memory along: as JSON Lines, one record a line, or as a folder of Markdown files, one record a file.

mod folder;
mod front;
mod lines;
mod manifest;
mod merge;
mod page;
mod places;
mod report;
mod sync;
mod write;

use std::io;
use std::path::PathBuf;

pub use folder::{FolderReport, write_folder};
pub use lines::read_lines;
pub use merge::Merger;
pub use report::{Problem, Report, Tally};
pub use sync::read_folder;
pub use write::{Written, write_lines};

use crate::store::StoreError;

/// The version of both formats.
const VERSION: u64 = 1;

/// What can go wrong with a whole export or import; what is wrong with one record is a [`Problem`].
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// A newer cmem wrote it.
    #[error("it was written by a newer cmem (format {found}, this one knows {VERSION})")]
    Newer {
        /// Its version.
        found: u64,
    },
    /// It is something else.
    #[error("it is no export of cmem: {0}")]
    Foreign(String),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The input or the output failed.
    #[error(transparent)]
    Stream(#[from] io::Error),
    /// The memory failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
