//! `cmem remember`: what the user says is remembered as it stands, without an observer.

use std::env;
use std::io::{self, IsTerminal, Read};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::reader;
use crate::adopt;
use crate::cli::printer::Printer;
use crate::cli::when;
use crate::config::Paths;
use crate::error::Failure;
use crate::git;
use crate::index;
use crate::mode::{Mode, Term};
use crate::model::{Draft, Identity, Observation, Priority, RecordId, Source, Timestamp};
use crate::observer::{one_line, relative, shorten, title_of};
use crate::privacy::{self, Cleaner};
use crate::render;
use crate::retrieve::{self, Record};
use crate::store::{NewObservation, Standing, Store, StoreError, Stored, Trace};

const WHAT: &str = "remember";

/// Longest title, in characters: one that is given, and one that is taken from the text.
const MAX_TITLE: usize = 200;
const MAX_OWN_TITLE: usize = 100;
const MAX_TAG: usize = 80;
/// Most bytes that are read from standard input.
const MAX_INPUT: u64 = 4 * 1024 * 1024;

/// Arguments of `cmem remember`.
#[derive(Debug, Args)]
#[command(
    override_usage = "cmem remember [OPTIONS] [TEXT]...",
    after_help = "Example:\n  cmem remember 'Releases are cut from main on Tuesdays; ask Ana for the key.'\n  cmem \
                  remember --type decision --priority high --tags auth,api --file src/auth.rs < note.md\n  git log \
                  -1 --format=%B | cmem remember - --title 'Why the cache went' --expires 30d"
)]
pub struct RememberArgs {
    /// What to remember; `-`, or nothing where standard input is no terminal, reads it from there
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Option<String>,
    /// Further words
    #[arg(value_name = "TEXT", hide = true)]
    pub more: Vec<String>,
    /// One line that says what it is about [default: the first sentence or line of the text]
    #[arg(long)]
    pub title: Option<String>,
    /// Kind of memory: one of the mode's types (`cmem mode show`), or a word of your own
    #[arg(long = "type", value_name = "TYPE", default_value = "note")]
    pub r#type: String,
    /// What it has to do with; `cmem search --concept` finds it by that
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    pub tags: Vec<String>,
    /// How much it matters where there is not room for all
    #[arg(long, value_name = "PRIORITY", value_enum, default_value = "normal")]
    pub priority: PriorityName,
    /// A file that it is about; can be given again
    #[arg(long = "file", value_name = "PATH")]
    pub files: Vec<String>,
    /// Until when it holds: an age or a date (30d, 12h, 2026-12-31)
    #[arg(long, value_name = "WHEN", value_parser = when::expiry)]
    pub expires: Option<Timestamp>,
    /// Another project that is known, by name [default: the current directory's]
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
}

/// A priority by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the variant names are the documentation")]
pub enum PriorityName {
    Low,
    Normal,
    High,
}

