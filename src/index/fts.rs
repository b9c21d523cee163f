//! Index rows, written in the transaction of the record that they find.

use super::meaning::{self, Meaning};
use super::split::tokens;
use crate::model::{Draft, Timestamp};
use crate::store::{
    Kept, NewObservation, NewPrompt, NewSummary, Restored, Revised, StoreError, Stored, Transaction,
};

/// Stores an observation with its index row and its meaning.
///
/// # Errors
/// [`StoreError`].
pub fn record_observation(tx: &Transaction<'_>, new: &NewObservation<'_>) -> Result<Stored, StoreError> {
    let stored = tx.observation(new)?;
    if !stored.duplicate {
        add(tx, stored.id, new.draft)?;
    }
    Ok(stored)
}

/// Stores what was put together from some observations, and puts those away; returns its id.
///
/// # Errors
/// [`StoreError`].
pub fn record_consolidated(
    tx: &Transaction<'_>,
    new: &NewObservation<'_>,
    sources: &[i64],
) -> Result<i64, StoreError> {
    let id = tx.consolidate(new, sources)?;
    add(tx, id, new.draft)?;
    Ok(id)
}

/// Keeps an observation that was made elsewhere, with its index row and its meaning, unless it is here.
///
/// # Errors
/// [`StoreError`].
pub fn restore_observation(tx: &Transaction<'_>, new: &Restored<'_>) -> Result<Kept, StoreError> {
    let kept = tx.restore_observation(new)?;
    if let Kept::New(id) = kept {
        add(tx, id, new.draft)?;
    }
    Ok(kept)
}

/// Keeps a prompt that was made elsewhere, with its index row, unless it is here.
///
/// # Errors
/// [`StoreError`].
pub fn restore_prompt(tx: &Transaction<'_>, uid: &str, new: &NewPrompt<'_>) -> Result<Kept, StoreError> {
    let kept = tx.restore_prompt(uid, new)?;
    if let Kept::New(id) = kept {
        add_prompt(tx, id, new)?;
    }
    Ok(kept)
}

/// Keeps a summary that was made elsewhere, with its index row, unless it is here.
///
/// # Errors
/// [`StoreError`].
pub fn restore_summary(tx: &Transaction<'_>, uid: &str, new: &NewSummary<'_>) -> Result<Kept, StoreError> {
    let kept = tx.restore_summary(uid, new)?;
    if let Kept::New(id) = kept {
        add_summary(tx, id, new)?;
    }
    Ok(kept)
}

/// Replaces the texts of an observation, and what finds it.
///
/// # Errors
/// [`StoreError`].
pub fn revise_observation(
    tx: &Transaction<'_>,
    id: i64,
    draft: &Draft,
    at: Timestamp,
) -> Result<Revised, StoreError> {
    let revised = tx.revise(id, draft, at)?;
    if revised == Revised::Changed {
        take_away(tx, id)?;
        add(tx, id, draft)?;
    }
    Ok(revised)
}

/// Takes an observation away for good, with everything that finds it. The cache files still hold its vector until they
/// are renewed ([`super::rebuild`]), and pages that are free still hold its text unless the connection overwrites them.
///
/// # Errors
/// [`StoreError`].
pub fn forget_observation(tx: &Transaction<'_>, id: i64) -> Result<(), StoreError> {
    take_away(tx, id)?;
    tx.delete_observation(id)
}

/// Takes a summary away for good, with its index row.
///
/// # Errors
/// [`StoreError`].
pub fn forget_summary(tx: &Transaction<'_>, id: i64) -> Result<(), StoreError> {
    tx.conn().prepare_cached("DELETE FROM summaries_fts WHERE rowid = ?1")?.execute([id])?;
    tx.delete_summary(id)
}

/// Takes a prompt away for good, with its index row.
///
/// # Errors
/// [`StoreError`].
pub fn forget_prompt(tx: &Transaction<'_>, id: i64) -> Result<(), StoreError> {
    tx.conn().prepare_cached("DELETE FROM prompts_fts WHERE rowid = ?1")?.execute([id])?;
    tx.delete_prompt(id)
}

/// Rewrites the indexes without the words that no record holds any more: a row that is taken away from a text index is
/// only marked there.
///
/// # Errors
/// [`StoreError`].
pub fn purge(tx: &Transaction<'_>) -> Result<(), StoreError> {
    for table in ["observations_fts", "summaries_fts", "prompts_fts"] {
        tx.conn().execute_batch(&format!("INSERT INTO {table} ({table}) VALUES ('optimize')"))?;
    }
    meaning::purge(tx)
}

/// What finds an observation: takes longer to make than to store, and needs no database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// Tokens of title, keywords, facts, narrative and files.
    columns: [String; 5],
    pub(super) meaning: Meaning,
}

impl Prepared {
    /// That of a draft.
    pub fn of(draft: &Draft) -> Self {
        let columns = [
            tokens(&draft.title),
            tokens(&[draft.keywords.join("\n"), draft.concepts.join("\n")].join("\n")),
            tokens(&draft.facts.join("\n")),
            tokens(&[draft.subtitle.as_str(), &draft.narrative].join("\n")),
            tokens(&[draft.files_modified.join("\n"), draft.files_read.join("\n")].join("\n")),
        ];
        Self { columns, meaning: Meaning::of(draft) }
    }

