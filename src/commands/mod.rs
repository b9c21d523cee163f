//! One file per command: a `run` that takes the arguments, the data directory and the printer.

pub mod adopt;
pub mod completions;
pub mod config;
pub mod context;
pub mod doctor;
pub mod drain;
pub mod get;
pub mod hook;
pub mod import;
pub mod install;
pub mod mode;
pub mod project;
pub mod queue;
mod reader;
pub mod reindex;
pub mod remember;
pub mod search;
pub mod stats;
pub mod status;
pub mod timeline;
pub mod uninstall;
