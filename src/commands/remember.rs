//! `cmem remember`: what the user says is remembered as it stands, without an observer.

use std::io::{self, IsTerminal, Read};
use std::path::Path;

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
use crate::mode::Mode;
use crate::model::{Caller, Draft, Identity, Observation, Priority, RecordId, Source, Status, Timestamp};
use crate::observer::{one_line, relative, shorten, title_of};
use crate::privacy::{self, Cleaner};
use crate::render;
use crate::retrieve::{self, Conflicts, Others, Record};
use crate::store::{NewObservation, Standing, Store, StoreError, Stored, Trace};

const WHAT: &str = "remember";

/// Longest title that is given, in characters.
const MAX_TITLE: usize = 200;
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
    /// `active`, or `review` if it waits for `cmem review`.
    status: Status,
    /// What it took the place of, and what it would.
    superseded: Vec<i64>,
    contested: Vec<i64>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when there is nothing to remember, the project is unknown, or the memory cannot be written.
pub fn run(args: &RememberArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    keep(&text(args)?, args, &Caller::here(), paths, printer)
}

/// Remembers a text that is at hand, by what else the arguments say of it.
///
/// # Errors
/// As [`run`].
pub(super) fn keep(
    given: &str,
    args: &RememberArgs,
    caller: &Caller,
    paths: &Paths,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let cleaner = Cleaner::new(&reader::settings(WHAT, paths)?.redact_patterns);
    let mode = reader::mode(paths, printer);
    let here = git::identify(&caller.dir);
    let wording = Wording { what: WHAT, mode: &mode, dir: &caller.dir, here: &here, cleaner: &cleaner };
    let draft = draft(args, given, &wording)?;

    paths.create().map_err(|error| {
        Failure::new(WHAT, error, "name a writable directory with --data-dir or CMEM_DATA_DIR")
    })?;
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    let store = Store::open(paths).and_then(|store| store.on_behalf_of(caller)).map_err(fail)?;
    let standing =
        Standing { source: Source::User, priority: args.priority.into(), expires_at: args.expires };
    let stored = record(&store, args.project.as_deref(), &here, &draft, standing, caller).map_err(fail)?;
    let Some(stored) = stored else { return Err(unknown_project(&store, args)) };
    let memory = read_back(&store, stored.id)?;
    let others = retrieve::others(&store, stored.id).map_err(fail)?;
    if draft.narrative != given {
        printer.talk("what is marked as private or looks like a credential was left out");
    }
    tell(&memory, &others, stored.duplicate, printer);
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
    Ok(text.trim().to_owned())
}

