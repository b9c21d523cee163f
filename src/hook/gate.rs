//! What is told before a file is read that memories are about: beside the read, or once in its place.
//!
//! Nothing here may keep an agent from a file: a read is held back at most once in a session, never after the session
//! edited the file (a client may refuse the next edit of a file whose read was refused), and whatever goes wrong lets
//! the read go on.

mod after;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

pub(super) use after::follow;

use super::agents;
use super::decode::{event_name, session};
use super::guard;
use super::wire::{EventName, Payload, id_of};
use crate::config::{Paths, ReadGate, Settings};
use crate::git;
use crate::log;
use crate::mode::Mode;
use crate::model::{Identity, Platform, Timestamp};
use crate::outline;
use crate::privacy::Cleaner;
use crate::render::{self, GatedFile};
use crate::retrieve::{self, Ground};
use crate::spool::{Gate, Trail, note_gate, note_use};
use crate::store::{Store, StoreError};

/// What is smaller is read sooner than decided about.
const SMALLEST: u64 = 1_500;
/// Claude Code (2.1.197) refuses to read all of a larger file, and says so in fewer words.
const LARGEST: u64 = 256 * 1024;
/// Most memories that are told.
const MOST: usize = 15;
/// So many of the first ones count as used: as many as a prompt would be told.
const USED: usize = 3;
/// The look at the memory takes a few milliseconds; a read waits no longer than this for it.
const PATIENCE: Duration = Duration::from_millis(100);
/// A client gives no more tokens of a file at once.
const MOST_READ: u64 = 25_000;
/// So much of a file is looked at for a zero byte, as git does.
const LOOKED_AT: u64 = 8_000;

/// A read of a whole file by the session itself.
struct Asked {
    session: String,
    cwd: PathBuf,
    /// As the client named it, but absolute.
    path: PathBuf,
    bytes: u64,
    changed_at: Timestamp,
}

/// Whether a payload asks before a tool runs.
pub(super) fn asks(event_argument: Option<&str>, value: &Value) -> bool {
    value.as_object().is_some_and(|raw| event_name(raw, event_argument) == EventName::PreToolUse)
}

/// The answer before a tool runs; nothing mostly.
pub(super) fn answer(
    paths: &Paths,
    settings: &Settings,
    platform: Platform,
    value: Value,
    cleaner: &Cleaner,
) -> Option<String> {
    let abilities = agents::abilities(platform);
    if settings.read_gate == ReadGate::Off || !paths.memory().exists() {
        return None;
    }
    let asked = asked(value, cleaner)?;
    let may = if settings.read_gate.blocks(asked.bytes) { abilities.refuses } else { abilities.hints };
    if !may {
        return None;
    }
    let folder = asked.path.parent()?;
    let exclusion = guard::exclusion_of(platform, &asked.cwd, settings);
    if exclusion.or_else(|| guard::exclusion(folder, settings)).is_some() {
        return None;
    }
    let trail = Trail::read(paths, platform, &asked.session);
    let file = name_of(&asked.path);
    let is_known = trail.has_edited(&file) || trail.gates().iter().any(|gate| gate.file == file);
    if trail.is_private() || is_known || is_binary(&asked.path) {
        return None;
    }
    match look(paths, settings, &trail, (platform, &asked), file) {
        Ok(answer) => answer,
        Err(error) => {
            if matches!(error, StoreError::Corrupt { .. } | StoreError::Io { .. }) {
                log::error_once(paths, &format!("memories before a read: {error}"));
            }
            None
        }
    }
}

fn asked(mut value: Value, cleaner: &Cleaner) -> Option<Asked> {
    cleaner.clean(&mut value);
    let Value::Object(fields) = value else { return None };
    let payload = Payload::new(fields);
    let input = &payload.tool_input;
    let is_targeted =
        ["offset", "limit", "pages"].iter().any(|name| input.get(name).is_some_and(|v| !v.is_null()));
    if payload.tool_name != "Read" || is_targeted || id_of(&payload.agent_id).is_some() {
        return None;
    }
    let cwd = PathBuf::from(payload.cwd.as_str()?);
    let path = cwd.join(input.get("file_path")?.as_str()?);
    let about = fs::metadata(&path).ok()?;
    let (bytes, changed_at) = (about.len(), Timestamp::from(about.modified().ok()?));
    (about.is_file() && (SMALLEST..=LARGEST).contains(&bytes)).then(|| Asked {
        session: session(&payload),
        cwd,
        path,
        bytes,
        changed_at,
    })
}

