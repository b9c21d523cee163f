//! The project identity of a working directory.

use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::repo::{self, Checkout};
use super::url;
use super::windows::as_linux;
use crate::model::Identity;

/// A `.git` file is one line; anything larger is something else.
const POINTER_BYTES: u64 = 64 * 1024;

/// Where `cwd` belongs. Never fails and never starts a process.
///
/// - In a repository (also a bare one, a submodule or somebody else's) the key is its canonical common
///   directory, so that every subdirectory, symlink and linked worktree of it gives the same key, and two
///   repositories of the same name do not.
/// - Outside git the key is the canonical directory itself.
/// - A directory that is gone is its own project under the path it had: it may have been a worktree, so that
///   the repository around it, if any, says nothing about it.
/// - A linked worktree whose repository is gone keeps the key that its `.git` file names.
/// - A relative `cwd` starts at this process's directory, an empty one is that directory.
pub fn identify(cwd: &Path) -> Identity {
    let (dir, exists) = resolve(cwd);
    if !exists {
        return outside_git(&dir);
    }
    let found = repo::discover(&dir);
    if let Some(orphan) = orphan(&dir, found.as_ref().map(|checkout| checkout.found_at.as_path())) {
        return orphan;
    }
    found.map_or_else(|| outside_git(&dir), |checkout| in_repository(checkout, &dir))
}

/// The identity of the main checkout of the repository with this key, also when it is gone.
pub fn home_of(key: &str) -> Identity {
    let main = main_of(Path::new(key));
    let found = identify(&main);
    if found.key == key && found.worktree.is_none() {
        return found;
    }
    let name = name_of(&main).unwrap_or_else(|| text(&main));
    Identity { key: key.to_owned(), name, ..outside_git(&main) }
}

/// Whether an identity is that of a repository, rather than of a directory outside git.
pub fn is_repository(identity: &Identity) -> bool {
    identity.worktree.is_some()
        || identity.key != identity.root
        || Path::new(&identity.key).join("HEAD").is_file()
}

/// The absolute, canonical form of a directory, and whether it exists. What does not exist is resolved as far
/// as its nearest existing ancestor.
pub fn resolve(cwd: &Path) -> (PathBuf, bool) {
    let cwd = &*as_linux(cwd);
    if cwd.is_absolute()
        && let Ok(canonical) = fs::canonicalize(cwd)
    {
        return (canonical, true);
    }
    let absolute = absolute(cwd);
    if let Ok(canonical) = fs::canonicalize(&absolute) {
        return (canonical, true);
    }
    for ancestor in absolute.ancestors().skip(1) {
        if let Ok(canonical) = fs::canonicalize(ancestor) {
            let rest = absolute.strip_prefix(ancestor).unwrap_or(Path::new(""));
            return (canonical.join(rest), false);
        }
    }
    (absolute, false)
}

/// The main checkout (or bare repository) that the `.git` file in `dir` points to, if `dir` is the root of a
/// linked worktree. Reads that one file.
pub fn linked_main(dir: &Path) -> Option<PathBuf> {
    let common_dir = linked_common_dir(dir)?;
    Some(main_of(&common_dir))
}

