//! `cmem compact`: memories that say the same become one. What is the same word by word is put together by itself; the
//! rest is proposed.

use clap::Args;
use serde::Serialize;

use super::reader;
use crate::cli::args::ScopeArgs;
use crate::cli::printer::Printer;
use crate::cli::progress;
use crate::config::Paths;
use crate::drain::{self, Consolidated, Consolidator, DrainError};
use crate::error::Failure;
use crate::model::{Observation, Priority, RecordId, Status};
use crate::render;
use crate::retrieve::{self, Group, Kinship, Record};
use crate::store::{Store, StoreError};

const WHAT: &str = "compact";

/// Arguments of `cmem compact`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cmem compact --dry-run         what would be put together\n  cmem compact                   \
                  put together what is the same word by word, propose the rest\n  cmem compact --apply 3+4+7     put \
                  these together by the observer\n  cmem compact --undo 12         bring its sources back\n\nSources \
                  are put away, not deleted. Pinned ones and those of high priority stay unless --apply names them."
)]
pub struct CompactArgs {
    /// Put this group together: its ids, joined by +; may be repeated
    #[arg(long, value_name = "GROUP")]
    pub apply: Vec<String>,
    /// Put every proposed group together
    #[arg(long, conflicts_with = "apply")]
    pub all: bool,
    /// Only say what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Bring the sources of a memory back that was put together, and put it away
    #[arg(long, value_name = "ID", conflicts_with_all = ["apply", "all", "dry_run", "project", "all_projects"])]
    pub undo: Option<String>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub scope: ScopeArgs,
}

#[derive(Default, Serialize)]
struct Answer {
    dry_run: bool,
    merged: Vec<Merged>,
    proposed: Vec<Proposed>,
    failed: Vec<Failed>,
}

#[derive(Serialize)]
struct Merged {
    /// `None` in a dry run.
    id: Option<i64>,
    sources: Vec<i64>,
}

#[derive(Serialize)]
struct Proposed {
    group: String,
    kinship: Kinship,
    likeness: f64,
    members: Vec<Member>,
    /// Pinned or of high priority: left out unless they are named.
    held: Vec<Member>,
}

#[derive(Serialize)]
struct Member {
    id: i64,
    r#type: String,
    title: String,
}

#[derive(Serialize)]
struct Failed {
    group: String,
    class: String,
    reason: String,
}

