//! What is known of a branch: recorded while it is there, and recognised again later.

use super::MainLines;
use crate::git::history::{History, Id, Stand};

/// What was recorded of a branch while its worktree was there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Its name; `None` = detached.
    pub branch: Option<String>,
    /// When it was made, from its reflog: another branch of the same name was made at another time. `None` where there
    /// was no reflog.
    pub born: Option<String>,
    /// Where it began.
    pub base: Option<String>,
    /// Its last commit.
    pub head: Option<String>,
    /// Its last commit that is its own work.
    pub own: Option<String>,
}

impl MainLines {
    /// What can be told of a branch at `head` while it is there. `main` is where the main checkout stood at that time.
    ///
    /// A branch is fresh until a commit is made on it: what it was made from, be it a newer main line or somebody
    /// else's branch, is not its own. The reflog knows; without one, what another branch has as well is not counted.
    pub fn record(&self, branch: Option<&str>, head: &str, main: Option<&str>) -> Recorded {
        let mut recorded = Recorded {
            branch: branch.map(str::to_owned),
            head: Some(head.to_owned()),
            ..Recorded::default()
        };
        let Some(head) = History::id(head) else { return recorded };
        let reflog = branch.map(|name| self.history.reflog(name)).unwrap_or_default();
        if let Some(first) = reflog.first() {
            recorded.born = Some(first.seconds.clone());
            recorded.base = Some(first.commit.to_string());
            let own = reflog
                .iter()
                .rev()
                .find(|stand| is_made(stand) && self.history.is_behind(stand.commit, head));
            recorded.own = own.map(|stand| stand.commit.to_string());
            return recorded;
        }
        // A branch that is gone by now may have been merged meanwhile: only what was seen then counts.
        let is_there = branch.is_some_and(|name| self.history.branch(name).is_some());
        let now = self.targets.iter().filter(|_| is_there || main.is_none()).map(|target| target.tip);
        let mains = main.and_then(History::id).into_iter().chain(now);
        let bases: Vec<Id> = mains.filter_map(|main| self.history.merge_base(head, main)).collect();
        // The latest of them: the others lie behind it.
        let base = bases
            .iter()
            .copied()
            .find(|base| bases.iter().all(|other| self.history.is_behind(*other, *base)));
        recorded.base = base.map(|base| base.to_string());
        let others = branch.map(|name| self.history.other_branches(name)).unwrap_or_default();
        let is_shared = others.iter().any(|other| self.history.is_behind(head, *other));
        recorded.own = (base.is_some_and(|base| base != head) && !is_shared).then(|| head.to_string());
        recorded
    }

    /// The tip of the branch of this name, if it is the one that was recorded.
    pub(super) fn same_branch(&self, name: &str, recorded: &Recorded) -> Option<Id> {
        let tip = self.history.branch(name)?;
        let reflog = self.history.reflog(name);
        let known = recorded.own.as_ref().or(recorded.head.as_ref()).and_then(|hex| History::id(hex))?;
        let is_same = match (reflog.first(), &recorded.born) {
            (Some(first), Some(born)) => first.seconds == *born,
            _ => self.history.is_behind(known, tip),
        };
        is_same.then_some(tip)
    }

    /// Whether a branch that ends in this commit has work of its own. Ancestry alone cannot tell: a fresh branch is
    /// behind the main line as well, and one that was made from another branch is beside it.
    pub(super) fn has_own(&self, tip: Id, recorded: &Recorded) -> bool {
        if recorded.own.as_deref().and_then(History::id).is_some_and(|own| self.history.is_behind(own, tip)) {
            return true;
        }
        let Some(name) = recorded.branch.as_deref() else { return false };
        self.same_branch(name, recorded).is_some()
            && self
                .history
                .reflog(name)
                .iter()
                .any(|stand| is_made(stand) && self.history.is_behind(stand.commit, tip))
    }
}

/// Whether an entry of a reflog is a commit that was made on the branch, or what a rebase made of some.
fn is_made(stand: &Stand) -> bool {
    let message = stand.message.as_str();
    if let Some((_, onto)) = message.strip_prefix("rebase").and_then(|rest| rest.rsplit_once(" onto ")) {
        return History::id(onto.trim()).is_some_and(|onto| onto != stand.commit);
    }
    ["commit", "cherry-pick", "am:", "revert"].iter().any(|start| message.starts_with(start))
}