impl From<PriorityName> for Priority {
    fn from(name: PriorityName) -> Self {
        match name {
            PriorityName::Low => Self::Low,
            PriorityName::Normal => Self::Normal,
            PriorityName::High => Self::High,
        }
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    id: i64,
    uid: &'a str,
    project: &'a str,
    title: &'a str,
    duplicate: bool,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when there is nothing to remember, the project is unknown, or the memory cannot be written.
pub fn run(args: &RememberArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let cleaner = Cleaner::new(&reader::settings(WHAT, paths)?.redact_patterns);
    let mode = reader::mode(paths, printer);
    let here = git::identify(&env::current_dir().unwrap_or_default());
    let given = text(args)?;
    let draft = draft(args, &given, &mode, &here, &cleaner)?;

    paths.create().map_err(|error| {
        Failure::new(WHAT, error, "name a writable directory with --data-dir or CMEM_DATA_DIR")
    })?;
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    let store = Store::open(paths).map_err(fail)?;
    let standing =
        Standing { source: Source::User, priority: args.priority.into(), expires_at: args.expires };
    let stored = record(&store, args.project.as_deref(), &here, &draft, standing).map_err(fail)?;
    let Some(stored) = stored else { return Err(unknown_project(&store, args)) };
    let memory = read_back(&store, stored.id)?;
    if draft.narrative != given {
        printer.talk("what is marked as private or looks like a credential was left out");
    }
    tell(&memory, stored.duplicate, printer);
    Ok(())
}

/// The text as it was given, without blanks around it.
fn text(args: &RememberArgs) -> Result<String, Failure> {
    let words: Vec<&str> = args.text.iter().chain(&args.more).map(String::as_str).collect();
    let text = match words[..] {
        [] if io::stdin().is_terminal() => String::new(),
        [] | ["-"] => from_stdin()?,
        _ => words.join(" "),
    };
    let text = text.trim();
    let length = text.chars().count();
    if text.is_empty() {
        return Err(Failure::usage(WHAT, "there is no text", "give it as arguments or on standard input"));
    }
    if length > privacy::MAX_CHARS {
        return Err(Failure::new(
            WHAT,
            format!("the text has {length} characters; at most {} are kept", privacy::MAX_CHARS),
            "divide it, or remember what matters of it and name the file with --file",
        ));
    }
    Ok(text.to_owned())
}

fn from_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_INPUT).read_to_end(&mut bytes).map_err(|error| {
        Failure::new(WHAT, format!("standard input: {error}"), "give the text as arguments")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What is stored: nothing private, no credentials.
fn draft(
    args: &RememberArgs,
    given: &str,
    mode: &Mode,
    here: &Identity,
    cleaner: &Cleaner,
) -> Result<Draft, Failure> {
    let narrative = cleaner.clean_text(given).trim().to_owned();
    if narrative.is_empty() {
        return Err(Failure::new(
            WHAT,
            "all of the text is marked as private, and nothing was stored",
            "leave out the <private> tags around what may be remembered",
        ));
    }
    let clean = |text: &str| one_line(&cleaner.clean_text(text));
    let title = args.title.as_deref().map(|title| shorten(&clean(title), MAX_TITLE)).unwrap_or_default();
    let tags = each(args.tags.iter().map(|tag| shorten(&clean(tag), MAX_TAG)));
    let is_concept = |tag: &&String| mode.concepts.iter().any(|concept| concept.id == **tag);
    let cwd = env::current_dir().unwrap_or_default();
    let file = |path: &String| clean(&relative(path, &here.root, &cwd.to_string_lossy()));
    Ok(Draft {
        r#type: kind(&args.r#type, mode)?,
        title: if title.is_empty() { title_of(&narrative, MAX_OWN_TITLE) } else { title },
        // Concepts are filters and say little of what a memory means; words of the user's own do.
        keywords: tags.iter().filter(|tag| !is_concept(tag)).cloned().collect(),
        concepts: tags,
        files_read: each(args.files.iter().filter(|path| !path.trim().is_empty()).map(file)),
        narrative,
        ..Draft::default()
    })
}

/// The id of a type: of the mode's by id or name, or another word.
fn kind(word: &str, mode: &Mode) -> Result<String, Failure> {
    let word = word.trim();
    let id = mode.type_id(word).to_lowercase();
    if Term::is_id(&id) {
        return Ok(id);
    }
    let known: Vec<&str> = mode.types.iter().map(|term| term.id.as_str()).collect();
    Err(Failure::usage(
        WHAT,
        format!("--type {word:?} is no type"),
        format!("take one of {}, or a word of small letters, digits, - and _", known.join(", ")),
    ))
}

/// What is not empty, each once.
fn each(values: impl Iterator<Item = String>) -> Vec<String> {
    values.filter(|value| !value.is_empty()).fold(Vec::new(), |mut list, value| {
        if !list.contains(&value) {
            list.push(value);
        }
        list
    })
}

/// Stores in the project of that name, or of `here`; `None` when no project is called so.
fn record(
    store: &Store,
    project: Option<&str>,
    here: &Identity,
    draft: &Draft,
    standing: Standing,
) -> Result<Option<Stored>, StoreError> {
    // What git says of a branch is asked before other writers have to wait.
    let trace = if project.is_none() { adopt::trace(here) } else { Trace::default() };
    let transaction = store.begin()?;
    let place = match project {
        Some(name) => transaction.place_by_name(name)?,
        None => Some(transaction.place(here, &trace)?),
    };
    let Some(place) = place else { return Ok(None) };
    let new = NewObservation {
        place,
        session: "",
        prompt_number: None,
        draft,
        agent: None,
        model: "",
        tokens_spent: 0,
        created_at: Timestamp::now(),
        standing,
    };
    let stored = index::record_observation(&transaction, &new)?;
    transaction.commit()?;
    Ok(Some(stored))
}

fn unknown_project(store: &Store, args: &RememberArgs) -> Failure {
    let name = args.project.as_deref().unwrap_or_default();
    match retrieve::project_names(store) {
        Ok(known) => reader::unknown_project(WHAT, name, &known),
        Err(error) => reader::store_failure(WHAT, &error),
    }
}

fn read_back(store: &Store, id: i64) -> Result<Observation, Failure> {
    let (records, _) = retrieve::get(store, &[RecordId::Observation(id)])
        .map_err(|error| reader::store_failure(WHAT, &error))?;
    match records.into_iter().next() {
        Some(Record::Observation(memory)) => Ok(*memory),
        _ => Err(Failure::new(WHAT, format!("{id} was taken away at once"), "say it again")),
    }
}

fn tell(memory: &Observation, duplicate: bool, printer: &mut Printer) {
    if printer.wants_json() {
        printer.json(&Answer {
            id: memory.id,
            uid: &memory.uid,
            project: &memory.project,
            title: &memory.title,
            duplicate,
        });
        return;
    }
    printer.data(&memory.id.to_string());
    let (project, title) = (render::line(&memory.project), render::line(&memory.title));
    printer.talk(&match duplicate {
        true => format!("project {project} knew that already, as {}: {title}", memory.id),
        false => format!("remembered in project {project}: {title}"),
    });
}
