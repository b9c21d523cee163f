//! cmem as a plugin of the agent: what it consists of, where it lies, how the agent is told of it, and what is left
//! of it afterwards.
//!
//! The plugin holds the events that every version of the agent knows: one unknown name makes versions up to 2.1.197
//! drop all the hooks of a plugin. Further events stay in the settings.

mod bundle;
mod client;
mod folder;
mod places;
mod state;
mod traces;

use std::io;
use std::path::PathBuf;

pub use bundle::Bundle;
pub use client::{Call, calls, calls_to_leave, carry_out, takes_plugins};
pub use folder::{FileChange, Folder};
pub use places::Places;
pub use state::{Installed, Reach, State};
pub use traces::{Trace, sweep, traces};

use super::InstallError;

/// Its name, to which the agent adds that of the marketplace.
pub const NAME: &str = "cmem";
/// The marketplace that `cmem install --plugin` makes. One that is published has another name, so that both can be told
/// apart.
pub const MARKETPLACE: &str = "cmem-local";
/// The name of the plugin as the agent writes it.
pub const ID: &str = "cmem@cmem-local";

/// Why the plugin was not installed, or not taken out.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// A settings file, or a file in which the agent keeps its plugins.
    #[error(transparent)]
    File(#[from] InstallError),
    /// The folder for the marketplace holds something else.
    #[error("{path} holds files that are not of cmem's plugin")]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// A file of the plugin cannot be written or removed.
    #[error("{path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The agent's program refused, failed or did not end.
    #[error("`{command}`: {said}")]
    Client {
        /// What was run.
        command: String,
        /// What it said.
        said: String,
    },
}

impl PluginError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::File(error) => error.hint().to_owned(),
            Self::NotOurs { .. } => String::from("move them away, or name another folder"),
            Self::Write { .. } => String::from("make the file and its folder writable for you"),
            Self::Client { .. } => {
                String::from("run that command yourself to see more, then run this one again")
            }
        }
    }
}

#[cfg(test)]
mod tests;
