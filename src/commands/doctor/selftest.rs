//! One turn that goes all the way round, through the same code as a real one, in a throw-away directory.

use std::env;
use std::fs;
use std::path::PathBuf;

use serde_json::json;
use uuid::Uuid;

use super::Check;
use crate::config::{Paths, Provider, Settings, Sources};
use crate::drain::{Drainer, Progress};
use crate::git;
use crate::model::{Event, EventKind, Identity, Outcome, Platform, Timestamp};
use crate::retrieve::{self, Filter, RecordKind};
use crate::spool::{Arrival, FileLock};
use crate::store::Store;

/// No other memory holds it, and every splitter keeps it whole.
const WORD: &str = "selftestmarker";
const SESSION: &str = "doctor";

pub(super) fn check() -> Check {
    const NAME: &str = "self-test";
    match go_round() {
        Ok(()) => Check::ok(NAME, "a turn was captured, observed, stored and found again"),
        Err(why) => Check::fail(NAME, why, "please report this, with the output of `cmem doctor`"),
    }
}

struct Nobody;

impl Progress for Nobody {
    fn advanced(&mut self, _: u64, _: &dyn Fn() -> u64) {}
}

fn go_round() -> Result<(), String> {
    let folder = Throwaway::new()?;
    let step = |name: &'static str| move |error: &dyn std::fmt::Display| format!("{name}: {error}");
    let paths = Paths::resolve(Some(&folder.path)).map_err(|error| step("directory")(&error))?;
    paths.create().map_err(|error| step("directory")(&error))?;
    let mut settings = Settings::resolve(&Sources::default()).map_err(|error| step("settings")(&error))?;
    // A check costs nothing and asks nobody.
    settings.provider = Provider::Builtin;
    let place = git::identify(&folder.path);

    for (number, kind) in turn().into_iter().enumerate() {
        arrival(kind, number, &place).append(&paths).map_err(|error| step("capture")(&error))?;
    }

    let lock = FileLock::try_acquire(&paths.drain_lock()).map_err(|error| step("drain")(&error))?;
    let drained = Drainer::new(&paths, &settings, true)
        .and_then(|mut drainer| drainer.run(None, &mut Nobody))
        .map_err(|error| step("drain")(&error))?;
    drop(lock);
    if let Some(stopped) = drained.stopped {
        return Err(format!("drain: {} ({})", stopped.message, stopped.class));
    }

    let store = Store::open_read_only(&paths).map_err(|error| step("search")(&error))?;
    let scope = retrieve::scope(&store, &place).map_err(|error| step("search")(&error))?;
    let filter = Filter { kinds: vec![RecordKind::Observation], ..Filter::all(scope) };
    let found = retrieve::search(&store, WORD, &filter, 1, 0).map_err(|error| step("search")(&error))?;
    if found.hits.is_empty() {
        return Err(format!(
            "search: nothing was found; {} observations were stored of {} events",
            drained.observations, drained.events
        ));
    }
    Ok(())
}

/// A prompt, an edit and a last message: what a small real turn looks like.
fn turn() -> Vec<EventKind> {
    let file = "src/doctor.rs";
    vec![
        EventKind::Prompt { text: format!("Fix the {WORD} bug in {file}"), private: false },
        EventKind::Tool {
            tool: String::from("Edit"),
            input: json!({ "file_path": file, "old_string": "fn broken() {}", "new_string": format!("fn {WORD}() {{}}") }),
            outcome: Outcome::Response(json!({ "filePath": file })),
        },
        EventKind::Stop {
            message: Some(format!("Fixed: {WORD} failed because its limit was zero; it is five now.")),
            transcript: None,
        },
    ]
}

fn arrival(kind: EventKind, number: usize, place: &Identity) -> Arrival {
    let event = Event {
        session: SESSION.to_owned(),
        platform: Platform::Claude,
        at: Timestamp::now(),
        cwd: place.root.clone(),
        agent: None,
        kind,
    };
    Arrival::Event {
        event: Box::new(event),
        identity: Some(Box::new(place.clone())),
        key: number.to_be_bytes().to_vec(),
        exact: true,
    }
}

/// A directory of the test's own, removed with everything in it.
struct Throwaway {
    path: PathBuf,
}

impl Throwaway {
    fn new() -> Result<Self, String> {
        let path = env::temp_dir().join(format!("cmem-doctor-{}", Uuid::now_v7().simple()));
        // Not recursive: a path that exists is somebody else's.
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { path })
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_goes_all_the_way_round() {
        assert_eq!(go_round(), Ok(()));
    }
}