fn look(
    paths: &Paths,
    settings: &Settings,
    trail: &Trail,
    (reader, asked): (Platform, &Asked),
    file: String,
) -> Result<Option<String>, StoreError> {
    let identity = git::identify(&asked.cwd);
    let store = Store::glance(paths, PATIENCE)?;
    let scope = retrieve::scope(&store, &identity)?;
    let spellings = spellings(&asked.path, &identity);
    let mut found = retrieve::about_file(&store, &scope, &spellings, &asked.session, MOST)?;
    drop(store);
    let Some(newest) = found.newest else { return Ok(None) };
    if asked.changed_at > newest && !is_by_git(&identity, asked.changed_at) {
        return Ok(None);
    }
    retrieve::as_read_by(reader, &mut found.memories);
    let is_block = settings.read_gate.blocks(asked.bytes);
    let price = usize::try_from(asked.bytes.div_ceil(4).min(MOST_READ)).unwrap_or(usize::MAX);
    let name = spellings.first().cloned().unwrap_or_default();
    let (mode, _) = Mode::load_or_english(settings, paths);
    let outline = outline::has_grammar(&asked.path).then(|| as_typed(&asked.path, &asked.cwd)).flatten();
    let gated = GatedFile { name, price, is_held_back: is_block, outline };
    let told = render::gate(&identity.name, &gated, &found.memories, &mode);
    if told.shown.is_empty() {
        return Ok(None);
    }
    let name = Uuid::now_v7().simple().to_string();
    let gate = Gate { file, name, is_block, told: told.shown.clone() };
    // What cannot be remembered would be held back for ever.
    if !trail.add_gate(&gate).unwrap_or(false) {
        return Ok(None);
    }
    // Failing, a prompt tells one of them again.
    let _ = trail.add_told(&told.shown, false);
    note_gate(paths, &gate, render::price_of(&told), price);
    note_use(paths, &told.shown[..told.shown.len().min(USED)]);
    Ok(Some(reply(is_block, &told.text)))
}

fn reply(is_block: bool, text: &str) -> String {
    let output = match is_block {
        true => json!({
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": text,
        }),
        // Without a decision: whether the file may be read is not ours to say.
        false => json!({ "hookEventName": "PreToolUse", "additionalContext": text }),
    };
    json!({ "hookSpecificOutput": output }).to_string()
}

/// Whether the file is as git itself wrote it at that time.
fn is_by_git(identity: &Identity, at: Timestamp) -> bool {
    let root = Path::new(&identity.root);
    Ground::new(root, git::checkouts(root)).is_some_and(|ground| ground.is_by_git(at))
}

/// The paths that a file may stand under in a memory, as seen from the root first: relative to the root of the checkout,
/// and absolute, here and in the main checkout, with links and without.
fn spellings(path: &Path, identity: &Identity) -> Vec<String> {
    let plain = plain(path);
    let (real, _) = git::resolve(path);
    let root = Path::new(&identity.root);
    let relative = [&real, &plain].iter().find_map(|path| path.strip_prefix(root).ok());
    let mut spellings: Vec<PathBuf> = relative.map(Path::to_owned).into_iter().collect();
    let mut absolute: BTreeSet<PathBuf> = [real.clone(), plain.clone()].into();
    if let (Some(relative), Some(main)) = (relative, git::linked_main(root)) {
        absolute.insert(main.join(relative));
    }
    spellings.extend(absolute);
    spellings.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Without `.` and `..`, which are taken out of the text.
fn plain(path: &Path) -> PathBuf {
    use std::path::Component::{CurDir, ParentDir};
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            CurDir => {}
            ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// One name for a file, however it is spelled.
fn name_of(path: &Path) -> String {
    Trail::file(&git::resolve(path).0)
}

/// How a command line in `cwd` names a file; `None` for a name that a shell may take for more than a name.
fn as_typed(path: &Path, cwd: &Path) -> Option<String> {
    let path = plain(path);
    let text = path.strip_prefix(plain(cwd)).unwrap_or(&path).to_str()?;
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | ',');
    if text.starts_with('-') || !text.chars().all(|c| is_plain(c) || c == ' ') {
        return None;
    }
    Some(if text.contains(' ') { format!("'{text}'") } else { text.to_owned() })
}

fn is_binary(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LOOKED_AT).read_to_end(&mut start));
    read.is_err() || start.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_typed_is_only_a_name() {
        let typed = |path: &str| as_typed(Path::new(path), Path::new("/src/app"));
        assert_eq!(typed("/src/app/./a/../b.rs").as_deref(), Some("b.rs"));
        assert_eq!(typed("/src/other/b.rs").as_deref(), Some("/src/other/b.rs"));
        assert_eq!(typed("/src/app/my file.rs").as_deref(), Some("'my file.rs'"));
        assert_eq!(typed("/src/app/größe-名.rs").as_deref(), Some("größe-名.rs"));
        for odd in ["a;rm.rs", "$(x).rs", "a'b.rs", "`x`.rs", "a\nb.rs", "-rf.rs", "</cmem-context>.rs"] {
            assert_eq!(typed(&format!("/src/app/{odd}")), None, "{odd}");
        }
    }

    #[test]
    fn a_file_has_every_spelling_it_may_stand_under() {
        let dirs = tempfile::tempdir().unwrap();
        let base = dirs.path().canonicalize().unwrap();
        let root = base.join("wt");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(base.join("main/.git/worktrees/wt")).unwrap();
        fs::write(root.join(".git"), format!("gitdir: {}/main/.git/worktrees/wt\n", base.display())).unwrap();
        fs::write(root.join("src/a.rs"), "x").unwrap();
        let link = base.join("link");
        std::os::unix::fs::symlink(&root, &link).unwrap();
        let identity = Identity { root: root.to_str().unwrap().to_owned(), ..git::identify(&root) };
        let found = spellings(&link.join("src/../src/./a.rs"), &identity);
        let absolute = |name: &str| base.join(name).to_str().unwrap().to_owned();
        assert_eq!(found[0], "src/a.rs");
        for spelling in ["link/src/a.rs", "wt/src/a.rs", "main/src/a.rs"] {
            assert!(found.contains(&absolute(spelling)), "{spelling}: {found:?}");
        }
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!(name_of(&link.join("src/a.rs")), name_of(&root.join("src/./a.rs")));
    }
}
