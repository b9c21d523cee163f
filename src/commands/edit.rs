//! `cmem edit`: an observation is corrected by hand, and what it said before is kept.

use std::env;
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use serde_json::json;

use super::form::{self, Form};
use super::reader;
use super::remember::{PriorityName, Wording};
use crate::cli::printer::Printer;
use crate::cli::when;
use crate::config::Paths;
use crate::error::Failure;
use crate::git;
use crate::index;
use crate::model::{Draft, Priority, RecordId, Timestamp};
use crate::observer::one_line;
use crate::privacy::Cleaner;
use crate::render;
use crate::retrieve;
use crate::store::{Revised, Store, StoreError, Transaction};

const WHAT: &str = "edit";
/// Most bytes that are read from standard input or from the editor's file.
const MAX_INPUT: u64 = 4 * 1024 * 1024;

/// Arguments of `cmem edit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Without an option the record is opened in $VISUAL or $EDITOR.\n\nExample:\n  cmem edit 12\n  cmem edit \
                  12 --title 'Releases are cut on Wednesdays' --priority high\n  cmem edit 12 --expires never --tags \
                  release,ci\n  cmem edit 12 --text - < note.md"
)]
pub struct EditArgs {
    /// The observation, by number
    #[arg(value_name = "ID")]
    pub id: String,
    /// One line that says what it is about
    #[arg(long)]
    pub title: Option<String>,
    /// Kind of memory: one of the mode's types, or a word of your own
    #[arg(long = "type", value_name = "TYPE")]
    pub r#type: Option<String>,
    /// The text; `-` reads it from standard input
    #[arg(long, allow_hyphen_values = true)]
    pub text: Option<String>,
    /// What it has to do with, in place of what stands there; '' = nothing
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    pub tags: Option<Vec<String>>,
    /// Words that a searcher may use, in place of those that stand there; '' = none
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    pub keywords: Option<Vec<String>>,
    /// A file that it is about, in place of those that were read; can be given again; '' = none
    #[arg(long = "file", value_name = "PATH")]
    pub files: Option<Vec<String>>,
    /// How much it matters where there is not room for all
    #[arg(long, value_name = "PRIORITY", value_enum)]
    pub priority: Option<PriorityName>,
    /// Until when it holds: an age or a date (30d, 12h, 2026-12-31), or `never` for without end
    #[arg(long, value_name = "WHEN", value_parser = until)]
    pub expires: Option<Until>,
}

/// Until when something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Until(Option<Timestamp>);

fn until(text: &str) -> Result<Until, String> {
    match text.trim() {
        form::NEVER => Ok(Until(None)),
        text => when::expiry(text).map(|at| Until(Some(at))).map_err(|why| format!("{why}, or `never`")),
    }
}

/// All that can be changed about an observation.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Whole {
    draft: Draft,
    priority: Priority,
    expires_at: Option<Timestamp>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when there is no such observation, a value is wrong, the text cannot be read back, or the memory cannot
/// be written. What was typed in an editor is left in a file then.
pub fn run(args: &EditArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let ids = reader::observation_ids(WHAT, std::slice::from_ref(&args.id))?;
    let [id] = ids[..] else {
        return Err(Failure::usage(WHAT, "one observation at a time can be edited", "give one id"));
    };
    let cleaner = Cleaner::new(&reader::settings(WHAT, paths)?.redact_patterns);
    let mode = reader::mode(paths, printer);
    let dir = env::current_dir().unwrap_or_default();
    let here = git::identify(&dir);
    let wording = Wording { what: WHAT, mode: &mode, dir: &dir, here: &here, cleaner: &cleaner };
    let store = reader::open_for_change(WHAT, &[RecordId::Observation(id)], paths)?;
    if args.asks_for_the_editor() {
        return in_editor(id, &store, &wording, paths, printer);
    }
    let given = args.text.as_deref().map(text).transpose()?;
    let transaction = store.begin().map_err(failed)?;
    let before = whole(&transaction, id)?;
    let after = args.applied_to(&before, given.as_deref(), &wording)?;
    let changed = write(transaction, id, &before, &after)?;
    if given.is_some_and(|given| given != after.draft.narrative) {
        printer.talk(LEFT_OUT);
    }
    tell(id, &after, changed, &store, printer);
    Ok(())
}

