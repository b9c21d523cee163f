//! Commits, trees and files of a repository, each read once. Beside `repo.rs` the only file that names gix.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use gix::diff::tree::Recorder;
use gix::diff::tree::recorder::Change;
use gix::objs::TreeRefIter;
use gix::objs::tree::EntryMode;
use gix::open::Options;
use gix::refs::FullName;
use gix::remote::Direction;
use gix::revision::walk::Sorting;

/// An object's id.
pub(super) type Id = gix::ObjectId;

/// Memory for objects that come up again, such as trees.
const CACHE_BYTES: usize = 32 << 20;
/// Bytes of pack indices from which on a history is large: some 70,000 objects at 28 bytes.
const LARGE_INDEX: u64 = 2 << 20;
/// Branches beside the default one on which teams collect work.
const COLLECTING: [&str; 7] = ["main", "master", "trunk", "mainline", "develop", "development", "dev"];

/// The history cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// No repository is there any more, or none that can be read.
    #[error("no repository can be opened at {path}: {reason}")]
    Open {
        /// The common directory.
        path: String,
        /// What gix said.
        reason: String,
    },
    /// An object that is needed is not there: a shallow clone, or a commit that was collected.
    #[error("{0}")]
    Missing(String),
}

/// A commit.
#[derive(Debug)]
pub(super) struct Commit {
    pub(super) parents: Vec<Id>,
    pub(super) tree: Id,
    pub(super) message: String,
}

/// A commit in which work can arrive: where the main line stands, here or at a remote.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// Such as `main` or `origin/main`.
    pub(super) name: String,
    /// The local branch, if it is one.
    pub(super) branch: Option<String>,
    pub(super) tip: Id,
}

/// An entry of a reflog.
#[derive(Debug)]
pub(super) struct Stand {
    pub(super) commit: Id,
    /// When, in seconds since the Unix epoch.
    pub(super) seconds: String,
    pub(super) message: String,
}

/// A file in a tree: its content and its mode.
pub(super) type Entry = (Id, u16);

/// A file that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileChange {
    pub(super) path: Vec<u8>,
    pub(super) old: Option<Entry>,
    pub(super) new: Option<Entry>,
}

/// Files that differ between two trees, by path.
pub(super) type Changes = Rc<Vec<FileChange>>;

/// The history of one repository.
pub(super) struct History {
    repository: gix::Repository,
    commits: RefCell<HashMap<Id, Rc<Commit>>>,
    changes: RefCell<HashMap<(Option<Id>, Id), Changes>>,
    bases: RefCell<HashMap<(Id, Id), Option<Id>>>,
}

impl History {
    /// Opens the repository whose common directory this is.
    pub(super) fn open(common_dir: &Path) -> Result<Self, HistoryError> {
        let failed = |reason: String| HistoryError::Open { path: common_dir.display().to_string(), reason };
        let options = Options::isolated().with(gix::sec::Trust::Full).open_path_as_is(true);
        let opened = options.open(common_dir).map_err(|error| failed(error.to_string()))?;
        let mut repository = opened.to_thread_local();
        repository.object_cache_size(CACHE_BYTES);
        Ok(Self {
            repository,
            commits: RefCell::default(),
            changes: RefCell::default(),
            bases: RefCell::default(),
        })
    }

    /// The id that a hexadecimal text stands for.
    pub(super) fn id(hex: &str) -> Option<Id> {
        Id::from_hex(hex.as_bytes()).ok()
    }

    /// Where merged work arrives: the default branch here, its upstream, the default branch of each remote. The main
    /// checkout may stand anywhere else, be it only to look at a branch; what it stands on counts if its name says
    /// that work is collected there. The same commit appears once.
    pub(super) fn targets(&self) -> Vec<Target> {
        let mut found: Vec<Target> = Vec::new();
        let mut add = |name: String, branch: Option<String>, tip: Option<Id>| {
            if let Some(tip) = tip
                && !found.iter().any(|target| target.tip == tip)
            {
                found.push(Target { name, branch, tip });
            }
        };
        let head = self.repository.head().ok();
        let head = head.and_then(|head| head.referent_name().map(|name| name.shorten().to_string()));
        let default = self.default_branch().or_else(|| head.clone());
        let collects =
            head.filter(|name| COLLECTING.contains(&name.as_str()) || name.starts_with("release/"));
        for branch in [default, collects].into_iter().flatten() {
            add(branch.clone(), Some(branch.clone()), self.branch(&branch));
            let Ok(full) = FullName::try_from(format!("refs/heads/{branch}")) else { continue };
            if let Some(Ok(name)) =
                self.repository.branch_remote_tracking_ref_name(full.as_ref(), Direction::Fetch)
            {
                add(name.shorten().to_string(), None, self.reference(name.as_bstr()));
            }
        }
        for remote in self.repository.remote_names() {
            for name in ["HEAD", "main", "master"] {
                let tip = self.reference(format!("refs/remotes/{remote}/{name}").as_str().into());
                if tip.is_some() {
                    add(format!("{remote}/{name}"), None, tip);
                    break;
                }
            }
        }
        found
    }

