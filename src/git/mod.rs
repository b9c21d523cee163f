//! Where a directory belongs: repository, checkout, branch, commit. Reads files only; never starts `git`.

mod project;
mod repo;
mod url;

pub use project::{identify, linked_main, resolve};