const FORGOTTEN: &str = "`cmem remember` keeps a text anew";
const LEFT_OUT: &str = "what is marked as private or looks like a credential was left out";

fn failed(error: StoreError) -> Failure {
    reader::store_failure(WHAT, &error)
}

/// The text as it was given, without blanks around it.
fn text(given: &str) -> Result<String, Failure> {
    let mut text = given.to_owned();
    if given == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().take(MAX_INPUT).read_to_end(&mut bytes).map_err(|error| {
            Failure::new(WHAT, format!("standard input: {error}"), "give the text with --text")
        })?;
        text = String::from_utf8_lossy(&bytes).into_owned();
    }
    Ok(text.trim().to_owned())
}

fn whole(transaction: &Transaction<'_>, id: i64) -> Result<Whole, Failure> {
    let position = transaction.position(id).map_err(failed)?;
    let position = position.ok_or_else(|| reader::missing(WHAT, &[RecordId::Observation(id)]))?;
    Ok(Whole {
        draft: transaction.texts_of(id).map_err(failed)?,
        priority: position.priority,
        expires_at: position.expires_at,
    })
}

impl EditArgs {
    fn asks_for_the_editor(&self) -> bool {
        self.title.is_none()
            && self.r#type.is_none()
            && self.text.is_none()
            && self.tags.is_none()
            && self.keywords.is_none()
            && self.files.is_none()
            && self.priority.is_none()
            && self.expires.is_none()
    }

    fn applied_to(
        &self,
        before: &Whole,
        text: Option<&str>,
        wording: &Wording<'_>,
    ) -> Result<Whole, Failure> {
        let mut draft = before.draft.clone();
        if let Some(text) = text {
            draft.narrative = narrative(text, &draft, wording)?;
        }
        if let Some(title) = &self.title {
            draft.title = title_for(title, &draft, wording);
        }
        if let Some(kind) = &self.r#type {
            draft.r#type = wording.kind(kind)?;
        }
        if let Some(tags) = &self.tags {
            let tags = wording.tags(tags);
            // Words of the user's own are keywords too, as in `remember`; what an observer put there stays.
            draft.keywords.retain(|word| !draft.concepts.contains(word));
            draft.keywords.extend(wording.own_words(&tags));
            draft.concepts = tags;
        }
        if let Some(words) = &self.keywords {
            draft.keywords = wording.tags(words);
        }
        if let Some(files) = &self.files {
            draft.files_read = wording.files(files);
        }
        Ok(Whole {
            draft,
            priority: self.priority.map_or(before.priority, Priority::from),
            expires_at: self.expires.map_or(before.expires_at, |until| until.0),
        })
    }
}

/// A text that may be kept. A record that says what it says in its title or facts needs none.
fn narrative(given: &str, draft: &Draft, wording: &Wording<'_>) -> Result<String, Failure> {
    if given.is_empty() && !(draft.title.is_empty() && draft.facts.is_empty()) {
        return Ok(String::new());
    }
    wording.narrative(given)
}

fn title_for(given: &str, draft: &Draft, wording: &Wording<'_>) -> String {
    let title = wording.title(given);
    if title.is_empty() { wording.title_of(&draft.narrative) } else { title }
}

/// Writes what differs; tells whether anything did.
fn write(transaction: Transaction<'_>, id: i64, before: &Whole, after: &Whole) -> Result<bool, Failure> {
    let mut changed = false;
    if before.draft != after.draft {
        match index::revise_observation(&transaction, id, &after.draft, Timestamp::now()).map_err(failed)? {
            Revised::Changed => changed = true,
            Revised::Unchanged => {}
            Revised::SameAs(same) => {
                return Err(Failure::new(
                    WHAT,
                    format!("{same} of the same project says just that"),
                    format!("say `cmem supersede {id} {same}`, or forget one of them with `cmem forget`"),
                ));
            }
        }
    }
    changed |= transaction.prioritise(id, after.priority).map_err(failed)?;
    changed |= transaction.expire(id, after.expires_at).map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(changed)
}

