//! Where the files of a data directory are.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The data directory and the names of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    root: PathBuf,
}

/// The data directory cannot be found or made.
#[derive(Debug, thiserror::Error)]
pub enum PathsError {
    /// Neither a flag, a variable nor a home directory names it.
    #[error("no home directory (HOME is not set)")]
    NoHome,
    /// It cannot be created.
    #[error("{path}: {source}")]
    Create {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Paths {
    /// `flag`, else `CMEM_DATA_DIR`, else `CLAUDE_MEM_DATA_DIR`, else `~/.cmem`. Touches no file.
    ///
    /// # Errors
    /// [`PathsError::NoHome`] when none of them is set.
    pub fn resolve(flag: Option<&Path>) -> Result<Self, PathsError> {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let root = flag
            .map(Path::to_owned)
            .or_else(|| set("CMEM_DATA_DIR"))
            .or_else(|| set("CLAUDE_MEM_DATA_DIR"))
            .or_else(|| set("HOME").map(|home| home.join(".cmem")))
            .ok_or(PathsError::NoHome)?;
        Ok(Self { root })
    }

    /// Makes the data directory, mode 0700, if it is not there.
    ///
    /// # Errors
    /// [`PathsError::Create`] with the system's reason.
    pub fn create(&self) -> Result<(), PathsError> {
        if self.root.is_dir() {
            return Ok(());
        }
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.root).map_err(|source| PathsError::Create { path: self.root.clone(), source })
    }

    /// The data directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Events waiting for the observer.
    pub fn spool(&self) -> PathBuf {
        self.root.join("spool.db")
    }

    /// Lock under which the journal is written and set aside.
    pub fn spool_lock(&self) -> PathBuf {
        self.root.join("spool.lock")
    }

    /// Lock under which the database of waiting events is made.
    pub fn spool_creation_lock(&self) -> PathBuf {
        self.root.join("spool.db.lock")
    }

    /// Where hooks leave events; whoever opens the spool next takes them in.
    pub fn journal(&self) -> PathBuf {
        self.root.join("spool.jsonl")
    }

    /// Where readers leave which memories were of use; the next drainer counts them.
    pub fn uses(&self) -> PathBuf {
        self.root.join("uses.jsonl")
    }

    /// Lock under which that file is written and set aside.
    pub fn uses_lock(&self) -> PathBuf {
        self.root.join("uses.lock")
    }

    /// What the gate before reads told, and what came of it.
    pub fn gates(&self) -> PathBuf {
        self.root.join("gates.jsonl")
    }

    /// The same from before, when that file was full.
    pub fn older_gates(&self) -> PathBuf {
        self.root.join("gates-old.jsonl")
    }

    /// What hooks must know of their sessions, a file for each.
    pub fn trails(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// Why the observer is not called for now; not there when it may be.
    pub fn pause(&self) -> PathBuf {
        self.root.join("pause.json")
    }

    /// Lock held by the one drainer at work.
    pub fn drain_lock(&self) -> PathBuf {
        self.root.join("drain.lock")
    }

    /// Lock held by the one drainer that waits for a short failure to pass.
    pub fn wait_lock(&self) -> PathBuf {
        self.root.join("wait.lock")
    }

    /// Everything that is remembered.
    pub fn memory(&self) -> PathBuf {
        self.root.join("memory.db")
    }

    /// The settings file.
    pub fn settings(&self) -> PathBuf {
        self.root.join("settings.json")
    }

    /// What was found out about the `claude` command.
    pub fn claude_probe(&self) -> PathBuf {
        self.root.join("claude.json")
    }

    /// An empty directory from which the `claude` command is called.
    pub fn observer(&self) -> PathBuf {
        self.root.join("observer")
    }

    /// Texts of records in an editor, a folder for each.
    pub fn edits(&self) -> PathBuf {
        self.root.join("edits")
    }

    /// The user's own modes.
    pub fn modes(&self) -> PathBuf {
        self.root.join("modes")
    }

    /// The marketplace with cmem as a plugin of the agent.
    pub fn marketplace(&self) -> PathBuf {
        self.root.join("marketplace")
    }

    /// The size-capped log.
    pub fn log(&self) -> PathBuf {
        self.root.join("logs").join("cmem.log")
    }
}
