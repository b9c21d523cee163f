//! One file per command: a `run` that takes the arguments, the data directory and the printer.

pub mod adopt;
pub mod completions;
pub mod config;
pub mod context;
pub mod doctor;
pub mod drain;
pub mod edit;
pub mod forget;
mod form;
pub mod get;
pub mod hook;
pub mod install;
pub mod mode;
pub mod pin;
pub mod project;
pub mod queue;
mod reader;
pub mod reindex;
pub mod remember;
pub mod review;
pub mod search;
mod size;
pub mod stats;
pub mod status;
pub mod supersede;
pub mod timeline;
pub mod uninstall;
