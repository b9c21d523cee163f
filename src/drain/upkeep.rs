//! What any writer does before it looks at memories or after it wrote some: count what was of use, and put away what
//! has expired.

use super::run::DrainError;
use crate::config::Paths;
use crate::model::Timestamp;
use crate::spool::Uses;
use crate::store::{Store, Use};

/// Counts the uses that readers left, each once whatever a crash leaves behind, and puts away what has expired.
///
/// # Errors
/// [`DrainError`] when a file or the memory fails; what was not counted stays for the next.
pub fn upkeep(paths: &Paths, store: &Store) -> Result<(), DrainError> {
    for file in Uses::set_aside(paths)? {
        // The name is written with what it holds: a file that outlives this is known.
        let transaction = store.begin()?;
        if transaction.begin_counting(&file.name)? {
            let counts = file.counts()?;
            let uses =
                counts.into_iter().map(|(observation, (times, last))| Use { observation, times, last });
            transaction.count_uses(&uses.collect::<Vec<_>>())?;
        }
        transaction.commit()?;
        file.remove()?;
        let transaction = store.begin()?;
        transaction.end_counting(&file.name)?;
        transaction.commit()?;
    }
    let transaction = store.begin()?;
    transaction.archive_due(Timestamp::now())?;
    Ok(transaction.commit()?)
}
