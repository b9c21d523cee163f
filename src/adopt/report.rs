use serde::Serialize;

use super::Decision;
use crate::model::Identity;
use crate::store::BranchRow;

/// What was found and done, for people and scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Common directory of the repository.
    pub repo: String,
    /// Display name of the project that takes the rows in.
    pub parent: String,
    /// Nothing was written.
    pub dry_run: bool,
    /// Every recorded worktree and branch, in the order in which they came up.
    pub worktrees: Vec<WorktreeReport>,
    /// Observations that the parent sees now (or would see).
    pub adopted_observations: i64,
    /// Summaries that the parent sees now (or would see).
    pub adopted_summaries: i64,
}

/// One branch of one worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorktreeReport {
    /// Display name of the worktree.
    pub name: String,
    /// Its branch; `None` = detached.
    pub branch: Option<String>,
    /// `merged` (adopted by this call), `adopted` (before), `released` (by `--undo`), `open`, `nothing`, `detached`,
    /// `held` (only `--branch` adopts it again) or `unknown`.
    pub state: &'static str,
    /// The test that matched: `ancestor`, `patches`, `squash`, `content`, or `branch` when the user named it.
    pub matched_by: Option<String>,
    /// The same in words.
    pub reason: String,
    /// Observations written in it.
    pub observations: i64,
    /// Summaries written in it.
    pub summaries: i64,
}

impl Report {
    pub(super) fn new(home: &Identity, parent: String, dry_run: bool) -> Self {
        Self {
            repo: home.key.clone(),
            parent,
            dry_run,
            worktrees: Vec::new(),
            adopted_observations: 0,
            adopted_summaries: 0,
        }
    }

    /// Adds a branch. `changed` counts what was written; without it, what would be.
    pub(super) fn add(&mut self, row: &BranchRow, decision: &Decision, changed: Option<(usize, usize)>) {
        let (state, matched_by, reason) = match decision {
            Decision::Adopt(why) => ("merged", Some(why.matched_by.clone()), why.reason.clone()),
            Decision::Release => ("released", None, String::from("taken back: its memory is its own again")),
            Decision::Leave { state, reason, matched_by } => (*state, matched_by.clone(), reason.clone()),
        };
        if let Decision::Adopt(_) = decision {
            let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
            let (observations, summaries) =
                changed.map_or((row.observations, row.summaries), |(o, s)| (count(o), count(s)));
            self.adopted_observations += observations;
            self.adopted_summaries += summaries;
        }
        self.worktrees.push(WorktreeReport {
            name: row.worktree.clone(),
            branch: row.branch.clone(),
            state,
            matched_by,
            reason,
            observations: row.observations,
            summaries: row.summaries,
        });
    }

    /// How many branches this call adopted or released (or would).
    pub fn changed(&self) -> usize {
        self.worktrees.iter().filter(|worktree| matches!(worktree.state, "merged" | "released")).count()
    }
}
