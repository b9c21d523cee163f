//! `cmem mode create`: a mode of the user's own, from answers or from flags.

use std::io::{self, BufRead, IsTerminal};
use std::path::Path;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::super::{config, reader};
use crate::cli::printer::Printer;
use crate::config::{Paths, replace};
use crate::error::Failure;
use crate::mode::{Mode, Outline, Term};

const WHAT: &str = "mode create";
const TERM_FORM: &str =
    "write it as `id: description`, such as `runbook: steps that worked and can be repeated`";

/// Arguments of `cmem mode create`.
#[derive(Debug, Args)]
#[command(
    after_help = "On a terminal, what is not given is asked for.\n\nExample:\n  cmem mode create\n  cmem mode \
                        create --id bread-lab --domain 'baking bread' --type 'recipe: a recipe that worked' \
                        --type 'fault: what went wrong, and why' --language de --use"
)]
pub struct CreateArgs {
    /// Id, such as bread-lab: small letters, digits and single hyphens
    #[arg(long)]
    pub id: Option<String>,
    /// Name to show [default: made from the id]
    #[arg(long)]
    pub name: Option<String>,
    /// What the mode is for, such as 'baking bread and keeping notes of each batch'
    #[arg(long)]
    pub domain: Option<String>,
    /// One kind of memory, such as 'recipe: a recipe that worked'
    #[arg(long = "type", value_name = "ID: DESCRIPTION")]
    pub types: Vec<String>,
    /// One thing that memories may be about, such as 'heat: about temperatures'
    #[arg(long = "concept", value_name = "ID: DESCRIPTION")]
    pub concepts: Vec<String>,
    /// Language of the memories, such as ja, zh-tw or Swahili [default: that of the conversation]
    #[arg(long)]
    pub language: Option<String>,
    /// Use the mode from now on
    #[arg(long = "use")]
    pub use_it: bool,
    /// Replace a mode of yours, or put yours before a built-in one
    #[arg(long)]
    pub force: bool,
    /// Print the file instead of writing it
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a str,
    path: &'a Path,
    written: bool,
    /// Whether there was a file of this id.
    replaced: bool,
    /// Whether a built-in mode of this id is hidden by it.
    hides_built_in: bool,
    in_use: bool,
    mode: &'a Value,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when something is missing or wrong, when there is such a mode already, or when the file cannot be
/// written. A file that was there stays as it was then.
pub(super) fn run(args: &CreateArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let outline = outline(args, printer)?;
    let file = outline.to_file();
    let mode = Mode::from_value(&outline.id, file.clone())
        .map_err(|error| Failure::usage(WHAT, error, "nothing was written"))?;
    let path = paths.modes().join(format!("{}.json", mode.id));
    let exists = path.symlink_metadata().is_ok();
    let hides = Mode::built_in().any(|id| id == mode.id);
    if !args.force && !args.dry_run {
        refuse_to_hide(&mode.id, &path, exists, hides)?;
    }
    let text = serde_json::to_string_pretty(&file)
        .map_err(|error| Failure::new(WHAT, error, "please report this; nothing was written"))?;
    if !args.dry_run {
        write(&path, &text, paths)?;
        if args.use_it {
            config::put(WHAT, "CMEM_MODE", &mode.id, paths)?;
        }
    }
    let in_use = reader::settings(WHAT, paths).is_ok_and(|settings| settings.mode.trim() == mode.id);
    if printer.wants_json() {
        printer.json(&Answer {
            id: &mode.id,
            path: &path,
            written: !args.dry_run,
            replaced: exists,
            hides_built_in: hides,
            in_use,
            mode: &file,
        });
    } else if args.dry_run {
        printer.data(&text);
    }
    if hides {
        printer.talk(&format!("warning: it comes before the built-in mode {}", mode.id));
    }
    let place = path.display();
    match (args.dry_run, in_use) {
        (true, _) => printer.talk(&format!("nothing was written; it would be {place}")),
        (false, true) => printer.talk(&format!("{place} is written, and in use from now on")),
        (false, false) if args.use_it => {
            printer.talk(&format!("{place} is written; CMEM_MODE in the environment names another mode"));
        }
        (false, false) => {
            printer.talk(&format!("{place} is written; `cmem mode use {}` switches to it", mode.id));
        }
    }
    Ok(())
}

fn refuse_to_hide(id: &str, path: &Path, exists: bool, hides: bool) -> Result<(), Failure> {
    if exists {
        return Err(Failure::new(
            WHAT,
            format!("there is {} already", path.display()),
            "--force replaces it",
        ));
    }
    if hides {
        return Err(Failure::new(
            WHAT,
            format!("{id} is a built-in mode"),
            "choose another id, or put yours before it with --force",
        ));
    }
    Ok(())
}

/// Readable for the user alone, as every file of this process.
fn write(path: &Path, text: &str, paths: &Paths) -> Result<(), Failure> {
    let told = |error: &dyn std::fmt::Display| {
        Failure::new(
            WHAT,
            format!("{}: {error}", path.display()),
            "name a writable directory with --data-dir",
        )
    };
    paths.create().map_err(|error| told(&error))?;
    std::fs::create_dir_all(paths.modes()).map_err(|error| told(&error))?;
    replace(path, format!("{text}\n").as_bytes()).map_err(|error| told(&error))
}

/// What the flags say; the rest from the terminal, if there is one.
fn outline(args: &CreateArgs, printer: &mut Printer) -> Result<Outline, Failure> {
    let mut outline = Outline {
        id: args.id.clone().unwrap_or_default(),
        name: args.name.clone().unwrap_or_default(),
        domain: args.domain.clone().unwrap_or_default(),
        types: terms("--type", &args.types, true)?,
        concepts: terms("--concept", &args.concepts, false)?,
        language: args.language.clone().unwrap_or_default(),
    };
    if args.id.is_some() {
        check_id(&outline.id)
            .map_err(|why| Failure::usage(WHAT, format!("--id: {why}"), "choose another"))?;
    }
    let missing: Vec<&str> = [
        ("--id", outline.id.is_empty()),
        ("--domain", outline.domain.trim().is_empty()),
        ("--type", outline.types.is_empty()),
    ]
    .into_iter()
    .filter_map(|(flag, is_missing)| is_missing.then_some(flag))
    .collect();
    if missing.is_empty() {
        return Ok(outline);
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failure::usage(
            WHAT,
            format!("{} not given, and there is no terminal to ask on", missing.join(", ")),
            "see `cmem mode create --help`",
        ));
    }
    Interview { input: io::stdin().lock(), printer }.fill(&mut outline, args)?;
    Ok(outline)
}

