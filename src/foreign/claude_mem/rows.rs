//! Its rows as ours. A schema older than the newest lacks columns, or has them under other names.

use std::collections::HashMap;

use rusqlite::{Connection, Row};
use sha2::{Digest, Sha256};

use crate::foreign::cells::{Cells, columns, select};
use crate::index::Prepared;
use crate::model::{Draft, SummaryDraft, Timestamp};
use crate::observer::{one_line, shorten, title_of};
use crate::privacy::{Cleaner, is_wholly_private};

/// Longest title and longest word for a type, in characters.
const MAX_TITLE: usize = 200;
const MAX_WORD: usize = 80;
/// Seconds and milliseconds since 1970 differ by more than any date that makes sense.
const LEAST_MS: i64 = 100_000_000_000;

const SESSION: [&[&str]; 9] = [
    &["id"],
    &["content_session_id", "claude_session_id"],
    &["memory_session_id", "sdk_session_id"],
    &["project"],
    &["user_prompt"],
    &["started_at_epoch"],
    &["started_at"],
    &["completed_at_epoch"],
    &["cwd", "worktree_path", "project_path", "project_root"],
];
const OBSERVATION: [&[&str]; 19] = [
    &["id"],
    &["project"],
    &["created_at_epoch"],
    &["created_at"],
    &["merged_into_project"],
    &["memory_session_id", "sdk_session_id"],
    &["prompt_number"],
    &["type"],
    &["title"],
    &["subtitle"],
    &["narrative"],
    &["text"],
    &["facts"],
    &["concepts"],
    &["files_read"],
    &["files_modified"],
    &["agent_type"],
    &["generated_by_model"],
    &["discovery_tokens"],
];
const SUMMARY: [&[&str]; 13] = [
    &["id"],
    &["project"],
    &["created_at_epoch"],
    &["created_at"],
    &["merged_into_project"],
    &["memory_session_id", "sdk_session_id"],
    &["prompt_number"],
    &["request"],
    &["investigated"],
    &["learned"],
    &["completed"],
    &["next_steps"],
    &["notes"],
];
const PROMPT: [&[&str]; 7] = [
    &["id"],
    &["session_db_id"],
    &["created_at_epoch"],
    &["created_at"],
    &["content_session_id", "claude_session_id"],
    &["prompt_number"],
    &["prompt_text"],
];

/// A row that is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// Number in its table.
    pub(super) id: i64,
    /// The same for the same row, whenever it is read.
    pub(super) uid: String,
    /// Name of the project; `parent/worktree` for a linked worktree.
    pub(super) project: String,
    /// Name of the project into which it was adopted.
    pub(super) merged_into: Option<String>,
    /// The client's session.
    pub(super) session: String,
    pub(super) prompt_number: Option<i64>,
    pub(super) created_at: Timestamp,
    pub(super) body: Body,
}

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Body {
    Observation {
        draft: Box<Draft>,
        found_by: Box<Prepared>,
        agent: Option<String>,
        model: String,
        tokens: i64,
    },
    Summary(Box<SummaryDraft>),
    Prompt(String),
}

/// Why a row gives no record.
pub(super) type Refused = &'static str;

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) id: i64,
    pub(super) session: String,
    pub(super) project: String,
    pub(super) started_at: Timestamp,
    pub(super) last_at: Timestamp,
    /// Where it worked, if that is recorded.
    pub(super) cwd: Option<String>,
    /// What it began with.
    user_prompt: Option<String>,
}

/// The sessions, and how rows name them.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    pub(super) all: Vec<Session>,
    by_memory: HashMap<String, usize>,
    by_content: HashMap<String, usize>,
    by_id: HashMap<i64, usize>,
    /// The one project into which all that is adopted of a project went.
    adopted: HashMap<String, String>,
}

