//! What the user can do about each class.

use crate::config::{Provider, Settings};
use crate::observer::Verdict;

/// What the user can do about a class; empty when nothing needs to be done.
pub fn remedy(verdict: &Verdict, settings: &Settings) -> String {
    let (key, base) = match settings.provider {
        Provider::Anthropic => ("CMEM_ANTHROPIC_API_KEY", "CMEM_ANTHROPIC_BASE_URL"),
        Provider::OpenAi => ("CMEM_OPENAI_API_KEY", "CMEM_OPENAI_BASE_URL"),
        Provider::Gemini => ("CMEM_GEMINI_API_KEY", "CMEM_GEMINI_BASE_URL"),
        Provider::Claude | Provider::Auto => return claude_remedy(verdict),
        Provider::Builtin => return String::new(),
    };
    match verdict {
        Verdict::Stored(_) | Verdict::Nothing | Verdict::RateLimited { .. } => String::new(),
        Verdict::Auth { .. } => {
            format!("check {key} (and {base}): `cmem config set {key} …`, then `cmem drain`")
        }
        Verdict::Quota { .. } => {
            format!(
                "wait, top up the account that {key} belongs to, or `cmem config set CMEM_PROVIDER builtin`"
            )
        }
        Verdict::Transient { .. } => {
            format!(
                "nothing if it passes; otherwise check {base} and the network, or raise CMEM_TIMEOUT_SECS"
            )
        }
        Verdict::Malformed { .. } => String::from(
            "if it happens often, choose another CMEM_MODEL; `cmem queue retry` tries parked events again",
        ),
        Verdict::Unrecoverable { .. } => {
            format!("check CMEM_MODEL and {base}, then `cmem queue retry --all`")
        }
    }
}

/// The same for the user's own `claude` command.
fn claude_remedy(verdict: &Verdict) -> String {
    let remedy = match verdict {
        Verdict::Stored(_) | Verdict::Nothing | Verdict::RateLimited { .. } => "",
        Verdict::Auth { .. } => {
            "log in again: `claude`, then /login; or `cmem config set CMEM_PROVIDER builtin`"
        }
        Verdict::Quota { .. } => {
            "wait for your plan's limit to reset, or `cmem config set CMEM_PROVIDER builtin`"
        }
        Verdict::Transient { .. } => {
            "nothing if it passes; otherwise see whether `claude -p hello` answers, or raise CMEM_TIMEOUT_SECS"
        }
        Verdict::Malformed { .. } => {
            "if it happens often, choose another CMEM_MODEL; `cmem queue retry` tries parked events again"
        }
        Verdict::Unrecoverable { .. } => "check CMEM_MODEL, then `cmem queue retry --all`",
    };
    remedy.to_owned()
}
