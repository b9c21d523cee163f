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
    new: String,
    /// Nothing would be left in it.
    is_empty: bool,
    changes: Vec<Change>,
    /// The programs that stand in it as cmem.
    programs: Vec<String>,
    wish: Wish,
    /// Something of ours is in it already.
    holds_ours: bool,
    /// The folder that stays, whatever becomes empty in it.
    top: PathBuf,
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
        Self::each(platform, scope, cwd, program, wish)?.into_iter().collect()
    }

    /// As [`AgentPlan::install`], with what became of each file.
    ///
    /// # Errors
    /// [`InstallError`] when the agent has no such scope.
    pub fn inspect(
        platform: Platform,
        scope: Scope,
        cwd: &Path,
        program: &str,
    ) -> Result<Vec<Result<Self, InstallError>>, InstallError> {
        Self::each(platform, scope, cwd, program, Wish::Install)
    }

    fn each(
        platform: Platform,
        scope: Scope,
        cwd: &Path,
        program: &str,
        wish: Wish,
    ) -> Result<Vec<Result<Self, InstallError>>, InstallError> {
        let targets = table::targets(platform, scope, cwd, program)?;
        let top = table::top(platform, scope, cwd);
        Ok(targets.into_iter().map(|target| Self::new(target, &top, (platform, program), wish)).collect())
    }

    fn new(target: Target, top: &Path, by: (Platform, &str), wish: Wish) -> Result<Self, InstallError> {
        let Target { path, parts, comments } = target;
        let old = file::read(&path)?;
        let mut plan = Self {
            path,
            old,
            new: String::new(),
            is_empty: false,
            changes: Vec::new(),
            programs: Vec::new(),
            wish,
            holds_ours: false,
            top: top.to_owned(),
        };
        match parts.as_slice() {
            [Part::File { what, text, is_own }] => plan.own_file(what, text, *is_own)?,
            [Part::Block { text, head }] => plan.block(text, head)?,
            [Part::Table { value }] => plan.table(value, by.1)?,
            parts => plan.json(parts, comments, by)?,
        }
        plan.holds_ours |= !plan.programs.is_empty();
        Ok(plan)
    }

    fn own_file(&mut self, what: &str, text: &str, is_own: fn(&str) -> bool) -> Result<(), InstallError> {
        if self.old.as_deref().is_some_and(|old| !is_own(old)) {
            return match self.wish {
                Wish::Install => Err(self.wrong((String::from("the file"), server::OURS))),
                Wish::Uninstall => Ok(()),
            };
        }
        let (event, command) = (what.to_owned(), self.path.display().to_string());
        self.programs.extend(self.old.as_deref().and_then(server::program_in));
        self.holds_ours = self.old.is_some();
        let wish = self.wish;
        match (wish, &self.old) {
            (Wish::Install, Some(old)) if old == text => {}
            (Wish::Install, Some(_)) => {
                self.changes.push(Change::Update { event, from: command.clone(), to: command });
            }
            (Wish::Install, None) => self.changes.push(Change::Add { event, command }),
            (Wish::Uninstall, Some(_)) => self.changes.push(Change::Remove { event, command }),
            (Wish::Uninstall, None) => {}
        }
        match wish {
            Wish::Install => text.clone_into(&mut self.new),
            Wish::Uninstall => self.is_empty = true,
        }
        Ok(())
    }

    fn wrong(&self, (part, wanted): (String, &'static str)) -> InstallError {
        InstallError::Shape { path: self.path.clone(), part, wanted }
    }

    fn block(&mut self, text: &str, head: &str) -> Result<(), InstallError> {
        let wanted = (self.wish == Wish::Install).then_some(text);
        let old = match &self.old {
            Some(old) => old.as_str(),
            None => head,
        };
        if block::is_torn(old) {
            return Err(self.wrong((block::OPEN.to_owned(), block::CLOSED)));
        }
        self.holds_ours = block::holds(old);
        let new = block::with(old, wanted);
        if new != old {
            let (event, command) = (String::from("instructions"), block::OPEN.to_owned());
            self.changes.push(match (wanted, block::holds(old)) {
                (Some(_), true) => Change::Update { event, from: command.clone(), to: command },
                (Some(_), false) => Change::Add { event, command },
                (None, _) => Change::Remove { event, command },
            });
        }
        self.is_empty = new.trim().is_empty() || new.trim() == head.trim();
        self.new = new;
        Ok(())
    }

    fn table(&mut self, value: &serde_json::Value, program: &str) -> Result<(), InstallError> {
        let old = self.old.as_deref().unwrap_or_default();
        let wanted = (self.wish == Wish::Install).then_some(value);
        let table = server::in_toml(old, wanted, program)
            .map_err(|reason| InstallError::Toml { path: self.path.clone(), reason })?;
        if let (Wish::Install, Some(part)) = (self.wish, table.foreign) {
            return Err(self.wrong((part, server::OURS)));
        }
        self.programs.extend(table.program);
        self.changes.extend(table.change);
        self.is_empty = table.text.trim().is_empty();
        self.new = table.text;
        Ok(())
    }

    fn json(
        &mut self,
        parts: &[Part],
        comments: bool,
        (platform, program): (Platform, &str),
    ) -> Result<(), InstallError> {
        let wish = self.wish;
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
                Part::Server { servers, .. } => {
                    self.programs.extend(server::in_json(&document, servers, program));
                }
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
                    server::change_json(&mut document, servers, wanted, program)
                }
                (Part::Table { .. } | Part::File { .. } | Part::Block { .. }, _) => Ok(None),
            };
            // One change at a time: each moves the places of the others.
            while let Some(change) = next().map_err(wrong)? {
                self.changes.push(change);
            }
        }
        self.is_empty = wish == Wish::Uninstall
            && !document.has_comments()
            && document.value().as_object().is_some_and(|rest| rest.keys().all(|key| key == "version"));
        document.text().clone_into(&mut self.new);
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

    /// Writes the file at once. Beside it the file is kept as it was before anything of ours; taking cmem out removes that,
    /// and the file with it when nothing but ours was ever in it. Writes nothing without changes. Returns the path of a
    /// new backup.
    ///
    /// # Errors
    /// [`InstallError::Write`], or [`InstallError::Changed`] when the file is no longer what was read.
    pub fn apply(&self) -> Result<Option<PathBuf>, InstallError> {
        let old = self.old.as_deref();
        match (self.wish, old) {
            (Wish::Uninstall, Some(old)) if !self.changes.is_empty() => self.take_out(old)?,
            (Wish::Install, _) if self.changes.is_empty() => return Ok(None),
            (Wish::Install, _) if !self.holds_ours => return file::replace(&self.path, old, &self.new),
            (Wish::Install, _) => {
                return file::replace_without_backup(&self.path, old, &self.new).map(|()| None);
            }
            (Wish::Uninstall, _) => {}
        }
        file::remove_backup(&self.path).map(|()| None)
    }

    fn take_out(&self, old: &str) -> Result<(), InstallError> {
        // A file that was there before, or lies elsewhere, is not ours to remove.
        let stays = !self.is_empty || self.path.is_symlink() || file::has_backup(&self.path);
        match stays {
            true => file::replace_without_backup(&self.path, Some(old), &self.new),
            false => file::remove(&self.path, old, &self.top),
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
