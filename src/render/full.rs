//! A whole record as text.

use super::context::by;
use super::plain::{block, line};
use super::style::{FAINT, ID, STRONG};
use crate::mode::Mode;
use crate::model::{Observation, Platform, Priority, Prompt, Source, Status, Summary, Timestamp};
use crate::retrieve::Record;

/// Everything that is known of a record, as paragraphs; the mode names its type.
pub fn record(record: &Record, mode: &Mode) -> String {
    let paragraphs = match record {
        Record::Observation(observation) => observation_text(observation, mode),
        Record::Summary(summary) => summary_text(summary),
        Record::Prompt(prompt) => prompt_text(prompt),
    };
    let paragraphs: Vec<String> = paragraphs.into_iter().filter(|text| !text.is_empty()).collect();
    paragraphs.join("\n")
}

fn observation_text(memory: &Observation, mode: &Mode) -> Vec<String> {
    let mut paragraphs = vec![
        heading(&memory.id.to_string(), mode.type_name(&memory.r#type), &memory.title),
        line(&memory.subtitle),
        origin(
            &memory.project,
            memory.merged_into.as_deref(),
            memory.created_at,
            (&memory.session, memory.platform),
            memory.prompt_number,
        ),
        standing(memory),
        block(&memory.narrative),
    ];
    paragraphs.extend(memory.facts.iter().map(|fact| format!("- {}", line(fact))));
    paragraphs.extend([
        list("concepts", &memory.concepts),
        list("keywords", &memory.keywords),
        list("files read", &memory.files_read),
        list("files modified", &memory.files_modified),
    ]);
    paragraphs
}

fn summary_text(summary: &Summary) -> Vec<String> {
    let text = &summary.text;
    let merged = summary.merged_into.as_deref();
    let mut paragraphs = vec![
        heading(&summary.id, "summary", ""),
        origin(
            &summary.project,
            merged,
            summary.created_at,
            (&summary.session, summary.platform),
            summary.prompt_number,
        ),
    ];
    for (label, value) in [
        ("request", &text.request),
        ("investigated", &text.investigated),
        ("learned", &text.learned),
        ("completed", &text.completed),
        ("next steps", &text.next_steps),
        ("notes", &text.notes),
    ] {
        let value = block(value);
        if !value.is_empty() {
            paragraphs.push(format!("{label}: {value}"));
        }
    }
    paragraphs
}

fn prompt_text(prompt: &Prompt) -> Vec<String> {
    let merged = prompt.merged_into.as_deref();
    vec![
        heading(&prompt.id, "prompt", ""),
        origin(
            &prompt.project,
            merged,
            prompt.created_at,
            (&prompt.session, prompt.platform),
            Some(prompt.prompt_number),
        ),
        block(&prompt.text),
    ]
}

fn heading(id: &str, r#type: &str, title: &str) -> String {
    let title = line(title);
    let text = if title.is_empty() { line(r#type) } else { format!("{}: {title}", line(r#type)) };
    format!("{ID}#{}{ID:#} {STRONG}{text}{STRONG:#}", line(id))
}

fn origin(
    project: &str,
    merged: Option<&str>,
    at: Timestamp,
    (session, platform): (&str, Option<Platform>),
    prompt: Option<i64>,
) -> String {
    let merged = merged.map(|into| format!(", merged into {}", line(into))).unwrap_or_default();
    let prompt = prompt.map(|number| format!(", prompt {number}")).unwrap_or_default();
    // What the user says is no part of one.
    let by = platform.filter(|platform| !platform.is_claude()).map(by).unwrap_or_default();
    let session =
        if session.is_empty() { String::new() } else { format!(" · session {}{by}", line(session)) };
    format!(
        "{FAINT}{} · project {}{merged}{session}{prompt}{FAINT:#}",
        at.local("%Y-%m-%d %H:%M"),
        line(project)
    )
}

/// What is out of the ordinary about a memory.
fn standing(memory: &Observation) -> String {
    let mut said = Vec::new();
    if memory.source == Source::User {
        said.push(String::from("said by the user"));
    }
    if memory.pinned {
        said.push(String::from("pinned"));
    }
    match memory.priority {
        Priority::High => said.push(String::from("high priority")),
        Priority::Low => said.push(String::from("low priority")),
        Priority::Normal => {}
    }
    match (memory.status, memory.superseded_by) {
        (Status::Active, _) => {}
        (Status::Superseded, Some(by)) => said.push(format!("superseded by #{by}")),
        (Status::Superseded, None) => said.push(String::from("superseded")),
        (Status::Review, _) if memory.contests.is_empty() => said.push(String::from("waits for review")),
        (Status::Review, _) => {
            let others: Vec<String> = memory.contests.iter().map(|id| format!("#{id}")).collect();
            said.push(format!("waits for review because of {}", others.join(", ")));
        }
        (Status::Archived, _) => said.push(String::from("archived")),
    }
    if let Some(end) = memory.expires_at {
        said.push(format!("expires {}", end.local("%Y-%m-%d")));
    }
    if let Some(agent) = &memory.agent {
        said.push(format!("by subagent {}", line(agent)));
    }
    said.join(", ")
}

fn list(label: &str, values: &[String]) -> String {
    if values.is_empty() {
        return String::new();
    }
    let values: Vec<String> = values.iter().map(|value| line(value)).collect();
    format!("{label}: {}", values.join(", "))
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    #[test]
    fn a_prompt_keeps_its_lines_and_loses_its_escapes() {
        let prompt = Prompt {
            id: String::from("P7"),
            project: String::from("api"),
            merged_into: None,
            session: String::from("s-1"),
            platform: None,
            prompt_number: 2,
            text: String::from("why\x1b[2J\n  does it fail?"),
            created_at: Timestamp::parse("2026-01-31").unwrap(),
        };
        assert_eq!(
            strip_str(&record(&Record::Prompt(prompt), &Mode::english())).to_string(),
            "#P7 prompt\n2026-01-31 00:00 · project api · session s-1, prompt 2\nwhy\n  does it fail?"
        );
    }
}
