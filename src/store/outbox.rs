//! The outbox: notices that wait to be sent, and what became of the others. A row is written with its observation
//! and claimed before it is sent, so that it goes out at most once, whenever its sender is killed.

use rusqlite::OptionalExtension;

use super::rows::{OBSERVATION_COLUMNS, observation};
use super::{Store, StoreError, Transaction};
use crate::model::{Observation, Timestamp};

/// A notice that was claimed: the caller sends it and settles it.
#[derive(Debug)]
pub struct Notice {
    /// Its row.
    pub id: i64,
    /// Attempts, this one among them.
    pub tries: u32,
    /// When its observation was stored.
    pub queued_at: Timestamp,
    /// What it is about.
    pub observation: Observation,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "reason and remedy are what `cmem doctor` says")]
pub enum Fate {
    /// It was delivered.
    Sent,
    /// It is tried again at `due_at`, and nothing to its destination before that if the server `held` it.
    Again { due_at: Timestamp, held: bool, reason: String, remedy: String },
    /// It is not tried again.
    GivenUp { reason: String, remedy: String },
}

/// The outbox of one destination, for `cmem status` and `cmem doctor`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoticeCount {
    /// `telegram` or `webhook`.
    pub destination: String,
    /// Notices that wait.
    pub pending: i64,
    /// Since when the oldest waits.
    pub oldest_at: Option<Timestamp>,
    /// Notices that were given up since the moment asked for.
    pub given_up: i64,
    /// When the last was given up.
    pub given_up_at: Option<Timestamp>,
    /// When the last was delivered.
    pub sent_at: Option<Timestamp>,
    /// Reason and remedy of the last failure of those that wait or were given up.
    pub failure: Option<(String, String)>,
}

impl Transaction<'_> {
    /// Queues the notice of an observation that this transaction stored.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn queue_notice(
        &self,
        observation: i64,
        destination: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO notices (observation, destination, queued_at, due_at, changed_at)
                 VALUES (?1, ?2, ?3, ?3, ?3) ON CONFLICT DO NOTHING",
            )?
            .execute((observation, destination, now.0))?;
        Ok(())
    }
}