fn from_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_INPUT).read_to_end(&mut bytes).map_err(|error| {
        Failure::new(WHAT, format!("standard input: {error}"), "give the text as arguments")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What is stored: nothing private, no credentials.
fn draft(args: &RememberArgs, given: &str, wording: &Wording<'_>) -> Result<Draft, Failure> {
    let narrative = wording.narrative(given)?;
    let title = args.title.as_deref().map(|title| wording.title(title)).unwrap_or_default();
    let tags = wording.tags(&args.tags);
    Ok(Draft {
        r#type: wording.kind(&args.r#type)?,
        title: if title.is_empty() { wording.title_of(&narrative) } else { title },
        keywords: wording.own_words(&tags),
        concepts: tags,
        files_read: wording.files(&args.files),
        narrative,
        ..Draft::default()
    })
}

/// How what the user says becomes what is kept.
pub(super) struct Wording<'a> {
    /// The command that he says it to.
    pub what: &'static str,
    pub mode: &'a Mode,
    /// Where paths begin that he names.
    pub dir: &'a Path,
    pub here: &'a Identity,
    pub cleaner: &'a Cleaner,
}

impl Wording<'_> {
    /// The text itself, with nothing private in it.
    pub(super) fn narrative(&self, given: &str) -> Result<String, Failure> {
        let given = given.trim();
        let length = given.chars().count();
        if given.is_empty() {
            return Err(Failure::usage(
                self.what,
                "there is no text",
                "give it as arguments or on standard input",
            ));
        }
        if length > privacy::MAX_CHARS {
            return Err(Failure::new(
                self.what,
                format!("the text has {length} characters; at most {} are kept", privacy::MAX_CHARS),
                "divide it, or remember what matters of it and name the file with --file",
            ));
        }
        let narrative = self.cleaner.clean_text(given).trim().to_owned();
        if narrative.is_empty() {
            return Err(Failure::new(
                self.what,
                "all of the text is marked as private, and nothing was stored",
                "leave out the <private> tags around what may be remembered",
            ));
        }
        Ok(narrative)
    }

    /// A title of the user's own; empty when nothing of it may be kept.
    pub(super) fn title(&self, given: &str) -> String {
        shorten(&self.line(given), MAX_TITLE)
    }

    /// The first sentence or line, whichever ends first, without marks of a heading or a list.
    pub(super) fn title_of(&self, text: &str) -> String {
        title_of(text)
    }

    pub(super) fn tags(&self, given: &[String]) -> Vec<String> {
        each(given.iter().map(|tag| shorten(&self.line(tag), MAX_TAG)))
    }

    /// Concepts of the mode are filters and say little of what a memory means; words of the user's own do.
    pub(super) fn own_words(&self, tags: &[String]) -> Vec<String> {
        let is_concept = |tag: &&String| self.mode.has_concept(tag);
        tags.iter().filter(|tag| !is_concept(tag)).cloned().collect()
    }

    /// Files by their place in the checkout.
    pub(super) fn files(&self, given: &[String]) -> Vec<String> {
        let file = |path: &String| self.line(&relative(path, &self.here.root, &self.dir.to_string_lossy()));
        each(given.iter().filter(|path| !path.trim().is_empty()).map(file))
    }

    /// Entries of a list as they stand.
    pub(super) fn lines(&self, given: &[String]) -> Vec<String> {
        each(given.iter().map(|text| self.line(text)))
    }

    /// The id of a type: of the mode's by id or name, or another word.
    pub(super) fn kind(&self, word: &str) -> Result<String, Failure> {
        let word = word.trim();
        if let Some(id) = self.mode.type_for(word) {
            return Ok(id);
        }
        let known: Vec<&str> = self.mode.types.iter().map(|term| term.id.as_str()).collect();
        Err(Failure::usage(
            self.what,
            format!("{word:?} is no type"),
            format!("take one of {}, or a word of small letters, digits, - and _", known.join(", ")),
        ))
    }

    fn line(&self, text: &str) -> String {
        one_line(&self.cleaner.clean_text(text))
    }
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
    caller: &Caller,
) -> Result<Option<Stored>, StoreError> {
    // What git says of a branch, and what contradicts it, is asked before other writers have to wait.
    let trace = if project.is_none() { adopt::trace(here) } else { Trace::default() };
    let scope = match project {
        Some(name) => retrieve::scope_by_name(store, name)?,
        None => Some(retrieve::scope(store, here)?),
    };
    let Some(scope) = scope else { return Ok(None) };
    let at = Timestamp::now();
    let Conflicts { replaced, contested } = retrieve::conflicts(store, &scope, draft, at)?;
    let transaction = store.begin()?;
    let place = match project {
        Some(name) => transaction.place_by_name(name)?,
        None => Some(transaction.place(here, &trace)?),
    };
    let Some(place) = place else { return Ok(None) };
    if let (Some(platform), Some(session)) = (caller.platform, &caller.session)
        && !platform.is_claude()
    {
        // Where a memory is from is told by its session. Of no branch: the work there is in the session of the hooks.
        let identity = Identity { branch: None, head: None, ..here.clone() };
        transaction.session(session, platform, place.project, &identity, at, at)?;
    }
    let new = NewObservation {
        place,
        session: caller.session.as_deref().unwrap_or_default(),
        prompt_number: None,
        draft,
        agent: None,
        model: "",
        tokens_spent: 0,
        created_at: at,
        standing,
    };
    let stored = index::record_observation(&transaction, &new)?;
    if stored.duplicate {
        // Whatever became of it: the user says it again.
        transaction.accept(stored.id)?;
        transaction.hold_again(stored.id, standing.expires_at)?;
    } else {
        transaction.contest(stored.id, &contested)?;
    }
    transaction.supersede(stored.id, &replaced)?;
    // Whoever gave up, perhaps while others wrote, believes that nothing was stored.
    if caller.gone.is_set() {
        return Err(StoreError::Cancelled);
    }
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

fn tell(memory: &Observation, others: &Others, duplicate: bool, printer: &mut Printer) {
    if printer.wants_json() {
        let ids = |list: &[Observation]| list.iter().map(|other| other.id).collect();
        printer.json(&Answer {
            id: memory.id,
            uid: &memory.uid,
            project: &memory.project,
            title: &memory.title,
            duplicate,
            status: memory.status,
            superseded: ids(&others.superseded),
            contested: ids(&others.contested),
        });
        return;
    }
    printer.data(&memory.id.to_string());
    let (project, title) = (render::line(&memory.project), render::line(&memory.title));
    printer.talk(&match duplicate {
        true => format!("project {project} knew that already, as {}: {title}", memory.id),
        false => format!("remembered in project {project}: {title}"),
    });
    for old in &others.superseded {
        printer.talk(&format!("it takes the place of {}: {}", old.id, render::line(&old.title)));
    }
    for old in &others.contested {
        printer.talk(&format!(
            "it waits for review, as it would take the place of {}: {}; `cmem review accept {}`",
            old.id,
            render::line(&old.title),
            memory.id
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_for_who_does_not_wait_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let caller = Caller { dir: folder.path().to_owned(), ..Caller::default() };
        let keep = |text: &str| {
            let args = RememberArgs {
                text: None,
                more: Vec::new(),
                title: None,
                r#type: String::from("note"),
                tags: Vec::new(),
                priority: PriorityName::Normal,
                files: Vec::new(),
                expires: None,
                project: None,
            };
            let mut printer = Printer::to(false, Box::new(io::sink()), Box::new(io::sink()));
            super::keep(text, &args, &caller, &paths, &mut printer)
        };
        keep("The limit is 5.").unwrap();
        caller.gone.set();
        assert!(keep("The limit is 6.").is_err());
        let store = Store::open_read_only(&paths).unwrap();
        assert_eq!(store.counts().unwrap().observations, 1);
    }
}
