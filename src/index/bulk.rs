//! Storing many observations in one transaction: word pieces are counted once for all of them, since most occur in
//! many.

use std::collections::HashMap;

use super::Prepared;
use super::meaning::{self, ALL};
use crate::store::{Kept, Restored, StoreError, Transaction};

/// The observations of one transaction. Dropped without [`Bulk::finish`] its transaction must not be committed.
#[derive(Debug)]
#[must_use = "the counts are written by `finish`"]
pub struct Bulk<'a, 'b> {
    tx: &'a Transaction<'b>,
    counts: HashMap<i64, i64>,
}

impl<'a, 'b> Bulk<'a, 'b> {
    /// In this transaction.
    pub fn new(tx: &'a Transaction<'b>) -> Self {
        Self { tx, counts: HashMap::new() }
    }

    /// Keeps an observation that was made elsewhere, unless it is here. `prepared` is that of its draft.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn restore(&mut self, new: &Restored<'_>, prepared: &Prepared) -> Result<Kept, StoreError> {
        let kept = self.tx.restore_observation(new)?;
        if let Kept::New(id) = kept {
            prepared.insert(self.tx, id)?;
            for piece in prepared.meaning.tokens.iter().map(|token| i64::from(*token)).chain([ALL]) {
                *self.counts.entry(piece).or_default() += 1;
            }
        }
        Ok(kept)
    }

    /// Writes what was counted.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn finish(self) -> Result<(), StoreError> {
        let mut counts: Vec<(i64, i64)> = self.counts.into_iter().collect();
        // In the order of the table.
        counts.sort_unstable();
        meaning::count_all(self.tx, counts.into_iter())
    }
}