#[derive(Serialize)]
struct Undone {
    undone: i64,
    restored: Vec<i64>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when a group is none, the memory cannot be used, or the observer cannot be asked; what was put together
/// before that stays so.
pub fn run(args: &CompactArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    if let Some(id) = &args.undo {
        return undo(id, paths, printer);
    }
    let named = args.apply.iter().map(|group| named(group)).collect::<Result<Vec<_>, _>>()?;
    let mut store = reader::open(WHAT, paths)?;
    let place = reader::place(WHAT, store.as_ref(), &args.scope)?;
    if !args.dry_run && store.is_some() {
        let writable = Store::open(paths).map_err(fail)?;
        drain::upkeep(paths, &writable).map_err(drain_failure)?;
        store = Some(writable);
    }
    let mut answer = Answer { dry_run: args.dry_run, ..Answer::default() };
    let mut stopped = None;
    if let Some(store) = &store {
        let chosen = named.iter().map(|ids| members(store, ids)).collect::<Result<Vec<_>, _>>()?;
        let (exact, others) =
            if named.is_empty() { groups(store, &place, args)? } else { Default::default() };
        for sources in exact {
            let id = match args.dry_run {
                true => None,
                false => match drain::without_observer(store, &sources).map_err(fail)? {
                    Consolidated::As(id) => Some(id),
                    // Somebody else was quicker: the next run looks again.
                    Consolidated::Moved | Consolidated::Failed(_) => continue,
                },
            };
            answer.merged.push(Merged { id, sources: ids_of(&sources) });
        }
        let asked = if args.all { others.iter().map(|group| group.1.clone()).collect() } else { chosen };
        if !args.all {
            answer.proposed = others.into_iter().map(proposed).collect();
        }
        stopped = apply(asked, args.dry_run, paths, &mut answer)?;
    }
    if printer.wants_json() {
        printer.json(&answer);
    } else {
        show(&answer, printer);
    }
    match stopped {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

/// A group with those of its members that need not be named, oldest first.
type Open = (Group, Vec<Observation>);

/// What is put together by itself, and what is proposed.
fn groups(
    store: &Store,
    place: &reader::Place,
    args: &CompactArgs,
) -> Result<(Vec<Vec<Observation>>, Vec<Open>), Failure> {
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    let count = retrieve::in_use(store, &place.scope).map_err(fail)?;
    let bar = progress::bar(count as u64, "memories");
    let found = retrieve::alike(store, &place.scope, || bar.inc(1)).map_err(fail)?;
    bar.finish_and_clear();
    let (mut exact, mut others) = (Vec::new(), Vec::new());
    for group in found {
        let open: Vec<Observation> =
            group.members.iter().filter(|memory| !is_held(memory)).cloned().collect();
        match group.kinship {
            Kinship::Exact if open.len() > 1 => exact.push(open),
            _ if open.len() > 1 || !args.all => others.push((group, open)),
            // Who asks for all has named nobody.
            _ => {}
        }
    }
    Ok((exact, others))
}

/// Asks the observer for each group in turn; stops at the first that shows that nobody can be asked now.
fn apply(
    groups: Vec<Vec<Observation>>,
    dry_run: bool,
    paths: &Paths,
    answer: &mut Answer,
) -> Result<Option<Failure>, Failure> {
    if groups.is_empty() {
        return Ok(None);
    }
    if dry_run {
        answer.merged.extend(groups.iter().map(|sources| Merged { id: None, sources: ids_of(sources) }));
        return Ok(None);
    }
    let settings = reader::settings(WHAT, paths)?;
    let consolidator = Consolidator::new(paths, &settings).map_err(drain_failure)?;
    let bar = progress::bar(groups.len() as u64, "groups");
    let mut stopped = None;
    for sources in &groups {
        let home = sources.last().map(|memory| memory.merged_into.as_ref().unwrap_or(&memory.project));
        let project = home.map(String::as_str).unwrap_or_default();
        let group = name(&ids_of(sources));
        match consolidator.consolidate(project, sources).map_err(drain_failure)? {
            Consolidated::As(id) => answer.merged.push(Merged { id: Some(id), sources: ids_of(sources) }),
            Consolidated::Moved => {
                let reason =
                    String::from("they are seen in different projects, or one was changed meanwhile");
                stopped = stopped.or(Some(Failure::new(WHAT, format!("{group}: {reason}"), "run it again")));
                answer.failed.push(Failed { group, class: String::from("moved"), reason });
            }
            Consolidated::Failed(error) => {
                let why = format!("{group}: {} ({}); nothing of it was changed", error.message, error.class);
                let goes_on = matches!(error.class.as_str(), "malformed" | "unrecoverable");
                stopped = stopped.or(Some(Failure::new(WHAT, why, error.remedy)));
                answer.failed.push(Failed { group, class: error.class, reason: error.message });
                if !goes_on {
                    break;
                }
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(stopped)
}

fn undo(id: &str, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    let ids = reader::observation_ids(WHAT, &[id.to_owned()])?;
    let id = *ids.first().unwrap_or(&0);
    let restored = match reader::open(WHAT, paths)? {
        None => Vec::new(),
        Some(_) => {
            let store = Store::open(paths).map_err(fail)?;
            let transaction = store.begin().map_err(fail)?;
            let restored = transaction.take_apart(id).map_err(fail)?;
            transaction.commit().map_err(fail)?;
            restored
        }
    };
    if restored.is_empty() {
        let why = format!("{id} has no sources to bring back");
        return Err(Failure::new(WHAT, why, format!("`cmem get {id}` tells what it was put together from")));
    }
    if printer.wants_json() {
        printer.json(&Undone { undone: id, restored });
    } else {
        printer.talk(&format!("{id} is put away; in use again: {}", name(&restored)));
    }
    Ok(())
}

/// The ids in the name of a group.
fn named(group: &str) -> Result<Vec<i64>, Failure> {
    let words: Vec<String> = group.split('+').map(str::to_owned).collect();
    let ids = reader::observation_ids(WHAT, &words)?;
    match ids.len() {
        0 | 1 => {
            Err(Failure::usage(WHAT, format!("{group:?} names one memory"), "join ids by +, as in 3+4+7"))
        }
        _ => Ok(ids),
    }
}

/// The memories of a named group, oldest first.
fn members(store: &Store, ids: &[i64]) -> Result<Vec<Observation>, Failure> {
    let wanted: Vec<RecordId> = ids.iter().map(|id| RecordId::Observation(*id)).collect();
    let (records, missing) =
        retrieve::get(store, &wanted).map_err(|error| reader::store_failure(WHAT, &error))?;
    let hint = "`cmem compact --dry-run` lists the groups";
    if let Some(id) = missing.first() {
        return Err(Failure::new(WHAT, format!("there is no observation {id}"), hint));
    }
    let mut found = Vec::new();
    for record in records {
        match record {
            Record::Observation(memory) if memory.status == Status::Active => found.push(*memory),
            Record::Observation(memory) => {
                let why = format!("{} is {}", memory.id, memory.status.name());
                return Err(Failure::new(WHAT, why, hint));
            }
            Record::Summary(_) | Record::Prompt(_) => {}
        }
    }
    found.sort_by_key(|memory| (memory.created_at, memory.id));
    Ok(found)
}

/// Whether a memory stays unless it is named.
fn is_held(memory: &Observation) -> bool {
    memory.pinned || memory.priority == Priority::High
}

fn ids_of(memories: &[Observation]) -> Vec<i64> {
    memories.iter().map(|memory| memory.id).collect()
}

fn name(ids: &[i64]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join("+")
}

fn proposed((group, open): Open) -> Proposed {
    let member = |memory: &Observation| Member {
        id: memory.id,
        r#type: memory.r#type.clone(),
        title: memory.title.clone(),
    };
    Proposed {
        // Where too few are left, only all of them by name make a group.
        group: name(&ids_of(if open.len() > 1 { &open } else { &group.members })),
        kinship: group.kinship,
        likeness: (group.likeness * 1_000.0).round() / 1_000.0,
        members: open.iter().map(member).collect(),
        held: group.members.iter().filter(|memory| is_held(memory)).map(member).collect(),
    }
}

fn show(answer: &Answer, printer: &mut Printer) {
    for Merged { id, sources } in &answer.merged {
        let sources = name(sources);
        printer.data(&match id {
            Some(id) => format!("{id:>5}  put together from {sources}"),
            None => format!("would put together {sources}"),
        });
    }
    for Proposed { group, kinship, likeness, members, held } in &answer.proposed {
        let what = match kinship {
            Kinship::Exact => "the same words",
            Kinship::Near => "nearly the same",
            Kinship::Topic => "about the same thing",
        };
        printer.data(&format!("{group} ({what}, {likeness:.2})"));
        for (member, mark) in
            members.iter().map(|m| (m, "")).chain(held.iter().map(|m| (m, " [kept unless named]")))
        {
            printer.data(&format!("  {:>5}  {}{mark}", member.id, render::line(&member.title)));
        }
    }
    if answer.merged.is_empty() && answer.proposed.is_empty() && answer.failed.is_empty() {
        printer.talk("no two memories say the same");
    } else if !answer.proposed.is_empty() {
        printer.talk("`cmem compact --apply GROUP` puts one together, `--all` every one; `cmem get ID` shows each memory");
    } else if answer.merged.iter().any(|merged| merged.id.is_some()) {
        printer.talk("`cmem compact --undo ID` brings the sources back");
    }
}

fn drain_failure(error: DrainError) -> Failure {
    match &error {
        DrainError::Store(error) => reader::store_failure(WHAT, error),
        DrainError::Spool(error) => reader::spool_failure(WHAT, error),
        DrainError::Observer(inner) => Failure::new(WHAT, inner, inner.remedy()),
    }
}
