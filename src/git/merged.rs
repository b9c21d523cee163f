//! Whether the work of a branch is in the main line, however it got there: merged, fast-forwarded, rebased,
//! cherry-picked or squashed. Answers come from the objects that are here; nothing is fetched, nothing is run.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::history::{FileChange, History, HistoryError, Id, Target, short};
use super::patch::{PatchId, contains, patch_id};

/// Most commits of the main line that are compared with a branch.
const MAX_COMPARED: usize = 10_000;
/// Most commits whose whole tree is asked whether it holds the branch.
const MAX_TREES: usize = 300;
/// What was recorded of a branch while its worktree was there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Its name; `None` = detached.
    pub branch: Option<String>,
    /// Where it left the main line.
    pub base: Option<String>,
    /// Its last commit.
    pub head: Option<String>,
    /// Its last commit that the main line did not have at that time.
    pub own: Option<String>,
}

/// How the work of a branch was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// Its last commit is part of the main line.
    Ancestor,
    /// The patch of each of its commits is there.
    Patches,
    /// Its whole change is there as one commit.
    Squash,
    /// Merging it would change nothing.
    Content,
}

impl Test {
    /// Stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ancestor => "ancestor",
            Self::Patches => "patches",
            Self::Squash => "squash",
            Self::Content => "content",
        }
    }
}

/// Where the work of a branch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// In the main line.
    Merged {
        /// The test that said so.
        test: Test,
        /// The main line, such as `main` or `origin/main`.
        target: String,
        /// The commit that brought it, hexadecimal.
        commit: String,
    },
    /// Not, or not all of it.
    Open {
        /// Commits that are not there.
        missing: usize,
        /// The main line.
        target: String,
        /// Commits of the main line that were compared, if those were not all.
        compared: Option<usize>,
    },
    /// It was there, and was taken back.
    Reverted {
        /// The main line.
        target: String,
        /// The commit that took it back, hexadecimal.
        commit: String,
    },
    /// There is no commit of its own yet.
    Nothing,
    /// It cannot be told.
    Unknown {
        /// Why.
        reason: String,
    },
}

/// Commits, newest first.
type Commits = Rc<Vec<Id>>;

/// The main lines of a repository, ready to be asked about branches.
pub struct MainLines {
    history: History,
    targets: Vec<Target>,
    since: RefCell<HashMap<(Id, Id), Commits>>,
    first_parents: RefCell<HashMap<Id, Commits>>,
    patches: RefCell<HashMap<Id, PatchId>>,
    deadline: Instant,
    cut_short: Cell<bool>,
}

impl MainLines {
    /// Opens the repository with this common directory. After `patience` no further commit is compared.
    ///
    /// # Errors
    /// [`HistoryError::Open`].
    pub fn open(common_dir: &Path, patience: Duration) -> Result<Self, HistoryError> {
        let history = History::open(common_dir)?;
        Ok(Self {
            targets: history.targets(),
            history,
            since: RefCell::default(),
            first_parents: RefCell::default(),
            patches: RefCell::default(),
            deadline: Instant::now() + patience,
            cut_short: Cell::new(false),
        })
    }

    /// Whether time ran out before everything was compared.
    pub fn is_cut_short(&self) -> bool {
        self.cut_short.get()
    }

    /// The commits at which the main lines stand, as one text: as long as it is the same, so are the answers.
    pub fn fingerprint(&self) -> String {
        self.targets.iter().map(|target| target.tip.to_string()).collect::<Vec<_>>().join(" ")
    }

    /// Where `head` and `main` parted, if that can be told.
    pub fn fork_point(&self, head: &str, main: &str) -> Option<String> {
        let base = self.history.merge_base(History::id(head)?, History::id(main)?)?;
        Some(base.to_string())
    }

    /// Whether a local branch of this name is there.
    pub fn has_branch(&self, name: &str) -> bool {
        self.history.branch(name).is_some()
    }

