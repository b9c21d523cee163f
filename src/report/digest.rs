//! From records to a report: pure.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::civil::Date;

use super::{
    Day, FileHistory, Gathered, ModelSpent, NextSteps, NotListed, Reasoned, Report, Row, Spent, Theme,
    Totals, TypeCount, WeekDigest, day_of, days_of_week, reason, week_of,
};
use crate::config::Price;
use crate::model::{Observation, Priority, RecordId, Status};
use crate::store::CallCount;

/// Types of memory that tell decisions, defects and risks, in the modes that the binary brings.
const DECISIONS: [&str; 1] = ["decision"];
const BUGS: [&str; 3] = ["bugfix", "incident", "cause"];
const SECURITY: [&str; 3] = ["security_alert", "security_note", "hazard"];
/// What must not leave its project.
const SENSITIVE: &str = "sensitive";
/// Highlights of a week.
const HIGHLIGHTS: usize = 5;

/// Puts in order what was gathered.
pub fn digest(gathered: &Gathered, prices: &[Price]) -> Report {
    let mut not_listed = NotListed::default();
    let mut listed: Vec<&Observation> = Vec::new();
    for memory in &gathered.observations {
        match memory.status {
            Status::Superseded => not_listed.superseded += 1,
            Status::Archived => not_listed.archived += 1,
            Status::Review => not_listed.review += 1,
            Status::Active if gathered.project.is_none() && memory.r#type == SENSITIVE => {
                not_listed.sensitive += 1;
            }
            Status::Active => listed.push(memory),
        }
    }
    let (days, sessions) = (days(gathered, &listed), sessions(gathered, &listed));
    Report {
        project: gathered.project.clone(),
        period: gathered.period,
        days_of: days_of(gathered, &days),
        totals: Totals {
            memories: listed.len(),
            by_type: by_type(&listed),
            days: days.len(),
            sessions: sessions.values().flatten().collect::<BTreeSet<_>>().len(),
            prompts: gathered.prompts.len(),
            summaries: gathered.summaries.len(),
        },
        not_listed,
        narrative: None,
        next_steps: next_steps(gathered),
        decisions: of_types(&listed, &DECISIONS),
        bugs: of_types(&listed, &BUGS),
        security: of_types(&listed, &SECURITY),
        weeks: weeks(gathered, &listed, &sessions, prices),
        days,
        themes: themes(&listed),
        files: files(&listed),
        spent: spent(&gathered.calls, prices),
        tokens_of_memories: listed.iter().map(|memory| memory.tokens_spent).sum(),
    }
}

/// The first and the last day of which there is anything.
fn days_of(gathered: &Gathered, days: &[Day]) -> Option<(Date, Date)> {
    let summaries = gathered.summaries.iter().map(|summary| day_of(summary.created_at));
    let all = || days.iter().map(|day| day.day).chain(summaries.clone());
    all().min().zip(all().max())
}

fn row(memory: &Observation) -> Row {
    Row {
        id: memory.id,
        r#type: memory.r#type.clone(),
        title: memory.title.clone(),
        project: memory.project.clone(),
        merged_into: memory.merged_into.clone(),
        created_at: memory.created_at,
        day: day_of(memory.created_at),
        pinned: memory.pinned,
    }
}

