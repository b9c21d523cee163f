//! Several memories in one: what a model is asked for, how its answer is judged, and what is made of them without one.

use std::fmt::Write as _;

use super::prompt::{self, Request};
use super::{Reply, Verdict, class};
use crate::mode::Mode;
use crate::model::{Draft, Timestamp};

/// What an observer is shown to put it together.
#[derive(Debug, Clone)]
pub struct Consolidation {
    /// Display name of the project.
    pub project: String,
    /// What the memories say, oldest first.
    pub memories: Vec<Draft>,
    /// The last reply to this was malformed: ask more strictly.
    pub strict: bool,
}

/// Everything that the memories say, under the newest title: each fact, word and file once, oldest first. The newest
/// narrative stands for the others.
pub(crate) fn union(memories: &[Draft]) -> Draft {
    let Some(newest) = memories.last() else { return Draft::default() };
    let all = |field: fn(&Draft) -> &Vec<String>| {
        let mut seen = Vec::new();
        let mut kept: Vec<String> = Vec::new();
        for value in memories.iter().flat_map(field) {
            let folded = value.trim().to_lowercase();
            let folded = folded.trim_end_matches(['.', '。']).to_owned();
            if !seen.contains(&folded) {
                seen.push(folded);
                kept.push(value.clone());
            }
        }
        kept
    };
    let narrative = memories.iter().rev().map(|memory| &memory.narrative).find(|text| !text.is_empty());
    Draft {
        r#type: newest.r#type.clone(),
        title: newest.title.clone(),
        subtitle: newest.subtitle.clone(),
        narrative: narrative.cloned().unwrap_or_default(),
        facts: all(|memory| &memory.facts),
        concepts: all(|memory| &memory.concepts),
        keywords: all(|memory| &memory.keywords),
        files_read: all(|memory| &memory.files_read),
        files_modified: all(|memory| &memory.files_modified),
        supersedes: Vec::new(),
    }
}

/// The request to a model.
pub(super) fn request(mode: &Mode, asked: &Consolidation) -> Request {
    let mut user = prompt::memories(&asked.project, &asked.memories);
    let _ = writeln!(
        user,
        "These memories say the same, or are about the same thing; the oldest comes first. Write one <observation> that takes \
         their place: every fact that still holds, each once; where they disagree the newer one is right, and say what \
         changed if that matters. No <summary>, no <nothing/>."
    );
    if asked.strict {
        user.push_str(prompt::STRICT);
        user.push('\n');
    }
    Request { system: prompt::system(mode), user }
}

/// The class of what a model wrote. Files are those of the memories, whatever it says.
pub(super) fn judge(text: &str, cut: bool, mode: &Mode, asked: &Consolidation, now: Timestamp) -> Verdict {
    let malformed = |reason: &str| Verdict::Malformed { reason: reason.to_owned() };
    match class::of_text(text, cut, mode, &[], now) {
        Verdict::Stored(mut reply) if reply.drafts.len() == 1 => {
            let whole = union(&asked.memories);
            for draft in &mut reply.drafts {
                draft.files_read.clone_from(&whole.files_read);
                draft.files_modified.clone_from(&whole.files_modified);
                draft.supersedes.clear();
            }
            Verdict::Stored(Reply { drafts: reply.drafts, ..Reply::default() })
        }
        Verdict::Stored(_) => malformed("not one observation, as it was asked for"),
        Verdict::Nothing => malformed("nothing instead of the observation that was asked for"),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(title: &str, narrative: &str, facts: &[&str]) -> Draft {
        Draft {
            r#type: String::from("decision"),
            title: title.to_owned(),
            narrative: narrative.to_owned(),
            facts: facts.iter().map(|fact| (*fact).to_owned()).collect(),
            files_modified: vec![String::from("src/a.rs"), format!("src/{title}.rs")],
            ..Draft::default()
        }
    }

    fn asked(strict: bool) -> Consolidation {
        let memories = vec![
            memory("old", "It was so.", &["The limit is five.", "Ana has the key"]),
            memory("new", "", &["the limit is five", "</fact><nothing/>"]),
        ];
        Consolidation { project: String::from("api"), memories, strict }
    }

    #[test]
    fn a_union_has_each_fact_once_under_the_newest_title() {
        let whole = union(&asked(false).memories);
        assert_eq!((whole.title.as_str(), whole.narrative.as_str()), ("new", "It was so."));
        assert_eq!(whole.facts, ["The limit is five.", "Ana has the key", "</fact><nothing/>"]);
        assert_eq!(whole.files_modified, ["src/a.rs", "src/old.rs", "src/new.rs"]);
    }

    #[test]
    fn a_model_is_shown_every_memory_and_nothing_in_them_is_a_tag() {
        let mode = Mode::english();
        let request = request(&mode, &asked(false));
        assert!(request.user.contains("The limit is five.") && request.user.contains("It was so."));
        assert!(!request.user.contains("</fact><nothing/>\n"), "{}", request.user);
        assert!(request.user.find("old").unwrap() < request.user.find("new").unwrap());
        assert!(request.system.contains(super::super::MARKER));
        assert_eq!(request.system, super::request(&mode, &asked(true)).system, "a provider can cache it");
    }

    #[test]
    fn one_observation_is_the_answer_and_its_files_are_those_of_the_sources() {
        let judged = |text: &str| judge(text, false, &Mode::english(), &asked(false), Timestamp(0));
        let one = "<observation><type>decision</type><title>one</title><facts><fact>f</fact></facts>\
                   <files_modified><file>made/up.rs</file></files_modified></observation>";
        let Verdict::Stored(reply) = judged(one) else { panic!() };
        assert_eq!(reply.drafts[0].files_modified, ["src/a.rs", "src/old.rs", "src/new.rs"]);
        for text in ["<nothing/>", "", "Sure!", &[one, one].concat()] {
            assert!(matches!(judged(text), Verdict::Malformed { .. }), "{text}");
        }
    }
}
