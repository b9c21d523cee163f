//! The tools `outline` and `unfold`.

use std::env;
use std::path::{Path, PathBuf};

use super::printed::printed;
use crate::commands::outline::OutlineArgs;
use crate::commands::unfold::UnfoldArgs;
use crate::commands::{outline, unfold};
use crate::config::Paths;
use crate::error::Failure;
use crate::git;
use crate::mcp::{Arguments, Kind, Parameter, Tool};
use crate::model::Caller;
use crate::outline::has_grammar;

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

fn outlined(arguments: &Arguments, caller: &Caller, _: &Paths) -> Result<String, Failure> {
    let args = OutlineArgs {
        path: place(OUTLINE, arguments.text("path").unwrap_or("."), caller)?,
        search: arguments.text("search").map(str::to_owned).filter(|name| !name.trim().is_empty()),
        limit: arguments.count("limit").unwrap_or(SYMBOLS),
    };
    printed(|printer| outline::run(&args, &caller.gone, printer))
}

fn unfolded(arguments: &Arguments, caller: &Caller, _: &Paths) -> Result<String, Failure> {
    let args = UnfoldArgs {
        file: place(UNFOLD, arguments.text("path").unwrap_or_default(), caller)?,
        symbol: arguments.text("symbol").unwrap_or_default().to_owned(),
    };
    printed(|printer| unfold::run(&args, printer))
}

/// A client may let a tool that only reads run unasked, and does not hold it to its own rules about files: source files
/// of the project are told, and nothing else.
fn place(what: &'static str, named: &str, caller: &Caller) -> Result<PathBuf, Failure> {
    let path = caller.dir.join(named);
    // What is not there is no secret, and the command says so.
    if let Ok(real) = path.canonicalize() {
        let root = PathBuf::from(git::identify(&caller.dir).root);
        let root = root.canonicalize().unwrap_or(root);
        if !real.starts_with(&root) {
            let why = format!("{named} is outside of the project");
            return Err(Failure::usage(what, why, "read it with another tool"));
        }
        if real.is_file() && !has_grammar(&real) {
            let why = format!("{named} is no source file that a grammar knows");
            return Err(Failure::usage(what, why, "read it with another tool"));
        }
    }
    // As it was named, where that is the same: the answer is shorter.
    Ok(if is_here(&caller.dir) { PathBuf::from(named) } else { path })
}

fn is_here(dir: &Path) -> bool {
    env::current_dir().is_ok_and(|here| here == dir)
}
