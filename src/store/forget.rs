//! Taking records away for good: their rows here, their words in `index`.

use std::collections::BTreeSet;

use super::{Store, StoreError, Transaction};
use crate::model::{Draft, Passages, RecordId};

impl Transaction<'_> {
    /// Takes a summary away for good.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn delete_summary(&self, id: i64) -> Result<(), StoreError> {
        self.tx.prepare_cached("DELETE FROM summaries WHERE id = ?1")?.execute([id])?;
        Ok(())
    }

    /// Takes a prompt away for good.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn delete_prompt(&self, id: i64) -> Result<(), StoreError> {
        self.tx.prepare_cached("DELETE FROM prompts WHERE id = ?1")?.execute([id])?;
        Ok(())
    }
}

impl Store {
    /// Everything that some records say or said, whole: titles, narratives, facts, what stood there before an edit. Words
    /// that stand alone, such as tags and names of files, are not among it: they are no record's own.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn said(&self, ids: &[RecordId]) -> Result<Vec<String>, StoreError> {
        let mut said = Vec::new();
        for id in ids {
            match *id {
                RecordId::Observation(id) => {
                    let sql =
                        format!("SELECT {} FROM observations o WHERE o.id = ?1", super::rows::DRAFT_COLUMNS);
                    let mut statement = self.conn.prepare_cached(&sql)?;
                    for draft in statement.query_map([id], super::rows::draft)? {
                        said.extend(passages(draft?));
                    }
                    said.extend(
                        self.revisions(id)?.into_iter().flat_map(|revision| passages(revision.draft)),
                    );
                }
                RecordId::Summary(id) => {
                    let sql =
                        "SELECT request, investigated, learned, completed, next_steps, notes FROM summaries
                               WHERE id = ?1";
                    let mut statement = self.conn.prepare_cached(sql)?;
                    let mut rows = statement.query([id])?;
                    while let Some(row) = rows.next()? {
                        for column in 0..6 {
                            said.push(row.get(column)?);
                        }
                    }
                }
                RecordId::Prompt(id) => {
                    let mut statement = self.conn.prepare_cached("SELECT text FROM prompts WHERE id = ?1")?;
                    for text in statement.query_map([id], |row| row.get(0))? {
                        said.push(text?);
                    }
                }
            }
        }
        Ok(said)
    }

    /// Records that hold one of some passages, or held it before an edit.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn holding(&self, passages: &Passages) -> Result<Vec<RecordId>, StoreError> {
        const OBSERVATIONS: &str = "SELECT id, title, subtitle, narrative, facts FROM observations
             UNION ALL SELECT observation, draft, '', '', '' FROM revisions";
        const SUMMARIES: &str =
            "SELECT id, request, investigated, learned, completed, next_steps, notes FROM summaries";
        let mut found = BTreeSet::new();
        let mut look = |sql: &str, texts: usize, id: fn(i64) -> RecordId| -> Result<(), StoreError> {
            let mut statement = self.conn.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                for column in 1..=texts {
                    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
                    // Lists and drafts are JSON.
                    let holds = match text.as_bytes().first() {
                        Some(b'[' | b'{') => serde_json::from_str(text)
                            .map_or_else(|_| passages.are_in(text), |value| passages.are_in_value(&value)),
                        _ => passages.are_in(text),
                    };
                    if holds {
                        found.insert(id(row.get(0)?));
                    }
                }
            }
            Ok(())
        };
        look(OBSERVATIONS, 4, RecordId::Observation)?;
        look(SUMMARIES, 6, RecordId::Summary)?;
        look("SELECT id, text FROM prompts", 1, RecordId::Prompt)?;
        Ok(found.into_iter().collect())
    }
}

fn passages(draft: Draft) -> impl Iterator<Item = String> {
    [draft.title, draft.subtitle, draft.narrative].into_iter().chain(draft.facts)
}
