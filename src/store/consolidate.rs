//! Several observations put together in one: its sources are put away, and known from both sides.

use rusqlite::OptionalExtension;
use sha2::{Digest, Sha256};

use super::write::new_uid;
use super::{NewObservation, Place, StoreError, Transaction};
use crate::model::{Status, Timestamp};

impl Transaction<'_> {
    /// Where that belongs which is put together from some observations: where all of them do, otherwise the project in
    /// which all are seen. `None` when one of them is not in use, or two are seen in different projects.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn common_place(&self, ids: &[i64]) -> Result<Option<Place>, StoreError> {
        let mut statement = self.tx.prepare_cached(
            "SELECT project, branch, merged_into FROM observations
             WHERE id = ?1 AND status = 'active' AND (expires_at IS NULL OR expires_at > ?2)",
        )?;
        let mut common: Option<Place> = None;
        for id in ids {
            let place = statement
                .query_row((id, Timestamp::now().0), |row| {
                    Ok(Place { project: row.get(0)?, branch: row.get(1)?, merged_into: row.get(2)? })
                })
                .optional()?;
            let Some(place) = place else { return Ok(None) };
            let home = |place: Place| place.merged_into.unwrap_or(place.project);
            common = match common {
                None => Some(place),
                Some(other) if other == place => Some(place),
                Some(other) if home(other) == home(place) => {
                    Some(Place { project: home(place), branch: None, merged_into: None })
                }
                Some(_) => return Ok(None),
            };
        }
        Ok(common)
    }

    /// Stores what was put together from some observations and puts those away. It has the uses of all of them, and is
    /// pinned if one of them was. Returns its id.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn consolidate(&self, new: &NewObservation<'_>, sources: &[i64]) -> Result<i64, StoreError> {
        let uid = new_uid();
        let id = self.insert_observation(new, &uid, &own_key(&uid))?;
        for source in sources {
            self.tx.execute("INSERT INTO sources (observation, source) VALUES (?1, ?2)", (id, source))?;
            self.set_status(*source, Status::Archived)?;
        }
        self.tx.execute(
            "UPDATE observations SET hit_count = of.hits, last_hit_at = of.last, pinned = of.pins
             FROM (SELECT sum(hit_count) AS hits, max(last_hit_at) AS last, max(pinned) AS pins FROM observations
                   WHERE id IN (SELECT source FROM sources WHERE observation = ?1)) of
             WHERE id = ?1",
            [id],
        )?;
        Ok(id)
    }

    /// Puts an observation away that was put together from others, and brings back those that were put away for it;
    /// returns them. Nothing happens to one that was not put together, or is put away itself.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn take_apart(&self, id: i64) -> Result<Vec<i64>, StoreError> {
        let mut statement = self.tx.prepare_cached(
            "SELECT s.source FROM sources s JOIN observations o ON o.id = s.source
             JOIN observations whole ON whole.id = s.observation
             WHERE s.observation = ?1 AND whole.status <> 'archived' AND o.status = 'archived'
               AND (o.expires_at IS NULL OR o.expires_at > ?2) ORDER BY o.id",
        )?;
        let sources: Vec<i64> =
            statement.query_map((id, Timestamp::now().0), |row| row.get(0))?.collect::<Result<_, _>>()?;
        if !sources.is_empty() {
            self.set_status(id, Status::Archived)?;
        }
        for source in &sources {
            self.set_status(*source, Status::Active)?;
        }
        Ok(sources)
    }
}

/// A key that no text has, so that what was put together may say just what one of its sources says.
pub(super) fn own_key(uid: &str) -> [u8; 32] {
    Sha256::new().chain_update(b"put together").chain_update(uid).finalize().into()
}
