//! The observers that there are, by name.

/// Who turns events into memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// The user's `claude` command where it can be used, otherwise the embedded observer.
    Auto,
    /// The embedded observer: no network, no account.
    Builtin,
    /// The user's `claude` command, with their subscription.
    Claude,
    /// The Anthropic Messages API.
    Anthropic,
    /// Any OpenAI-compatible chat completions endpoint.
    OpenAi,
    /// Google's Gemini API.
    Gemini,
}

impl Provider {
    pub(super) const NAMES: &'static [&'static str] =
        &["auto", "builtin", "claude", "anthropic", "openai", "gemini"];

    /// What may stand in for another one.
    pub(super) const FALLBACKS: &'static [&'static str] =
        &["", "builtin", "claude", "anthropic", "openai", "gemini"];

    /// The name as set.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Builtin => "builtin",
            Self::Claude => "claude",
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
        }
    }

    pub(super) fn from_name(name: &str) -> Self {
        match name {
            "anthropic" => Self::Anthropic,
            "openai" => Self::OpenAi,
            "gemini" => Self::Gemini,
            "builtin" => Self::Builtin,
            "claude" => Self::Claude,
            _ => Self::Auto,
        }
    }
}