impl Sessions {
    /// Reads them all: a few for a hundred observations.
    pub(super) fn read(conn: &Connection, cleaner: &Cleaner) -> rusqlite::Result<Self> {
        let mut sessions = Self::default();
        let present = columns(conn, "sdk_sessions")?;
        let mut statement = conn.prepare(&select("sdk_sessions", &present, &SESSION, "ORDER BY id"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let cells = Cells(row);
            let Some((id, project)) = cells.number(0).zip(cells.text(3)) else { continue };
            let memory = cells.text(2);
            let Some(content) = cells.text(1).or_else(|| memory.clone()) else { continue };
            let Some(started_at) = time(&cells, 5, 6) else { continue };
            let at = sessions.all.len();
            sessions.by_id.insert(id, at);
            sessions.by_content.entry(content.clone()).or_insert(at);
            memory.map(|memory| sessions.by_memory.insert(memory, at));
            sessions.all.push(Session {
                id,
                session: bounded(&content, cleaner),
                project,
                started_at,
                last_at: cells.number(7).map_or(started_at, milliseconds).max(started_at),
                cwd: cells.text(8),
                user_prompt: cells.text(4),
            });
        }
        drop(rows);
        drop(statement);
        sessions.read_places(conn)?;
        sessions.read_adoptions(conn)?;
        Ok(sessions)
    }

    /// Events that wait there know where they happened.
    fn read_places(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        let present = columns(conn, "pending_messages")?;
        if !["session_db_id", "cwd"].iter().all(|name| present.iter().any(|column| column == name)) {
            return Ok(());
        }
        let sql = "SELECT session_db_id, max(cwd) FROM pending_messages WHERE cwd <> '' GROUP BY 1";
        let mut statement = conn.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let cells = Cells(row);
            let session = cells.number(0).and_then(|id| self.by_id.get(&id));
            if let (Some(&at), Some(cwd)) = (session, cells.text(1)) {
                self.all[at].cwd.get_or_insert(cwd);
            }
        }
        Ok(())
    }

    fn read_adoptions(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        if !columns(conn, "observations")?.iter().any(|column| column == "merged_into_project") {
            return Ok(());
        }
        let mut statement = conn.prepare(
            "SELECT project, min(merged_into_project) FROM observations WHERE merged_into_project <> ''
             GROUP BY project HAVING count(DISTINCT merged_into_project) = 1",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let cells = Cells(row);
            self.adopted.extend(cells.text(0).zip(cells.text(1)));
        }
        Ok(())
    }

    fn of_memory(&self, id: &str) -> Option<&Session> {
        self.by_memory.get(id).or_else(|| self.by_content.get(id)).map(|at| &self.all[*at])
    }

    fn of_prompt(&self, id: Option<i64>, content: Option<&str>) -> Option<&Session> {
        let by_id = id.and_then(|id| self.by_id.get(&id));
        by_id.or_else(|| self.by_content.get(content?)).map(|at| &self.all[*at])
    }
}

/// Reads the rows of one database.
pub(super) struct Reader<'a> {
    conn: &'a Connection,
    cleaner: &'a Cleaner,
    sessions: &'a Sessions,
    /// What makes this database another than others.
    identity: String,
}

/// What becomes of each row in turn: its table, its number there, and the record or why there is none.
pub(super) trait Sink {
    /// `false` ends the reading.
    fn take(&mut self, table: &'static str, id: i64, outcome: Result<Record, Refused>) -> bool;
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        conn: &'a Connection,
        cleaner: &'a Cleaner,
        sessions: &'a Sessions,
    ) -> rusqlite::Result<Self> {
        Ok(Self { conn, cleaner, sessions, identity: identity(conn)? })
    }

    /// How many rows there are to read.
    pub(super) fn count(conn: &Connection) -> rusqlite::Result<u64> {
        ["observations", "session_summaries", "user_prompts"].iter().try_fold(0, |sum, table| {
            if columns(conn, table)?.is_empty() {
                return Ok(sum);
            }
            let count: i64 =
                conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
            Ok(sum + count.unsigned_abs())
        })
    }

    /// Reads every row, table by table, oldest first.
    pub(super) fn read(&self, sink: &mut dyn Sink) -> rusqlite::Result<()> {
        let prompted = self.table("user_prompts", &PROMPT, sink, |cells, id| self.prompt(cells, id))?;
        if !prompted {
            self.first_prompts(sink);
        }
        self.table("observations", &OBSERVATION, sink, |cells, id| self.observation(cells, id))?;
        self.table("session_summaries", &SUMMARY, sink, |cells, id| self.summary(cells, id))?;
        Ok(())
    }