fn check_id(id: &str) -> Result<(), String> {
    Mode::check_id(id).map_err(|error| error.to_string())?;
    if id.contains("--") {
        return Err(format!("{id:?} would be a variant of another mode, and this command makes whole ones"));
    }
    Ok(())
}

fn terms(flag: &str, given: &[String], described: bool) -> Result<Vec<Term>, Failure> {
    let term = |text: &String| {
        parse_term(text, described)
            .map_err(|why| Failure::usage(WHAT, format!("{flag} {text:?}: {why}"), TERM_FORM))
    };
    given.iter().map(term).collect()
}

/// `id: description`; the description may be missing where it is not `described`.
fn parse_term(text: &str, described: bool) -> Result<Term, String> {
    let (id, description) = text.split_once([':', '：']).unwrap_or((text, ""));
    let (id, description) = (id.trim(), description.trim());
    if !Term::is_id(id) {
        return Err(format!("{id:?} is not an id (small letters, digits, `-` and `_`)"));
    }
    if described && description.is_empty() {
        return Err(String::from("the observer needs to know what it stands for"));
    }
    Ok(Term::new(id, description))
}

/// Asks for what the flags left open. A wrong answer is asked for again.
struct Interview<'a, R> {
    input: R,
    printer: &'a mut Printer,
}

