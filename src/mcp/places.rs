//! Where the client stands, which tells whose memories are meant.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::{Peer, RequestContext};
use tokio::sync::Mutex;
use tokio::time;

use super::uri;

/// A client that offers its roots and does not tell them is not waited for any longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// `CLAUDE_PROJECT_DIR`, else the first root of the client that is a directory here, else the working directory.
#[derive(Debug)]
pub(super) struct Places {
    named: Option<PathBuf>,
    /// `None` until the client was asked.
    root: Mutex<Option<Option<PathBuf>>>,
}

impl Places {
    pub(super) fn from_environment() -> Self {
        let named = env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from).filter(|dir| dir.is_dir());
        Self { named, root: Mutex::new(None) }
    }

    /// The directory that a request is about.
    pub(super) async fn dir(&self, request: &RequestContext<RoleServer>) -> PathBuf {
        if let Some(named) = &self.named {
            return named.clone();
        }
        let offers_roots =
            request.client_capabilities().is_some_and(|capabilities| capabilities.roots.is_some());
        let root = if offers_roots { self.root(&request.peer).await } else { None };
        root.unwrap_or_else(|| env::current_dir().unwrap_or_default())
    }

    /// The client has others now.
    pub(super) async fn forget_roots(&self) {
        *self.root.lock().await = None;
    }

    #[expect(
        deprecated,
        reason = "clients of all versions but the newest tell their place in this way alone"
    )]
    async fn root(&self, client: &Peer<RoleServer>) -> Option<PathBuf> {
        let mut known = self.root.lock().await;
        if let Some(root) = &*known {
            return root.clone();
        }
        // Whoever does not answer in time is asked again with the next request.
        let told = time::timeout(PATIENCE, client.list_roots()).await.ok()?;
        let roots = told.map(|told| told.roots).unwrap_or_default();
        let root = roots.iter().filter_map(|root| uri::path_of(&root.uri)).find(|path| path.is_dir());
        *known = Some(root.clone());
        root
    }
}
