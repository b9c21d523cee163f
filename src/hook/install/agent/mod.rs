//! Registration with an agent other than Claude Code: hooks and the MCP server, in files that belong to somebody else.

mod block;
mod hooks;
mod server;
mod table;

use std::env;
use std::path::{Path, PathBuf};

use self::table::{Part, Target};
use super::document::Document;
use super::plan::Change;
use super::{InstallError, Scope, file};
use crate::model::Platform;

/// The changes of one file of an agent, computed and not yet made.
#[derive(Debug)]
pub struct AgentPlan {
    path: PathBuf,
    old: Option<String>,
    /// `None` = nothing would be left in it.
    new: Option<String>,
    changes: Vec<Change>,
    /// The programs that stand in it as cmem.
    programs: Vec<String>,
}

/// What is asked of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Install,
    Uninstall,
}

impl AgentPlan {
    /// What registering `program` with an agent changes, file by file.
    ///
    /// # Errors
    /// [`InstallError`] when a file cannot be read or understood, or the agent has no such scope.
    pub fn install(
        platform: Platform,
        scope: Scope,
        cwd: &Path,
        program: &str,
    ) -> Result<Vec<Self>, InstallError> {
        Self::all(platform, scope, cwd, program, Wish::Install)
    }

    /// What taking all of it out again changes.
    ///
    /// # Errors
    /// As [`AgentPlan::install`].
    pub fn uninstall(
        platform: Platform,
        scope: Scope,
        cwd: &Path,
        program: &str,
    ) -> Result<Vec<Self>, InstallError> {
        Self::all(platform, scope, cwd, program, Wish::Uninstall)
    }

    fn all(
        platform: Platform,
        scope: Scope,
        cwd: &Path,
        program: &str,
        wish: Wish,
    ) -> Result<Vec<Self>, InstallError> {
        let targets = table::targets(platform, scope, cwd, program)?;
        targets.into_iter().map(|target| Self::new(target, (platform, program), wish)).collect()
    }

    fn new(target: Target, by: (Platform, &str), wish: Wish) -> Result<Self, InstallError> {
        let Target { path, parts, comments } = target;
        let old = file::read(&path)?;
        let mut plan = Self { path, old, new: None, changes: Vec::new(), programs: Vec::new() };
        match parts.as_slice() {
            [Part::File { what, text }] => plan.own_file(what, text, wish),
            [Part::Block { text }] => plan.block(text, wish),
            [Part::Table { value }] => plan.table(value, wish)?,
            parts => plan.json(parts, comments, by, wish)?,
        }
        Ok(plan)
    }

    fn own_file(&mut self, what: &str, text: &str, wish: Wish) {
        let (event, command) = (what.to_owned(), self.path.display().to_string());
        self.programs.extend(self.old.as_deref().and_then(server::program_in));
        match (wish, &self.old) {
            (Wish::Install, Some(old)) if old == text => {}
            (Wish::Install, Some(_)) => {
                self.changes.push(Change::Update { event, from: command.clone(), to: command });
            }
            (Wish::Install, None) => self.changes.push(Change::Add { event, command }),
            (Wish::Uninstall, Some(_)) => self.changes.push(Change::Remove { event, command }),
            (Wish::Uninstall, None) => {}
        }
        self.new = (wish == Wish::Install).then(|| text.to_owned());
    }

    fn block(&mut self, text: &str, wish: Wish) {
        let old = self.old.as_deref().unwrap_or_default();
        let wanted = (wish == Wish::Install).then_some(text);
        let new = block::with(old, wanted);
        if new != old {
            let (event, command) = (String::from("instructions"), block::OPEN.to_owned());
            self.changes.push(match (wanted, block::holds(old)) {
                (Some(_), true) => Change::Update { event, from: command.clone(), to: command },
                (Some(_), false) => Change::Add { event, command },
                (None, _) => Change::Remove { event, command },
            });
        }
        self.new = Some(new).filter(|text| !text.trim().is_empty());
    }

    fn table(&mut self, value: &serde_json::Value, wish: Wish) -> Result<(), InstallError> {
        let old = self.old.as_deref().unwrap_or_default();
        let wanted = (wish == Wish::Install).then_some(value);
        let table = server::in_toml(old, wanted)
            .map_err(|reason| InstallError::Toml { path: self.path.clone(), reason })?;
        self.programs.extend(table.program);
        self.changes.extend(table.change);
        self.new = Some(table.text).filter(|text| !text.trim().is_empty());
        Ok(())
    }

    fn json(
        &mut self,
        parts: &[Part],
        comments: bool,
        (platform, program): (Platform, &str),
        wish: Wish,
    ) -> Result<(), InstallError> {
        let unusable = |reason: String| InstallError::Parse { path: self.path.clone(), reason };
        let wrong = |(part, wanted)| InstallError::Shape { path: self.path.clone(), part, wanted };
        let old = self.old.as_deref().unwrap_or_default();
        let parsed = if comments { Document::parse_with_comments(old) } else { Document::parse(old) };
        let mut document = parsed.map_err(|error| unusable(error.to_string()))?;
        if !document.value().is_object() {
            return Err(wrong((String::from("the file"), "an object")));
        }
        for part in parts {
            match part {
                Part::Hooks { .. } => {
                    let own = hooks::own(&document, program).map_err(wrong)?;
                    self.programs.extend(own.into_iter().map(|entry| entry.program));
                }
                Part::Server { servers, .. } => self.programs.extend(server::in_json(&document, servers)),
                Part::Table { .. } | Part::File { .. } | Part::Block { .. } => {}
            }
        }
        for part in parts {
            let mut next = || match (part, wish) {
                (Part::Hooks { form, events }, Wish::Install) => {
                    hooks::install(&mut document, (*form, events), (platform, program))
                }
                (Part::Hooks { .. }, Wish::Uninstall) => hooks::uninstall(&mut document, program),
                (Part::Server { servers, value }, wish) => {
                    let wanted = (wish == Wish::Install).then_some(value);
                    server::change_json(&mut document, servers, wanted)
                }
                (Part::Table { .. } | Part::File { .. } | Part::Block { .. }, _) => Ok(None),
            };
            // One change at a time: each moves the places of the others.
            while let Some(change) = next().map_err(wrong)? {
                self.changes.push(change);
            }
        }
        let is_left_over = wish == Wish::Uninstall
            && document.value().as_object().is_some_and(|rest| rest.keys().all(|key| key == "version"));
        self.new = (!is_left_over).then(|| document.text().to_owned());
        Ok(())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What will change; empty when everything is as it should be.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The programs that stand in the file as cmem.
    pub fn programs(&self) -> &[String] {
        &self.programs
    }

    /// Writes the file at once, with a backup of the old one beside it, or removes it when nothing but ours was in it.
    /// Writes nothing without changes. Returns the path of the backup.
    ///
    /// # Errors
    /// [`InstallError::Write`], or [`InstallError::Changed`] when the file is no longer what was read.
    pub fn apply(&self) -> Result<Option<PathBuf>, InstallError> {
        match (&self.new, &self.old) {
            _ if self.changes.is_empty() => Ok(None),
            (Some(new), old) => file::replace(&self.path, old.as_deref(), new),
            (None, Some(old)) => file::remove(&self.path, old).map(|()| None),
            (None, None) => Ok(None),
        }
    }
}

/// Whether the agent is there: one of its programs is on the PATH.
pub fn is_installed(platform: Platform) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .any(|folder| table::programs(platform).iter().any(|program| folder.join(program).is_file()))
}

#[cfg(test)]
mod tests;
