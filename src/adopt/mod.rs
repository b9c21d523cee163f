//! The memory of merged worktrees comes home: which recorded branches are in the main line, and the pointers that
//! let the parent see their rows. Nothing moves; the same report comes from a dry run.

mod report;

pub use report::{Report, WorktreeReport};

use std::path::Path;
use std::time::Duration;

use crate::git::{HistoryError, MainLines, Recorded, Verdict};
use crate::model::{Identity, Timestamp};
use crate::store::{Adoption, BranchRow, Store, StoreError, Trace};

/// How long a repository may be looked at by who has time.
pub const PATIENCE: Duration = Duration::from_secs(4);

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Only say what would be done.
    pub dry_run: bool,
    /// Only these branches (or worktree folders), whatever the tests say; empty = what the tests find.
    pub branches: Vec<String>,
    /// Display name of the project that takes the rows in; `None` = the main checkout.
    pub into: Option<String>,
    /// Take adoptions back instead.
    pub undo: bool,
}

/// Why nothing was adopted.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// The memory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The repository cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// No recorded worktree had a branch of this name.
    #[error("no recorded worktree of this repository had a branch {name:?}")]
    UnknownBranch {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// There is no project of this name.
    #[error("no project is called {0:?}")]
    UnknownProject(String),
}

/// What can be told of the branch of a worktree while it is there.
pub fn trace(identity: &Identity) -> Trace {
    let (Some(_), Some(head)) = (&identity.worktree, &identity.head) else { return Trace::default() };
    let Ok(lines) = MainLines::open(Path::new(&identity.key), Duration::ZERO) else {
        return Trace::default();
    };
    let recorded = lines.record(identity.branch.as_deref(), head, identity.main_head.as_deref());
    Trace { born: recorded.born, base: recorded.base, own: recorded.own }
}

/// Looks at every recorded worktree of a repository and adopts what was merged. `home` is the identity of its main
/// checkout.
///
/// # Errors
/// [`AdoptError`]; nothing was changed then.
pub fn adopt(store: &Store, home: &Identity, request: &Request) -> Result<Report, AdoptError> {
    carry_out(store, home, request, None)
}

fn carry_out(
    store: &Store,
    home: &Identity,
    request: &Request,
    lines: Option<&MainLines>,
) -> Result<Report, AdoptError> {
    let rows = store.branches(&home.key)?;
    let chosen = choose(&rows, &request.branches)?;
    if let Some(name) = &request.into
        && store.project_named(name)?.is_none()
    {
        return Err(AdoptError::UnknownProject(name.clone()));
    }
    let parent = match &request.into {
        Some(name) => name.clone(),
        None => store.main_name(&home.key)?.unwrap_or_else(|| home.name.clone()),
    };
    let decisions = if request.undo {
        chosen.iter().map(|row| undo(row)).collect()
    } else {
        decide(home, &chosen, request, lines)?
    };
    let mut report = Report::new(home, parent, request.dry_run);
    if request.dry_run || !decisions.iter().any(Decision::changes) {
        for (row, decision) in chosen.iter().zip(decisions) {
            report.add(row, &decision, None);
        }
        return Ok(report);
    }
    let transaction = store.begin()?;
    let target = match &request.into {
        Some(name) => store.project_named(name)?.ok_or_else(|| AdoptError::UnknownProject(name.clone()))?,
        None => transaction.place(home, &Trace::default())?.project,
    };
    for (row, decision) in chosen.iter().zip(decisions) {
        let changed = match &decision {
            Decision::Adopt(why) => Some(transaction.adopt(row.id, target, why, Timestamp::now())?),
            Decision::Release => Some(transaction.release(row.id)?),
            Decision::Leave { .. } => None,
        };
        report.add(row, &decision, changed);
    }
    transaction.commit()?;
    Ok(report)
}

/// A repository that is worth a look: it, or what was recorded of it, changed since the last one.
pub struct Due {
    home: Identity,
    lines: Result<MainLines, HistoryError>,
    state: String,
    patience: Duration,
}

