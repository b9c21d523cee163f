//! `cmem import`: memories from elsewhere.

mod foreign;
mod own;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::printer::Printer;
use crate::cli::when;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::Timestamp;

/// Arguments of `cmem import`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cmem import memory.jsonl\n  cmem import --dry-run team-memory/\n  ssh other cmem \
                  export --all-projects | cmem import\n  cmem import --from claude-mem --dry-run\n  cmem import \
                  --from claude-code --since 30d"
)]
pub struct ImportArgs {
    /// A file of `cmem export`, or a folder of `cmem export --format markdown` (`-`, or nothing, is standard input); with
    /// --from, where that program keeps it
    #[arg(value_name = "PATH")]
    pub source: Option<PathBuf>,
    /// Another program's memory: the database of claude-mem, or the transcripts and notes of Claude Code
    #[arg(long, value_enum, value_name = "PROGRAM")]
    pub from: Option<From>,
    /// Only tell what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask; needed where there is no terminal
    #[arg(long, requires = "from")]
    pub yes: bool,
    /// Take over the settings of claude-mem, where they mean something here and are not set
    #[arg(long, requires = "from")]
    pub settings: bool,
    /// Nothing from before this date, time or age (2026-01-31, yesterday, 7d)
    #[arg(long, requires = "from", value_name = "WHEN", value_parser = when::since)]
    pub since: Option<Timestamp>,
}

/// A program whose memory can be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the variant names are the documentation")]
pub enum From {
    ClaudeMem,
    ClaudeCode,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when there is nothing to import, or it cannot be read or stored.
pub fn run(args: &ImportArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    match args.from {
        Some(From::ClaudeMem) => foreign::claude_mem(args, paths, printer),
        Some(From::ClaudeCode) => foreign::claude_code(args, paths, printer),
        None => own::run(args, paths, printer),
    }
}