fn tell(id: i64, after: &Whole, changed: bool, store: &Store, printer: &mut Printer) {
    // Searches work without it.
    if changed && let Err(error) = index::refresh(store) {
        printer
            .talk(&format!("the vector cache could not be renewed ({error}); `cmem reindex` makes it anew"));
    }
    let title = &after.draft.title;
    if printer.wants_json() {
        printer.json(&json!({ "id": id, "title": title, "changed": changed }));
    }
    printer.talk(&match changed {
        true => {
            format!("{id} is changed: {}; `cmem get {id} --history` shows what it said", render::line(title))
        }
        false => format!("{id} is as it was"),
    });
}

fn in_editor(
    id: i64,
    store: &Store,
    wording: &Wording<'_>,
    paths: &Paths,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let editor = editor()?;
    // Nobody else has to wait for the editor.
    let before = whole(&store.begin().map_err(failed)?, id)?;
    let form = Form::of(&before.draft, before.priority, before.expires_at);
    let desk = Desk::new(id, paths);
    let resumed = desk.lay_out(&form.write(&comment(id)))?;
    if resumed {
        printer.talk(&format!("going on with the text that was left in {}", desk.file.display()));
    }
    let typed = desk.edit(&editor, resumed)?;
    let Some(typed) = typed else {
        desk.clear();
        tell(id, &before, false, store, printer);
        return Ok(());
    };
    let written = Form::read(&typed)
        .map_err(|error| Failure::new(WHAT, error, ""))
        .and_then(|edited| {
            let after = applied(&before, &form, &edited, wording)?;
            let transaction = store.begin().map_err(failed)?;
            if transaction.position(id).map_err(failed)?.is_none() {
                return Err(Failure::new(WHAT, format!("{id} was forgotten meanwhile"), FORGOTTEN));
            }
            if whole(&transaction, id)? != before {
                return Err(Failure::new(WHAT, format!("{id} was changed meanwhile by somebody else"), ""));
            }
            let changed = write(transaction, id, &before, &after)?;
            Ok((after, changed, edited))
        })
        .map_err(|failure| desk.leave(&typed, failure, store, wording.cleaner))?;
    let (after, changed, edited) = written;
    desk.clear();
    if edited.text != form.text && edited.text != after.draft.narrative {
        printer.talk(LEFT_OUT);
    }
    tell(id, &after, changed, store, printer);
    Ok(())
}

fn comment(id: i64) -> String {
    format!(
        "Observation {id}. Change what you like, save, and leave the editor; what it says now is kept as its history.\n\
         Leave everything as it is, or leave nothing, to change nothing.\n\
         Lines that begin with # are left out, but not below the line ---, where the text begins.\n\
         priority is low, normal or high; expires is never, an age (30d) or a date (2026-12-31).\n\
         An entry of a list begins with \"- \", and a line that continues one with two blanks."
    )
}

/// What an edited form comes to: a field that was not touched stays exactly as it is.
fn applied(before: &Whole, form: &Form, edited: &Form, wording: &Wording<'_>) -> Result<Whole, Failure> {
    let mut after = before.clone();
    let draft = &mut after.draft;
    if edited.text != form.text {
        draft.facts.clone_from(&edited.facts);
        draft.narrative = narrative(&edited.text, draft, wording)?;
        draft.facts.clone_from(&before.draft.facts);
    }
    if edited.kind != form.kind {
        draft.r#type = wording.kind(&edited.kind)?;
    }
    if edited.title != form.title {
        draft.title = title_for(&edited.title, draft, wording);
    }
    if edited.subtitle != form.subtitle {
        draft.subtitle = wording.title(&edited.subtitle);
    }
    if edited.tags != form.tags {
        draft.concepts = wording.tags(&edited.tags);
    }
    if edited.keywords != form.keywords {
        draft.keywords = wording.tags(&edited.keywords);
    }
    if edited.files_read != form.files_read {
        draft.files_read = wording.lines(&edited.files_read);
    }
    if edited.files_modified != form.files_modified {
        draft.files_modified = wording.lines(&edited.files_modified);
    }
    if edited.facts != form.facts {
        draft.facts = wording.lines(&edited.facts);
    }
    if edited.priority != form.priority {
        after.priority = match one_line(&edited.priority).to_lowercase().as_str() {
            "low" => Priority::Low,
            "normal" => Priority::Normal,
            "high" => Priority::High,
            other => {
                let why = format!("{other:?} is no priority");
                return Err(Failure::new(WHAT, why, "take one of low, normal, high"));
            }
        };
    }
    if edited.expires != form.expires {
        let until = until(&edited.expires)
            .map_err(|why| Failure::new(WHAT, format!("expires: {:?}", edited.expires), why))?;
        after.expires_at = until.0;
    }
    Ok(after)
}

