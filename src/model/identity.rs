//! Where a session works: which repository, which checkout of it, which commit.

use serde::{Deserialize, Serialize};

/// The project identity of a working directory, as it was when the session was there.
///
/// Complete enough to adopt the memory of a worktree whose directory and branch are gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Canonical common directory of the repository; outside git the canonical directory itself.
    pub key: String,
    /// Basename of the main checkout (`x.git` is `x`); outside git the directory's own name.
    pub name: String,
    /// Canonical root of this checkout; outside git the same as `key`.
    pub root: String,
    /// Canonical root of the linked worktree; `None` in the main checkout and outside git.
    pub worktree: Option<String>,
    /// Branch checked out; `None` when detached or outside git.
    pub branch: Option<String>,
    /// Commit checked out, hexadecimal; `None` on an unborn branch or outside git.
    pub head: Option<String>,
    /// Commit at which the main checkout stood; `None` in the main checkout itself and outside git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_head: Option<String>,
    /// URL of the remote `origin`, without credentials: a hint across machines.
    pub remote: Option<String>,
}
