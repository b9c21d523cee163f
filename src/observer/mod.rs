//! Turns a batch of events into memories. One stateless request per batch; every answer gets one class.

mod builtin;
mod class;
mod claude;
mod consolidate;
mod diff;
mod evidence;
mod narrate;
mod parse;
mod prompt;
mod provider;
mod text;

use crate::config::{Paths, Provider, Settings};
use crate::mode::{Mode, ModeError};
use crate::model::{Draft, Event, SummaryDraft, Timestamp, estimate_tokens};

pub use class::remedy;
pub(crate) use class::{of_error_object, of_failure, without_key};
pub use consolidate::Consolidation;
pub(crate) use consolidate::union;
pub(crate) use evidence::relative;
pub use evidence::{Files, files};
pub use narrate::{Narration, Prose};
pub(crate) use provider::{address, header_safe};
pub(crate) use text::{one_line, shorten, title_of};

/// Stands in every request to a model, so that a hook recognises the observer's own request when it is fed back.
pub const MARKER: &str = crate::model::OBSERVER_MARKER;

/// An observer that cannot work as it is set up. Nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum ObserverError {
    /// The mode cannot be used.
    #[error("CMEM_MODE: {0}")]
    Mode(#[from] ModeError),
    /// The provider needs a key.
    #[error("provider {provider} needs a key: {key} is not set")]
    NoKey {
        /// The provider.
        provider: &'static str,
        /// The setting.
        key: &'static str,
    },
    /// The key holds white space or characters that no header takes.
    #[error("{key} is not a key: it holds blanks or characters outside ASCII")]
    BadKey {
        /// The setting.
        key: &'static str,
    },
    /// The provider has no default model.
    #[error("provider openai has no default model: CMEM_MODEL is not set")]
    NoModel,
    /// A model name that cannot be part of an address.
    #[error("CMEM_MODEL = {0:?} is no name of a model")]
    BadModel(String),
    /// There is no `claude` command.
    #[error("provider claude needs the claude command, and there is none on the path")]
    NoClaude,
    /// The `claude` command does not run.
    #[error("{program} does not run: {reason}")]
    BrokenClaude {
        /// The command.
        program: std::path::PathBuf,
        /// What it said.
        reason: String,
    },
    /// The `claude` command does not know what is needed to keep an observer apart from the user's sessions.
    #[error("{program} is too old: it does not know {missing}")]
    OldClaude {
        /// The command.
        program: std::path::PathBuf,
        /// Options that it lacks.
        missing: String,
    },
    /// The base URL cannot be used. It is not quoted: what cannot be read may hold a secret anywhere.
    #[error("{setting}: {reason}")]
    BadUrl {
        /// The setting.
        setting: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl ObserverError {
    /// What the user can do about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::Mode(ModeError::BadId(_) | ModeError::Missing { .. }) => {
                String::from("see `cmem mode list`, then `cmem mode use ID`")
            }
            Self::Mode(_) => String::from("`cmem config set CMEM_MODE code`, or mend the file"),
            Self::NoKey { key, .. } => {
                format!(
                    "`cmem config set {key} …`, or `cmem config set CMEM_PROVIDER builtin`, which needs none"
                )
            }
            Self::BadKey { key } => format!("`cmem config set {key} …` with the key alone"),
            Self::BadModel(_) => String::from("`cmem config set CMEM_MODEL …` with the name alone"),
            Self::NoModel => String::from("`cmem config set CMEM_MODEL …` with a model of that server"),
            Self::NoClaude => String::from(
                "install Claude Code, or `cmem config set CMEM_PROVIDER builtin`, which needs nothing",
            ),
            Self::BrokenClaude { program, .. } => {
                format!(
                    "see what `{} --help` says, or `cmem config set CMEM_PROVIDER builtin`",
                    program.display()
                )
            }
            Self::OldClaude { .. } => {
                String::from("`claude update`, or `cmem config set CMEM_PROVIDER builtin`")
            }
            Self::BadUrl { setting, .. } => format!("`cmem config set {setting} https://…`"),
        }
    }
}

/// The observer that the settings ask for, in the given mode. Sends nothing.
///
/// # Errors
/// [`ObserverError`] names the setting that keeps it from working.
pub fn new(settings: &Settings, paths: &Paths, mode: Mode) -> Result<Box<dyn Observer>, ObserverError> {
    Ok(match settings.provider {
        // Whatever keeps the command from being used, the embedded observer needs nothing.
        Provider::Auto => match claude::Claude::new(settings, paths, mode.clone()) {
            Ok(observer) => Box::new(observer),
            Err(_) => Box::new(builtin::Builtin::new(mode)),
        },
        Provider::Builtin => Box::new(builtin::Builtin::new(mode)),
        Provider::Claude => Box::new(claude::Claude::new(settings, paths, mode)?),
        Provider::Anthropic => Box::new(provider::Remote::anthropic(settings, mode)?),
        Provider::OpenAi => Box::new(provider::Remote::openai(settings, mode)?),
        Provider::Gemini => Box::new(provider::Remote::gemini(settings, mode)?),
    })
}

/// The model that a provider is asked for unless `CMEM_MODEL` names another; `None` where there is no default.
pub fn default_model(provider: Provider) -> Option<&'static str> {
    match provider {
        Provider::Anthropic => Some(provider::ANTHROPIC_MODEL),
        Provider::Gemini => Some(provider::GEMINI_MODEL),
        Provider::Claude => Some(claude::DEFAULT_MODEL),
        Provider::Auto | Provider::Builtin | Provider::OpenAi => None,
    }
}

