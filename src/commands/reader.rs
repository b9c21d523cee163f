//! What every reader does first: open the memory, and find out whose memories it is asked for.

use std::path::Path;

use crate::cli::args::ScopeArgs;
use crate::cli::printer::Printer;
use crate::config::{Paths, Settings, Sources};
use crate::error::Failure;
use crate::git;
use crate::mode::{Mode, ModeError};
use crate::model::{Caller, Identity, RecordId};
use crate::retrieve::{self, Ground, Scope};
use crate::spool::{Spool, SpoolError};
use crate::store::{Store, StoreError};

/// The memory; `None` when nothing was ever stored.
pub(super) fn open(what: &str, paths: &Paths) -> Result<Option<Store>, Failure> {
    match Store::open_read_only(paths) {
        Ok(store) => Ok(Some(store)),
        Err(StoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(store_failure(what, &error)),
    }
}

/// The same on behalf of somebody: what takes longer than he waits is broken off.
pub(super) fn open_for(what: &str, caller: &Caller, paths: &Paths) -> Result<Option<Store>, Failure> {
    let store = open(what, paths)?.map(|store| store.on_behalf_of(caller)).transpose();
    store.map_err(|error| store_failure(what, &error))
}

/// The spool; `None` when nothing was ever captured.
pub(super) fn open_spool(what: &str, paths: &Paths) -> Result<Option<Spool>, Failure> {
    match Spool::open_for_reading(paths) {
        Ok(spool) => Ok(Some(spool)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(spool_failure(what, &error)),
    }
}

/// The settings, all values judged.
pub(super) fn settings(what: &str, paths: &Paths) -> Result<Settings, Failure> {
    Sources::load(&paths.settings())
        .and_then(|sources| Settings::resolve(&sources))
        .map_err(|error| Failure::new(what, error, "correct it with `cmem config set`"))
}

/// The settings as far as they can be used, for what does not depend on them.
pub(super) fn lenient_settings(paths: &Paths) -> Settings {
    let sources = Sources::load(&paths.settings()).unwrap_or_else(|_| Sources::environment_only());
    Settings::resolve_lenient(&sources).0
}

/// The mode of the settings; what is remembered can be read without it, in English.
pub(super) fn mode(paths: &Paths, printer: &mut Printer) -> Mode {
    mode_of(&lenient_settings(paths), paths, printer)
}

/// The same, of settings that are read already.
pub(super) fn mode_of(settings: &Settings, paths: &Paths, printer: &mut Printer) -> Mode {
    let (mode, problem) = Mode::load_or_english(settings, paths);
    if let Some(problem) = problem {
        printer.talk(&format!("CMEM_MODE: {problem}; run `cmem doctor`"));
    }
    mode
}

/// A mode that cannot be used, with what to do.
pub(super) fn mode_failure(what: &str, error: &ModeError) -> Failure {
    let hint = match error {
        ModeError::BadId(_) | ModeError::Missing { .. } => "see `cmem mode list`, then `cmem mode use ID`",
        ModeError::Read { .. } => "check the file's permissions",
        ModeError::Invalid { .. } => {
            "mend the file; `cmem mode show code --json` is a whole one to start from"
        }
    };
    Failure::new(what, error, hint)
}

/// Whose memories are asked for.
#[derive(Debug)]
pub(super) struct Place {
    pub scope: Scope,
    /// Name of the project; `None` for all of them.
    pub project: Option<String>,
    /// The name that rows need not repeat; `None` when no row needs to name its project.
    pub home: Option<String>,
    /// Where the reader stands, if that is whose memories are asked for.
    pub identity: Option<Identity>,
    /// Where the files of memories are looked at.
    pub ground: Option<Ground>,
}

/// The project of the current directory, unless the arguments say otherwise.
pub(super) fn place(what: &str, store: Option<&Store>, args: &ScopeArgs) -> Result<Place, Failure> {
    place_from(&Caller::here().dir, what, store, args)
}

/// The project of `dir`, unless the arguments say otherwise.
pub(super) fn place_from(
    dir: &Path,
    what: &str,
    store: Option<&Store>,
    args: &ScopeArgs,
) -> Result<Place, Failure> {
    if args.all_projects {
        return Ok(Place {
            scope: Scope::All,
            project: None,
            home: Some(String::new()),
            identity: None,
            ground: None,
        });
    }
    let (scope, name, own, identity) = match &args.project {
        Some(name) => (named(what, store, name)?, name.clone(), name.clone(), None),
        None => {
            let identity = git::identify(dir);
            let scope = match store {
                Some(store) => {
                    retrieve::scope(store, &identity).map_err(|error| store_failure(what, &error))?
                }
                None => Scope::Projects(Vec::new()),
            };
            let own = own_name(&identity);
            let known = store.map(|store| retrieve::name_of(store, &identity)).transpose();
            let known = known.map_err(|error| store_failure(what, &error))?.flatten();
            (scope, known.unwrap_or_else(|| identity.name.clone()), own, Some(identity))
        }
    };
    let single = matches!(&scope, Scope::Projects(ids) if ids.len() <= 1);
    let root = match (&identity, store) {
        (Some(identity), _) => Some(identity.root.clone()),
        (None, Some(store)) => {
            retrieve::root_of(store, &name).map_err(|error| store_failure(what, &error))?
        }
        (None, None) => None,
    };
    let ground = root.as_deref().and_then(ground);
    Ok(Place { scope, project: Some(name), home: (!single).then_some(own), identity, ground })
}

/// A checkout whose files tell what became of what memories are about.
pub(super) fn ground(root: &str) -> Option<Ground> {
    Ground::new(Path::new(root), git::checkouts(Path::new(root)))
}

fn named(what: &str, store: Option<&Store>, name: &str) -> Result<Scope, Failure> {
    let fail = |error: &StoreError| store_failure(what, error);
    let known = match store {
        Some(store) => match retrieve::scope_by_name(store, name).map_err(|error| fail(&error))? {
            Some(scope) => return Ok(scope),
            None => retrieve::project_names(store).map_err(|error| fail(&error))?,
        },
        None => Vec::new(),
    };
    Err(unknown_project(what, name, &known))
}

/// A project by a name that none has.
pub(super) fn unknown_project(what: &str, name: &str, known: &[String]) -> Failure {
    let hint = if known.is_empty() {
        String::from("nothing is remembered yet")
    } else {
        format!("known are {}", known.join(", "))
    };
    Failure::new(what, format!("no project is called {name:?}"), hint)
}

/// The name under which the store shows this checkout: `parent/worktree-dir` for a linked worktree.
fn own_name(identity: &Identity) -> String {
    match identity.worktree.as_deref().and_then(|root| Path::new(root).file_name()) {
        Some(folder) => format!("{}/{}", identity.name, folder.to_string_lossy()),
        None => identity.name.clone(),
    }
}

/// Events that were captured and are not in memory yet: `(waiting, parked)`. A spool that cannot be read
/// does not keep a reader from reading.
pub(super) fn pending(paths: &Paths, printer: &mut Printer) -> (i64, i64) {
    match Spool::open_for_reading(paths).and_then(|spool| spool.status()) {
        Ok(status) => (status.waiting, status.parked),
        Err(error) => {
            if !error.is_missing() {
                printer.talk(&format!("the queue cannot be read ({error}); run `cmem doctor`"));
            }
            (0, 0)
        }
    }
}

/// One line that names waiting events; `None` when there are none.
pub(super) fn pending_line((waiting, parked): (i64, i64)) -> Option<String> {
    let events = |count: i64| if count == 1 { String::from("1 event") } else { format!("{count} events") };
    match (waiting, parked) {
        (0, 0) => None,
        (_, 0) => Some(format!("{} not yet in memory: `cmem drain`, or wait", events(waiting))),
        (0, _) => Some(format!("{} parked: `cmem queue list`", events(parked))),
        _ => Some(format!("{} not yet in memory, {parked} more parked: `cmem queue list`", events(waiting))),
    }
}

/// A failure of `memory.db`, with what to do.
pub(super) fn store_failure(what: &str, error: &StoreError) -> Failure {
    let hint = match error {
        StoreError::Newer { .. } => "install that version of cmem or a later one; the file was not touched",
        StoreError::Corrupt { .. } => {
            "restore it from a backup, or move it away to start anew; the file was not touched"
        }
        StoreError::OldSqlite(_) => "build cmem with its bundled SQLite",
        StoreError::Io { .. } => "check the permissions of the data directory",
        StoreError::Missing { .. } => "nothing is remembered yet",
        StoreError::Cancelled => "ask again if it is still wanted",
        StoreError::Sql(_) if error.is_busy() => "another process is writing; try again in a moment",
        StoreError::Sql(_) | StoreError::Value(_) => "run `cmem doctor`",
    };
    Failure::new(what, error, hint)
}

/// A failure of `spool.db`, with what to do.
pub(super) fn spool_failure(what: &str, error: &SpoolError) -> Failure {
    match error {
        SpoolError::Database(error) => store_failure(what, error),
        SpoolError::File { .. } => Failure::new(what, error, "check the permissions of the data directory"),
        SpoolError::Locked { .. } => Failure::new(what, error, "try again in a moment"),
        SpoolError::Row(_) => Failure::new(what, error, "run `cmem doctor`"),
    }
}

/// Each id once, in the order given; commas separate like blanks.
pub(super) fn ids(what: &str, words: &[String]) -> Result<Vec<RecordId>, Failure> {
    let mut ids = Vec::new();
    for part in words.iter().flat_map(|word| word.split(',')).filter(|part| !part.trim().is_empty()) {
        let id = part.parse().map_err(|error| Failure::usage(what, error, "find ids with `cmem search`"))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    if ids.is_empty() {
        return Err(Failure::usage(what, "no id is given", "find ids with `cmem search`"));
    }
    Ok(ids)
}

/// Ids of observations only, each once.
pub(super) fn observation_ids(what: &str, words: &[String]) -> Result<Vec<i64>, Failure> {
    let row = |id| match id {
        RecordId::Observation(row) => Ok(row),
        other => Err(Failure::usage(
            what,
            format!("{other} is no observation"),
            "name observations by their numbers, such as 12; summaries and prompts can be read and forgotten",
        )),
    };
    ids(what, words)?.into_iter().map(row).collect()
}

/// The memory, to be changed. One that is not there yet is not made: it cannot hold what `ids` name.
pub(super) fn open_for_change(what: &str, ids: &[RecordId], paths: &Paths) -> Result<Store, Failure> {
    if open(what, paths)?.is_none() {
        return Err(missing(what, ids));
    }
    Store::open(paths).map_err(|error| store_failure(what, &error))
}

/// Ids that no record has.
pub(super) fn missing(what: &str, ids: &[RecordId]) -> Failure {
    let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let noun = if names.len() == 1 { "record" } else { "records" };
    Failure::new(what, format!("there is no {noun} {}", names.join(", ")), "find ids with `cmem search`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_events_are_named() {
        assert_eq!(pending_line((0, 0)), None);
        assert!(pending_line((1, 0)).unwrap().starts_with("1 event not yet"));
        assert!(pending_line((0, 2)).unwrap().starts_with("2 events parked"));
        assert!(pending_line((3, 2)).unwrap().contains("2 more parked"));
    }

    #[test]
    fn a_project_that_is_not_there_is_named() {
        let args = ScopeArgs { project: Some(String::from("nowhere")), all_projects: false };
        assert!(place("search", None, &args).unwrap_err().to_string().contains("nowhere"));
    }

    #[test]
    fn ids_are_read_in_every_spelling() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let shown = |text: &str| {
            ids("get", &words(text)).unwrap().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown("1,2, 3 #4 S12,P7 2"), "1 2 3 4 S12 P7");
        for wrong in ["12x", ",", "1 --x"] {
            assert_eq!(ids("get", &words(wrong)).unwrap_err().exit_code(), 2, "{wrong}");
        }
    }
}
