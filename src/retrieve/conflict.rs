//! Which memories a new one makes obsolete, where no model says so.
//!
//! Both indexes and the files name the candidates; what decides is what they claim ([`claim`]). That two memories are alike
//! puts neither away: a fact beside another one about the same thing is as near to it as its successor.

mod claim;
mod lexicon;

use std::collections::HashSet;

use self::claim::{Claim, Verdict, claims, says_more};
use super::hydrate::observations;
use super::text::with_any;
use super::{Filter, RecordKind, Scope};
use crate::index::{self, Meaning, Term, query_terms};
use crate::model::{Draft, Observation, RecordId, Status, Timestamp};
use crate::store::{Store, StoreError};

/// So many of each index, and so many that name the same files, are compared.
const CANDIDATES: usize = 50;
/// Most statements of a new memory that are looked at.
const STATEMENTS: usize = 40;

/// What a new memory means for those that are there, each id once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conflicts {
    /// It says the same with another value.
    pub replaced: Vec<i64>,
    /// It may: somebody has to decide. Empty where something is replaced: what is new is in use then.
    pub contested: Vec<i64>,
}

/// Compares a new memory with those in use in its project, the last of a scope, that are not newer than `at`.
///
/// # Errors
/// [`StoreError`].
pub fn conflicts(
    store: &Store,
    scope: &Scope,
    draft: &Draft,
    at: Timestamp,
) -> Result<Conflicts, StoreError> {
    let new = statements(draft);
    let (Scope::Projects(projects), false) = (scope, new.is_empty()) else { return Ok(Conflicts::default()) };
    let Some(project) = projects.last() else { return Ok(Conflicts::default()) };
    let now = Timestamp::now();
    let mut rows = observations(store, &candidates(store, *project, draft)?)?;
    rows.retain(|row| {
        row.status == Status::Active && row.created_at <= at && row.expires_at.is_none_or(|end| end > now)
    });
    rows.sort_by_key(|row| row.id);
    let mut conflicts = Conflicts::default();
    for row in rows {
        match verdict(&row, &new) {
            Verdict::Compatible => {}
            Verdict::Contested => conflicts.contested.push(row.id),
            Verdict::Replaced => conflicts.replaced.push(row.id),
        }
    }
    if !conflicts.replaced.is_empty() {
        conflicts.contested.clear();
    }
    Ok(conflicts)
}

/// What a new memory claims anywhere in its texts.
fn statements(draft: &Draft) -> Vec<Claim> {
    // Of a memory that changed files, the title tells what was done.
    let mut found = claims(&draft.title, !draft.files_modified.is_empty());
    for text in std::iter::once(&draft.narrative).chain(&draft.facts) {
        found.extend(claims(text, false));
    }
    found.truncate(STATEMENTS);
    found
}

/// An old memory is put away as a whole: what counts is what it is about, its title, or its only statement.
fn verdict(old: &Observation, new: &[Claim]) -> Verdict {
    let titled = claims(&old.title, !old.files_modified.is_empty());
    let (text, claimed) = match titled.is_empty() && !says_more(&old.narrative) {
        true => (&old.narrative, claims(&old.narrative, false)),
        false => (&old.title, titled),
    };
    let all = claimed.iter().flat_map(|old| new.iter().map(move |new| old.against(new)));
    match all.max().unwrap_or(Verdict::Compatible) {
        Verdict::Replaced if says_more(text) => Verdict::Contested,
        verdict => verdict,
    }
}

/// Memories of a project that hold the same words, mean nearly the same, or are about the same files.
fn candidates(store: &Store, project: i64, draft: &Draft) -> Result<Vec<i64>, StoreError> {
    let text = [draft.title.as_str(), &draft.narrative, &draft.facts.join("\n"), &draft.keywords.join("\n")]
        .join("\n");
    let files = [draft.files_modified.join("\n"), draft.files_read.join("\n")].join("\n");
    let filter =
        Filter { kinds: vec![RecordKind::Observation], ..Filter::all(Scope::Projects(vec![project])) };
    let mut ids = HashSet::new();
    for text in [&draft.title, &text, &files] {
        let terms = query_terms(text);
        let content: Vec<&Term> = terms.iter().filter(|term| !term.stop).take(CANDIDATES).collect();
        for row in with_any(store, &content, &filter, CANDIDATES)? {
            if let RecordId::Observation(id) = row.id {
                ids.insert(id);
            }
        }
    }
    for text in [&draft.title, &text] {
        if let Some(vector) = Meaning::of_text(text).vector {
            let near = index::nearest(store, &vector, Some(&[project]), CANDIDATES)?;
            ids.extend(near.iter().map(|near| near.observation));
        }
    }
    Ok(ids.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// Texts of different projects about different things, put into one project: nothing of it contradicts.
    #[test]
    fn of_many_texts_none_contradicts_another() {
        let mut texts: Vec<String> = include_str!("../../tests/eval/handmade.jsonl")
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|note| note["kind"] == "note")
            .map(|note| format!("{}\n{}", note["title"].as_str().unwrap(), note["text"].as_str().unwrap()))
            .collect();
        for set in [
            include_str!("../../tests/eval/commits_en.json"),
            include_str!("../../tests/eval/react_en2en.json"),
            include_str!("../../tests/eval/react_en2zh.json"),
        ] {
            let set: Value = serde_json::from_str(set).unwrap();
            texts.extend(set["docs"].as_array().unwrap().iter().map(|doc| doc.as_str().unwrap().to_owned()));
        }
        let titled: Vec<(&str, Vec<Claim>)> = texts
            .iter()
            .map(|text| {
                let title = text.split(['\n', '。']).next().unwrap().split(". ").next().unwrap();
                (title, claims(title, true))
            })
            .collect();
        let mut found = BTreeSet::new();
        let (mut with_claims, mut compared) = (0, 0);
        for (at, text) in texts.iter().enumerate() {
            let new = claims(text, false);
            with_claims += usize::from(!new.is_empty());
            for (other, (title, old)) in titled.iter().enumerate() {
                compared += 1;
                let worst = old.iter().flat_map(|old| new.iter().map(move |new| old.against(new))).max();
                if other != at && worst.is_some_and(|verdict| verdict > Verdict::Compatible) {
                    found.insert(format!(
                        "{worst:?}: {title} / {}",
                        &text.chars().take(150).collect::<String>()
                    ));
                }
            }
        }
        assert!(with_claims > 300, "{with_claims}");
        assert!(found.is_empty(), "{} of {compared}: {found:#?}", found.len());
    }
}