/// What a model reads of a batch, in tokens by the usual estimate: the request as it would be sent.
pub fn request_tokens(mode: &Mode, batch: &Batch) -> usize {
    let request = prompt::request(mode, batch);
    estimate_tokens(&request.system) + estimate_tokens(&request.user)
}

/// The provider that is at work, as far as it is known without asking: `auto` is what it was found to be last.
pub fn effective(settings: &Settings, paths: &Paths) -> Provider {
    match settings.provider {
        Provider::Auto if claude::cached(paths) => Provider::Claude,
        Provider::Auto => Provider::Builtin,
        other => other,
    }
}

/// The provider that would be at work. Asks the `claude` command where that decides, and keeps nothing.
pub fn would_be(settings: &Settings, paths: &Paths) -> Provider {
    match settings.provider {
        Provider::Auto if claude::is_usable(paths) => Provider::Claude,
        Provider::Auto => Provider::Builtin,
        other => other,
    }
}

/// What an observer is shown: events of one session in one project, and what it needs to know beside them.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Display name of the project.
    pub project: String,
    /// Root of the checkout: files below it are named relative to it.
    pub root: String,
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// The user's prompt of the turn that the first event belongs to, if it came before the batch.
    pub request: Option<String>,
    /// Titles already recorded in this session, oldest first.
    pub titles: Vec<String>,
    /// Existing memories that look related.
    pub similar: Vec<Similar>,
    /// The last reply to this batch was malformed: ask more strictly.
    pub strict: bool,
}

/// An existing memory shown to the observer, so that it does not repeat it and can retire it.
#[derive(Debug, Clone)]
pub struct Similar {
    /// Observation id.
    pub id: i64,
    /// Its type.
    pub r#type: String,
    /// Its title.
    pub title: String,
}

/// Tokens of one call, from the provider's own figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens billed in full, cache writes included.
    pub input: i64,
    /// Input tokens read from the provider's cache.
    pub cached: i64,
    /// Output tokens.
    pub output: i64,
}

impl std::ops::Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            output: self.output.saturating_add(other.output),
        }
    }
}

/// What an observer has to say about a batch.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// Memories; may be empty when there is a summary.
    pub drafts: Vec<Draft>,
    /// The session so far; only asked for when the batch holds a `Stop`.
    pub summary: Option<SummaryDraft>,
    /// What connects the parts of a report; only asked for by [`Observer::narrate`].
    pub prose: Option<Prose>,
}

/// The class of an answer. Only the first two confirm a batch.
#[derive(Debug)]
pub enum Verdict {
    /// There is something to store.
    Stored(Reply),
    /// The observer said explicitly that nothing is worth recording.
    Nothing,
    /// The answer cannot be used: empty, prose, cut off; or the request was too large.
    Malformed {
        /// What was wrong with it, without quoting it.
        reason: String,
    },
    /// Too many requests.
    RateLimited {
        /// How long the provider asks to wait.
        retry_after: Option<std::time::Duration>,
    },
    /// The account's allowance is used up.
    Quota {
        /// When it is renewed, if the provider says.
        reset: Option<Timestamp>,
        /// What the provider said, redacted and bounded.
        message: String,
    },
    /// The provider refuses the credentials.
    Auth {
        /// What the provider said, redacted and bounded.
        message: String,
    },
    /// The network or the provider failed for now.
    Transient {
        /// What failed, redacted and bounded.
        message: String,
    },
    /// The same request would fail for ever.
    Unrecoverable {
        /// What the provider said, redacted and bounded.
        message: String,
    },
}

impl Verdict {
    /// The name of the class.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Stored(_) => "stored",
            Self::Nothing => "nothing",
            Self::Malformed { .. } => "malformed",
            Self::RateLimited { .. } => "rate_limited",
            Self::Quota { .. } => "quota",
            Self::Auth { .. } => "auth",
            Self::Transient { .. } => "transient",
            Self::Unrecoverable { .. } => "unrecoverable",
        }
    }
}

/// The class of what a model wrote about a batch, with its claims corrected by the evidence. `cut` = it was stopped
/// at its length limit.
fn judge(text: &str, cut: bool, mode: &Mode, batch: &Batch, now: Timestamp) -> Verdict {
    let shown: Vec<i64> = batch.similar.iter().map(|memory| memory.id).collect();
    let mut verdict = class::of_text(text, cut, mode, &shown, now);
    if let Verdict::Stored(reply) = &mut verdict {
        evidence::correct(&mut reply.drafts, &batch.events, &batch.root);
        if !prompt::wants_summary(batch) && !reply.drafts.is_empty() {
            reply.summary = None;
        }
    }
    verdict
}

/// The result of one observer call.
#[derive(Debug)]
pub struct Answer {
    /// Its class, with the content.
    pub verdict: Verdict,
    /// What it cost.
    pub usage: Usage,
    /// The model that gave it; `builtin` for the embedded observer.
    pub model: String,
}

/// Anything that turns events into memories.
pub trait Observer {
    /// Looks at one batch. Takes as long as `CMEM_TIMEOUT_SECS` at most.
    fn observe(&self, batch: &Batch) -> Answer;

    /// Puts several memories into one. Takes as long as `CMEM_TIMEOUT_SECS` at most; what is stored is one draft.
    fn consolidate(&self, asked: &Consolidation) -> Answer;

    /// Writes what connects the parts of a report. Takes as long as `CMEM_TIMEOUT_SECS` at most; nothing, where it has no
    /// words of its own.
    fn narrate(&self, asked: &Narration) -> Answer;

    /// Whether it wants whole turns: then a batch waits for the end of the turn.
    fn wants_whole_turns(&self) -> bool;

    /// Which provider it is; never `auto`.
    fn provider(&self) -> Provider;
}
