//! Where the `claude` command is and whether it knows what an observer needs: asked once for each version, since
//! to ask takes as long as a call.

use std::env;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::process::{self, Call};
use crate::config::{Paths, replace};
use crate::observer::ObserverError;

/// Without these a call would run hooks, start servers, or leave its conversation among the user's own.
const NEEDED: [&str; 6] = [
    "--output-format",
    "--setting-sources",
    "--strict-mcp-config",
    "--tools",
    "--system-prompt",
    "--no-session-persistence",
];
const LIMIT: Duration = Duration::from_secs(20);

/// The command, ready to be called.
#[derive(Debug, Clone)]
pub(crate) struct Cli {
    pub(super) program: PathBuf,
}

/// What was found out about one file.
#[derive(Debug, Serialize, Deserialize)]
struct Found {
    program: PathBuf,
    /// Size and time of the file: another version has others.
    stamp: String,
    /// Options that it does not know.
    missing: Vec<String>,
    /// What it said instead of its help.
    failure: Option<String>,
}

impl Cli {
    /// The command on the path or where its installers put it.
    ///
    /// # Errors
    /// [`ObserverError`] when there is none, when it does not run, or when it is too old.
    pub(super) fn find(paths: &Paths) -> Result<Self, ObserverError> {
        let program = locate().ok_or(ObserverError::NoClaude)?;
        let found = match known(paths).filter(|found| found.is_of(&program)) {
            Some(found) => found,
            None => {
                let found = ask(&program);
                keep(paths, &found);
                found
            }
        };
        match (found.failure, found.missing.as_slice()) {
            (Some(reason), _) => Err(ObserverError::BrokenClaude { program, reason }),
            (None, []) => Ok(Self { program }),
            (None, missing) => Err(ObserverError::OldClaude { program, missing: missing.join(", ") }),
        }
    }
}

/// Whether the command was found usable when it was last asked. Starts no process.
pub(crate) fn cached(paths: &Paths) -> bool {
    known(paths).is_some_and(|found| found.is_usable() && found.program.is_file())
}

/// Whether the command is usable now. Asks it where that is not known, and keeps nothing.
pub(crate) fn is_usable(paths: &Paths) -> bool {
    locate().is_some_and(|program| {
        let known = known(paths).filter(|found| found.is_of(&program));
        known.unwrap_or_else(|| ask(&program)).is_usable()
    })
}

impl Found {
    fn is_usable(&self) -> bool {
        self.failure.is_none() && self.missing.is_empty()
    }

    fn is_of(&self, program: &Path) -> bool {
        // What does not run today may run tomorrow, with the same bytes.
        self.program == program && self.failure.is_none() && stamp(program).as_ref() == Some(&self.stamp)
    }
}

fn locate() -> Option<PathBuf> {
    let on_path =
        env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    let home = env::var_os("HOME").map(PathBuf::from);
    let usual = home.map(|home| [home.join(".local/bin"), home.join(".claude/local")]).into_iter().flatten();
    on_path
        .into_iter()
        .filter(|folder| folder.is_absolute())
        .chain(usual)
        .map(|folder| folder.join("claude"))
        .find(|program| {
            fs::metadata(program).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
}

fn stamp(program: &Path) -> Option<String> {
    let target = fs::canonicalize(program).ok()?;
    let meta = fs::metadata(&target).ok()?;
    Some(format!("{} {} {}", target.display(), meta.len(), meta.mtime()))
}

fn ask(program: &Path) -> Found {
    let found = |missing: Vec<String>, failure: Option<String>| Found {
        program: program.to_owned(),
        stamp: stamp(program).unwrap_or_default(),
        missing,
        failure,
    };
    let environment =
        ["HOME", "PATH", "TMPDIR"].into_iter().filter_map(|name| Some((name.into(), env::var_os(name)?)));
    let call = Call {
        program,
        arguments: vec!["--help".into()],
        environment: environment.chain([("CMEM_OBSERVER".into(), "1".into())]).collect(),
        folder: Path::new("/"),
        input: b"",
        limit: LIMIT,
    };
    match process::run(call) {
        Ok(output) if output.fine => {
            let help = String::from_utf8_lossy(&output.out);
            let unknown =
                NEEDED.iter().filter(|option| !help.contains(**option)).map(|option| (*option).to_owned());
            found(unknown.collect(), None)
        }
        Ok(output) => {
            let text =
                String::from_utf8_lossy(&output.err).trim().lines().next().unwrap_or("no answer").to_owned();
            found(Vec::new(), Some(text))
        }
        Err(error) => found(Vec::new(), Some(error.to_string())),
    }
}

fn known(paths: &Paths) -> Option<Found> {
    serde_json::from_slice(&fs::read(paths.claude_probe()).ok()?).ok()
}

/// A probe that cannot be kept is made again.
fn keep(paths: &Paths, found: &Found) {
    if let Ok(text) = serde_json::to_vec(found) {
        let _ = replace(&paths.claude_probe(), &text);
    }
}
