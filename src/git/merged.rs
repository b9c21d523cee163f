//! Whether the work of a branch is in the main line, however it got there: merged, fast-forwarded, rebased,
//! cherry-picked or squashed. Answers come from the objects that are here; nothing is fetched, nothing is run.

mod recorded;

pub use recorded::Recorded;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::history::{FileChange, History, HistoryError, Id, Target, short};
use super::patch::{PatchId, contains, is_gone, patch_id};

/// Most commits of the main line that are compared with a branch.
const MAX_COMPARED: usize = 10_000;
/// Most commits whose whole tree is asked whether it holds the branch.
const MAX_TREES: usize = 300;
const NO_TIME: &str = "there was no time left to look";

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
        /// The commit that took it back, hexadecimal, if it was one.
        commit: Option<String>,
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

    /// Whether a look at the history takes noticeable time.
    pub fn is_large(&self) -> bool {
        self.history.is_large()
    }

    /// Reads for many branches at once what [`MainLines::verdict`] would read for each.
    pub fn prepare<'a>(&self, branches: impl Iterator<Item = &'a Recorded>) {
        let tips: Vec<Id> = branches.filter_map(|recorded| self.tip(recorded)).collect();
        let pairs = self.targets.iter().flat_map(|target| tips.iter().map(|tip| (*tip, target.tip)));
        self.history.prepare_bases(pairs, self.deadline);
    }

    /// The commit that stands for a branch.
    fn tip(&self, recorded: &Recorded) -> Option<Id> {
        let id = |hex: &Option<String>| hex.as_deref().and_then(History::id);
        let live = recorded.branch.as_deref().and_then(|name| self.same_branch(name, recorded));
        live.or_else(|| id(&recorded.own)).or_else(|| id(&recorded.head))
    }

    /// Where the work of a recorded branch is. The branch as it stands now is asked first, if it is the same one; what
    /// was recorded of its own work counts as well, so that work which was thrown away is not taken for merged. An
    /// answer that time ran out on is none.
    pub fn verdict(&self, recorded: &Recorded) -> Verdict {
        let verdict = self.judge(recorded);
        if self.cut_short.get() && matches!(verdict, Verdict::Merged { .. }) {
            return Verdict::Unknown { reason: String::from(NO_TIME) };
        }
        verdict
    }

    fn judge(&self, recorded: &Recorded) -> Verdict {
        let own = recorded.own.as_deref().and_then(History::id);
        let judged = |tip: Id| match self.verdict_of(tip, recorded) {
            Ok(verdict) => verdict,
            Err(error) => Verdict::Unknown { reason: error.to_string() },
        };
        let Some(tip) = self.tip(recorded) else {
            return Verdict::Unknown { reason: String::from("no commit was recorded") };
        };
        let verdict = judged(tip);
        match own {
            // Rebased, reset or made anew since: the work that was seen must be there, too.
            Some(own) if own != tip && !self.history.is_behind(own, tip) => match (verdict, judged(own)) {
                (Verdict::Merged { .. } | Verdict::Nothing, seen) => seen,
                (verdict, _) => verdict,
            },
            _ => verdict,
        }
    }

    fn verdict_of(&self, tip: Id, recorded: &Recorded) -> Result<Verdict, HistoryError> {
        if self.is_late() {
            return Err(HistoryError::Missing(String::from(NO_TIME)));
        }
        self.history.commit(tip)?;
        if !self.has_own(tip, recorded) {
            return Ok(Verdict::Nothing);
        }
        let mut verdict: Option<Verdict> = None;
        for target in &self.targets {
            // The main line is the branch itself: that merges nothing.
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
        let reverted = |by: Option<Id>| Verdict::Reverted {
            target: target.name.clone(),
            commit: by.map(|by| by.to_string()),
        };
        // A merge is one commit of the main line, the oldest that holds the branch; a fast-forward is each of its own.
        let (base, brought) = if line.contains(&tip) {
            let base = recorded.base.as_deref().and_then(History::id).filter(|base| *base != tip);
            let own = base.map(|base| self.history.between(base, tip, MAX_COMPARED)).transpose()?;
            (base, own.unwrap_or_else(|| vec![tip]))
        } else {
            let at = line.partition_point(|commit| self.history.is_behind(tip, *commit));
            let merge = at.checked_sub(1).and_then(|index| line.get(index)).copied().unwrap_or(tip);
            let before = self.history.commit(merge)?.parents.first().copied();
            (before.and_then(|before| self.history.merge_base(before, tip)), vec![merge])
        };
        let mut standing = None;
        let mut taken_back = None;
        for commit in &brought {
            match self.undone(*commit, &self.since(target.tip, *commit)?)? {
                Some(by) => taken_back = taken_back.or(Some(by)),
                None => standing = standing.or(Some(*commit)),
            }
        }
        let Some(commit) = standing else { return Ok(reverted(taken_back)) };
        if let Some(base) = base {
            let whole = self
                .history
                .changes(Some(self.history.commit(base)?.tree), self.history.commit(tip)?.tree)?;
            if !whole.is_empty() && is_gone(&self.history, self.history.commit(target.tip)?.tree, &whole)? {
                return Ok(reverted(None));
            }
        }
        Ok(merged(Test::Ancestor, target, commit))
    }

    /// The verdict on a commit beside the main line.
    fn compared(&self, tip: Id, base: Id, target: &Target) -> Result<Verdict, HistoryError> {
        let mut own = Vec::new();
        let since = self.since(target.tip, base)?;
        let is_mixed =
            since.iter().any(|id| self.history.commit(*id).is_ok_and(|commit| commit.parents.len() > 1));
        // Behind the common ancestor there is nothing of the branch; beside it there may be something of the main line,
        // where the two were merged into each other.
        for id in self.history.between(base, tip, MAX_COMPARED)? {
            if self.history.commit(id)?.parents.len() < 2
                && !self.history.changes_of(id)?.is_empty()
                && !(is_mixed && self.history.is_behind(id, target.tip))
            {
                own.push(id);
            }
        }
        let trees = (self.history.commit(base)?.tree, self.history.commit(tip)?.tree);
        let whole = self.history.changes(Some(trees.0), trees.1)?;
        if own.is_empty() {
            return Ok(Verdict::Nothing);
        }
        let here = self.history.commit(target.tip)?.tree;
        if whole.is_empty() {
            // It took in a main line that has all of its work; or its commits cancel each other out.
            for id in &own {
                if !contains(&self.history, here, &self.history.changes_of(*id)?)? {
                    return Ok(Verdict::Nothing);
                }
            }
            return Ok(merged(Test::Content, target, target.tip));
        }
        let found = self.found(tip, &own, &whole, &since, target)?;
        if matches!(found, Verdict::Merged { .. }) && is_gone(&self.history, here, &whole)? {
            return Ok(Verdict::Reverted { target: target.name.clone(), commit: None });
        }
        Ok(found)
    }

    /// What the commits of the main line since the branch began say.
    fn found(
        &self,
        tip: Id,
        own: &[Id],
        whole: &[FileChange],
        since: &[Id],
        target: &Target,
    ) -> Result<Verdict, HistoryError> {
        let mut missing = own.len();
        let mut reverted = None;
        let mut last = None;
        for id in own {
            match self.find(*id, &self.history.changes_of(*id)?, since)? {
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
        match self.find(tip, whole, since)? {
            Found::At(commit) => return Ok(merged(Test::Squash, target, commit)),
            Found::Undone(by) => reverted = reverted.or(Some(by)),
            Found::No => {}
        }
        if let Some(commit) = self.named(own, whole, since)? {
            return Ok(merged(Test::Squash, target, commit));
        }
        if contains(&self.history, self.history.commit(target.tip)?.tree, whole)? {
            return Ok(merged(Test::Content, target, target.tip));
        }
        if reverted.is_none()
            && let Some(commit) = self.held(whole, since)?
        {
            return Ok(merged(Test::Content, target, commit));
        }
        if let Some(by) = reverted {
            return Ok(Verdict::Reverted { target: target.name.clone(), commit: Some(by.to_string()) });
        }
        let partly = since.len() >= MAX_COMPARED || self.cut_short.get();
        Ok(Verdict::Open { missing, target: target.name.clone(), compared: partly.then_some(since.len()) })
    }

    /// Looks for a commit of the main line with the same patch.
    fn find(&self, own: Id, changes: &[FileChange], since: &[Id]) -> Result<Found, HistoryError> {
        let mut wanted: Option<PatchId> = None;
        let mut undone = Found::No;
        for id in since {
            if *id == own || !self.is_plain(*id)? || !same_files(&self.history.changes_of(*id)?, changes) {
                continue;
            }
            let wanted = *wanted.get_or_insert_with(|| patch_id(&self.history, changes));
            if self.patch(*id)?.forward == wanted.forward {
                match self.undone(*id, since)? {
                    None => return Ok(Found::At(*id)),
                    Some(by) => undone = Found::Undone(by),
                }
            }
        }
        Ok(undone)
    }

    /// A commit with the message that `git merge --squash` proposes for the branch: it is the branch, also where
    /// conflicts were resolved.
    fn named(&self, own: &[Id], whole: &[FileChange], since: &[Id]) -> Result<Option<Id>, HistoryError> {
        for id in since {
            let commit = self.history.commit(*id)?;
            let Some((_, list)) = commit.message.split_once("Squashed commit of the following:") else {
                continue;
            };
            let names = |own: &Id| list.lines().any(|line| line.trim() == format!("commit {own}"));
            if own.iter().all(names)
                && touches(&self.history.changes_of(*id)?, whole)
                && self.undone(*id, since)?.is_none()
            {
                return Ok(Some(*id));
            }
        }
        Ok(None)
    }

    /// A commit of the main line in which the whole change was present, whatever came later.
    fn held(&self, whole: &[FileChange], since: &[Id]) -> Result<Option<Id>, HistoryError> {
        let mut asked = 0;
        for id in since {
            if asked >= MAX_TREES || self.is_late() {
                break;
            }
            if !touches(&self.history.changes_of(*id)?, whole) {
                continue;
            }
            asked += 1;
            if contains(&self.history, self.history.commit(*id)?.tree, whole)?
                && self.undone(*id, since)?.is_none()
            {
                return Ok(Some(*id));
            }
        }
        Ok(None)
    }

    /// The later commit that took this one back and was not taken back itself.
    fn undone(&self, commit: Id, since: &[Id]) -> Result<Option<Id>, HistoryError> {
        let hex = commit.to_string();
        let changes = self.history.changes_of(commit)?;
        for id in since.iter().filter(|id| **id != commit) {
            let candidate = self.history.commit(*id)?;
            let takes_back = reverts(&candidate.message).any(|named| hex.starts_with(named))
                || (self.is_plain(*id)?
                    && same_files(&self.history.changes_of(*id)?, &changes)
                    && self.patch(*id)?.forward == self.patch(commit)?.inverse);
            // The order of commits by time is no order of events.
            if takes_back && self.history.is_behind(commit, *id) && self.undone(*id, since)?.is_none() {
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

fn touches(changes: &[FileChange], whole: &[FileChange]) -> bool {
    let paths: HashSet<&[u8]> = whole.iter().map(|change| change.path.as_slice()).collect();
    changes.iter().any(|change| paths.contains(change.path.as_slice()))
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
