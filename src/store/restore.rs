//! Records that were made elsewhere, kept as they were: with their uid, their times and their standing.

use rusqlite::OptionalExtension;

use super::consolidate::own_key;
use super::write::content_key;
use super::{Adoption, NewPrompt, NewSummary, Place, StoreError, Transaction};
use crate::model::{
    BranchName, CarriedBranch, CarriedSession, Draft, Priority, Revision, Source, Status, Timestamp,
};

/// An observation as it was elsewhere. What it points to is said afterwards, when that is there as well
/// ([`Transaction::point_to`]).
#[derive(Debug)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct Restored<'a> {
    pub uid: &'a str,
    pub place: Place,
    /// Its `supersedes` is not looked at.
    pub draft: &'a Draft,
    pub session: &'a str,
    pub prompt_number: Option<i64>,
    pub agent: Option<&'a str>,
    pub model: &'a str,
    pub tokens_spent: i64,
    pub source: Source,
    /// It was put together from others, and may say just what one of them says.
    pub put_together: bool,
    pub state: State,
    pub created_at: Timestamp,
}

/// What is not text of an observation, and changes in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct State {
    pub priority: Priority,
    pub pinned: bool,
    pub status: Status,
    pub expires_at: Option<Timestamp>,
    pub hit_count: i64,
    pub last_hit_at: Option<Timestamp>,
    pub updated_at: Timestamp,
}

/// What became of a record that was made elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It was added.
    New(i64),
    /// It was here already: nothing was changed.
    SameUid(i64),
    /// Another observation of the project says just that: nothing was changed.
    SameText(i64),
}

/// A project as it was elsewhere.
#[derive(Debug)]
#[expect(missing_docs, reason = "the columns of `projects`")]
pub struct RestoredProject<'a> {
    pub key: &'a str,
    pub worktree: &'a str,
    pub name: &'a str,
    pub root: &'a str,
    pub remote: Option<&'a str>,
    pub created_at: Timestamp,
}

/// A main checkout, or a directory outside git.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns of `projects`")]
pub struct MainProject {
    pub id: i64,
    pub key: String,
    pub name: String,
    pub remote: Option<String>,
}

/// One of the pointers between observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pointer {
    /// What took its place.
    SupersededBy,
    /// What it would take the place of.
    Contests,
    /// What it was put together from.
    Source,
}

