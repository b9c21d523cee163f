//! `cmem mode`: what kinds of memory are kept, and in which language.

mod create;

use std::path::Path;

use clap::Subcommand;
use serde::Serialize;

use super::{config, reader};
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::mode::{Mode, Term};
use crate::render;

/// The parts of `cmem mode`.
#[derive(Debug, Subcommand)]
pub enum ModeCommand {
    /// Print every mode, the built-in ones and yours; `*` marks the one in use
    #[command(after_help = "Example:\n  cmem mode list")]
    List,
    /// Print one mode with its types, its concepts and what the observer is told
    #[command(after_help = "Example:\n  cmem mode show code--zh-tw")]
    Show {
        /// Id of the mode
        id: String,
    },
    /// Use a mode from now on; older memory stays as it is
    #[command(after_help = "Example:\n  cmem mode use code--ja")]
    Use {
        /// Id of the mode
        id: String,
    },
    /// Make a mode of your own: what it is for, its kinds of memory, its language
    Create(Box<create::CreateArgs>),
    /// Say whether a mode, or a file that shall become one, can be used
    #[command(after_help = "Example:\n  cmem mode validate ./law-study.json\n  cmem mode validate code--fr")]
    Validate {
        /// Id of a mode, or a file
        mode: String,
    },
}

#[derive(Serialize)]
struct Row {
    id: String,
    name: String,
    description: String,
    language: String,
    own: bool,
    in_use: bool,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// A mode that was judged.
#[derive(Serialize)]
struct Checked<'a> {
    #[serde(flatten)]
    mode: &'a Mode,
    /// Keys of its file that mean nothing.
    unknown_keys: &'a [String],
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when a mode is not there or cannot be used, or the settings cannot be read or written.
pub fn run(command: &ModeCommand, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    match command {
        ModeCommand::List => list(paths, printer),
        ModeCommand::Show { id } => show(id, paths, printer),
        ModeCommand::Use { id } => {
            let mode = load("mode use", id, paths)?;
            config::set("CMEM_MODE", &mode.id, paths, printer)
        }
        ModeCommand::Create(args) => create::run(args, paths, printer),
        ModeCommand::Validate { mode } => validate(mode, paths, printer),
    }
}

fn list(paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let settings = reader::settings("mode list", paths)?;
    let mut known = Mode::known(paths);
    let in_use = settings.mode.trim();
    // A bundled language of any mode needs no file; and one that is not there shall be seen.
    if let Err(place) = known.binary_search_by(|(id, _)| id.as_str().cmp(in_use)) {
        known.insert(place, (in_use.to_owned(), false));
    }
    let rows: Vec<Row> = known
        .into_iter()
        .map(|(id, own)| {
            let in_use = id == in_use;
            match Mode::load(&id, paths) {
                Ok(mode) => Row {
                    id,
                    name: mode.name,
                    description: mode.description,
                    language: mode.language,
                    own,
                    in_use,
                    problem: None,
                },
                Err(error) => Row {
                    id,
                    name: String::new(),
                    description: String::new(),
                    language: String::new(),
                    own,
                    in_use,
                    problem: Some(error.to_string()),
                },
            }
        })
        .collect();
    if printer.wants_json() {
        printer.json(&rows);
        return Ok(());
    }
    for row in &rows {
        let mark = if row.in_use { '*' } else { ' ' };
        let what = row.problem.as_ref().map_or_else(|| row.name.clone(), |why| format!("NOT USABLE: {why}"));
        let own = if row.own { " (yours)" } else { "" };
        printer.data(&format!("{mark} {:<24} {}{own}", row.id, render::line(&what)));
    }
    Ok(())
}

fn show(id: &str, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let mode = load("mode show", id, paths)?;
    if printer.wants_json() {
        printer.json(&mode);
        return Ok(());
    }
    printer.data(&format!("{}: {}", mode.id, render::line(&mode.name)));
    for (label, text) in [("for", &mode.description), ("language", &mode.language)] {
        if !text.is_empty() {
            printer.data(&format!("{label}: {}", render::line(text)));
        }
    }
    for (label, terms) in [("types", &mode.types), ("concepts", &mode.concepts)] {
        printer.data(&format!("\n{label}:"));
        terms.iter().for_each(|term| printer.data(&format!("  {}", row(term))));
    }
    let labels = &mode.labels;
    printer.data("\nlabels:");
    for text in [&labels.intro, &labels.further, &labels.memories, &labels.more] {
        printer.data(&format!("  {}", render::line(text)));
    }
    let prompts = &mode.prompts;
    for (label, text) in [
        ("role", &prompts.role),
        ("record", &prompts.record),
        ("skip", &prompts.skip),
        ("fields", &prompts.fields),
        ("types", &prompts.types),
        ("concepts", &prompts.concepts),
        ("summary", &prompts.summary),
    ] {
        if !text.is_empty() {
            printer.data(&format!("\n{label}:\n{}", text.trim_end()));
        }
    }
    Ok(())
}

fn row(term: &Term) -> String {
    let glyph = if term.glyph.is_empty() { " " } else { &term.glyph };
    format!("{} {:<18} {}", render::line(glyph), term.id, render::line(&term.description))
}

fn validate(mode: &str, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    const WHAT: &str = "mode validate";
    let path = Path::new(mode);
    let loaded = if path.is_file() {
        Mode::from_file(path, paths).map_err(|error| reader::mode_failure(WHAT, &error))?
    } else {
        load(WHAT, mode, paths)?
    };
    if printer.wants_json() {
        printer.json(&Checked { mode: &loaded, unknown_keys: &loaded.unknown_keys });
    }
    printer.talk(&format!(
        "{} can be used: {} types, {} concepts",
        loaded.id,
        loaded.types.len(),
        loaded.concepts.len()
    ));
    if !loaded.unknown_keys.is_empty() {
        let keys = render::line(&loaded.unknown_keys.join(", "));
        printer.talk(&format!("warning: keys that mean nothing, perhaps misspelt: {keys}"));
    }
    if path.is_file() && path.parent() != Some(paths.modes().as_path()) {
        let place = paths.modes().join(format!("{}.json", loaded.id));
        printer.talk(&format!("to install it: cp {mode} {} && cmem mode use {}", place.display(), loaded.id));
    }
    Ok(())
}

fn load(what: &str, id: &str, paths: &Paths) -> Result<Mode, Failure> {
    Mode::load(id, paths).map_err(|error| reader::mode_failure(what, &error))
}
