//! The tools `outline` and `unfold`.

use std::env;
use std::path::{Path, PathBuf};

use super::printed::printed;
use super::scope::root;
use crate::commands::outline::OutlineArgs;
use crate::commands::unfold::UnfoldArgs;
use crate::commands::{outline, reader, unfold};
use crate::config::Paths;
use crate::error::Failure;
use crate::git;
use crate::mcp::{Arguments, Kind, Parameter, Tool};
use crate::model::Caller;
use crate::outline::{has_grammar, is_data};
use crate::privacy::Cleaner;

const OUTLINE: &str = "outline";
const UNFOLD: &str = "unfold";
/// Symbols of a search where nothing is said of their number, as on the command line.
const SYMBOLS: usize = 50;

pub(super) static OUTLINE_TOOL: Tool = Tool {
    name: OUTLINE,
    about: "What a source file or a directory defines, with lines and no bodies: a tenth of reading it. With search: \
            symbols by name.",
    parameters: &[
        Parameter::new("path", Kind::Text, "the project unless given"),
        Parameter::new("search", Kind::Text, "a symbol or a part of one"),
        Parameter::new("limit", Kind::Count(1, 300), ""),
    ],
    reads_only: true,
    call: outlined,
};

pub(super) static UNFOLD_TOOL: Tool = Tool {
    name: UNFOLD,
    about: "One item of a source file whole, with its comments.",
    parameters: &[
        Parameter::new("path", Kind::Text, "").needed(),
        Parameter::new("symbol", Kind::Text, "a name, Type.method or a line").needed(),
    ],
    reads_only: true,
    call: unfolded,
};

fn outlined(arguments: &Arguments, caller: &Caller, paths: &Paths) -> Result<String, Failure> {
    let args = OutlineArgs {
        path: place(OUTLINE, arguments.text("path").unwrap_or_default(), caller)?,
        search: arguments.text("search").map(str::to_owned).filter(|name| !name.trim().is_empty()),
        limit: arguments.count("limit").unwrap_or(SYMBOLS),
    };
    Ok(clean(&printed(|printer| outline::run(&args, &caller.gone, printer))?, paths))
}

fn unfolded(arguments: &Arguments, caller: &Caller, paths: &Paths) -> Result<String, Failure> {
    let args = UnfoldArgs {
        file: place(UNFOLD, arguments.text("path").unwrap_or_default(), caller)?,
        symbol: arguments.text("symbol").unwrap_or_default().to_owned(),
    };
    Ok(clean(&printed(|printer| unfold::run(&args, printer))?, paths))
}

fn clean(text: &str, paths: &Paths) -> String {
    Cleaner::new(&reader::lenient_settings(paths).redact_patterns).redact(text)
}

/// A client may let a tool that only reads run unasked, and does not hold it to its own rules about files: source files
/// of the project are told, and nothing else.
fn place(what: &'static str, named: &str, caller: &Caller) -> Result<PathBuf, Failure> {
    let named = if named.trim().is_empty() { "." } else { named };
    let refused =
        |why: &str| Err(Failure::usage(what, format!("{named} {why}"), "read it with another tool"));
    let root = root(caller);
    let home = env::var_os("HOME").map(|home| git::resolve(Path::new(&home)).0);
    if root.parent().is_none() || home.is_some_and(|home| home.starts_with(&root)) {
        return refused("is in no project: the server stands in the home directory or above it");
    }
    let path = caller.dir.join(named);
    // What is not there is no secret, and the command says so.
    if let Ok(real) = path.canonicalize() {
        let Ok(inside) = real.strip_prefix(&root) else { return refused("is outside of the project") };
        if inside.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b".")) {
            return refused("is hidden");
        }
        if real.is_file() && (!has_grammar(&real) || is_data(&real)) {
            return refused("is no source file");
        }
    }
    // As it was named, where that is the same: the answer is shorter.
    Ok(if is_here(&caller.dir) { PathBuf::from(named) } else { path })
}

fn is_here(dir: &Path) -> bool {
    env::current_dir().is_ok_and(|here| here == dir)
}
