//! The records that hold the words of a query, all of them: what is near by meaning alone is not among them.

use super::hydrate::{Records, hits};
use super::search::content;
use super::{Filter, Hit, text};
use crate::index::query_terms;
use crate::store::{Store, StoreError};

/// Records that hold every word of a query and pass the filter, newest first; `*` gives all that pass the filter. Of more
/// than 10,000 of a kind only the last stored ones.
///
/// # Errors
/// [`StoreError`]; a query text never makes one.
pub fn holding(store: &Store, query: &str, filter: &Filter) -> Result<Vec<Hit>, StoreError> {
    let rows = match query.trim() {
        "*" => text::newest(store, filter, usize::MAX)?.0,
        query => {
            let terms = query_terms(query);
            let mut rows = text::with_all(store, &content(&terms), filter, usize::MAX)?.0;
            rows.sort_by_key(|row| std::cmp::Reverse((row.at, row.id)));
            rows
        }
    };
    let ids: Vec<_> = rows.into_iter().map(|row| (row.id, 0.0)).collect();
    hits(store, &ids, Records::new(), None)
}
