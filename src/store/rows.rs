//! From rows to records. The column lists go with `o`, `s` and `p` for the table, `q` for its project and
//! `m` for the project it was merged into.

use rusqlite::types::{Type, Value};
use rusqlite::{Connection, Row, params_from_iter};
use serde::de::DeserializeOwned;

use super::{Store, StoreError};
use crate::model::{
    Draft, Observation, Platform, Prompt, RecordId, Revision, Status, Summary, SummaryDraft, Timestamp,
};

/// Ids in one statement; SQLite's parameter limit is far above.
const CHUNK: usize = 200;

impl Store {
    /// What a statement gives for some ids, in no particular order: `(?ids)` in it stands for their list, and the other
    /// parameters come after that.
    pub(crate) fn of_ids<T>(
        &self,
        ids: &[i64],
        sql: &str,
        others: &[Value],
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut found = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(CHUNK) {
            let marks = vec!["?"; chunk.len()].join(",");
            let mut statement = self.conn.prepare_cached(&sql.replace("(?ids)", &format!("({marks})")))?;
            let values = chunk.iter().copied().map(Value::from).chain(others.iter().cloned());
            for row in statement.query_map(params_from_iter(values), &read)? {
                found.push(row?);
            }
        }
        Ok(found)
    }
}

pub(crate) const OBSERVATION_COLUMNS: &str = "o.id, o.uid, q.name, m.name, o.type, o.title, o.subtitle,
    o.narrative, o.facts, o.concepts, o.keywords, o.files_read, o.files_modified, o.priority, o.pinned, o.status,
    o.superseded_by, (SELECT json_group_array(old) FROM contested WHERE observation = o.id), o.expires_at, o.hit_count, o.last_hit_at, o.source, o.session, o.prompt_number, o.agent,
    o.model, o.tokens_spent, o.created_at, o.updated_at,
    (SELECT platform FROM sessions WHERE session = o.session LIMIT 1)";

/// What an observation says, as [`draft`] reads it.
pub(super) const DRAFT_COLUMNS: &str =
    "o.type, o.title, o.subtitle, o.narrative, o.facts, o.concepts, o.keywords,
    o.files_read, o.files_modified";

pub(super) fn draft(row: &Row<'_>) -> rusqlite::Result<Draft> {
    Ok(Draft {
        r#type: row.get(0)?,
        title: row.get(1)?,
        subtitle: row.get(2)?,
        narrative: row.get(3)?,
        facts: json(row, 4)?,
        concepts: json(row, 5)?,
        keywords: json(row, 6)?,
        files_read: json(row, 7)?,
        files_modified: json(row, 8)?,
        supersedes: Vec::new(),
    })
}

/// What an observation said before; oldest first.
pub(super) fn revisions(conn: &Connection, id: i64) -> Result<Vec<Revision>, StoreError> {
    let sql = "SELECT draft, until FROM revisions WHERE observation = ?1 ORDER BY until, id";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement
        .query_map([id], |row| Ok(Revision { draft: json(row, 0)?, until: Timestamp(row.get(1)?) }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) const SUMMARY_COLUMNS: &str = "s.id, q.name, m.name, s.session, s.prompt_number, s.request,
    s.investigated, s.learned, s.completed, s.next_steps, s.notes, s.model, s.created_at,
    (SELECT platform FROM sessions WHERE session = s.session LIMIT 1)";

pub(crate) const PROMPT_COLUMNS: &str = "p.id, q.name, m.name, p.session, p.number, p.text, p.created_at,
    (SELECT platform FROM sessions WHERE session = p.session LIMIT 1)";

pub(crate) fn observation(row: &Row<'_>) -> rusqlite::Result<Observation> {
    let expires_at = time(row, 18)?;
    let status: Status = word(row, 15)?;
    Ok(Observation {
        id: row.get(0)?,
        uid: row.get(1)?,
        project: row.get(2)?,
        merged_into: row.get(3)?,
        r#type: row.get(4)?,
        title: row.get(5)?,
        subtitle: row.get(6)?,
        narrative: row.get(7)?,
        facts: json(row, 8)?,
        concepts: json(row, 9)?,
        keywords: json(row, 10)?,
        files_read: json(row, 11)?,
        files_modified: json(row, 12)?,
        priority: word(row, 13)?,
        pinned: row.get(14)?,
        status: status.at(Timestamp::now(), expires_at),
        superseded_by: row.get(16)?,
        contests: json(row, 17)?,
        expires_at,
        hit_count: row.get(19)?,
        last_hit_at: time(row, 20)?,
        source: word(row, 21)?,
        session: row.get(22)?,
        platform: platform(row, 29)?,
        prompt_number: row.get(23)?,
        agent: row.get(24)?,
        model: row.get(25)?,
        tokens_spent: row.get(26)?,
        created_at: Timestamp(row.get(27)?),
        updated_at: Timestamp(row.get(28)?),
    })
}

pub(crate) fn summary(row: &Row<'_>) -> rusqlite::Result<Summary> {
    Ok(Summary {
        id: RecordId::Summary(row.get(0)?).to_string(),
        project: row.get(1)?,
        merged_into: row.get(2)?,
        session: row.get(3)?,
        platform: platform(row, 13)?,
        prompt_number: row.get(4)?,
        text: SummaryDraft {
            request: row.get(5)?,
            investigated: row.get(6)?,
            learned: row.get(7)?,
            completed: row.get(8)?,
            next_steps: row.get(9)?,
            notes: row.get(10)?,
        },
        model: row.get(11)?,
        created_at: Timestamp(row.get(12)?),
    })
}

pub(crate) fn prompt(row: &Row<'_>) -> rusqlite::Result<Prompt> {
    Ok(Prompt {
        id: RecordId::Prompt(row.get(0)?).to_string(),
        project: row.get(1)?,
        merged_into: row.get(2)?,
        session: row.get(3)?,
        platform: platform(row, 7)?,
        prompt_number: row.get(4)?,
        text: row.get(5)?,
        created_at: Timestamp(row.get(6)?),
    })
}

fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

pub(crate) fn word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_value(serde_json::Value::from(text))
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

/// The agent of a name; `None` for one that this version does not know.
pub(super) fn platform(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Platform>> {
    let name: Option<String> = row.get(column)?;
    Ok(name.as_deref().and_then(Platform::from_name))
}

pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp))
}