    /// Where the work of a recorded branch is. The branch as it stands now is asked first; what was recorded counts
    /// when it is gone, or stands somewhere new.
    pub fn verdict(&self, recorded: &Recorded) -> Verdict {
        let id = |hex: &Option<String>| hex.as_deref().and_then(History::id);
        let live = recorded.branch.as_deref().and_then(|name| self.history.branch(name));
        let mut tips = Vec::new();
        for tip in [live, id(&recorded.own), id(&recorded.head)].into_iter().flatten() {
            if !tips.contains(&tip) {
                tips.push(tip);
            }
        }
        let mut verdict = Verdict::Unknown { reason: String::from("no commit was recorded") };
        for tip in tips {
            match self.verdict_of(tip, recorded) {
                Ok(Verdict::Nothing) => verdict = Verdict::Nothing,
                Ok(found) => return found,
                Err(error) if verdict != Verdict::Nothing => {
                    verdict = Verdict::Unknown { reason: error.to_string() };
                }
                Err(_) => {}
            }
        }
        verdict
    }

    fn verdict_of(&self, tip: Id, recorded: &Recorded) -> Result<Verdict, HistoryError> {
        if self.is_late() {
            return Err(HistoryError::Missing(String::from("there was no time left to look")));
        }
        self.history.commit(tip)?;
        let mut verdict: Option<Verdict> = None;
        for target in &self.targets {
            // The main checkout stands on the branch itself: that merges nothing.
            if target.branch.is_some() && target.branch == recorded.branch {
                continue;
            }
            let Some(base) = self.history.merge_base(tip, target.tip) else { continue };
            let found = if base == tip {
                self.arrived(tip, target, recorded)?
            } else {
                self.compared(tip, base, target)?
            };
            match (&found, &verdict) {
                (Verdict::Merged { .. }, _) => return Ok(found),
                (_, None) | (Verdict::Nothing, _) => verdict = Some(found),
                _ => {}
            }
        }
        verdict.ok_or_else(|| {
            HistoryError::Missing(format!("{} has no history in common with the main line here", short(tip)))
        })
    }

    /// The verdict on a commit that is part of the main line.
    fn arrived(&self, tip: Id, target: &Target, recorded: &Recorded) -> Result<Verdict, HistoryError> {
        let line = self.first_parent_line(target.tip);
        let on_line = line.contains(&tip);
        if !self.has_own(tip, on_line, target, recorded) {
            return Ok(Verdict::Nothing);
        }
        // A merge is one commit of the main line, the oldest that holds the branch; a fast-forward is each of its own.
        let brought = if on_line {
            let base = recorded.base.as_deref().and_then(History::id).filter(|base| *base != tip);
            base.map(|base| self.history.between(base, tip, MAX_COMPARED))
                .transpose()?
                .unwrap_or_else(|| vec![tip])
        } else {
            let at = line.partition_point(|commit| self.history.is_behind(tip, *commit));
            vec![at.checked_sub(1).and_then(|index| line.get(index)).copied().unwrap_or(tip)]
        };
        let mut taken_back = None;
        for commit in &brought {
            match self.undone(*commit, target)? {
                Some(by) => taken_back = taken_back.or(Some(by)),
                None => return Ok(merged(Test::Ancestor, target, *commit)),
            }
        }
        Ok(match taken_back {
            Some(by) => Verdict::Reverted { target: target.name.clone(), commit: by.to_string() },
            None => merged(Test::Ancestor, target, tip),
        })
    }

    /// Whether a branch whose last commit is in the main line ever had one of its own. Ancestry alone cannot tell a
    /// fresh branch from one that was fast-forwarded.
    fn has_own(&self, tip: Id, on_line: bool, target: &Target, recorded: &Recorded) -> bool {
        let hex = tip.to_string();
        if recorded.own.as_ref() == Some(&hex) {
            return true;
        }
        if !on_line && recorded.base.as_ref() != Some(&hex) {
            return true;
        }
        let made = ["commit", "cherry-pick", "am:", "revert"];
        let reflog = recorded.branch.as_deref().map(|name| self.history.reflog(name)).unwrap_or_default();
        reflog.iter().any(|(id, message)| {
            made.iter().any(|start| message.starts_with(start)) && self.history.is_behind(*id, target.tip)
        })
    }