/// What a session makes possible by itself, if there is something: at most once for each state of the repository.
/// Writes nothing yet. `patience` runs from now on.
///
/// # Errors
/// [`StoreError`] when the memory cannot be used.
pub fn due(store: &Store, home: &Identity, patience: Duration) -> Result<Option<Due>, StoreError> {
    let rows = store.branches(&home.key)?;
    if !rows.iter().any(|row| row.adopted_into.is_none() && !row.held && row.branch.is_some()) {
        return Ok(None);
    }
    let lines = MainLines::open(Path::new(&home.key), patience);
    let mut state = match &lines {
        Ok(lines) => lines.fingerprint(),
        Err(error) => error.to_string(),
    };
    for row in &rows {
        state.push_str(&format!(" {}:{}", row.id, row.head.as_deref().unwrap_or_default()));
    }
    let known = store.last_check(&home.key)?;
    let due = Due { home: home.clone(), lines, state, patience };
    Ok((known.as_ref() != Some(&due.state)).then_some(due))
}

impl Due {
    /// Whether a look takes no noticeable time.
    pub fn is_quick(&self) -> bool {
        self.lines.as_ref().is_ok_and(|lines| !lines.is_large())
    }

    /// Adopts what was merged, quietly. What goes wrong, or takes longer than there is patience, is kept for the next
    /// occasion and for `cmem doctor`.
    ///
    /// # Errors
    /// [`StoreError`] when the memory cannot be used.
    pub fn adopt(self, store: &Store) -> Result<(), StoreError> {
        let failure = match self.lines {
            Ok(lines) => match carry_out(store, &self.home, &Request::default(), Some(&lines)) {
                // The same state is looked at again, by somebody with more time, if there is somebody.
                Ok(_) if lines.is_cut_short() && self.patience < PATIENCE => return Ok(()),
                Ok(_) if lines.is_cut_short() => {
                    Some(String::from("not everything could be compared in time"))
                }
                Ok(_) => None,
                Err(AdoptError::Store(error)) => return Err(error),
                Err(error) => Some(error.to_string()),
            },
            Err(error) => Some(error.to_string()),
        };
        let transaction = store.begin()?;
        transaction.checked(&self.home.key, &self.state, failure.as_deref(), Timestamp::now())?;
        transaction.commit()
    }
}

/// The report on a repository of which nothing was ever recorded.
///
/// # Errors
/// [`AdoptError::UnknownBranch`] when a branch was asked for.
pub fn nothing_recorded(home: &Identity, request: &Request) -> Result<Report, AdoptError> {
    choose(&[], &request.branches)?;
    Ok(Report::new(home, home.name.clone(), request.dry_run))
}

/// What becomes of one branch.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Decision {
    Adopt(Adoption),
    Release,
    Leave { state: &'static str, reason: String, matched_by: Option<String> },
}

impl Decision {
    fn changes(&self) -> bool {
        !matches!(self, Self::Leave { .. })
    }

    fn leave(state: &'static str, reason: impl Into<String>) -> Self {
        Self::Leave { state, reason: reason.into(), matched_by: None }
    }
}

fn choose<'a>(rows: &'a [BranchRow], names: &[String]) -> Result<Vec<&'a BranchRow>, AdoptError> {
    if names.is_empty() {
        return Ok(rows.iter().collect());
    }
    let is_called = |row: &BranchRow, name: &str| {
        let folder = row.worktree.rsplit('/').next().unwrap_or_default();
        row.branch.as_deref() == Some(name) || row.worktree == name || folder == name
    };
    for name in names {
        if !rows.iter().any(|row| is_called(row, name)) {
            let known = rows.iter().filter_map(|row| row.branch.clone()).collect();
            return Err(AdoptError::UnknownBranch { name: name.clone(), known });
        }
    }
    Ok(rows.iter().filter(|row| names.iter().any(|name| is_called(row, name))).collect())
}

