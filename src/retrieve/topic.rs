//! What a new session is probably about: the branch that is checked out, the files that it touches, and what was asked
//! for last.

use std::collections::HashSet;

use super::everyday::has_subject;
use super::question::Question;
use super::recall::{least, relevant, relevant_of};
use super::{Ground, Scope};
use crate::index::query_terms;
use crate::model::Observation;
use crate::store::{Store, StoreError};

/// So many of the last prompts are looked at for one that has a subject.
const PROMPTS: i64 = 10;
/// So many of the last sessions on the branch tell what is worked on, also what is not committed yet.
const SESSIONS: i64 = 3;
/// Names that say nothing of what a branch is for.
const COMMON_NAMES: [&str; 17] = [
    "main",
    "master",
    "trunk",
    "develop",
    "development",
    "dev",
    "head",
    "feature",
    "feat",
    "fix",
    "bugfix",
    "hotfix",
    "chore",
    "release",
    "refactor",
    "wip",
    "worktree",
];

/// What git knows of the checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Branch {
    /// Its name; `None` when detached, or outside git.
    pub name: Option<String>,
    /// Files that it changed, relative to the root of the checkout.
    pub files: Vec<String>,
    /// Where it is: what became of the files that memories are about is looked up there.
    pub ground: Option<Ground>,
}

/// What memories are compared with.
pub(super) struct Topic {
    question: Option<Question>,
    files: HashSet<String>,
    least: f64,
}

impl Topic {
    pub(super) fn new(store: &Store, scope: &Scope, branch: &Branch) -> Result<Self, StoreError> {
        let name = branch.name.as_deref().map(words).unwrap_or_default();
        let text = [name, last_prompt(store, scope)?.unwrap_or_default()].join("\n");
        let mut files: HashSet<String> = branch.files.iter().cloned().collect();
        if let Some(name) = &branch.name {
            files.extend(recent_files(store, scope, name)?);
        }
        Ok(Self { question: Question::new(store, &text, &query_terms(&text))?, files, least: least(store)? })
    }

    /// Ids of the memories that are relevant to it, of any age.
    pub(super) fn nearest(&mut self, store: &Store, scope: &Scope) -> Result<Vec<i64>, StoreError> {
        let Some(question) = &mut self.question else { return Ok(Vec::new()) };
        Ok(relevant(store, scope, question, self.least)?.into_iter().map(|(id, _)| id).collect())
    }

    /// How relevant some memories are to it, those that are: above 0, 1 = twice what is needed.
    pub(super) fn relevance(&mut self, store: &Store, ids: &[i64]) -> Result<Vec<(i64, f64)>, StoreError> {
        let Some(question) = &mut self.question else { return Ok(Vec::new()) };
        let relevant = relevant_of(store, question, ids, self.least)?;
        Ok(relevant.into_iter().map(|(id, found)| (id, (found / self.least - 1.0).min(1.0))).collect())
    }

    /// The part of a memory's files that is touched now.
    pub(super) fn overlap(&self, memory: &Observation) -> f64 {
        let files = || memory.files_modified.iter().chain(&memory.files_read);
        let touched = files().filter(|file| self.files.contains(*file)).count();
        if touched == 0 { 0.0 } else { touched as f64 / files().count() as f64 }
    }
}

/// The words of a branch's name that say what it is for.
fn words(branch: &str) -> String {
    let words = branch.split(|c: char| !c.is_alphanumeric());
    let says = |word: &&str| !word.is_empty() && !COMMON_NAMES.contains(&word.to_lowercase().as_str());
    words.filter(says).collect::<Vec<_>>().join(" ")
}

/// The ids of a scope, the checkout itself before its parent.
fn inside_out(scope: &Scope) -> Vec<Option<i64>> {
    match scope {
        Scope::All => vec![None],
        Scope::Projects(ids) => ids.iter().rev().copied().map(Some).collect(),
    }
}

fn last_prompt(store: &Store, scope: &Scope) -> Result<Option<String>, StoreError> {
    for project in inside_out(scope) {
        let of = if project.is_some() { "WHERE project = ?1" } else { "" };
        let sql = format!("SELECT text FROM prompts {of} ORDER BY created_at DESC, id DESC LIMIT {PROMPTS}");
        let mut statement = store.conn().prepare_cached(&sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(project))?;
        while let Some(row) = rows.next()? {
            let text: String = row.get(0)?;
            if has_subject(&text) {
                return Ok(Some(text));
            }
        }
    }
    Ok(None)
}

/// What the last sessions on a branch changed.
fn recent_files(store: &Store, scope: &Scope, branch: &str) -> Result<Vec<String>, StoreError> {
    let mut files = Vec::new();
    for project in inside_out(scope).into_iter().flatten() {
        // The planner would read every row of the project to find those of a few sessions.
        let sql = format!(
            "SELECT o.files_modified FROM observations o INDEXED BY observations_session
             WHERE o.project = ?1 AND o.session IN
               (SELECT session FROM sessions WHERE project = ?1 AND branch = ?2 ORDER BY last_at DESC, id DESC
                LIMIT {SESSIONS})"
        );
        let mut statement = store.conn().prepare_cached(&sql)?;
        let mut rows = statement.query((project, branch))?;
        while let Some(row) = rows.next()? {
            let text: String = row.get(0)?;
            files.extend(serde_json::from_str::<Vec<String>>(&text)?);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_named_for_what_it_does() {
        assert_eq!(words("feat/retry-limit_of-uploads"), "retry limit of uploads");
        assert_eq!(words("main"), "");
        assert_eq!(words("登录/修复"), "登录 修复");
    }
}
