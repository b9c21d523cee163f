//! The coding agents whose sessions are remembered.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The agent that a session ran in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// Claude Code
    #[default]
    Claude,
    /// Codex CLI
    Codex,
    /// Cursor
    Cursor,
    /// Gemini CLI
    Gemini,
    /// OpenCode
    Opencode,
    /// Windsurf
    Windsurf,
    /// GitHub Copilot CLI
    Copilot,
}

impl Platform {
    /// Every agent.
    pub const ALL: [Self; 7] = [
        Self::Claude,
        Self::Codex,
        Self::Cursor,
        Self::Gemini,
        Self::Opencode,
        Self::Windsurf,
        Self::Copilot,
    ];

    /// As it is stored and typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Windsurf => "windsurf",
            Self::Copilot => "copilot",
        }
    }

    /// The agent of a name; `None` when there is none of it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|platform| platform.name() == name)
    }

    /// As its makers write it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex CLI",
            Self::Cursor => "Cursor",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "OpenCode",
            Self::Windsurf => "Windsurf",
            Self::Copilot => "Copilot CLI",
        }
    }

    /// Whether it is Claude Code, which goes without saying.
    pub fn is_claude(&self) -> bool {
        *self == Self::Claude
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for platform in Platform::ALL {
            assert_eq!(Platform::from_name(platform.name()), Some(platform));
            let json = serde_json::to_value(platform).unwrap();
            assert_eq!(json, platform.name());
        }
        assert_eq!(Platform::from_name("Codex"), None);
    }
}