    /// Tells whether there is such a table.
    fn table(
        &self,
        name: &'static str,
        wanted: &[&[&str]],
        sink: &mut dyn Sink,
        read: impl Fn(&Cells<'_, '_>, i64) -> Result<Record, Refused>,
    ) -> rusqlite::Result<bool> {
        let present = columns(self.conn, name)?;
        if present.is_empty() {
            return Ok(false);
        }
        let mut statement = self.conn.prepare(&select(name, &present, wanted, "ORDER BY id"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let row: &Row<'_> = row;
            let cells = Cells(row);
            let id = cells.number(0).unwrap_or_default();
            if !sink.take(name, id, read(&cells, id)) {
                break;
            }
        }
        Ok(true)
    }

    /// Before schema 10 only the first prompt of a session was kept.
    fn first_prompts(&self, sink: &mut dyn Sink) {
        for session in &self.sessions.all {
            let Some(text) = &session.user_prompt else { continue };
            let record = self.text_of_prompt(text).map(|text| Record {
                id: session.id,
                uid: self.uid("sdk_sessions", session.id, session.started_at),
                project: session.project.clone(),
                merged_into: self.sessions.adopted.get(&session.project).cloned(),
                session: session.session.clone(),
                prompt_number: Some(1),
                created_at: session.started_at,
                body: Body::Prompt(text),
            });
            if !sink.take("sdk_sessions", session.id, record) {
                return;
            }
        }
    }

    fn observation(&self, cells: &Cells<'_, '_>, id: i64) -> Result<Record, Refused> {
        let text = |column| cells.text(column).map(|text| self.clean(&text)).unwrap_or_default();
        let line = |column| one_line(&text(column));
        let list = |column| self.list(cells.list(column));
        let mut narrative = text(10);
        let whole = text(11);
        if !whole.is_empty() && !narrative.contains(&whole) {
            narrative = if narrative.is_empty() { whole } else { format!("{narrative}\n\n{whole}") };
        }
        let facts = list(12);
        let mut title = shorten(&line(8), MAX_TITLE);
        if title.is_empty() {
            let subtitle = text(9);
            let source = [&narrative, &subtitle].into_iter().chain(&facts).find(|text| !text.is_empty());
            title = title_of(source.ok_or("nothing is left of it, or it says nothing")?);
        }
        let kind = shorten(&line(7), MAX_WORD);
        let draft = Draft {
            r#type: if kind.is_empty() { String::from("note") } else { kind },
            title,
            subtitle: line(9),
            narrative,
            facts,
            concepts: list(13),
            files_read: list(14),
            files_modified: list(15),
            ..Draft::default()
        };
        let body = Body::Observation {
            found_by: Box::new(Prepared::of(&draft)),
            draft: Box::new(draft),
            agent: Some(line(16)).filter(|agent| !agent.is_empty()),
            model: line(17),
            tokens: cells.number(18).unwrap_or_default().max(0),
        };
        self.record("observations", cells, id, body)
    }

    fn summary(&self, cells: &Cells<'_, '_>, id: i64) -> Result<Record, Refused> {
        let text = |column| cells.text(column).map(|text| self.clean(&text)).unwrap_or_default();
        let draft = SummaryDraft {
            request: text(7),
            investigated: text(8),
            learned: text(9),
            completed: text(10),
            next_steps: text(11),
            notes: text(12),
        };
        if draft.texts().iter().all(|text| text.is_empty()) {
            return Err("nothing is left of it, or it says nothing");
        }
        self.record("session_summaries", cells, id, Body::Summary(Box::new(draft)))
    }

    fn record(
        &self,
        table: &'static str,
        cells: &Cells<'_, '_>,
        id: i64,
        body: Body,
    ) -> Result<Record, Refused> {
        let memory = cells.text(5);
        let session = memory.as_deref().and_then(|memory| self.sessions.of_memory(memory));
        let project = cells.text(1).or_else(|| Some(session?.project.clone()));
        let created_at = time(cells, 2, 3).or_else(|| Some(session?.started_at));
        let created_at = created_at.ok_or("it says no time")?;
        Ok(Record {
            id,
            uid: self.uid(table, id, created_at),
            project: self.name(&project.ok_or("it names no project")?),
            merged_into: cells.text(4).map(|name| self.name(&name)),
            session: match session {
                Some(session) => session.session.clone(),
                None => bounded(&memory.unwrap_or_default(), self.cleaner),
            },
            prompt_number: cells.number(6),
            created_at,
            body,
        })
    }

    fn prompt(&self, cells: &Cells<'_, '_>, id: i64) -> Result<Record, Refused> {
        let session = self.sessions.of_prompt(cells.number(1), cells.text(4).as_deref());
        let session = session.ok_or("its session is not there, so nothing names its project")?;
        let text = self.text_of_prompt(&cells.text(6).ok_or("it has no text")?)?;
        let created_at = time(cells, 2, 3).unwrap_or(session.started_at);
        Ok(Record {
            id,
            uid: self.uid("user_prompts", id, created_at),
            project: self.name(&session.project),
            merged_into: self.sessions.adopted.get(&session.project).map(|name| self.name(name)),
            session: session.session.clone(),
            prompt_number: Some(cells.number(5).unwrap_or(1)),
            created_at,
            body: Body::Prompt(text),
        })
    }

    fn text_of_prompt(&self, text: &str) -> Result<String, Refused> {
        if is_wholly_private(text) {
            return Err("it is private");
        }
        let text = self.clean(text);
        if text.is_empty() { Err("nothing is left of it") } else { Ok(text) }
    }

    fn clean(&self, text: &str) -> String {
        self.cleaner.clean_text(text).trim().to_owned()
    }

    fn list(&self, entries: Vec<String>) -> Vec<String> {
        let mut list: Vec<String> = Vec::with_capacity(entries.len());
        for entry in entries {
            let entry = one_line(&self.clean(&entry));
            if !entry.is_empty() && !list.contains(&entry) {
                list.push(entry);
            }
        }
        list
    }

    fn name(&self, name: &str) -> String {
        shorten(&one_line(&self.clean(name)), MAX_TITLE)
    }

    fn uid(&self, table: &str, id: i64, created_at: Timestamp) -> String {
        uid(&[&self.identity, table, &id.to_string(), &created_at.0.to_string()])
    }
}

/// What makes this database another than others, also when it is moved or copied: when it was made, and for whom.
fn identity(conn: &Connection) -> rusqlite::Result<String> {
    let first = |table: &str, wanted: &[&[&str]], order: &str| -> rusqlite::Result<String> {
        let present = columns(conn, table)?;
        if present.is_empty() {
            return Ok(String::new());
        }
        let mut statement = conn.prepare(&select(table, &present, wanted, order))?;
        let mut rows = statement.query([])?;
        let Some(row) = rows.next()? else { return Ok(String::new()) };
        let cells = Cells(row);
        let values = (0..wanted.len()).map(|column| cells.text(column).unwrap_or_default());
        Ok(values.collect::<Vec<_>>().join("|"))
    };
    let made = first("schema_versions", &[&["applied_at"]], "ORDER BY applied_at LIMIT 1")?;
    let begun = first("sdk_sessions", &[SESSION[1], SESSION[5]], "ORDER BY id LIMIT 1")?;
    Ok(format!("{made}|{begun}"))
}

/// An id made of what a record is, in the form for that (RFC 9562, version 8).
pub(in crate::foreign) fn uid(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
}

fn bounded(session: &str, cleaner: &Cleaner) -> String {
    shorten(&one_line(&cleaner.redact(session)), MAX_TITLE)
}

/// A moment from a number, else from a text.
fn time(cells: &Cells<'_, '_>, epoch: usize, text: usize) -> Option<Timestamp> {
    let number = cells.number(epoch).filter(|number| *number > 0).map(milliseconds);
    number.or_else(|| {
        let text = cells.text(text)?;
        // SQLite's own spelling has a blank, and no zone: it means UTC.
        let zoned = format!("{}Z", text.replacen(' ', "T", 1));
        Timestamp::parse(&zoned).or_else(|| Timestamp::parse(&text))
    })
}

fn milliseconds(number: i64) -> Timestamp {
    Timestamp(if number < LEAST_MS { number.saturating_mul(1_000) } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_parts_have_the_same_uid_and_others_another() {
        assert_eq!(uid(&["a", "b"]), uid(&["a", "b"]));
        assert_ne!(uid(&["a", "b"]), uid(&["ab", ""]));
        assert_eq!(uid(&["a"]).as_bytes()[14], b'8');
        let _: uuid::Uuid = uid(&["a"]).parse().unwrap();
    }
}
