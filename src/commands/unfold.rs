//! `cmem unfold`: one item of a source file whole.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::outline::{any_path, source_failure};
use crate::cli::printer::Printer;
use crate::error::Failure;
use crate::outline::{self, UnfoldError, Unfolded};
use crate::render;

const WHAT: &str = "unfold";

/// Arguments of `cmem unfold`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cmem unfold src/cache.rs Cache::get\n  cmem unfold app.py Tree.water\n  cmem unfold \
                        app.py 120\n\nComments and attributes right above belong to an item. Several of one name are shown \
                        together while they are short; the others are named with their lines."
)]
pub struct UnfoldArgs {
    /// The file
    #[arg(value_name = "FILE", value_parser = any_path())]
    pub file: PathBuf,
    /// A name, a path (Type.method, Type::method), or a line: the innermost item there
    #[arg(value_name = "SYMBOL", allow_hyphen_values = true)]
    pub symbol: String,
}

#[derive(Serialize)]
struct OfFile<'a> {
    file: &'a Path,
    #[serde(flatten)]
    unfolded: &'a Unfolded,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when the file cannot be read, or has nothing of that name.
pub fn run(args: &UnfoldArgs, printer: &mut Printer) -> Result<(), Failure> {
    if args.file.as_os_str().is_empty() {
        return Err(Failure::usage(WHAT, "the path is empty", "name a file"));
    }
    let unfolded = outline::unfold(&args.file, &args.symbol).map_err(|error| failure(&error))?;
    if printer.wants_json() {
        printer.json(&OfFile { file: &args.file, unfolded: &unfolded });
    } else {
        printer.data(&render::unfolded(&args.file.to_string_lossy(), &unfolded));
    }
    Ok(())
}

fn failure(error: &UnfoldError) -> Failure {
    match error {
        UnfoldError::Source(error) => source_failure(WHAT, error),
        UnfoldError::Binary { .. } => Failure::new(WHAT, error, "name a file of text"),
        UnfoldError::Unknown { path, near, .. } => {
            let list = format!("`cmem outline {}` lists what there is", path.display());
            let hint =
                if near.is_empty() { list } else { format!("did you mean {}? {list}", near.join(", ")) };
            Failure::new(WHAT, render::line(&error.to_string()), render::line(&hint))
        }
    }
}