    /// The verdict on a commit beside the main line.
    fn compared(&self, tip: Id, base: Id, target: &Target) -> Result<Verdict, HistoryError> {
        let mut own = Vec::new();
        for id in self.history.between(target.tip, tip, MAX_COMPARED)? {
            if self.history.commit(id)?.parents.len() < 2 && !self.history.changes_of(id)?.is_empty() {
                own.push(id);
            }
        }
        let trees = (self.history.commit(base)?.tree, self.history.commit(tip)?.tree);
        let whole = self.history.changes(Some(trees.0), trees.1)?;
        if own.is_empty() || whole.is_empty() {
            return Ok(Verdict::Nothing);
        }
        let since = self.since(target.tip, base)?;
        let mut missing = own.len();
        let mut reverted = None;
        let mut last = None;
        for id in &own {
            match self.find(*id, &self.history.changes_of(*id)?, &since, target)? {
                Found::At(commit) => {
                    missing -= 1;
                    last = last.or(Some(commit));
                }
                Found::Undone(by) => reverted = reverted.or(Some(by)),
                Found::No => {}
            }
        }
        if let (0, Some(commit)) = (missing, last) {
            return Ok(merged(Test::Patches, target, commit));
        }
        match self.find(tip, &whole, &since, target)? {
            Found::At(commit) => return Ok(merged(Test::Squash, target, commit)),
            Found::Undone(by) => reverted = reverted.or(Some(by)),
            Found::No => {}
        }
        if let Some(commit) = self.named(&own, &since, target)? {
            return Ok(merged(Test::Squash, target, commit));
        }
        if contains(&self.history, self.history.commit(target.tip)?.tree, &whole)? {
            return Ok(merged(Test::Content, target, target.tip));
        }
        if reverted.is_none()
            && let Some(commit) = self.held(&whole, &since, target)?
        {
            return Ok(merged(Test::Content, target, commit));
        }
        if let Some(by) = reverted {
            return Ok(Verdict::Reverted { target: target.name.clone(), commit: by.to_string() });
        }
        let partly = since.len() >= MAX_COMPARED || self.cut_short.get();
        Ok(Verdict::Open { missing, target: target.name.clone(), compared: partly.then_some(since.len()) })
    }

    /// Looks for a commit of the main line with the same patch.
    fn find(
        &self,
        own: Id,
        changes: &[FileChange],
        since: &[Id],
        target: &Target,
    ) -> Result<Found, HistoryError> {
        let mut wanted: Option<PatchId> = None;
        let mut undone = Found::No;
        for id in since {
            if *id == own || !self.is_plain(*id)? || !same_files(&self.history.changes_of(*id)?, changes) {
                continue;
            }
            let wanted = *wanted.get_or_insert_with(|| patch_id(&self.history, changes));
            if self.patch(*id)?.forward == wanted.forward {
                match self.undone(*id, target)? {
                    None => return Ok(Found::At(*id)),
                    Some(by) => undone = Found::Undone(by),
                }
            }
        }
        Ok(undone)
    }

    /// A commit whose message names every commit of the branch, as `git merge --squash` proposes: it is the branch,
    /// also where conflicts were resolved.
    fn named(&self, own: &[Id], since: &[Id], target: &Target) -> Result<Option<Id>, HistoryError> {
        for id in since {
            let commit = self.history.commit(*id)?;
            let names = |own: &Id| commit.message.contains(&own.to_string());
            let is_revert = reverts(&commit.message).next().is_some();
            if own.iter().all(names) && !is_revert && self.undone(*id, target)?.is_none() {
                return Ok(Some(*id));
            }
        }
        Ok(None)
    }

