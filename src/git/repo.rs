//! What gix knows about a directory. Beside `history.rs` the only file that names gix.

use std::fs;
use std::path::{Path, PathBuf};

use gix::discover::upwards::Options as Upwards;
use gix::open::Options;
use gix::sec::Trust;

/// A repository seen from one of its checkouts.
#[derive(Debug)]
pub(super) struct Checkout {
    /// Directory at which the search upwards ended: the root of a checkout, or a bare repository.
    pub(super) found_at: PathBuf,
    /// Directory that every checkout of the repository shares.
    pub(super) common_dir: PathBuf,
    /// Root of this checkout; `None` in a bare repository.
    pub(super) work_dir: Option<PathBuf>,
    /// Whether this is a linked worktree.
    pub(super) is_linked: bool,
    /// Root of the main checkout where the configuration names it, as it does for submodules.
    pub(super) configured_work_dir: Option<PathBuf>,
    /// Branch checked out, without `refs/heads/`.
    pub(super) branch: Option<String>,
    /// Commit checked out, hexadecimal.
    pub(super) head: Option<String>,
    /// Commit of the main checkout, seen from a linked worktree.
    pub(super) main_head: Option<String>,
    /// URL of `origin` as configured, credentials included.
    pub(super) origin: Option<String>,
}

/// The repository that `dir` (canonical) lies in, searched upwards within one file system as git does.
///
/// A repository of another owner is read too: nothing of it is ever run, and gix ignores what its
/// configuration says about paths.
pub(super) fn discover(dir: &Path) -> Option<Checkout> {
    let search = Upwards { current_dir: Some(dir), match_ceiling_dir_or_error: false, ..Upwards::default() };
    let (found, trust) = gix::discover::upwards_opts(dir, search.apply_environment()).ok()?;
    let (git_dir, work_dir) = found.into_repository_and_work_tree_directories();
    let common_dir = match gix::discover::path::from_plain_file(&git_dir.join("commondir")) {
        Some(Ok(pointer)) => git_dir.join(pointer),
        _ => git_dir.clone(),
    };
    let mut checkout = Checkout {
        found_at: work_dir.clone().unwrap_or_else(|| git_dir.clone()),
        is_linked: common_dir != git_dir,
        common_dir,
        work_dir,
        configured_work_dir: None,
        branch: None,
        head: None,
        main_head: None,
        origin: None,
    };
    // A repository that gix cannot open (a newer format, a broken configuration) still has its place.
    if let Some(repository) = open(git_dir, trust) {
        describe(&repository, &mut checkout);
    }
    Some(checkout)
}

fn open(git_dir: PathBuf, trust: Trust) -> Option<gix::Repository> {
    let options = Options::isolated().with(trust).open_path_as_is(true);
    options.open(git_dir).ok().map(|repository| repository.to_thread_local())
}

fn describe(repository: &gix::Repository, checkout: &mut Checkout) {
    if !checkout.is_linked {
        if repository.is_bare() {
            checkout.work_dir = None;
        } else if checkout.work_dir.is_none() {
            checkout.work_dir = repository.workdir().map(Path::to_owned);
        }
    }
    let config = repository.config_snapshot();
    if let Some(path) = config.string("core.worktree") {
        checkout.configured_work_dir = Some(checkout.common_dir.join(path.to_string()));
    }
    checkout.origin = config.string("remote.origin.url").map(|url| url.to_string());
    if let Ok(head) = repository.head() {
        checkout.head = head.id().map(|id| id.to_string());
        // `.invalid` is what HEAD holds where references are kept in another format than files.
        checkout.branch =
            head.referent_name().map(|name| name.shorten().to_string()).filter(|name| name != ".invalid");
    }
    if checkout.branch.is_none() {
        checkout.branch = rebased_branch(repository.git_dir());
    }
    if checkout.is_linked {
        checkout.main_head = main_head(repository);
    }
}

/// The branch that a rebase works on: HEAD is detached until it is done.
fn rebased_branch(git_dir: &Path) -> Option<String> {
    let names = ["rebase-merge/head-name", "rebase-apply/head-name"];
    let text = names.into_iter().find_map(|name| fs::read_to_string(git_dir.join(name)).ok())?;
    Some(text.trim().strip_prefix("refs/heads/")?.to_owned())
}

fn main_head(repository: &gix::Repository) -> Option<String> {
    let text = fs::read_to_string(repository.common_dir().join("HEAD")).ok()?;
    match text.trim().strip_prefix("ref: ") {
        // Branches are shared between the checkouts.
        Some(name) => {
            let mut reference = repository.try_find_reference(name).ok()??;
            Some(reference.peel_to_id().ok()?.to_string())
        }
        None => Some(text.trim().to_owned()),
    }
}
