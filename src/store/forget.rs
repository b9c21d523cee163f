//! Taking records away for good: their rows here, their words in `index`.

use super::{Store, StoreError, Transaction};
use crate::model::{Draft, RecordId};

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

    /// Records that hold one of some texts as it stands, oldest first within their kind.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn holding(&self, texts: &[&str]) -> Result<Vec<RecordId>, StoreError> {
        const OBSERVATIONS: &str =
            "SELECT o.id FROM observations o WHERE instr(o.title, ?1) OR instr(o.subtitle, ?1)
            OR instr(o.narrative, ?1) OR EXISTS (SELECT 1 FROM json_each(o.facts) WHERE instr(value, ?1))
            OR EXISTS (SELECT 1 FROM revisions r, json_tree(r.draft) t
                       WHERE r.observation = o.id AND t.type = 'text' AND instr(t.value, ?1))";
        const SUMMARIES: &str = "SELECT id FROM summaries WHERE instr(request, ?1) OR instr(investigated, ?1)
            OR instr(learned, ?1) OR instr(completed, ?1) OR instr(next_steps, ?1) OR instr(notes, ?1)";
        const PROMPTS: &str = "SELECT id FROM prompts WHERE instr(text, ?1)";
        let mut found = Vec::new();
        let mut look = |sql: &str, id: fn(i64) -> RecordId| -> Result<(), StoreError> {
            let mut statement = self.conn.prepare_cached(sql)?;
            for text in texts {
                for row in statement.query_map([text], |row| row.get(0))? {
                    found.push(id(row?));
                }
            }
            Ok(())
        };
        look(OBSERVATIONS, RecordId::Observation)?;
        look(SUMMARIES, RecordId::Summary)?;
        look(PROMPTS, RecordId::Prompt)?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

fn passages(draft: Draft) -> impl Iterator<Item = String> {
    [draft.title, draft.subtitle, draft.narrative].into_iter().chain(draft.facts)
}
