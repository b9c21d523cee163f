//! Registration with the agent: a few entries in a settings file that belongs to somebody else.

pub mod agent;
mod command;
mod document;
mod file;
mod plan;
pub mod plugin;
mod version;

use std::env;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub use command::missing_program;
pub use plan::{Change, Plan};
pub use version::{NoVersion, installed_version};

use self::document::Document;
use super::agents::CLAUDE_CODE;
use crate::git;
use crate::model::Platform;

/// Which settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Scope {
    /// All your projects: settings.json in $CLAUDE_CONFIG_DIR or ~/.claude
    User,
    /// This repository, for everyone: .claude/settings.json in its root
    Project,
    /// This repository, for you alone: .claude/settings.local.json in its root
    Local,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        })
    }
}

/// Why a settings file was not read or changed. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Neither the agent's own variable nor a home directory says where its settings are.
    #[error("neither CLAUDE_CONFIG_DIR nor HOME is set")]
    NoHome,
    /// Nothing says where the settings of another agent are.
    #[error("HOME is not set")]
    NoUserFolder,
    /// The agent has no settings of this scope.
    #[error("{} has no {scope} scope", platform.title())]
    NoScope {
        /// The agent.
        platform: Platform,
        /// The scope that was asked for.
        scope: Scope,
    },
    /// A project is meant, and the working directory was removed.
    #[error("the current directory is gone")]
    NoDirectory,
    /// The file is not TOML; the reason names line and column.
    #[error("{path} is not valid TOML: {reason}")]
    Toml {
        /// The file.
        path: PathBuf,
        /// Where it stops making sense.
        reason: String,
    },
    /// The path of the running binary cannot be found, or is not text.
    #[error("the path of this program: {0}")]
    Program(String),
    /// The file is there and cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not JSON; the reason names line and column.
    #[error("{path} is not valid JSON: {reason}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where it stops making sense.
        reason: String,
    },
    /// The file is JSON, and its hooks have another shape than the agent documents.
    #[error("{path}: `{part}` is not {wanted}")]
    Shape {
        /// The file.
        path: PathBuf,
        /// The part of it.
        part: String,
        /// What it should be.
        wanted: &'static str,
    },
    /// The file, its backup or its folder cannot be written.
    #[error("{path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else changed the file meanwhile.
    #[error("{path} was changed by another program just now")]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

impl InstallError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoHome | Self::NoUserFolder => "set HOME",
            Self::NoScope { .. } => "leave --scope out, or see the table of agents in the README",
            Self::NoDirectory => "change to a directory of the project",
            Self::Toml { .. } => "mend the file and run the command again; nothing was changed",
            Self::Program(_) => "run cmem by the full path of its file",
            Self::Read { .. } => "make the file readable for you",
            Self::Parse { .. } => {
                "mend the file (comments and trailing commas are not JSON) and run the command again; nothing was changed"
            }
            Self::Shape { .. } => {
                "correct that part of the file, or give it another name, and run the command again; nothing was changed"
            }
            Self::Write { .. } => "make the file and its folder writable for you",
            Self::Changed { .. } => "run the command again",
        }
    }
}

/// The settings file of a scope, seen from `cwd`.
///
/// # Errors
/// [`InstallError::NoHome`] for the user's scope.
pub fn settings_file(scope: Scope, cwd: &Path) -> Result<PathBuf, InstallError> {
    let name = match scope {
        Scope::User => {
            let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
            let folder = set(CLAUDE_CODE.config_variable)
                .or_else(|| set("HOME").map(|home| home.join(CLAUDE_CODE.config_dir)))
                .ok_or(InstallError::NoHome)?;
            return Ok(folder.join("settings.json"));
        }
        Scope::Project => "settings.json",
        Scope::Local => "settings.local.json",
    };
    // A directory that is gone has no root: nothing can be read or written in it.
    let root = if cwd.is_absolute() { PathBuf::from(git::identify(cwd).root) } else { cwd.to_owned() };
    Ok(root.join(CLAUDE_CODE.config_dir).join(name))
}

/// The path of the running binary, as it is written into the settings.
///
/// # Errors
/// [`InstallError::Program`] when the system does not tell it, the file is gone, or the path is not UTF-8.
pub fn program() -> Result<String, InstallError> {
    let path = env::current_exe().map_err(|error| InstallError::Program(error.to_string()))?;
    if !path.is_file() {
        return Err(InstallError::Program(format!("{} is gone", path.display())));
    }
    let text = path.into_os_string().into_string();
    text.map_err(|path| InstallError::Program(format!("{} is not UTF-8", path.display())))
}

/// What one settings file says about cmem.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// Registered events with the command of each, in the order of the file.
    pub commands: Vec<(String, String)>,
    /// The file switches every hook off (`disableAllHooks`).
    pub hooks_disabled: bool,
}

/// Reads which events `file` registers with cmem; a missing file registers none.
///
/// # Errors
/// [`InstallError`] when the file cannot be read or understood.
pub fn registered(file: &Path) -> Result<Registration, InstallError> {
    let Some(text) = file::read(file)? else { return Ok(Registration::default()) };
    let document = Document::parse(&text)
        .map_err(|error| InstallError::Parse { path: file.to_owned(), reason: error.to_string() })?;
    let own = plan::own_entries(&document, file, None)?;
    Ok(Registration {
        commands: own.into_iter().map(|entry| (entry.event, entry.command)).collect(),
        hooks_disabled: document.value().get("disableAllHooks").is_some_and(|value| value == true),
    })
}

#[cfg(test)]
mod tests;