    /// Stores it, all but the counts of its word pieces.
    pub(super) fn insert(&self, tx: &Transaction<'_>, id: i64) -> Result<(), StoreError> {
        let [title, keywords, facts, narrative, files] = &self.columns;
        tx.conn()
            .prepare_cached(
                "INSERT INTO observations_fts (rowid, title, keywords, facts, narrative, files)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((id, title, keywords, facts, narrative, files))?;
        meaning::insert(tx, id, &self.meaning)
    }
}

fn add(tx: &Transaction<'_>, id: i64, draft: &Draft) -> Result<(), StoreError> {
    let prepared = Prepared::of(draft);
    prepared.insert(tx, id)?;
    meaning::count(tx, &prepared.meaning.tokens, 1)
}

fn take_away(tx: &Transaction<'_>, id: i64) -> Result<(), StoreError> {
    tx.conn().prepare_cached("DELETE FROM observations_fts WHERE rowid = ?1")?.execute([id])?;
    meaning::forget(tx, id)
}

/// Stores a prompt and its index row; returns its id.
///
/// # Errors
/// [`StoreError`].
pub fn record_prompt(tx: &Transaction<'_>, new: &NewPrompt<'_>) -> Result<i64, StoreError> {
    let id = tx.prompt(new)?;
    add_prompt(tx, id, new)?;
    Ok(id)
}

fn add_prompt(tx: &Transaction<'_>, id: i64, new: &NewPrompt<'_>) -> Result<(), StoreError> {
    tx.conn()
        .prepare_cached("INSERT INTO prompts_fts (rowid, text) VALUES (?1, ?2)")?
        .execute((id, tokens(new.text)))?;
    Ok(())
}

/// Stores a summary and its index row; returns its id.
///
/// # Errors
/// [`StoreError`].
pub fn record_summary(tx: &Transaction<'_>, new: &NewSummary<'_>) -> Result<i64, StoreError> {
    let id = tx.summary(new)?;
    add_summary(tx, id, new)?;
    Ok(id)
}

fn add_summary(tx: &Transaction<'_>, id: i64, new: &NewSummary<'_>) -> Result<(), StoreError> {
    tx.conn()
        .prepare_cached("INSERT INTO summaries_fts (rowid, text) VALUES (?1, ?2)")?
        .execute((id, tokens(&new.text.texts().join("\n"))))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Paths;
    use crate::model::{Identity, Status};
    use crate::store::{Standing, Store, Trace};

    fn remember(tx: &Transaction<'_>, draft: &Draft) -> i64 {
        let identity = Identity {
            key: String::from("/x/.git"),
            name: String::from("x"),
            root: String::from("/x"),
            worktree: None,
            branch: None,
            head: None,
            main_head: None,
            remote: None,
        };
        let new = NewObservation {
            place: tx.place(&identity, &Trace::default()).unwrap(),
            session: "s",
            prompt_number: None,
            draft,
            agent: None,
            model: "test",
            tokens_spent: 0,
            created_at: Timestamp(1),
            standing: Standing::OBSERVED,
        };
        record_observation(tx, &new).unwrap().id
    }

    fn draft(title: &str, supersedes: &[i64]) -> Draft {
        Draft {
            r#type: String::from("decision"),
            title: title.to_owned(),
            supersedes: supersedes.to_vec(),
            ..Draft::default()
        }
    }

    fn number(tx: &Transaction<'_>, sql: &str) -> i64 {
        tx.conn().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn found(tx: &Transaction<'_>, word: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM observations_fts WHERE observations_fts MATCH '{word}'");
        number(tx, &sql)
    }

    #[test]
    fn an_edit_replaces_what_finds_a_memory_and_keeps_what_it_said() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&Paths::resolve(Some(folder.path())).unwrap()).unwrap();
        let tx = store.begin().unwrap();
        let id = remember(&tx, &draft("payments use mysql", &[]));
        let other = remember(&tx, &draft("logs go to disk", &[]));
        let edit = |title: &str| revise_observation(&tx, id, &draft(title, &[]), Timestamp(2)).unwrap();
        assert_eq!(edit("payments use postgres"), Revised::Changed);
        assert_eq!((found(&tx, "mysql"), found(&tx, "postgres")), (0, 1));
        assert_eq!(number(&tx, "SELECT count(*) FROM vectors"), 2);
        assert_eq!(number(&tx, "SELECT count(*) FROM revisions WHERE draft LIKE '%mysql%' AND until = 2"), 1);
        assert_eq!(edit("payments use postgres"), Revised::Unchanged);
        assert_eq!(edit("Logs go to disk."), Revised::SameAs(other));
        assert_eq!(number(&tx, "SELECT count(*) FROM revisions"), 1);
    }

    #[test]
    fn what_is_forgotten_is_in_no_index_and_no_pointer() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&Paths::resolve(Some(folder.path())).unwrap()).unwrap();
        let tx = store.begin().unwrap();
        let first = remember(&tx, &draft("payments use mysql", &[]));
        let second = remember(&tx, &draft("payments use postgres", &[first]));
        let third = remember(&tx, &draft("payments use cockroach", &[second]));
        let standing = |id: i64| -> (String, Option<i64>) {
            let sql = "SELECT status, superseded_by FROM observations WHERE id = ?1";
            tx.conn().query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
        };
        assert_eq!(standing(first), (Status::Superseded.name().to_owned(), Some(second)));
        forget_observation(&tx, second).unwrap();
        assert_eq!(found(&tx, "postgres"), 0);
        assert_eq!(standing(first), (Status::Superseded.name().to_owned(), Some(third)));
        forget_observation(&tx, third).unwrap();
        assert_eq!(standing(first), (Status::Active.name().to_owned(), None));
        forget_observation(&tx, first).unwrap();
        assert_eq!(number(&tx, "SELECT count(*) FROM vectors"), 0);
        assert_eq!(number(&tx, "SELECT count(*) FROM pieces WHERE observations <> 0"), 0);
    }
}
