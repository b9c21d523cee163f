//! What happened in a session, after decoding and cleaning: the unit of the spool.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Platform, Timestamp};

/// One event of one session. Every string in it has passed `privacy::clean`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Session id as the client gives it, bounded in length.
    pub session: String,
    /// The agent that it ran in.
    #[serde(default, skip_serializing_if = "Platform::is_claude")]
    pub platform: Platform,
    /// When the hook saw it.
    #[serde(with = "super::time::milliseconds")]
    pub at: Timestamp,
    /// Working directory as the client gives it.
    pub cwd: String,
    /// The subagent that it happened in; `None` in the main conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// A subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// The client's id for it.
    pub id: String,
    /// Its type, such as `general-purpose`; empty when the client does not say.
    pub kind: String,
}

/// What happened, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// A session began, or goes on in a new context.
    SessionStart {
        /// Why the client started it.
        source: StartSource,
    },
    /// The user sent a prompt.
    Prompt {
        /// The cleaned text; empty when `private`.
        text: String,
        /// The prompt was private as a whole: nothing of its turn is kept.
        #[serde(default)]
        private: bool,
    },
    /// A tool call ended.
    Tool {
        /// Tool name as the client gives it.
        tool: String,
        /// The call's arguments.
        input: Value,
        /// How it ended.
        outcome: Outcome,
    },
    /// The assistant ended its turn.
    Stop {
        /// Its last message, when the payload holds it.
        message: Option<String>,
        /// Where the drainer finds the last message when the payload does not hold it.
        transcript: Option<String>,
    },
    /// A subagent ended its work.
    SubagentStop {
        /// Its last message, when the payload holds it.
        message: Option<String>,
    },
    /// The context is about to be compacted.
    PreCompact {
        /// What the user asked to keep.
        instructions: Option<String>,
    },
    /// The session ended.
    SessionEnd {
        /// The client's reason, such as `clear` or `other`.
        reason: String,
    },
    /// A worktree is about to be removed.
    WorktreeRemove {
        /// Its path.
        path: String,
    },
}

impl EventKind {
    /// Stable name, used in the spool and in `cmem queue`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SessionStart { .. } => "session_start",
            Self::Prompt { .. } => "prompt",
            Self::Tool { .. } => "tool",
            Self::Stop { .. } => "stop",
            Self::SubagentStop { .. } => "subagent_stop",
            Self::PreCompact { .. } => "pre_compact",
            Self::SessionEnd { .. } => "session_end",
            Self::WorktreeRemove { .. } => "worktree_remove",
        }
    }

    /// Whether the turn is over once this happened in the main conversation.
    pub fn ends_turn(&self) -> bool {
        matches!(self, Self::Stop { .. } | Self::SessionEnd { .. } | Self::PreCompact { .. })
    }

    /// Whether an observer has anything to look at; the others are only recorded.
    pub fn is_evidence(&self) -> bool {
        matches!(self, Self::Tool { .. } | Self::Stop { .. } | Self::SubagentStop { .. })
    }
}

/// How a tool call ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It gave this response.
    Response(Value),
    /// It failed with this text.
    Error(String),
}

/// Why a client started a session or context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartSource {
    /// A new session.
    Startup,
    /// An old session goes on with its history.
    Resume,
    /// A copy of an old session goes on with its history.
    Fork,
    /// The history was cleared.
    Clear,
    /// The history was compacted.
    Compact,
}
