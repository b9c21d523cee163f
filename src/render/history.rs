//! What stands around an observation: the others that point to it, and what it said before.

use super::plain::{block, line};
use super::style::{FAINT, STRONG};
use crate::model::{Draft, Links, Observation, Revision};

/// One line for each kind of pointer that there is.
pub fn links(links: &Links) -> Vec<String> {
    let list = |label: &str, ids: &[i64]| {
        let ids: Vec<String> = ids.iter().map(|id| format!("#{id}")).collect();
        (!ids.is_empty()).then(|| format!("{label} {}", ids.join(", ")))
    };
    [
        list("supersedes", &links.supersedes),
        list("contested by", &links.contested_by),
        list("put together from", &links.put_together_from),
        list("put together into", &links.put_together_into),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What an observation said before each edit, the latest first: of each revision what the next one said otherwise.
pub fn history(revisions: &[Revision], now: &Observation) -> Vec<String> {
    if revisions.is_empty() {
        return vec![format!("{FAINT}never edited{FAINT:#}")];
    }
    let now = Draft {
        r#type: now.r#type.clone(),
        title: now.title.clone(),
        subtitle: now.subtitle.clone(),
        narrative: now.narrative.clone(),
        facts: now.facts.clone(),
        concepts: now.concepts.clone(),
        keywords: now.keywords.clone(),
        files_read: now.files_read.clone(),
        files_modified: now.files_modified.clone(),
        supersedes: Vec::new(),
    };
    let later = revisions.iter().skip(1).map(|revision| &revision.draft).chain([&now]);
    let mut lines = Vec::new();
    for (revision, later) in revisions.iter().zip(later).collect::<Vec<_>>().into_iter().rev() {
        lines.push(format!("{STRONG}until {}{STRONG:#}", revision.until.local("%Y-%m-%d %H:%M")));
        lines.extend(differences(&revision.draft, later));
    }
    lines
}

/// The fields of a draft that are not those of another.
fn differences(draft: &Draft, other: &Draft) -> Vec<String> {
    let said = |value: String| if value.is_empty() { String::from("(nothing)") } else { value };
    let mut lines = Vec::new();
    for (label, one, two) in [
        ("type", &draft.r#type, &other.r#type),
        ("title", &draft.title, &other.title),
        ("subtitle", &draft.subtitle, &other.subtitle),
        ("text", &draft.narrative, &other.narrative),
    ] {
        if one != two {
            lines.push(format!("{label}: {}", said(block(one))));
        }
    }
    for (label, one, two, between) in [
        ("facts", &draft.facts, &other.facts, "; "),
        ("concepts", &draft.concepts, &other.concepts, ", "),
        ("keywords", &draft.keywords, &other.keywords, ", "),
        ("files read", &draft.files_read, &other.files_read, ", "),
        ("files modified", &draft.files_modified, &other.files_modified, ", "),
    ] {
        if one != two {
            let values: Vec<String> = one.iter().map(|value| line(value)).collect();
            lines.push(format!("{label}: {}", said(values.join(between))));
        }
    }
    lines
}
