//! Which project here a project elsewhere is.

use std::collections::{HashMap, HashSet};

use crate::git;
use crate::model::{CarriedProject, Identity, Timestamp};
use crate::store::{MainProject, RestoredProject, StoreError, Transaction};

/// Projects elsewhere, by their names there, with their counterparts here.
#[derive(Debug, Default)]
pub(super) struct Places {
    here: Option<Identity>,
    known: HashMap<String, i64>,
    /// Keys of main checkouts: there and here.
    keys: HashMap<String, String>,
    /// Projects of this import: two checkouts of one repository there stay two.
    made: HashSet<i64>,
    /// Names that came up since the last [`Places::settle`].
    fresh: Vec<String>,
}

impl Places {
    /// `here` is where the user stands: a checkout that was not seen yet may be the one.
    pub(super) fn new(here: Option<Identity>) -> Self {
        Self { here, ..Self::default() }
    }

    /// How many were made.
    pub(super) fn made(&self) -> u64 {
        self.made.len() as u64
    }

    /// What was found since the last time holds, or was taken back.
    pub(super) fn settle(&mut self, holds: bool) {
        for name in self.fresh.drain(..) {
            if !holds && let Some(id) = self.known.remove(&name) {
                self.made.remove(&id);
            }
        }
    }

    /// Finds or makes the counterpart of a project: the same place with the same remote, else the one with the same
    /// remote, else a new one.
    pub(super) fn take(&mut self, tx: &Transaction<'_>, project: &CarriedProject) -> Result<(), StoreError> {
        let before = tx.main_projects()?;
        let id = if project.worktree.is_empty() {
            self.main(tx, project, &before)?
        } else {
            let key = match self.keys.get(&project.key) {
                Some(key) => key.clone(),
                None => tx.meaning(&project.key)?,
            };
            make(tx, project, &key)?
        };
        self.learn(&project.name, id);
        Ok(())
    }

    /// The counterpart of a name; a known project of that name, or a new one, if the name was never explained.
    pub(super) fn named(&mut self, tx: &Transaction<'_>, name: &str) -> Result<i64, StoreError> {
        if let Some(id) = self.known.get(name) {
            return Ok(*id);
        }
        let id = match tx.place_by_name(name)? {
            Some(place) => place.project,
            None => {
                let key = format!("import:{name}");
                let project = RestoredProject {
                    key: &key,
                    worktree: "",
                    name,
                    root: &key,
                    remote: None,
                    created_at: Timestamp::now(),
                };
                let id = tx.restore_project(&project)?;
                self.made.insert(id);
                id
            }
        };
        self.learn(name, id);
        Ok(id)
    }

    fn learn(&mut self, name: &str, id: i64) {
        if self.known.insert(name.to_owned(), id).is_none() {
            self.fresh.push(name.to_owned());
        }
    }

    fn main(
        &mut self,
        tx: &Transaction<'_>,
        project: &CarriedProject,
        here: &[MainProject],
    ) -> Result<i64, StoreError> {
        let (id, key) = match self.find(tx, project, here)? {
            Some(found) => found,
            None => {
                let taken = here.iter().any(|other| other.key == project.key);
                let key = match &project.remote {
                    _ if !taken && !project.key.is_empty() => project.key.clone(),
                    Some(remote) => format!("remote:{}", git::remote_id(remote)),
                    None => format!("import:{}", project.name),
                };
                let id = make(tx, project, &key)?;
                self.made.insert(id);
                (id, key)
            }
        };
        if key == project.key {
            for alias in &project.aliases {
                let is_known = here.iter().any(|other| other.key == *alias) || tx.meaning(alias)? != *alias;
                if !is_known {
                    tx.alias(alias, &key)?;
                }
            }
        }
        self.keys.insert(project.key.clone(), key);
        Ok(id)
    }

    /// Its id and key here.
    fn find(
        &self,
        tx: &Transaction<'_>,
        project: &CarriedProject,
        here: &[MainProject],
    ) -> Result<Option<(i64, String)>, StoreError> {
        let with_key = |key: &str| here.iter().find(|other| other.key == key);
        let remote = project.remote.as_deref().map(git::remote_id);
        let other_remote = |other: &MainProject| other.remote.as_deref().map(git::remote_id);
        // A path alone says little: in containers every repository lies at the same.
        let at_its_place = with_key(&tx.meaning(&project.key)?)
            .filter(|other| remote.is_none() || other.remote.is_none() || other_remote(other) == remote);
        if let Some(found) = at_its_place {
            return Ok(Some((found.id, found.key.clone())));
        }
        let Some(remote) = remote else { return Ok(None) };
        let mut same: Vec<&MainProject> = here
            .iter()
            .filter(|other| !self.made.contains(&other.id) && other_remote(other).as_ref() == Some(&remote))
            .collect();
        same.sort_by_key(|other| other.name != project.name);
        if let Some(found) = same.first() {
            // What was merged into another project stands for that one.
            let found = with_key(&tx.meaning(&found.key)?).unwrap_or(found);
            return Ok(Some((found.id, found.key.clone())));
        }
        // At the very same place it is made as it was there.
        let standing = self.here.as_ref().filter(|here| {
            here.worktree.is_none()
                && here.key != project.key
                && here.remote.as_deref().map(git::remote_id).as_ref() == Some(&remote)
        });
        standing.map(|here| Ok((tx.project(here)?, tx.meaning(&here.key)?))).transpose()
    }
}

fn make(tx: &Transaction<'_>, project: &CarriedProject, key: &str) -> Result<i64, StoreError> {
    tx.restore_project(&RestoredProject {
        key,
        worktree: &project.worktree,
        name: &project.name,
        root: if project.root.is_empty() { key } else { &project.root },
        remote: project.remote.as_deref(),
        created_at: if project.created_at.0 == 0 { Timestamp::now() } else { project.created_at },
    })
}