fn undo(row: &BranchRow) -> Decision {
    match &row.adopted_into {
        Some(_) => Decision::Release,
        None => Decision::leave("open", "was not adopted"),
    }
}

fn decide(
    home: &Identity,
    rows: &[&BranchRow],
    request: &Request,
    lines: Option<&MainLines>,
) -> Result<Vec<Decision>, AdoptError> {
    let named = !request.branches.is_empty();
    let is_asked =
        |row: &BranchRow| row.adopted_into.is_none() && (named || (!row.held && row.branch.is_some()));
    let asked: Vec<Recorded> = rows.iter().filter(|row| is_asked(row)).map(|row| recorded(row)).collect();
    let opened = match lines {
        None if !asked.is_empty() => match MainLines::open(Path::new(&home.key), PATIENCE) {
            Ok(lines) => Some(lines),
            // What the user names is adopted without a look at the repository.
            Err(_) if named => None,
            Err(error) => return Err(error.into()),
        },
        _ => None,
    };
    let lines = lines.or(opened.as_ref());
    if let Some(lines) = lines {
        lines.prepare(asked.iter());
    }
    let decision = |row: &BranchRow| match row {
        BranchRow { adopted_into: Some(parent), .. } => Decision::Leave {
            state: "adopted",
            reason: format!("adopted into {parent}: {}", row.reason.as_deref().unwrap_or("as asked")),
            matched_by: row.matched_by.clone(),
        },
        BranchRow { held: true, .. } if !named => {
            Decision::leave("held", "taken back by hand: name it with --branch to adopt it again")
        }
        BranchRow { branch: None, .. } if !named => Decision::leave("detached", detached(row)),
        _ => match lines.map(|lines| judge(lines.verdict(&recorded(row)))) {
            Some(decision @ Decision::Adopt(_)) => decision,
            Some(decision) if !named => decision,
            _ => Decision::Adopt(Adoption {
                matched_by: String::from("branch"),
                reason: String::from("adopted as asked"),
            }),
        },
    };
    Ok(rows.iter().map(|row| decision(row)).collect())
}

fn recorded(row: &BranchRow) -> Recorded {
    Recorded {
        branch: row.branch.clone(),
        born: row.born.clone(),
        base: row.base.clone(),
        head: row.head.clone(),
        own: row.own.clone(),
    }
}

fn detached(row: &BranchRow) -> String {
    let at = row.head.as_deref().map(|head| format!(" at {}", short(head))).unwrap_or_default();
    format!("detached{at}: name the folder with --branch to adopt it")
}

fn judge(verdict: Verdict) -> Decision {
    match verdict {
        Verdict::Merged { test, target, commit } => {
            use crate::git::Test;
            let how = match test {
                Test::Ancestor => "merged",
                Test::Patches => "merged by rebase or cherry-pick",
                Test::Squash => "merged by squash",
                Test::Content => "merged with other changes",
            };
            Decision::Adopt(Adoption {
                matched_by: test.name().to_owned(),
                reason: format!("{how} into {target} at {}", short(&commit)),
            })
        }
        Verdict::Open { missing, target, compared } => {
            let commits = if missing == 1 { "commit" } else { "commits" };
            let compared = compared.map(|count| format!(" (compared with its last {count} commits)"));
            Decision::leave(
                "open",
                format!("open: {missing} {commits} not in {target}{}", compared.unwrap_or_default()),
            )
        }
        Verdict::Reverted { target, commit } => {
            let by = commit.map(|commit| format!(" by {}", short(&commit))).unwrap_or_default();
            Decision::leave("open", format!("open: taken back in {target}{by}"))
        }
        Verdict::Nothing => Decision::leave("nothing", "nothing to adopt yet: no commit of its own"),
        Verdict::Unknown { reason } => Decision::leave("unknown", format!("unknown branch: {reason}")),
    }
}

fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}