impl<R: BufRead> Interview<'_, R> {
    fn fill(&mut self, outline: &mut Outline, args: &CreateArgs) -> Result<(), Failure> {
        while outline.domain.trim().is_empty() {
            outline.domain = self.ask("What is the mode for? In a few words, such as: baking bread")?;
        }
        while outline.id.is_empty() {
            let id = self.ask("Its id, such as bread-lab:")?;
            match check_id(&id) {
                Ok(()) => outline.id = id,
                Err(why) => self.printer.talk(&why),
            }
        }
        if args.name.is_none() {
            outline.name = self.ask("The name to show (empty: made from the id):")?;
        }
        while outline.types.is_empty() {
            let question =
                "What kinds of memory are there? One per line as `id: description`, an empty line ends:";
            outline.types = self.ask_terms(question, true)?;
        }
        if outline.concepts.is_empty() {
            let question = "What may memories be about? In the same way (empty: a general list):";
            outline.concepts = self.ask_terms(question, false)?;
        }
        if args.language.is_none() {
            outline.language =
                self.ask("Their language, such as ja, zh-tw or Swahili (empty: that of the conversation):")?;
        }
        Ok(())
    }

    fn ask(&mut self, question: &str) -> Result<String, Failure> {
        self.printer.talk(question);
        self.line()
    }

    fn ask_terms(&mut self, question: &str, described: bool) -> Result<Vec<Term>, Failure> {
        self.printer.talk(question);
        let mut terms: Vec<Term> = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                return Ok(terms);
            }
            match parse_term(&line, described) {
                Ok(term) if terms.iter().any(|earlier| earlier.id == term.id) => {
                    self.printer.talk(&format!("{:?} is there already", term.id));
                }
                Ok(term) => terms.push(term),
                Err(why) => self.printer.talk(&format!("{why}: {TERM_FORM}")),
            }
        }
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(0) => Err(Failure::new(WHAT, "the answers end here", "nothing was written")),
            Ok(_) => Ok(line.trim().to_owned()),
            Err(error) => Err(Failure::new(WHAT, error, "nothing was written")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interview(answers: &str, args: &CreateArgs) -> Result<Outline, Failure> {
        let mut printer = Printer::to(false, Box::new(io::sink()), Box::new(io::sink()));
        let mut outline = Outline { id: args.id.clone().unwrap_or_default(), ..Outline::default() };
        Interview { input: answers.as_bytes(), printer: &mut printer }.fill(&mut outline, args)?;
        Ok(outline)
    }

    fn nothing() -> CreateArgs {
        CreateArgs {
            id: None,
            name: None,
            domain: None,
            types: Vec::new(),
            concepts: Vec::new(),
            language: None,
            use_it: false,
            force: false,
            dry_run: false,
        }
    }

    #[test]
    fn answers_become_an_outline_and_wrong_ones_are_asked_again() {
        let answers = "\nbaking\nBread Lab\na--b\nbread-lab\n\n\nno description\nrecipe: what worked\nrecipe: again\n\
                       Bad Id: x\n\nheat\n\nde\n";
        let outline = interview(answers, &nothing()).unwrap();
        assert_eq!(
            outline,
            Outline {
                id: String::from("bread-lab"),
                name: String::new(),
                domain: String::from("baking"),
                types: vec![Term::new("recipe", "what worked")],
                concepts: vec![Term::new("heat", "")],
                language: String::from("de"),
            }
        );
    }

    #[test]
    fn what_the_flags_say_is_not_asked() {
        let args = CreateArgs {
            id: Some(String::from("x")),
            name: Some(String::from("X")),
            language: Some(String::new()),
            ..nothing()
        };
        let outline = interview("d\na: b\n\n\n", &args).unwrap();
        assert_eq!((outline.id.as_str(), outline.domain.as_str(), outline.types.len()), ("x", "d", 1));
    }

    #[test]
    fn answers_that_end_early_are_a_failure() {
        assert_eq!(interview("baking\n", &nothing()).unwrap_err().exit_code(), 1);
    }

    #[test]
    fn a_term_is_an_id_and_what_it_stands_for() {
        assert_eq!(parse_term(" a-b_1 : c: d ", true), Ok(Term::new("a-b_1", "c: d")));
        assert!(parse_term("菜：x", true).unwrap_err().contains("菜"));
        assert_eq!(parse_term("a：烤", true), Ok(Term::new("a", "烤")));
        assert!(parse_term("a", true).is_err() && parse_term("a", false).is_ok());
    }
}