    /// A commit of the main line in which the whole change was present, whatever came later.
    fn held(&self, whole: &[FileChange], since: &[Id], target: &Target) -> Result<Option<Id>, HistoryError> {
        let paths: HashSet<&[u8]> = whole.iter().map(|change| change.path.as_slice()).collect();
        let mut asked = 0;
        for id in since {
            if asked >= MAX_TREES || self.is_late() {
                break;
            }
            let changes = self.history.changes_of(*id)?;
            if !changes.iter().any(|change| paths.contains(change.path.as_slice())) {
                continue;
            }
            asked += 1;
            if contains(&self.history, self.history.commit(*id)?.tree, whole)?
                && self.undone(*id, target)?.is_none()
            {
                return Ok(Some(*id));
            }
        }
        Ok(None)
    }

    /// The later commit that took this one back and was not taken back itself.
    fn undone(&self, commit: Id, target: &Target) -> Result<Option<Id>, HistoryError> {
        let later = self.since(target.tip, commit)?;
        self.undone_in(commit, &later)
    }

    fn undone_in(&self, commit: Id, later: &[Id]) -> Result<Option<Id>, HistoryError> {
        let hex = commit.to_string();
        let changes = self.history.changes_of(commit)?;
        for (index, id) in later.iter().enumerate() {
            let candidate = self.history.commit(*id)?;
            let takes_back = reverts(&candidate.message).any(|named| hex.starts_with(named))
                || (self.is_plain(*id)?
                    && same_files(&self.history.changes_of(*id)?, &changes)
                    && self.patch(*id)?.forward == self.patch(commit)?.inverse);
            // Newest first: what stands before it is later.
            if takes_back && self.undone_in(*id, &later[..index])?.is_none() {
                return Ok(Some(*id));
            }
        }
        Ok(None)
    }

    /// Whether a commit is worth comparing: no merge, and still in time.
    fn is_plain(&self, id: Id) -> Result<bool, HistoryError> {
        Ok(!self.is_late() && self.history.commit(id)?.parents.len() < 2)
    }

    fn is_late(&self) -> bool {
        if Instant::now() > self.deadline {
            self.cut_short.set(true);
        }
        self.cut_short.get()
    }

    fn patch(&self, id: Id) -> Result<PatchId, HistoryError> {
        if let Some(known) = self.patches.borrow().get(&id) {
            return Ok(*known);
        }
        let patch = patch_id(&self.history, &self.history.changes_of(id)?);
        self.patches.borrow_mut().insert(id, patch);
        Ok(patch)
    }

    fn since(&self, tip: Id, base: Id) -> Result<Commits, HistoryError> {
        if let Some(known) = self.since.borrow().get(&(tip, base)) {
            return Ok(Rc::clone(known));
        }
        let since = Rc::new(self.history.between(base, tip, MAX_COMPARED)?);
        self.since.borrow_mut().insert((tip, base), Rc::clone(&since));
        Ok(since)
    }

    fn first_parent_line(&self, tip: Id) -> Commits {
        let mut lines = self.first_parents.borrow_mut();
        let line = lines.entry(tip).or_insert_with(|| Rc::new(self.history.first_parents(tip, MAX_COMPARED)));
        Rc::clone(line)
    }
}

enum Found {
    At(Id),
    Undone(Id),
    No,
}

fn merged(test: Test, target: &Target, commit: Id) -> Verdict {
    Verdict::Merged { test, target: target.name.clone(), commit: commit.to_string() }
}

fn same_files(one: &[FileChange], other: &[FileChange]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.path == other.path)
}

/// The commits that a message says it takes back, as git-revert(1) writes it. The commit that it names further on,
/// with "reversing changes made to", is not one of them.
fn reverts(message: &str) -> impl Iterator<Item = &str> {
    message.split("This reverts commit ").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        (end >= 7).then(|| &rest[..end])
    })
}

#[cfg(test)]
mod tests;
