//! The coding agents that cmem can be registered with, as data.

mod codex;
mod copilot;
mod cursor;
mod dialect;
mod gemini;
mod opencode;
mod said;
mod windsurf;

use std::fmt;

pub use dialect::silence;
pub(super) use dialect::{abilities, answer, sender, translate};

/// A client's version, `major.minor.patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// Finds the first `major.minor.patch` in a line such as `2.1.197 (Claude Code)`.
    pub fn find(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| {
            let mut parts = word.trim_start_matches('v').split('.');
            let (major, minor) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let patch = parts.next()?;
            let digits = patch.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(patch.len());
            Some(Self(major, minor, patch[..digits].parse().ok()?))
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// One event that cmem wants to hear of.
#[derive(Debug)]
pub struct HookEvent {
    /// The agent's name for it.
    pub name: &'static str,
    /// The first version whose settings may name it; `None` for all versions. Up to 2.0.77 a single unknown name
    /// makes Claude Code drop every hook of the file.
    pub since: Option<Version>,
    /// The tool that it is about; `None` = any.
    pub matcher: Option<&'static str>,
}

/// One agent.
#[derive(Debug)]
pub struct AgentKind {
    /// Its name, for people.
    pub name: &'static str,
    /// The program that prints its version for `--version`.
    pub program: &'static str,
    /// The variable that moves its configuration directory.
    pub config_variable: &'static str,
    /// The configuration directory below the home directory, and in a project.
    pub config_dir: &'static str,
    /// Seconds after which the agent ends a hook. Hooks take milliseconds; an own limit also lifts the 1.5 s that
    /// Claude Code grants SessionEnd otherwise.
    pub timeout_secs: u32,
    /// The events to register.
    pub events: &'static [HookEvent],
}

const fn always(name: &'static str) -> HookEvent {
    HookEvent { name, since: None, matcher: None }
}

const fn about(name: &'static str, tool: &'static str) -> HookEvent {
    HookEvent { name, since: None, matcher: Some(tool) }
}

const fn since(name: &'static str, version: Version) -> HookEvent {
    HookEvent { name, since: Some(version), matcher: None }
}

/// Claude Code. Which version knows which event was seen by running 1.0.128, 2.0.77, 2.1.112, 2.1.197 and 2.1.332.
pub static CLAUDE_CODE: AgentKind = AgentKind {
    name: "Claude Code",
    program: "claude",
    config_variable: "CLAUDE_CONFIG_DIR",
    config_dir: ".claude",
    timeout_secs: 10,
    events: &[
        always("SessionStart"),
        always("UserPromptSubmit"),
        about("PreToolUse", "Read"),
        always("PostToolUse"),
        always("Stop"),
        always("SubagentStop"),
        always("PreCompact"),
        always("SessionEnd"),
        since("PostToolUseFailure", Version(2, 0, 77)),
        since("WorktreeRemove", Version(2, 1, 112)),
    ],
};

#[cfg(test)]
mod tests;
