//! Which directories its projects are: it knows them by name alone, but its sessions had a directory.

use std::collections::HashMap;
use std::path::Path;

use super::rows::Sessions;
use crate::foreign::claude_code::{self, Folders};
use crate::git;
use crate::model::Identity;

/// Most sessions of a project whose transcript is looked into.
const MOST: usize = 5;

/// The identity of each project of which a session's directory is known and still there.
pub(super) fn of_projects(sessions: &Sessions) -> HashMap<String, Identity> {
    let transcripts = Folders::find(None).map(|folders| folders.by_session()).unwrap_or_default();
    let mut found: HashMap<String, Identity> = HashMap::new();
    let mut tried: HashMap<&str, usize> = HashMap::new();
    // A project may have moved: the latest session knows best.
    for session in sessions.all.iter().rev() {
        if found.contains_key(&session.project) {
            continue;
        }
        let mut told = || {
            let transcript = transcripts.get(&session.session)?;
            let count = tried.entry(&session.project).or_default();
            *count += 1;
            (*count <= MOST).then(|| claude_code::first_cwd(transcript)).flatten()
        };
        let is_there = |cwd: &String| Path::new(cwd).is_absolute() && Path::new(cwd).is_dir();
        let recorded = session.cwd.clone().filter(is_there);
        let Some(cwd) = recorded.or_else(|| told().filter(is_there)) else { continue };
        let identity = git::identify(Path::new(&cwd));
        if is_called(&identity, &cwd, &session.project) {
            found.insert(session.project.clone(), identity);
        }
    }
    found
}

/// Whether the directory bears the name: that of the repository, of the worktree, or of the directory itself, by which
/// older versions went.
fn is_called(identity: &Identity, cwd: &str, project: &str) -> bool {
    let last = |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    match (&identity.worktree, project.split_once('/')) {
        (Some(root), Some((parent, worktree))) => identity.name == parent && last(root) == worktree,
        (_, None) => identity.worktree.is_none() && (identity.name == project || last(cwd) == project),
        (None, Some(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(root: &str, worktree: Option<&str>) -> Identity {
        Identity {
            key: format!("{root}/.git"),
            name: String::from("shop"),
            root: root.to_owned(),
            worktree: worktree.map(str::to_owned),
            branch: None,
            head: None,
            main_head: None,
            remote: None,
        }
    }

    #[test]
    fn a_directory_must_bear_the_name() {
        let main = identity("/a/shop", None);
        assert!(is_called(&main, "/a/shop", "shop"));
        assert!(is_called(&main, "/a/shop/api/", "api"));
        assert!(!is_called(&main, "/a/shop/api", "web") && !is_called(&main, "/a/shop", "shop/fix"));
        let tree = identity("/a/shop", Some("/trees/fix"));
        assert!(is_called(&tree, "/trees/fix", "shop/fix"));
        assert!(!is_called(&tree, "/trees/fix", "shop") && !is_called(&tree, "/trees/fix", "shop/other"));
    }
}