    /// The local branch of the name that a remote gives its default branch, else `main` or `master`.
    fn default_branch(&self) -> Option<String> {
        let at_remotes = self.repository.remote_names().into_iter().filter_map(|remote| {
            let head = format!("refs/remotes/{remote}/HEAD");
            let reference = self.repository.try_find_reference(head.as_str()).ok()??;
            let target = reference.target().try_name()?.shorten().to_string();
            Some(target.strip_prefix(&format!("{remote}/"))?.to_owned())
        });
        at_remotes.chain(["main", "master"].map(str::to_owned)).find(|name| self.branch(name).is_some())
    }

    /// Tips of all local branches but one.
    pub(super) fn other_branches(&self, but: &str) -> Vec<Id> {
        let Ok(platform) = self.repository.references() else { return Vec::new() };
        let Ok(branches) = platform.local_branches() else { return Vec::new() };
        branches
            .flatten()
            .filter(|reference| reference.name().shorten() != but)
            .filter_map(|mut reference| Some(reference.peel_to_id().ok()?.detach()))
            .collect()
    }

    /// Whether the history is so large that a look at it takes noticeable time.
    pub(super) fn is_large(&self) -> bool {
        let packs = fs::read_dir(self.repository.common_dir().join("objects/pack"));
        let index = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|end| end == "idx");
        let sizes = packs.into_iter().flatten().flatten().filter(index);
        sizes.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum::<u64>() > LARGE_INDEX
    }

    /// The commit at which a local branch stands.
    pub(super) fn branch(&self, name: &str) -> Option<Id> {
        self.reference(format!("refs/heads/{name}").as_str().into())
    }

    fn reference(&self, name: &gix::bstr::BStr) -> Option<Id> {
        let name = FullName::try_from(name.to_owned()).ok()?;
        let mut reference = self.repository.try_find_reference(name.as_ref()).ok()??;
        Some(reference.peel_to_id().ok()?.detach())
    }

    /// Where the branch stood, oldest first; empty without a reflog.
    pub(super) fn reflog(&self, branch: &str) -> Vec<Stand> {
        let path = self.repository.common_dir().join("logs/refs/heads").join(branch);
        let text = fs::read(path).unwrap_or_default();
        // OLD NEW NAME <MAIL> SECONDS ZONE, a tab, and what happened.
        let entry = |line: &str| {
            let (before, message) = line.split_once('\t').unwrap_or((line, ""));
            let commit = Self::id(before.split(' ').nth(1)?)?;
            let seconds = before.rsplit(' ').nth(1)?.to_owned();
            Some(Stand { commit, seconds, message: message.to_owned() })
        };
        String::from_utf8_lossy(&text).lines().filter_map(entry).collect()
    }

    pub(super) fn commit(&self, id: Id) -> Result<Rc<Commit>, HistoryError> {
        if let Some(known) = self.commits.borrow().get(&id) {
            return Ok(Rc::clone(known));
        }
        let missing = || HistoryError::Missing(format!("commit {} is not in the repository", short(id)));
        let commit = self.repository.find_commit(id).map_err(|_| missing())?;
        let commit = Rc::new(Commit {
            parents: commit.parent_ids().map(gix::Id::detach).collect(),
            tree: commit.tree_id().map_err(|_| missing())?.detach(),
            message: commit.message_raw_sloppy().to_string(),
        });
        self.commits.borrow_mut().insert(id, Rc::clone(&commit));
        Ok(commit)
    }

    /// The best common ancestor; `None` when there is none, or when the clone is too shallow to hold it.
    pub(super) fn merge_base(&self, one: Id, two: Id) -> Option<Id> {
        if one == two {
            return Some(one);
        }
        if let Some(known) = self.bases.borrow().get(&(one, two)) {
            return *known;
        }
        let base = self.repository.merge_base(one, two).ok().flatten().map(gix::Id::detach);
        self.bases.borrow_mut().insert((one, two), base);
        base
    }

    /// Looks for the common ancestors of many pairs, reading each commit once.
    pub(super) fn prepare_bases(&self, pairs: impl Iterator<Item = (Id, Id)>, deadline: Instant) {
        let cache = self.repository.commit_graph_if_enabled().ok().flatten();
        let mut graph = self.repository.revision_graph(cache.as_ref());
        let mut bases = self.bases.borrow_mut();
        for pair in pairs.take_while(|_| Instant::now() < deadline) {
            let base = self.repository.merge_base_with_graph(pair.0, pair.1, &mut graph);
            bases.insert(pair, base.ok().flatten().map(gix::Id::detach));
        }
    }

    /// Whether `ancestor` is `commit` or lies behind it.
    pub(super) fn is_behind(&self, ancestor: Id, commit: Id) -> bool {
        self.merge_base(ancestor, commit) == Some(ancestor)
    }

    /// Commits behind `tip` and not behind `hidden`, newest first, at most `limit`.
    pub(super) fn between(&self, hidden: Id, tip: Id, limit: usize) -> Result<Vec<Id>, HistoryError> {
        let walk = self
            .repository
            .rev_walk([tip])
            .with_hidden([hidden])
            .sorting(Sorting::ByCommitTime(gix::traverse::commit::simple::CommitTimeOrder::NewestFirst))
            .all()
            .map_err(|error| HistoryError::Missing(error.to_string()))?;
        // A commit that is missing ends the walk: what was read counts.
        Ok(walk.take(limit).map_while(Result::ok).map(|info| info.id).collect())
    }

    /// The first-parent line of `tip`, newest first, at most `limit`.
    pub(super) fn first_parents(&self, tip: Id, limit: usize) -> Vec<Id> {
        let mut line = vec![tip];
        while line.len() < limit
            && let Some(last) = line.last()
            && let Ok(commit) = self.commit(*last)
            && let Some(parent) = commit.parents.first()
        {
            line.push(*parent);
        }
        line
    }

    /// What a commit changes, against its first parent.
    pub(super) fn changes_of(&self, id: Id) -> Result<Changes, HistoryError> {
        let commit = self.commit(id)?;
        let parent = match commit.parents.first() {
            Some(parent) => Some(self.commit(*parent)?.tree),
            None => None,
        };
        self.changes(parent, commit.tree)
    }

    /// Files that differ between two trees, by path.
    pub(super) fn changes(&self, old: Option<Id>, new: Id) -> Result<Changes, HistoryError> {
        if let Some(known) = self.changes.borrow().get(&(old, new)) {
            return Ok(Rc::clone(known));
        }
        let missing = |error: String| HistoryError::Missing(format!("trees cannot be compared: {error}"));
        let read = |id: Id| {
            self.repository.find_tree(id).map(|tree| tree.data.clone()).map_err(|e| missing(e.to_string()))
        };
        let before = old.map(read).transpose()?.unwrap_or_default();
        let after = read(new)?;
        let mut recorder = Recorder::default();
        let kind = self.repository.object_hash();
        gix::diff::tree(
            TreeRefIter::from_bytes(&before, kind),
            TreeRefIter::from_bytes(&after, kind),
            gix::diff::tree::State::default(),
            &self.repository.objects,
            &mut recorder,
        )
        .map_err(|error| missing(error.to_string()))?;
        let mut changes: Vec<FileChange> = recorder.records.into_iter().filter_map(file_change).collect();
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        let changes = Rc::new(changes);
        self.changes.borrow_mut().insert((old, new), Rc::clone(&changes));
        Ok(changes)
    }

    /// The file at a path of a tree.
    pub(super) fn entry(&self, tree: Id, path: &[u8]) -> Result<Option<Entry>, HistoryError> {
        let missing = |error: &dyn std::fmt::Display| HistoryError::Missing(error.to_string());
        let tree = self.repository.find_tree(tree).map_err(|error| missing(&error))?;
        let found = tree.lookup_entry(path.split(|byte| *byte == b'/')).map_err(|error| missing(&error))?;
        Ok(found.filter(|entry| !entry.mode().is_tree()).map(|entry| (entry.object_id(), mode(entry.mode()))))
    }

    /// The bytes of a file; `None` for what has no lines: a submodule, a file that is large or binary.
    pub(super) fn text(&self, entry: Entry, limit: usize) -> Option<Vec<u8>> {
        let header = self.repository.find_header(entry.0).ok()?;
        if header.size() > limit as u64 {
            return None;
        }
        let data = self.repository.find_blob(entry.0).ok()?.take_data();
        (!data.iter().take(8_000).any(|byte| *byte == 0)).then_some(data)
    }
}

fn file_change(change: Change) -> Option<FileChange> {
    let file = |entry_mode: EntryMode, oid: Id| (!entry_mode.is_tree()).then(|| (oid, mode(entry_mode)));
    let change = match change {
        Change::Addition { entry_mode, oid, path, .. } => {
            FileChange { path: path.into(), old: None, new: file(entry_mode, oid) }
        }
        Change::Deletion { entry_mode, oid, path, .. } => {
            FileChange { path: path.into(), old: file(entry_mode, oid), new: None }
        }
        Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid, path } => FileChange {
            path: path.into(),
            old: file(previous_entry_mode, previous_oid),
            new: file(entry_mode, oid),
        },
    };
    (change.old.is_some() || change.new.is_some()).then_some(change)
}

fn mode(mode: EntryMode) -> u16 {
    mode.kind() as u16
}

/// The first seven digits, as people write a commit.
pub(super) fn short(id: Id) -> String {
    id.to_hex_with_len(7).to_string()
}
