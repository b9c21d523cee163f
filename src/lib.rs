//! cmem: memory across sessions for coding agents.
//!
//! Folders are the data flow, and imports follow it:
//! hook event → privacy → spool → drain → observer → store → index → retrieve → render.
//! `tests/architecture.rs` walks the `use crate::` lines and fails when an arrow points back.

pub mod adopt;
pub mod cli;
pub mod commands;
pub mod config;
pub mod drain;
pub mod embed;
pub mod embeddings;
pub mod error;
pub mod foreign;
pub mod git;
pub mod hook;
pub mod http;
pub mod index;
pub mod log;
pub mod mcp;
pub mod mode;
pub mod model;
pub mod notices;
pub mod observer;
pub mod outline;
pub mod privacy;
pub mod render;
pub mod report;
pub mod retrieve;
pub mod spool;
pub mod store;
pub mod transfer;
