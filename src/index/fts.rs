//! Index rows, written in the transaction of the record that they find.

use super::meaning::{self, Meaning};
use super::split::tokens;
use crate::store::{NewObservation, NewPrompt, NewSummary, StoreError, Stored, Transaction};

/// Stores an observation with its index row and its meaning.
///
/// # Errors
/// [`StoreError`].
pub fn record_observation(tx: &Transaction<'_>, new: &NewObservation<'_>) -> Result<Stored, StoreError> {
    let stored = tx.observation(new)?;
    if !stored.duplicate {
        let draft = new.draft;
        tx.conn()
            .prepare_cached(
                "INSERT INTO observations_fts (rowid, title, keywords, facts, narrative, files)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((
                stored.id,
                tokens(&draft.title),
                tokens(&[draft.keywords.join("\n"), draft.concepts.join("\n")].join("\n")),
                tokens(&draft.facts.join("\n")),
                tokens(&[draft.subtitle.as_str(), &draft.narrative].join("\n")),
                tokens(&[draft.files_modified.join("\n"), draft.files_read.join("\n")].join("\n")),
            ))?;
        meaning::record(tx, stored.id, &Meaning::of(draft))?;
    }
    Ok(stored)
}

/// Stores a prompt and its index row; returns its id.
///
/// # Errors
/// [`StoreError`].
pub fn record_prompt(tx: &Transaction<'_>, new: &NewPrompt<'_>) -> Result<i64, StoreError> {
    let id = tx.prompt(new)?;
    tx.conn()
        .prepare_cached("INSERT INTO prompts_fts (rowid, text) VALUES (?1, ?2)")?
        .execute((id, tokens(new.text)))?;
    Ok(id)
}

/// Stores a summary and its index row; returns its id.
///
/// # Errors
/// [`StoreError`].
pub fn record_summary(tx: &Transaction<'_>, new: &NewSummary<'_>) -> Result<i64, StoreError> {
    let id = tx.summary(new)?;
    tx.conn()
        .prepare_cached("INSERT INTO summaries_fts (rowid, text) VALUES (?1, ?2)")?
        .execute((id, tokens(&new.text.texts().join("\n"))))?;
    Ok(id)
}