/// Absolute and without `.` and `..`, which are taken out of the text: the path may not exist.
fn absolute(cwd: &Path) -> PathBuf {
    let home = || env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let expanded = match cwd.strip_prefix("~") {
        Ok(rest) => home().map_or_else(|| cwd.to_owned(), |home| home.join(rest)),
        Err(_) => cwd.to_owned(),
    };
    let joined = match env::current_dir() {
        Ok(current) => current.join(expanded),
        Err(_) => Path::new("/").join(expanded),
    };
    if fs::canonicalize(&joined).is_ok() {
        // `..` behind a symlink means something else than in the text.
        return joined;
    }
    let mut plain = PathBuf::new();
    for component in joined.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

fn in_repository(checkout: Checkout, dir: &Path) -> Identity {
    let common_dir = canonical(&checkout.common_dir);
    let root = checkout.work_dir.as_deref().map_or_else(|| common_dir.clone(), canonical);
    let main = match (&checkout.configured_work_dir, checkout.is_linked) {
        (Some(configured), _) => canonical(configured),
        (None, true) => main_of(&common_dir),
        (None, false) if checkout.work_dir.is_some() => root.clone(),
        (None, false) => main_of(&common_dir),
    };
    Identity {
        key: text(&common_dir),
        name: name_of(&main).unwrap_or_else(|| text(dir)),
        worktree: checkout.is_linked.then(|| text(&root)),
        root: text(&root),
        branch: checkout.branch,
        head: checkout.head,
        main_head: checkout.main_head,
        remote: checkout.origin.as_deref().and_then(url::without_credentials),
    }
}

fn outside_git(dir: &Path) -> Identity {
    let key = text(dir);
    let name = dir.file_name().map_or_else(|| key.clone(), |name| name.to_string_lossy().into_owned());
    Identity {
        root: key.clone(),
        key,
        name,
        worktree: None,
        branch: None,
        head: None,
        main_head: None,
        remote: None,
    }
}

/// The identity of a checkout whose `.git` file leads nowhere. Git refuses to work there; a repository found
/// above it is another one.
fn orphan(dir: &Path, found_at: Option<&Path>) -> Option<Identity> {
    let mut below = dir.ancestors().take_while(|ancestor| Some(*ancestor) != found_at);
    if found_at.is_some_and(|found_at| !dir.starts_with(found_at)) {
        return None;
    }
    let root = below.find(|ancestor| ancestor.join(".git").is_file())?;
    let Some(common_dir) = linked_common_dir(root) else { return Some(outside_git(root)) };
    let (common_dir, _) = resolve(&common_dir);
    let name = name_of(&main_of(&common_dir)).unwrap_or_else(|| text(&common_dir));
    Some(Identity { key: text(&common_dir), name, worktree: Some(text(root)), ..outside_git(root) })
}

/// `COMMON/worktrees/NAME` is what the `.git` file of a linked worktree holds (gitrepository-layout(5)).
fn linked_common_dir(dir: &Path) -> Option<PathBuf> {
    let file = dir.join(".git");
    let meta = fs::metadata(&file).ok()?;
    if !meta.is_file() || meta.len() > POINTER_BYTES {
        return None;
    }
    let content = fs::read_to_string(&file).ok()?;
    let pointer = Path::new(content.strip_prefix("gitdir:")?.trim());
    let git_dir = dir.join(as_linux(pointer));
    let worktrees = git_dir.parent()?;
    (worktrees.file_name()? == "worktrees").then(|| worktrees.parent().map(Path::to_owned)).flatten()
}

/// The directory that people know a repository by: what holds `.git` (or another hidden repository directory
/// such as `.bare`), else the common directory itself.
fn main_of(common_dir: &Path) -> PathBuf {
    let is_hidden = common_dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    match common_dir.parent() {
        Some(parent) if is_hidden => parent.to_owned(),
        _ => common_dir.to_owned(),
    }
}

/// A bare repository `x.git` is `x`.
fn name_of(main: &Path) -> Option<String> {
    let name = main.file_name()?.to_string_lossy();
    match name.strip_suffix(".git") {
        Some(stem) if !stem.is_empty() => Some(stem.to_owned()),
        _ => Some(name.into_owned()),
    }
}

fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    struct Dirs(tempfile::TempDir);

    impl Dirs {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        /// Canonical path of `name`, which may not exist yet.
        fn path(&self, name: &str) -> PathBuf {
            fs::canonicalize(self.0.path()).unwrap().join(name)
        }

        fn dir(&self, name: &str) -> PathBuf {
            let path = self.path(name);
            fs::create_dir_all(&path).unwrap();
            path
        }

        fn repository(&self, name: &str) -> PathBuf {
            let path = self.dir(name);
            git(&path, &["init", "-q", "-b", "main"]);
            git(&path, &["commit", "-q", "--allow-empty", "-m", "first"]);
            path
        }
    }

    fn git(dir: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(dir)
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "t")))
            .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "t@example.org")))
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn same_project(dirs: &[&Path]) -> Identity {
        let first = identify(dirs[0]);
        for dir in dirs {
            let other = identify(dir);
            assert_eq!((&other.key, &other.name), (&first.key, &first.name), "{}", dir.display());
        }
        first
    }

    #[test]
    fn a_main_checkout_with_branch_commit_and_remote() {
        let dirs = Dirs::new();
        let repo = dirs.repository("my-repo");
        git(&repo, &["remote", "add", "origin", "https://me:hunter2@host.example/x/y.git"]);
        git(&repo, &["checkout", "-q", "-b", "feature/one"]);
        let identity = identify(&repo);
        assert_eq!(identity.key, text(&repo.join(".git")));
        assert_eq!((identity.name.as_str(), identity.worktree.as_deref()), ("my-repo", None));
        assert_eq!(identity.root, text(&repo));
        assert_eq!(identity.branch.as_deref(), Some("feature/one"));
        assert_eq!(identity.head, Some(git(&repo, &["rev-parse", "HEAD"])));
        assert_eq!(identity.remote.as_deref(), Some("https://host.example/x/y.git"));
    }

    #[test]
    fn packed_references_and_a_detached_head() {
        let dirs = Dirs::new();
        let repo = dirs.repository("r");
        git(&repo, &["pack-refs", "--all"]);
        let head = git(&repo, &["rev-parse", "HEAD"]);
        assert_eq!(identify(&repo).head.as_ref(), Some(&head));
        git(&repo, &["checkout", "-q", "--detach"]);
        let identity = identify(&repo);
        assert_eq!((identity.branch, identity.head), (None, Some(head)));
    }

    #[test]
    fn an_unborn_branch_has_no_commit() {
        let dirs = Dirs::new();
        let repo = dirs.dir("r");
        git(&repo, &["init", "-q", "-b", "trunk"]);
        let identity = identify(&repo);
        assert_eq!((identity.branch.as_deref(), identity.head), (Some("trunk"), None));
    }

    #[test]
    fn subdirectories_links_and_odd_spellings_are_the_same_project() {
        let dirs = Dirs::new();
        let repo = dirs.repository("x/api");
        let deep = dirs.dir("x/api/packages/deeply/nested");
        let link = dirs.path("link");
        std::os::unix::fs::symlink(&repo, &link).unwrap();
        let identity = same_project(&[
            &repo,
            &deep,
            &link,
            &link.join("packages"),
            &repo.join("packages/../packages/."),
            &dirs.path("x/api/"),
            &repo.join(".git"),
        ]);
        assert_eq!(identity.name, "api");
        assert_eq!(identify(&deep).root, text(&repo));
    }

    #[test]
    fn linked_worktrees_share_the_key_and_keep_their_root() {
        let dirs = Dirs::new();
        let repo = dirs.repository("main-repo");
        let worktree = dirs.path("feature-x");
        git(&repo, &["worktree", "add", "-q", worktree.to_str().unwrap(), "-b", "side"]);
        let nested = dirs.dir("feature-x/packages/nested");
        let identity = same_project(&[&repo, &worktree, &nested]);
        assert_eq!((identity.name.as_str(), identity.worktree.as_deref()), ("main-repo", None));
        for dir in [&worktree, &nested] {
            let identity = identify(dir);
            assert_eq!(identity.worktree, Some(text(&worktree)));
            assert_eq!(identity.root, text(&worktree));
            assert_eq!(identity.branch.as_deref(), Some("side"));
            assert!(identity.head.is_some());
        }
        assert_eq!(linked_main(&worktree), Some(repo.clone()));
        assert_eq!((linked_main(&repo), linked_main(&nested)), (None, None));
    }

    #[test]
    fn windows_spellings_of_a_place_give_its_key() {
        let dirs = Dirs::new();
        let repo = dirs.repository("app");
        let share = format!(r"\\wsl.localhost\Debian{}", text(&repo).replace('/', r"\"));
        same_project(&[&repo, Path::new(&share)]);
        let windows = identify(Path::new(r"C:\src\gone"));
        assert_eq!((windows.key, windows.name), (String::from("/mnt/c/src/gone"), String::from("gone")));
        // A worktree that git for Windows made.
        let worktree = dirs.dir("wt");
        fs::write(worktree.join(".git"), "gitdir: C:/src/app/.git/worktrees/wt\n").unwrap();
        assert_eq!(identify(&worktree).key, "/mnt/c/src/app/.git");
    }

    #[test]
    fn relative_pointers_between_worktree_and_repository() {
        let dirs = Dirs::new();
        let repo = dirs.repository("main-repo");
        let worktree = dirs.path("wt");
        git(&repo, &["worktree", "add", "-q", worktree.to_str().unwrap(), "-b", "side"]);
        fs::write(worktree.join(".git"), "gitdir: ../main-repo/.git/worktrees/wt\n").unwrap();
        fs::write(repo.join(".git/worktrees/wt/gitdir"), "../../../../wt/.git\n").unwrap();
        git(&repo, &["config", "core.repositoryFormatVersion", "1"]);
        git(&repo, &["config", "extensions.relativeWorktrees", "true"]);
        same_project(&[&repo, &worktree]);
        let identity = identify(&worktree);
        assert_eq!(identity.worktree, Some(text(&worktree)));
        assert_eq!(identity.branch.as_deref(), Some("side"));
        assert_eq!(linked_main(&worktree), Some(worktree.join("../main-repo")));
    }

    #[test]
    fn a_worktree_inside_the_main_checkout_is_its_own_checkout() {
        let dirs = Dirs::new();
        let repo = dirs.repository("r");
        git(&repo, &["worktree", "add", "-q", ".claude/worktrees/wt1", "-b", "wt1"]);
        let worktree = repo.join(".claude/worktrees/wt1");
        same_project(&[&repo, &worktree]);
        assert_eq!(identify(&worktree).worktree, Some(text(&worktree)));
    }

    #[test]
    fn bare_repositories_and_their_worktrees() {
        let dirs = Dirs::new();
        let source = dirs.repository("source");
        let bare = dirs.path("x.git");
        git(&source, &["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
        let worktree = dirs.path("wt");
        git(&bare, &["worktree", "add", "-q", worktree.to_str().unwrap(), "-b", "side"]);
        let identity = same_project(&[&bare, &worktree, &bare.join("refs")]);
        assert_eq!((identity.name.as_str(), identity.key), ("x", text(&bare)));
        assert_eq!((identity.root, identity.worktree), (text(&bare), None));
        assert_eq!(identify(&worktree).worktree, Some(text(&worktree)));
    }

    #[test]
    fn a_hidden_bare_repository_has_the_name_of_its_folder() {
        let dirs = Dirs::new();
        let source = dirs.repository("source");
        let folder = dirs.dir("shop");
        git(&source, &["clone", "-q", "--bare", ".", folder.join(".bare").to_str().unwrap()]);
        fs::write(folder.join(".git"), "gitdir: ./.bare\n").unwrap();
        git(&folder, &["worktree", "add", "-q", "side", "-b", "side"]);
        let identity = same_project(&[&folder, &folder.join("side")]);
        assert_eq!(identity.name, "shop");
        assert_eq!(identify(&folder.join("side")).worktree, Some(text(&folder.join("side"))));
    }

    #[test]
    fn a_submodule_and_its_worktrees_are_a_repository_of_their_own() {
        let dirs = Dirs::new();
        let (parent, library) = (dirs.repository("parent"), dirs.repository("lib"));
        git(&parent, &["submodule", "--quiet", "add", library.to_str().unwrap(), "deps/mylib"]);
        let submodule = parent.join("deps/mylib");
        let worktree = dirs.path("lib-wt");
        git(&submodule, &["worktree", "add", "-q", worktree.to_str().unwrap(), "-b", "side"]);
        let identity = same_project(&[&submodule, &worktree]);
        assert_eq!((identity.name.as_str(), identity.worktree), ("mylib", None));
        assert_eq!(identity.root, text(&submodule));
        assert_eq!(identify(&worktree).worktree, Some(text(&worktree)));
        assert_ne!(identity.key, identify(&parent).key);
        assert_eq!(identify(&parent.join("deps")).key, identify(&parent).key);
    }

    #[test]
    fn a_separate_git_directory_takes_the_name_of_the_checkout() {
        let dirs = Dirs::new();
        let (work, store) = (dirs.dir("work"), dirs.path("stores/abc.git"));
        fs::create_dir_all(store.parent().unwrap()).unwrap();
        git(&work, &["init", "-q", "--separate-git-dir", store.to_str().unwrap()]);
        let identity = identify(&work);
        assert_eq!((identity.name.as_str(), identity.key), ("work", text(&store)));
        assert_eq!((identity.root, identity.worktree), (text(&work), None));
    }

    #[test]
    fn equal_names_are_different_projects() {
        let dirs = Dirs::new();
        let (one, two) = (dirs.repository("x/api"), dirs.repository("y/api"));
        assert_eq!(identify(&one).name, identify(&two).name);
        assert_ne!(identify(&one).key, identify(&two).key);
    }

    #[test]
    fn folders_outside_git_are_told_apart_by_path() {
        let dirs = Dirs::new();
        let names = ["work/app", "home/app", "a-b/c", "a/b-c", "sp ace/项目", "sp-ace/--"];
        let mut keys: Vec<String> = names.map(|name| identify(&dirs.dir(name)).key).to_vec();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), names.len());
        assert_eq!(identify(&dirs.path("sp ace/项目")).name, "项目");
        assert_eq!(identify(Path::new("/")).key, "/");
    }

    #[test]
    fn a_vanished_directory_is_a_project_of_its_own() {
        let dirs = Dirs::new();
        let repo = dirs.repository("r");
        let gone = repo.join("gone/deeper");
        let identity = identify(&gone);
        assert_eq!((identity.key.as_str(), identity.name.as_str()), (gone.to_str().unwrap(), "deeper"));
        assert_eq!(identity.branch, None);
        let link = dirs.path("link");
        std::os::unix::fs::symlink(&repo, &link).unwrap();
        assert_eq!(identify(&link.join("gone/x/../deeper")).key, text(&gone));
        assert_eq!(identify(Path::new("/no/such/dir/standalone-folder/")).name, "standalone-folder");
    }

    #[test]
    fn relative_and_empty_directories_start_at_the_process() {
        let here = fs::canonicalize(env::current_dir().unwrap()).unwrap();
        assert_eq!(resolve(Path::new("")), (here.clone(), true));
        assert_eq!(resolve(Path::new("no/such")), (here.join("no/such"), false));
        assert_eq!(identify(Path::new("")), identify(&here));
    }

    #[test]
    fn a_worktree_keeps_its_key_when_the_repository_is_gone() {
        let dirs = Dirs::new();
        let outer = dirs.repository("outer");
        let repo = dirs.repository("main-repo");
        let worktree = outer.join("wt");
        git(&repo, &["worktree", "add", "-q", worktree.to_str().unwrap(), "-b", "side"]);
        let before = identify(&worktree);
        fs::remove_dir_all(&repo).unwrap();
        let after = identify(&dirs.dir("outer/wt/src"));
        assert_eq!((&after.key, &after.name), (&before.key, &before.name));
        assert_eq!((&after.root, &after.worktree), (&before.root, &before.worktree));
    }

    #[test]
    fn a_pointer_to_nowhere_is_no_part_of_the_repository_around_it() {
        let dirs = Dirs::new();
        let outer = dirs.repository("outer");
        let broken = dirs.dir("outer/broken/src");
        let root = outer.join("broken");
        for pointer in ["gitdir: /no/such/.git/modules/x\n", "nonsense", ""] {
            fs::write(root.join(".git"), pointer).unwrap();
            let identity = identify(&broken);
            assert_eq!((identity.key, identity.name.as_str()), (text(&root), "broken"), "{pointer:?}");
        }
    }

    #[test]
    fn an_unreadable_configuration_still_has_its_place() {
        let dirs = Dirs::new();
        let repo = dirs.repository("r");
        fs::write(repo.join(".git/config"), "[core\nbroken").unwrap();
        let identity = identify(&repo);
        assert_eq!((identity.key, identity.root), (text(&repo.join(".git")), text(&repo)));
    }

    #[test]
    fn a_repository_of_another_owner_is_read() {
        let dirs = Dirs::new();
        let repo = dirs.repository("r");
        let chown = |path: &Path| std::os::unix::fs::chown(path, Some(12_345), None);
        if chown(&repo).and_then(|()| chown(&repo.join(".git"))).is_err() {
            return; // Only the superuser can give a file away.
        }
        let identity = identify(&repo);
        assert_eq!(identity.key, text(&repo.join(".git")));
        assert_eq!(identity.branch.as_deref(), Some("main"));
        assert!(identity.head.is_some());
    }
}
