//! Records as they are taken along: pointers as uids, projects by their name.

use rusqlite::{OptionalExtension, Row};

use super::{Store, StoreError, rows};
use crate::model::{
    BranchName, CarriedBranch, CarriedObservation, CarriedProject, CarriedPrompt, CarriedSession,
    CarriedSummary, Status, SummaryDraft, Timestamp,
};

impl Store {
    /// Begins to read: until the answer is dropped, the memory stays as it is for this connection.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn snapshot(&self) -> Result<rusqlite::Transaction<'_>, StoreError> {
        Ok(self.conn.unchecked_transaction()?)
    }

    /// Which memory this is, among all there are.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn identity(&self) -> Result<String, StoreError> {
        Ok(self.conn.query_row("SELECT id FROM identity", [], |row| row.get(0))?)
    }

    /// Some projects, main checkouts first, by name.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn carried_projects(&self, ids: &[i64]) -> Result<Vec<CarriedProject>, StoreError> {
        let sql = "SELECT name, key, worktree, root, remote, created_at FROM projects WHERE id IN (?ids)";
        let mut projects = self.of_ids(ids, sql, &[], |row| {
            Ok(CarriedProject {
                name: row.get(0)?,
                key: row.get(1)?,
                worktree: row.get(2)?,
                root: row.get(3)?,
                remote: row.get(4)?,
                aliases: Vec::new(),
                created_at: Timestamp(row.get(5)?),
            })
        })?;
        for project in projects.iter_mut().filter(|project| project.worktree.is_empty()) {
            project.aliases = self.spellings(&project.key)?;
        }
        projects.sort_by(|a, b| (!a.worktree.is_empty(), &a.name).cmp(&(!b.worktree.is_empty(), &b.name)));
        Ok(projects)
    }

    /// The branches of some projects, by project and name.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn carried_branches(&self, projects: &[i64]) -> Result<Vec<CarriedBranch>, StoreError> {
        let sql = "SELECT q.name, b.name, b.born, b.base, b.head, b.own, m.name, b.matched_by, b.reason, b.adopted_at,
                     b.held
                   FROM branches b JOIN projects q ON q.id = b.project LEFT JOIN projects m ON m.id = b.adopted_into
                   WHERE b.project IN (?ids)";
        let mut branches = self.of_ids(projects, sql, &[], |row| {
            Ok(CarriedBranch {
                project: row.get(0)?,
                name: BranchName { name: row.get(1)?, born: row.get(2)? },
                base: row.get(3)?,
                head: row.get(4)?,
                own: row.get(5)?,
                adopted_into: row.get(6)?,
                matched_by: row.get(7)?,
                reason: row.get(8)?,
                adopted_at: rows::time(row, 9)?,
                held: row.get(10)?,
            })
        })?;
        // Of two of one name the younger one was recorded last, and is taken in last.
        branches.sort_by(|a, b| {
            (&a.project, &a.name.name, &a.name.born).cmp(&(&b.project, &b.name.name, &b.name.born))
        });
        Ok(branches)
    }

    /// The sessions in some projects, by session and project.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn carried_sessions(&self, projects: &[i64]) -> Result<Vec<CarriedSession>, StoreError> {
        let sql = "SELECT s.session, q.name, s.branch, s.head_start, s.head_last, s.started_at, s.last_at,
                     s.platform
                   FROM sessions s JOIN projects q ON q.id = s.project WHERE s.project IN (?ids)";
        let mut sessions = self.of_ids(projects, sql, &[], |row| {
            Ok(CarriedSession {
                session: row.get(0)?,
                project: row.get(1)?,
                branch: row.get(2)?,
                head_start: row.get(3)?,
                head_last: row.get(4)?,
                started_at: Timestamp(row.get(5)?),
                last_at: Timestamp(row.get(6)?),
                platform: rows::platform(row, 7)?.unwrap_or_default(),
            })
        })?;
        sessions.sort_by(|a, b| (&a.session, &a.project).cmp(&(&b.session, &b.project)));
        Ok(sessions)
    }

    /// An observation; `None` = there is none of this id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) fn carried_observation(&self, id: i64) -> Result<Option<CarriedObservation>, StoreError> {
        let sql = format!(
            "SELECT {}, o.uid, q.name, b.name, b.born, m.name, o.priority, o.pinned, o.status, later.uid,
               o.expires_at, o.hit_count, o.last_hit_at, o.source, o.session, o.prompt_number, o.agent, o.model,
               o.tokens_spent, o.created_at, o.updated_at
             FROM observations o JOIN projects q ON q.id = o.project
               LEFT JOIN projects m ON m.id = o.merged_into LEFT JOIN branches b ON b.id = o.branch
               LEFT JOIN observations later ON later.id = o.superseded_by
             WHERE o.id = ?1",
            rows::DRAFT_COLUMNS
        );
        let found = self.conn.prepare_cached(&sql)?.query_row([id], observation).optional()?;
        let Some(mut found) = found else { return Ok(None) };
        let uids = |sql: &str| -> Result<Vec<String>, StoreError> {
            let mut statement = self.conn.prepare_cached(sql)?;
            Ok(statement.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?)
        };
        found.contests = uids(
            "SELECT o.uid FROM contested c JOIN observations o ON o.id = c.old WHERE c.observation = ?1 ORDER BY o.uid",
        )?;
        found.sources = uids(
            "SELECT o.uid FROM sources s JOIN observations o ON o.id = s.source WHERE s.observation = ?1 ORDER BY o.uid",
        )?;
        found.revisions = rows::revisions(&self.conn, id)?;
        Ok(Some(found))
    }

    /// The state of the record of a uid; summaries and prompts are always in use. `None` = there is none.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn status_of_uid(&self, uid: &str) -> Result<Option<Status>, StoreError> {
        let sql = "SELECT status FROM observations WHERE uid = ?1 UNION ALL
                   SELECT 'active' FROM summaries WHERE uid = ?1 UNION ALL
                   SELECT 'active' FROM prompts WHERE uid = ?1";
        Ok(self.conn.prepare_cached(sql)?.query_row([uid], |row| rows::word(row, 0)).optional()?)
    }

    /// A summary; `None` = there is none of this id.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn carried_summary(&self, id: i64) -> Result<Option<CarriedSummary>, StoreError> {
        let sql = "SELECT s.uid, q.name, b.name, b.born, m.name, s.session, s.prompt_number, s.request, s.investigated,
                     s.learned, s.completed, s.next_steps, s.notes, s.model, s.created_at
                   FROM summaries s JOIN projects q ON q.id = s.project LEFT JOIN projects m ON m.id = s.merged_into
                     LEFT JOIN branches b ON b.id = s.branch
                   WHERE s.id = ?1";
        let read = |row: &Row<'_>| {
            Ok(CarriedSummary {
                uid: row.get(0)?,
                project: row.get(1)?,
                branch: branch(row, 2)?,
                merged_into: row.get(4)?,
                session: row.get(5)?,
                prompt_number: row.get(6)?,
                text: SummaryDraft {
                    request: row.get(7)?,
                    investigated: row.get(8)?,
                    learned: row.get(9)?,
                    completed: row.get(10)?,
                    next_steps: row.get(11)?,
                    notes: row.get(12)?,
                },
                model: row.get(13)?,
                created_at: Timestamp(row.get(14)?),
            })
        };
        Ok(self.conn.prepare_cached(sql)?.query_row([id], read).optional()?)
    }

    /// A prompt; `None` = there is none of this id.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn carried_prompt(&self, id: i64) -> Result<Option<CarriedPrompt>, StoreError> {
        let sql = "SELECT p.uid, q.name, b.name, b.born, m.name, p.session, p.number, p.text, p.created_at
                   FROM prompts p JOIN projects q ON q.id = p.project LEFT JOIN projects m ON m.id = p.merged_into
                     LEFT JOIN branches b ON b.id = p.branch
                   WHERE p.id = ?1";
        let read = |row: &Row<'_>| {
            Ok(CarriedPrompt {
                uid: row.get(0)?,
                project: row.get(1)?,
                branch: branch(row, 2)?,
                merged_into: row.get(4)?,
                session: row.get(5)?,
                number: row.get(6)?,
                text: row.get(7)?,
                created_at: Timestamp(row.get(8)?),
            })
        };
        Ok(self.conn.prepare_cached(sql)?.query_row([id], read).optional()?)
    }
}

fn observation(row: &Row<'_>) -> rusqlite::Result<CarriedObservation> {
    Ok(CarriedObservation {
        text: rows::draft(row)?,
        uid: row.get(9)?,
        project: row.get(10)?,
        branch: branch(row, 11)?,
        merged_into: row.get(13)?,
        priority: rows::word(row, 14)?,
        pinned: row.get(15)?,
        status: rows::word(row, 16)?,
        superseded_by: row.get(17)?,
        contests: Vec::new(),
        sources: Vec::new(),
        expires_at: rows::time(row, 18)?,
        hit_count: row.get(19)?,
        last_hit_at: rows::time(row, 20)?,
        source: rows::word(row, 21)?,
        session: row.get(22)?,
        prompt_number: row.get(23)?,
        agent: row.get(24)?,
        model: row.get(25)?,
        tokens_spent: row.get(26)?,
        created_at: Timestamp(row.get(27)?),
        updated_at: Some(Timestamp(row.get(28)?)),
        revisions: Vec::new(),
    })
}

fn branch(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<BranchName>> {
    let name: Option<String> = row.get(column)?;
    let born: Option<String> = row.get(column + 1)?;
    Ok(name.zip(born).map(|(name, born)| BranchName { name, born }))
}
