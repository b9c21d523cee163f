//! On whose behalf a command runs.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Platform;

/// Whoever runs a command: a person or an agent at a command line, or a client over MCP.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// Where he stands: whose memories are meant unless another project is named.
    pub dir: PathBuf,
    /// The agent that he is, where that is known.
    pub platform: Option<Platform>,
    /// The agent's session that he is in, where that is known.
    pub session: Option<String>,
    /// Whether he still waits for the answer.
    pub gone: Gone,
}

impl Caller {
    /// Whoever started this process, in its working directory.
    pub fn here() -> Self {
        Self { dir: env::current_dir().unwrap_or_default(), ..Self::default() }
    }
}

/// A sign for work in another thread that nobody waits for it any more. Clones are the same sign.
#[derive(Debug, Clone, Default)]
pub struct Gone(Arc<AtomicBool>);

impl Gone {
    /// Nobody waits from now on.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether nobody waits.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
