//! `cmem outline`: what a source file defines, or the files of a directory; symbols of a name.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use serde::Serialize;

use crate::cli::printer::Printer;
use crate::error::Failure;
use crate::model::Gone;
use crate::outline::{self, Found, Listing, Outline, SourceError, TreeError};
use crate::render;

const WHAT: &str = "outline";

/// Arguments of `cmem outline`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cmem outline src/cache.rs\n  cmem outline src\n  cmem outline --search \
                        'Cache.get'\n\nA tenth of what reading the file costs, mostly. Lines are first-last; `cmem unfold` \
                        shows one item whole.")]
pub struct OutlineArgs {
    /// A file, or a directory [default: the current one]
    #[arg(value_name = "PATH", value_parser = any_path(), default_value = ".", hide_default_value = true)]
    pub path: PathBuf,
    /// Find symbols of this name in the directory: the name itself, its beginning, a part, its words
    #[arg(long, value_name = "NAME")]
    pub search: Option<String>,
    /// At most so many symbols
    #[arg(long, value_name = "N", default_value_t = 50, requires = "search")]
    pub limit: usize,
}

/// Also an empty one, which is told of in our own words.
pub(super) fn any_path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

#[derive(Serialize)]
struct OfFile<'a> {
    file: &'a Path,
    #[serde(flatten)]
    outline: &'a Outline,
}

#[derive(Serialize)]
struct OfDirectory<'a> {
    directory: &'a Path,
    #[serde(flatten)]
    listing: &'a Listing,
}

#[derive(Serialize)]
struct OfSearch<'a> {
    directory: &'a Path,
    query: &'a str,
    #[serde(flatten)]
    found: &'a Found,
}

/// Runs the command; the work stops once `gone` is set, and what it gives then is only a part.
///
/// # Errors
/// [`Failure`] when there is no such file or directory, or it cannot be read.
pub fn run(args: &OutlineArgs, gone: &Gone, printer: &mut Printer) -> Result<(), Failure> {
    if args.path.as_os_str().is_empty() {
        return Err(Failure::usage(WHAT, "the path is empty", "name a file or a directory, or leave it out"));
    }
    if args.search.is_some() {
        return search(args, gone, printer);
    }
    if args.path.is_dir() {
        return directory(&args.path, gone, printer);
    }
    let outline = outline::of_file(&args.path, gone).map_err(|error| source_failure(WHAT, &error))?;
    if printer.wants_json() {
        printer.json(&OfFile { file: &args.path, outline: &outline });
    } else {
        printer.data(&render::outline(&args.path.to_string_lossy(), &outline));
    }
    Ok(())
}

fn directory(directory: &Path, gone: &Gone, printer: &mut Printer) -> Result<(), Failure> {
    let listing = outline::tree(directory, gone).map_err(|error| tree_failure(&error))?;
    if printer.wants_json() {
        printer.json(&OfDirectory { directory, listing: &listing });
        return Ok(());
    }
    if listing.files.is_empty() {
        printer.talk("no file here that a grammar knows");
    }
    let text = render::listing(&listing);
    if !text.is_empty() {
        printer.data(&text);
    }
    Ok(())
}

fn search(args: &OutlineArgs, gone: &Gone, printer: &mut Printer) -> Result<(), Failure> {
    let (directory, name) = (&args.path, args.search.as_deref().unwrap_or_default());
    let found = outline::find(directory, name, args.limit, gone).map_err(|error| tree_failure(&error))?;
    if printer.wants_json() {
        printer.json(&OfSearch { directory, query: name, found: &found });
        return Ok(());
    }
    if found.hits.is_empty() && found.left_out == 0 {
        let near = if found.near.is_empty() {
            String::new()
        } else {
            format!("; did you mean {}?", found.near.join(", "))
        };
        printer.talk(&render::line(&format!("no symbol {name} here{near}")));
    }
    let text = render::symbols(&found);
    if !text.is_empty() {
        printer.data(&text);
    }
    Ok(())
}

fn tree_failure(error: &TreeError) -> Failure {
    Failure::new(WHAT, error, "name a directory; `cmem unfold FILE NAME` looks in one file")
}

/// A file that cannot be read, with what to do.
pub(super) fn source_failure(what: &str, error: &SourceError) -> Failure {
    let hint = match error {
        SourceError::Missing { .. } => "check the path",
        SourceError::Directory { .. } => "name a file in it; `cmem outline DIR` lists its files",
        SourceError::Special { .. } => "name a regular file",
        SourceError::Read { .. } => "check the file's permissions",
    };
    Failure::new(what, error, hint)
}