impl Transaction<'_> {
    /// Adds an observation unless it is here, by uid or by what it says. `index::restore_observation` is what also
    /// makes it findable.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn restore_observation(&self, new: &Restored<'_>) -> Result<Kept, StoreError> {
        if let Some(id) = self.observation_of_uid(new.uid)? {
            return Ok(Kept::SameUid(id));
        }
        let (draft, state) = (new.draft, new.state);
        let key = match new.put_together {
            true => own_key(new.uid),
            false => content_key(&draft.title, &draft.narrative),
        };
        let same: Option<i64> = self
            .tx
            .prepare_cached("SELECT id FROM observations WHERE project = ?1 AND content_key = ?2")?
            .query_row((new.place.project, &key[..]), |row| row.get(0))
            .optional()?;
        if let Some(id) = same {
            return Ok(Kept::SameText(id));
        }
        self.tx
            .prepare_cached(
                "INSERT INTO observations (uid, project, branch, merged_into, type, title, subtitle, narrative, facts,
                   concepts, keywords, files_read, files_modified, priority, pinned, status, expires_at, hit_count,
                   last_hit_at, source, session, prompt_number, agent, model, tokens_spent, content_key, created_at,
                   updated_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
                   ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28)",
            )?
            .execute(rusqlite::params![
                new.uid,
                new.place.project,
                new.place.branch,
                new.place.merged_into,
                draft.r#type,
                draft.title,
                draft.subtitle,
                draft.narrative,
                serde_json::to_string(&draft.facts)?,
                serde_json::to_string(&draft.concepts)?,
                serde_json::to_string(&draft.keywords)?,
                serde_json::to_string(&draft.files_read)?,
                serde_json::to_string(&draft.files_modified)?,
                state.priority.name(),
                state.pinned,
                state.status.name(),
                state.expires_at.map(|at| at.0),
                state.hit_count,
                state.last_hit_at.map(|at| at.0),
                new.source.name(),
                new.session,
                new.prompt_number,
                new.agent,
                new.model,
                new.tokens_spent,
                &key[..],
                new.created_at.0,
                state.updated_at.0,
            ])?;
        Ok(Kept::New(self.tx.last_insert_rowid()))
    }

    /// Adds a prompt unless one of its uid is here.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn restore_prompt(&self, uid: &str, new: &NewPrompt<'_>) -> Result<Kept, StoreError> {
        match self.prompt_of_uid(uid)? {
            Some(id) => Ok(Kept::SameUid(id)),
            None => Ok(Kept::New(self.insert_prompt(uid, new)?)),
        }
    }

    /// Adds a summary unless one of its uid is here.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn restore_summary(&self, uid: &str, new: &NewSummary<'_>) -> Result<Kept, StoreError> {
        match self.summary_of_uid(uid)? {
            Some(id) => Ok(Kept::SameUid(id)),
            None => Ok(Kept::New(self.insert_summary(uid, new)?)),
        }
    }

    /// The observation of a uid.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn observation_of_uid(&self, uid: &str) -> Result<Option<i64>, StoreError> {
        self.id_of_uid("SELECT id FROM observations WHERE uid = ?1", uid)
    }

    /// The summary of a uid.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn summary_of_uid(&self, uid: &str) -> Result<Option<i64>, StoreError> {
        self.id_of_uid("SELECT id FROM summaries WHERE uid = ?1", uid)
    }

    /// The prompt of a uid.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn prompt_of_uid(&self, uid: &str) -> Result<Option<i64>, StoreError> {
        self.id_of_uid("SELECT id FROM prompts WHERE uid = ?1", uid)
    }

    fn id_of_uid(&self, sql: &str, uid: &str) -> Result<Option<i64>, StoreError> {
        Ok(self.tx.prepare_cached(sql)?.query_row([uid], |row| row.get(0)).optional()?)
    }

    /// The project at a key and worktree, made with a name that no other has if there is none.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn restore_project(&self, project: &RestoredProject<'_>) -> Result<i64, StoreError> {
        let known: Option<i64> = self
            .tx
            .prepare_cached("SELECT id FROM projects WHERE key = ?1 AND worktree = ?2")?
            .query_row((project.key, project.worktree), |row| row.get(0))
            .optional()?;
        if let Some(id) = known {
            return Ok(id);
        }
        let name = self.free_name(project.name, project.root)?;
        self.tx
            .prepare_cached(
                "INSERT INTO projects (key, worktree, name, root, remote, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((
                project.key,
                project.worktree,
                name,
                project.root,
                project.remote,
                project.created_at.0,
            ))?;
        Ok(self.tx.last_insert_rowid())
    }

    /// Every main checkout and directory outside git.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn main_projects(&self) -> Result<Vec<MainProject>, StoreError> {
        let sql = "SELECT id, key, name, remote FROM projects WHERE worktree = '' ORDER BY id";
        let mut statement = self.tx.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| {
            Ok(MainProject { id: row.get(0)?, key: row.get(1)?, name: row.get(2)?, remote: row.get(3)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The branch of a project, with the project into which it was adopted; made if it is new.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn branch_named(&self, project: i64, branch: &BranchName) -> Result<(i64, Option<i64>), StoreError> {
        self.tx
            .prepare_cached("INSERT OR IGNORE INTO branches (project, name, born) VALUES (?1, ?2, ?3)")?
            .execute((project, &branch.name, &branch.born))?;
        let sql = "SELECT id, adopted_into FROM branches WHERE project = ?1 AND name = ?2 AND born = ?3";
        Ok(self
            .tx
            .prepare_cached(sql)?
            .query_row((project, &branch.name, &branch.born), |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// Keeps what is known elsewhere of a branch, and its adoption, where nothing is known here. One whose adoption was
    /// taken back here stays so.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn restore_branch(
        &self,
        project: i64,
        branch: &CarriedBranch,
        adopted_into: Option<i64>,
    ) -> Result<(), StoreError> {
        let known: Option<i64> = self
            .tx
            .prepare_cached("SELECT id FROM branches WHERE project = ?1 AND name = ?2 AND born = ?3")?
            .query_row((project, &branch.name.name, &branch.name.born), |row| row.get(0))
            .optional()?;
        let (id, adopted) = self.branch_named(project, &branch.name)?;
        self.tx
            .prepare_cached(
                "UPDATE branches SET base = coalesce(base, ?2), head = coalesce(head, ?3), own = coalesce(own, ?4),
                   held = CASE WHEN ?5 THEN ?6 ELSE held END WHERE id = ?1",
            )?
            .execute((id, &branch.base, &branch.head, &branch.own, known.is_none(), branch.held))?;
        let held: bool =
            self.tx.query_row("SELECT held FROM branches WHERE id = ?1", [id], |row| row.get(0))?;
        if let (None, Some(parent), false) = (adopted, adopted_into, held) {
            let why = Adoption {
                matched_by: branch.matched_by.clone().unwrap_or_default(),
                reason: branch.reason.clone().unwrap_or_default(),
            };
            self.adopt(id, parent, &why, branch.adopted_at.unwrap_or_default())?;
        }
        Ok(())
    }

    /// Notes that a session was in a project, as it was noted elsewhere.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn restore_session(&self, project: i64, session: &CarriedSession) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO sessions (session, project, branch, head_start, head_last, started_at, last_at,
                   platform)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (session, project) DO NOTHING",
            )?
            .execute((
                &session.session,
                project,
                &session.branch,
                &session.head_start,
                &session.head_last,
                session.started_at.0,
                session.last_at.0,
                session.platform.name(),
            ))?;
        Ok(())
    }

    /// Lets another project see an observation that belongs to no branch, unless one does already; tells whether that
    /// is a change.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn merge_loose(&self, id: i64, into: i64) -> Result<bool, StoreError> {
        let sql = "UPDATE observations SET merged_into = ?2
                   WHERE id = ?1 AND branch IS NULL AND merged_into IS NULL AND project <> ?2";
        Ok(self.tx.prepare_cached(sql)?.execute((id, into))? > 0)
    }

    /// Does all of something, or nothing of it.
    ///
    /// # Errors
    /// What `work` says; its changes are taken back then.
    pub fn attempt<T, E: From<StoreError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let run = |sql: &str| -> Result<(), StoreError> {
            self.tx.prepare_cached(sql)?.execute([])?;
            Ok(())
        };
        run("SAVEPOINT record")?;
        let outcome = work();
        if outcome.is_err() {
            run("ROLLBACK TO record")?;
        }
        run("RELEASE record")?;
        outcome
    }

    /// The standing of an observation.
    ///
    /// # Errors
    /// [`StoreError::Sql`], also when there is none of this id.
    pub fn state(&self, id: i64) -> Result<State, StoreError> {
        let sql = "SELECT priority, pinned, status, expires_at, hit_count, last_hit_at, updated_at FROM observations
                   WHERE id = ?1";
        Ok(self.tx.prepare_cached(sql)?.query_row([id], |row| {
            Ok(State {
                priority: super::rows::word(row, 0)?,
                pinned: row.get(1)?,
                status: super::rows::word(row, 2)?,
                expires_at: super::rows::time(row, 3)?,
                hit_count: row.get(4)?,
                last_hit_at: super::rows::time(row, 5)?,
                updated_at: Timestamp(row.get(6)?),
            })
        })?)
    }

    /// Replaces the standing of an observation. One that is no longer superseded, or no longer waits for review, points
    /// to nothing.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn set_state(&self, id: i64, state: State) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "UPDATE observations SET priority = ?2, pinned = ?3, status = ?4, expires_at = ?5, hit_count = ?6,
                   last_hit_at = ?7, updated_at = ?8,
                   superseded_by = CASE WHEN ?4 = 'superseded' THEN superseded_by END
                 WHERE id = ?1",
            )?
            .execute(rusqlite::params![
                id,
                state.priority.name(),
                state.pinned,
                state.status.name(),
                state.expires_at.map(|at| at.0),
                state.hit_count,
                state.last_hit_at.map(|at| at.0),
                state.updated_at.0,
            ])?;
        Ok(())
    }

    /// Lets one observation point to another; tells whether that is a change. A pointer is set where the standing
    /// asks for one and, unless `anew`, where there is none; none ever closes a circle or leaves its project.
    /// What such a pointer would put away is in use then: of two that replaced each other in two memories one stays.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn point_to(&self, pointer: Pointer, from: i64, to: i64, anew: bool) -> Result<bool, StoreError> {
        let sql = match pointer {
            Pointer::SupersededBy => {
                "UPDATE observations SET superseded_by = ?2
                 WHERE id = ?1 AND status = 'superseded' AND superseded_by IS NOT ?2
                   AND (superseded_by IS NULL OR ?3)
                   AND project = (SELECT project FROM observations WHERE id = ?2)
                   AND ?1 NOT IN (WITH RECURSIVE later (id) AS (SELECT ?2 UNION SELECT superseded_by
                     FROM observations JOIN later USING (id) WHERE superseded_by IS NOT NULL) SELECT id FROM later)"
            }
            Pointer::Contests => {
                "INSERT OR IGNORE INTO contested (observation, old)
                 SELECT a.id, b.id FROM observations a JOIN observations b ON b.project = a.project AND b.id <> a.id
                 WHERE a.id = ?1 AND b.id = ?2 AND a.status = 'review' AND ?3 IS NOT NULL"
            }
            Pointer::Source => {
                "INSERT OR IGNORE INTO sources (observation, source) SELECT ?1, ?2 WHERE ?1 <> ?2 AND ?3 IS NOT NULL"
            }
        };
        let changed = self.tx.prepare_cached(sql)?.execute((from, to, anew))? > 0;
        if pointer == Pointer::SupersededBy && !changed {
            let sql = "UPDATE observations SET status = 'active'
                       WHERE id = ?1 AND status = 'superseded' AND superseded_by IS NULL";
            self.tx.prepare_cached(sql)?.execute([from])?;
        }
        Ok(changed)
    }

    /// Keeps what an observation said elsewhere as one of its revisions, unless it says so or said so before; tells
    /// whether that is a change.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn add_revision(&self, id: i64, draft: &Draft, until: Timestamp) -> Result<bool, StoreError> {
        let draft = Draft { supersedes: Vec::new(), ..draft.clone() };
        let known = self.texts_of(id)? == draft || self.revisions(id)?.iter().any(|old| old.draft == draft);
        if known {
            return Ok(false);
        }
        self.insert_revision(id, &draft, until)?;
        Ok(true)
    }

    /// Keeps a revision as it was elsewhere.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn insert_revision(&self, id: i64, draft: &Draft, until: Timestamp) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("INSERT INTO revisions (observation, draft, until) VALUES (?1, ?2, ?3)")?
            .execute((id, serde_json::to_string(draft)?, until.0))?;
        Ok(())
    }

    /// What an observation said before, and until when; oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn revisions(&self, id: i64) -> Result<Vec<Revision>, StoreError> {
        super::rows::revisions(&self.tx, id)
    }
}
