//! Where a directory belongs (repository, checkout, branch, commit), when its files were written by git itself, which files a branch changed, and whether the work of a branch is in the main
//! line. Reads files only; never starts `git`.

mod checkouts;
mod history;
mod merged;
mod patch;
mod project;
mod repo;
mod touched;
mod url;
mod windows;

pub use checkouts::checkouts;
pub use history::HistoryError;
pub use merged::{MainLines, Recorded, Test, Verdict};
pub use project::{home_of, identify, is_repository, linked_main, resolve};
pub use touched::changed_files;
pub use url::remote_id;