impl Store {
    /// Claims the notice to a destination that has been due for longest. With `eager` the wait between attempts
    /// is cut short, but never one that the server asked for.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn claim_notice(
        &self,
        destination: &str,
        now: Timestamp,
        eager: bool,
    ) -> Result<Option<Notice>, StoreError> {
        let claimed: Option<(i64, i64, u32, i64)> = self
            .conn
            .prepare_cached(
                "UPDATE notices SET state = 'sending', tries = tries + 1, changed_at = ?2 WHERE id = (
                   SELECT id FROM notices WHERE destination = ?1 AND state = 'pending' AND (due_at <= ?2 OR ?3)
                     AND NOT EXISTS (SELECT 1 FROM notices WHERE destination = ?1 AND state = 'pending'
                                     AND held = 1 AND due_at > ?2)
                   ORDER BY due_at, id LIMIT 1)
                 RETURNING id, observation, tries, queued_at",
            )?
            .query_row((destination, now.0, eager), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .optional()?;
        let Some((id, about, tries, queued_at)) = claimed else { return Ok(None) };
        let observation = self
            .conn
            .prepare_cached(&format!(
                "SELECT {OBSERVATION_COLUMNS} FROM observations o JOIN projects q ON q.id = o.project
                 LEFT JOIN projects m ON m.id = o.merged_into WHERE o.id = ?1"
            ))?
            .query_row([about], observation)?;
        Ok(Some(Notice { id, tries, queued_at: Timestamp(queued_at), observation }))
    }

    /// When the next notice to a destination is due; `None` when none waits.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn next_notice(&self, destination: &str) -> Result<Option<Timestamp>, StoreError> {
        let due: Option<i64> = self
            .conn
            .prepare_cached(
                "SELECT max(min(due_at), coalesce(max(due_at) FILTER (WHERE held = 1), 0))
                 FROM notices WHERE destination = ?1 AND state = 'pending'",
            )?
            .query_row([destination], |row| row.get(0))?;
        Ok(due.map(Timestamp))
    }

    /// Notes what became of a claimed notice.
    ///
    /// # Errors
    /// [`StoreError::Sql`]; it is not sent again then.
    pub fn settle_notice(&self, id: i64, fate: &Fate, now: Timestamp) -> Result<(), StoreError> {
        let (state, due_at, held, reason, remedy) = match fate {
            Fate::Sent => ("sent", now, false, None, None),
            Fate::Again { due_at, held, reason, remedy } => {
                ("pending", *due_at, *held, Some(reason), Some(remedy))
            }
            Fate::GivenUp { reason, remedy } => ("given_up", now, false, Some(reason), Some(remedy)),
        };
        self.conn
            .prepare_cached(
                "UPDATE notices SET state = ?2, due_at = ?3, held = ?4, reason = ?5, remedy = ?6, changed_at = ?7
                 WHERE id = ?1",
            )?
            .execute((id, state, due_at.0, held, reason, remedy, now.0))?;
        Ok(())
    }

    /// Gives up what a sender that was killed left claimed: whether it went out cannot be known. The caller is the
    /// only sender.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn give_up_claimed(&self, reason: &str, remedy: &str, now: Timestamp) -> Result<(), StoreError> {
        self.conn.execute(
            "UPDATE notices SET state = 'given_up', reason = ?1, remedy = ?2, changed_at = ?3
             WHERE state = 'sending'",
            (reason, remedy, now.0),
        )?;
        Ok(())
    }

    /// Gives up what waits for a destination since before a moment.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn give_up_pending(
        &self,
        destination: &str,
        before: Timestamp,
        (reason, remedy): (&str, &str),
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.conn.execute(
            "UPDATE notices SET state = 'given_up', reason = ?3, remedy = ?4, changed_at = ?5
             WHERE destination = ?1 AND state = 'pending' AND queued_at < ?2",
            (destination, before.0, reason, remedy, now.0),
        )?;
        Ok(())
    }

    /// The outbox of each destination that was ever used; of what was given up, only that since then.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn notices(&self, since: Timestamp) -> Result<Vec<NoticeCount>, StoreError> {
        let mut statement = self.conn.prepare(
            "SELECT destination, count(*) FILTER (WHERE state IN ('pending', 'sending')),
               min(queued_at) FILTER (WHERE state IN ('pending', 'sending')),
               count(*) FILTER (WHERE state = 'given_up' AND changed_at >= ?1),
               max(changed_at) FILTER (WHERE state = 'given_up' AND changed_at >= ?1),
               max(changed_at) FILTER (WHERE state = 'sent')
             FROM notices GROUP BY destination ORDER BY destination",
        )?;
        let time = |row: &rusqlite::Row<'_>, at| {
            Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(at)?.map(Timestamp))
        };
        let counts = statement.query_map([since.0], |row| {
            Ok(NoticeCount {
                destination: row.get(0)?,
                pending: row.get(1)?,
                oldest_at: time(row, 2)?,
                given_up: row.get(3)?,
                given_up_at: time(row, 4)?,
                sent_at: time(row, 5)?,
                failure: None,
            })
        })?;
        let mut counts = counts.collect::<Result<Vec<_>, _>>()?;
        for count in &mut counts {
            count.failure = self
                .conn
                .prepare_cached(
                    "SELECT reason, remedy FROM notices WHERE destination = ?1 AND reason IS NOT NULL
                       AND (state = 'pending' OR (state = 'given_up' AND changed_at >= ?2))
                     ORDER BY changed_at DESC, id DESC LIMIT 1",
                )?
                .query_row((&count.destination, since.0), |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
        }
        Ok(counts)
    }
}