fn of_types(listed: &[&Observation], types: &[&str]) -> Vec<Reasoned> {
    let chosen = listed.iter().rev().filter(|memory| types.contains(&memory.r#type.as_str()));
    chosen
        .map(|memory| Reasoned {
            row: row(memory),
            reason: reason::reason(memory),
            text: reason::text(memory),
        })
        .collect()
}

/// The most frequent first.
fn by_type(listed: &[&Observation]) -> Vec<TypeCount> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    listed.iter().for_each(|memory| *counts.entry(&memory.r#type).or_default() += 1);
    let mut counts: Vec<TypeCount> = counts
        .into_iter()
        .map(|(r#type, memories)| TypeCount { r#type: r#type.to_owned(), memories })
        .collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.memories));
    counts
}

/// The sessions that left a record in each week, by its Monday.
fn sessions<'a>(gathered: &'a Gathered, listed: &[&'a Observation]) -> BTreeMap<Date, BTreeSet<&'a str>> {
    let observations = listed.iter().map(|record| (&record.session, record.created_at));
    let summaries = gathered.summaries.iter().map(|record| (&record.session, record.created_at));
    let prompts = gathered.prompts.iter().map(|record| (&record.session, record.created_at));
    let mut sessions: BTreeMap<Date, BTreeSet<&str>> = BTreeMap::new();
    // What the user remembered outside a session belongs to none.
    for (session, at) in
        observations.chain(summaries).chain(prompts).filter(|(session, _)| !session.is_empty())
    {
        sessions.entry(days_of_week(day_of(at)).0).or_default().insert(session);
    }
    sessions
}

fn days(gathered: &Gathered, listed: &[&Observation]) -> Vec<Day> {
    let mut days: BTreeMap<Date, Day> = BTreeMap::new();
    let blank = |day| Day { day, week: week_of(day), prompts: 0, memories: Vec::new() };
    for memory in listed {
        let row = row(memory);
        days.entry(row.day).or_insert_with_key(|day| blank(*day)).memories.push(row);
    }
    for prompt in &gathered.prompts {
        days.entry(day_of(prompt.created_at)).or_insert_with_key(|day| blank(*day)).prompts += 1;
    }
    days.into_values().collect()
}

fn weeks(
    gathered: &Gathered,
    listed: &[&Observation],
    sessions: &BTreeMap<Date, BTreeSet<&str>>,
    prices: &[Price],
) -> Vec<WeekDigest> {
    let mut members: BTreeMap<Date, Vec<&Observation>> =
        gathered.calls_of_week.keys().map(|monday| (*monday, Vec::new())).collect();
    for memory in listed {
        members.entry(days_of_week(day_of(memory.created_at)).0).or_default().push(memory);
    }
    let mut prompts: BTreeMap<Date, usize> = BTreeMap::new();
    for prompt in &gathered.prompts {
        *prompts.entry(days_of_week(day_of(prompt.created_at)).0).or_default() += 1;
    }
    let digest = |(monday, listed): (Date, Vec<&Observation>)| {
        let spent = spent(gathered.calls_of_week.get(&monday).map_or(&[][..], Vec::as_slice), prices);
        WeekDigest {
            week: week_of(monday),
            days: days_of_week(monday),
            memories: listed.len(),
            by_type: by_type(&listed),
            prompts: prompts.get(&monday).copied().unwrap_or_default(),
            sessions: sessions.get(&monday).map_or(0, BTreeSet::len),
            highlights: highlights(&listed),
            tokens: spent.input + spent.cached + spent.output,
            dollars: spent.dollars,
        }
    };
    members.into_iter().map(digest).collect()
}

/// What is pinned or of high priority, then risks, decisions and defects, then what is new; the newest first in each.
fn highlights(listed: &[&Observation]) -> Vec<i64> {
    let weight = |memory: &Observation| match memory.r#type.as_str() {
        _ if memory.pinned || memory.priority == Priority::High => 4,
        r#type if SECURITY.contains(&r#type) => 3,
        r#type if DECISIONS.contains(&r#type) => 2,
        r#type if BUGS.contains(&r#type) || r#type == "feature" => 1,
        _ => 0,
    };
    let mut best: Vec<&&Observation> = listed.iter().collect();
    best.sort_by_key(|memory| std::cmp::Reverse((weight(memory), memory.created_at, memory.id)));
    best.iter().take(HIGHLIGHTS).map(|memory| memory.id).collect()
}

fn themes(listed: &[&Observation]) -> Vec<Theme> {
    let mut themes: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for memory in listed.iter().rev() {
        let concepts: BTreeSet<&str> = memory.concepts.iter().map(String::as_str).collect();
        for concept in &concepts {
            themes.entry(concept).or_default().push(memory.id);
        }
        if concepts.is_empty() {
            themes.entry("").or_default().push(memory.id);
        }
    }
    let mut themes: Vec<Theme> = themes
        .into_iter()
        .map(|(concept, memories)| Theme { concept: concept.to_owned(), memories })
        .collect();
    themes.sort_by_key(|theme| (theme.concept.is_empty(), std::cmp::Reverse(theme.memories.len())));
    themes
}

fn files(listed: &[&Observation]) -> Vec<FileHistory> {
    let mut files: HashMap<(&str, &str), FileHistory> = HashMap::new();
    for memory in listed.iter().rev() {
        let modified: BTreeSet<&str> = memory.files_modified.iter().map(String::as_str).collect();
        let read: BTreeSet<&str> = memory.files_read.iter().map(String::as_str).collect();
        for path in modified.union(&read).filter(|path| !path.trim().is_empty()) {
            // What a merged worktree knows is about the tree of its parent.
            let project = memory.merged_into.as_ref().unwrap_or(&memory.project);
            let file = files.entry((project, path)).or_insert_with(|| FileHistory {
                project: project.clone(),
                path: (*path).to_owned(),
                memories: Vec::new(),
                modified: 0,
                read: 0,
                last: day_of(memory.created_at),
            });
            file.memories.push(memory.id);
            file.modified += usize::from(modified.contains(path));
            file.read += usize::from(read.contains(path));
        }
    }
    let mut files: Vec<FileHistory> = files.into_values().collect();
    files.sort_by(|a, b| {
        let rank = |file: &FileHistory| std::cmp::Reverse((file.memories.len(), file.modified));
        rank(a).cmp(&rank(b)).then_with(|| (&a.path, &a.project).cmp(&(&b.path, &b.project)))
    });
    files
}

/// A later summary of a session says what is still open of it.
fn next_steps(gathered: &Gathered) -> Vec<NextSteps> {
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut open = Vec::new();
    for summary in gathered.summaries.iter().rev() {
        let is_last = seen.insert((&summary.session, &summary.project));
        let Ok(id) = summary.id.parse::<RecordId>() else { continue };
        if is_last && !summary.text.next_steps.trim().is_empty() {
            open.push(NextSteps {
                id,
                project: summary.project.clone(),
                merged_into: summary.merged_into.clone(),
                session: summary.session.clone(),
                created_at: summary.created_at,
                day: day_of(summary.created_at),
                next_steps: summary.text.next_steps.clone(),
            });
        }
    }
    open
}

fn spent(calls: &[CallCount], prices: &[Price]) -> Spent {
    let models: Vec<ModelSpent> = calls
        .iter()
        .map(|count| ModelSpent { dollars: count.dollars(prices), count: count.clone() })
        .collect();
    let sum = |part: fn(&CallCount) -> i64| calls.iter().map(part).sum();
    Spent {
        calls: sum(|count| count.calls),
        failed: sum(|count| count.failed),
        input: sum(|count| count.input),
        cached: sum(|count| count.cached),
        output: sum(|count| count.output),
        // The sum of no floats is -0.
        dollars: models.iter().try_fold(0.0, |sum, model| Some(sum + model.dollars?)),
        models,
    }
}