/// The user's editor, a command for the shell.
fn editor() -> Result<String, Failure> {
    let named = ["VISUAL", "EDITOR"].iter().filter_map(|name| env::var(name).ok());
    match named.into_iter().find(|command| !command.trim().is_empty()) {
        Some(command) => Ok(command),
        None if io::stdin().is_terminal() && io::stderr().is_terminal() => Ok(String::from("vi")),
        None => Err(Failure::usage(
            WHAT,
            "there is no editor, as there is no terminal",
            "say what to change with options such as --title or --text, or set EDITOR",
        )),
    }
}

/// Where a record lies while it is edited: a folder of its own, as editors put files beside it.
struct Desk {
    id: i64,
    folder: PathBuf,
    file: PathBuf,
}

impl Desk {
    fn new(id: i64, paths: &Paths) -> Self {
        let folder = paths.edits().join(id.to_string());
        Self { id, file: folder.join("memory.txt"), folder }
    }

    /// Writes the text to be edited, unless one was left there; tells whether it was.
    fn lay_out(&self, text: &str) -> Result<bool, Failure> {
        if self.file.exists() {
            return Ok(true);
        }
        fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(&self.file, text))
            .map_err(|error| self.failure(error, "check the permissions of the data directory"))?;
        Ok(false)
    }

    /// Runs the editor; `None` when it left the text as it was, or none.
    fn edit(&self, editor: &str, resumed: bool) -> Result<Option<String>, Failure> {
        let before = fs::read(&self.file).unwrap_or_default();
        let status = Command::new("sh")
            .args(["-c", &format!("{editor} \"$@\""), "sh"])
            .arg(&self.file)
            .status()
            .map_err(|error| Failure::new(WHAT, format!("sh: {error}"), "set EDITOR to your editor"))?;
        let mut bytes = Vec::new();
        fs::File::open(&self.file)
            .and_then(|file| file.take(MAX_INPUT).read_to_end(&mut bytes))
            .map_err(|error| self.failure(error, "save the file where the editor found it"))?;
        let same = bytes == before && !resumed;
        if !status.success() {
            if same {
                self.clear();
            }
            let left = if same { String::new() } else { format!("; {}", self.left()) };
            return Err(Failure::new(
                WHAT,
                format!("{editor} ended with {status}, and nothing was changed"),
                format!("set EDITOR to your editor, or leave it without an error{left}"),
            ));
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok((!same && !text.trim().is_empty()).then_some(text))
    }

    /// Keeps what was typed, without what would never be stored, and says where. Of a record that was forgotten nothing is
    /// kept.
    fn leave(&self, typed: &str, failure: Failure, store: &Store, cleaner: &Cleaner) -> Failure {
        let id = RecordId::Observation(self.id);
        if retrieve::get(store, &[id]).is_ok_and(|(records, _)| records.is_empty()) {
            self.clear();
            return failure;
        }
        let kept = match form::split(typed) {
            Some((head, body)) => {
                format!(
                    "{}\n---\n{}\n",
                    cleaner.clean_text(head).trim_end(),
                    cleaner.clean_text(body).trim_end()
                )
            }
            None => cleaner.clean_text(typed),
        };
        if kept != typed {
            let _ = fs::write(&self.file, kept);
        }
        failure.with_hint(&self.left())
    }

    fn left(&self) -> String {
        format!("the text is left in {}, and `cmem edit {}` goes on with it", self.file.display(), self.id)
    }

    fn clear(&self) {
        let _ = fs::remove_dir_all(&self.folder);
        // Only when no other record is being edited.
        let _ = self.folder.parent().map(fs::remove_dir);
    }

    fn failure(&self, error: io::Error, hint: &str) -> Failure {
        Failure::new(WHAT, format!("{}: {error}", self.file.display()), hint)
    }
}
