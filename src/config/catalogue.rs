//! Every setting by name: its default, what it takes, and one line of help.

use super::prices::{LIST, Price};
use super::provider::Provider;
use super::read_gate::ReadGate;
use super::settings::{PREFIX, SettingsError, TWIN_PREFIX};

/// One known key.
#[derive(Debug)]
pub struct Setting {
    /// Name in `settings.json` and in the environment.
    pub key: &'static str,
    /// Value when nothing sets it.
    pub default: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
    /// Whether its value is a secret that is never printed.
    pub secret: bool,
    accepts: Accepts,
}

#[derive(Debug)]
enum Accepts {
    Text,
    OneOf(&'static [&'static str]),
    Number { min: u64, max: u64 },
    Switch,
    Patterns,
    Prices,
    Amount,
}

const fn setting(key: &'static str, default: &'static str, accepts: Accepts, help: &'static str) -> Setting {
    Setting { key, default, help, secret: false, accepts }
}

const fn secret(key: &'static str, help: &'static str) -> Setting {
    Setting { key, default: "", help, secret: true, accepts: Accepts::Text }
}

const NOTICED: &str = "security_alert,sensitive";
const TRIGGERS: &str = "types of observations that are told there, comma-separated; empty = none";

pub(super) static CATALOGUE: &[Setting] = &[
    setting("CMEM_OFF", "0", Accepts::Switch, "1 switches capture and injection off"),
    setting(
        "CMEM_PROVIDER",
        "auto",
        Accepts::OneOf(Provider::NAMES),
        "who turns events into memories; auto = claude where that command can be used and is logged in, else builtin",
    ),
    setting("CMEM_MODEL", "", Accepts::Text, "model name; empty = the provider's default"),
    setting(
        "CMEM_FALLBACK_PROVIDER",
        "",
        Accepts::OneOf(Provider::FALLBACKS),
        "who takes over while the provider refuses or cannot be reached; empty = nobody, events wait",
    ),
    setting(
        "CMEM_FALLBACK_MODEL",
        "",
        Accepts::Text,
        "model name for the fallback; empty = its provider's default",
    ),
    secret("CMEM_ANTHROPIC_API_KEY", "key for provider anthropic; never taken from elsewhere"),
    setting(
        "CMEM_ANTHROPIC_BASE_URL",
        "https://api.anthropic.com",
        Accepts::Text,
        "base URL for provider anthropic",
    ),
    secret("CMEM_OPENAI_API_KEY", "key for provider openai; may be empty for a local server"),
    setting(
        "CMEM_OPENAI_BASE_URL",
        "https://api.openai.com/v1",
        Accepts::Text,
        "any OpenAI-compatible base URL, such as http://127.0.0.1:11434/v1",
    ),
    secret("CMEM_GEMINI_API_KEY", "key for provider gemini"),
    setting(
        "CMEM_GEMINI_BASE_URL",
        "https://generativelanguage.googleapis.com",
        Accepts::Text,
        "base URL for provider gemini",
    ),
    setting(
        "CMEM_EMBED_BASE_URL",
        "",
        Accepts::Text,
        "OpenAI-compatible base URL whose embeddings search compares beside the embedded model's; empty = none",
    ),
    setting("CMEM_EMBED_MODEL", "", Accepts::Text, "name of the embeddings model there"),
    secret("CMEM_EMBED_API_KEY", "key for that endpoint; may be empty for a local server"),
    setting(
        "CMEM_CLAUDE_ENV",
        "",
        Accepts::Text,
        "further variables that provider claude passes on to the command, comma-separated; keys are not passed unless named",
    ),
    setting("CMEM_TIMEOUT_SECS", "30", Accepts::Number { min: 1, max: 600 }, "limit for one observer call"),
    setting(
        "CMEM_LINGER_SECS",
        "10",
        Accepts::Number { min: 0, max: 600 },
        "how long a model waits for more events before it looks at an unfinished turn",
    ),
    setting(
        "CMEM_MODE",
        "code",
        Accepts::Text,
        "mode id: built in, or a file in the data directory's modes/",
    ),
    setting(
        "CMEM_SKIP_TOOLS",
        "ListMcpResourcesTool,SlashCommand,Skill,TodoWrite,TaskCreate,TaskUpdate,TaskList,AskUserQuestion,ToolSearch",
        Accepts::Text,
        "tools that are not captured, comma-separated",
    ),
    setting(
        "CMEM_EXCLUDED_PROJECTS",
        "",
        Accepts::Text,
        "directories that are not captured, comma-separated globs (*, **, ?, leading ~)",
    ),
    setting(
        "CMEM_REDACT_PATTERNS",
        "",
        Accepts::Patterns,
        "further regular expressions to redact, one per line (or a JSON array in settings.json)",
    ),
    setting(
        "CMEM_ACCEPT_SUGGESTIONS",
        "0",
        Accepts::Switch,
        "1 takes memories that the assistant suggests into use; 0 = they wait for `cmem review`",
    ),
    setting(
        "CMEM_CONTEXT_TOKENS",
        "2500",
        Accepts::Number { min: 0, max: 100_000 },
        "token budget of the context at session start; 0 = none",
    ),
    setting(
        "CMEM_CONTEXT_OBSERVATIONS",
        "50",
        Accepts::Number { min: 0, max: 200 },
        "most memories in the context at session start; 0 = none",
    ),
    setting(
        "CMEM_PROMPT_HITS",
        "3",
        Accepts::Number { min: 0, max: 10 },
        "most memories that are told beside a prompt which is about them; 0 = none",
    ),
    setting(
        "CMEM_READ_GATE",
        "auto",
        Accepts::OneOf(ReadGate::NAMES),
        "memories of a file that is about to be read: hint = beside it, block = instead of it, once; auto = block from 24 KB on",
    ),
    setting(
        "CMEM_PRUNE_DAYS",
        "0",
        Accepts::Number { min: 0, max: 36_500 },
        "`cmem prune` puts away what was of no use for so many days; 0 = nothing",
    ),
    setting(
        "CMEM_PRUNE_PRIORITY",
        "low",
        Accepts::OneOf(&["low", "normal"]),
        "up to which priority `cmem prune` puts away",
    ),
    setting(
        "CMEM_DAILY_TOKENS",
        "0",
        Accepts::Number { min: 0, max: u64::MAX },
        "most tokens that the observer may use in a day, cached ones included; 0 = no limit",
    ),
    setting(
        "CMEM_DAILY_USD",
        "0",
        Accepts::Amount,
        "most that the observer may cost in a day, by CMEM_PRICES (a model that is not there counts as the dearest); 0 = no limit",
    ),
    setting(
        "CMEM_PRICES",
        LIST,
        Accepts::Prices,
        "dollars per million tokens, MODEL=INPUT/CACHED/OUTPUT, comma-separated",
    ),
    setting("CMEM_TELEGRAM_ENABLED", "1", Accepts::Switch, "0 switches notices by Telegram off"),
    secret("CMEM_TELEGRAM_BOT_TOKEN", "token of the Telegram bot that sends notices"),
    setting("CMEM_TELEGRAM_CHAT_ID", "", Accepts::Text, "the chat that it writes to: a number, or @channel"),
    setting("CMEM_TELEGRAM_TRIGGER_TYPES", NOTICED, Accepts::Text, TRIGGERS),
    setting("CMEM_TELEGRAM_BASE_URL", "https://api.telegram.org", Accepts::Text, "base URL of the Bot API"),
    secret("CMEM_WEBHOOK_URL", "where notices are posted as JSON; kept like a key, as such addresses are"),
    setting("CMEM_WEBHOOK_TRIGGER_TYPES", NOTICED, Accepts::Text, TRIGGERS),
    setting(
        "CMEM_LOG_LEVEL",
        "INFO",
        Accepts::OneOf(&["DEBUG", "INFO", "WARN", "ERROR", "SILENT"]),
        "what the log keeps",
    ),
];

/// Every known key, in the order in which `cmem config list` prints them.
pub fn catalogue() -> &'static [Setting] {
    CATALOGUE
}

/// Finds a key of the catalogue, `CLAUDE_MEM_*` spelling included.
///
/// # Errors
/// [`SettingsError::UnknownKey`].
pub fn describe(key: &str) -> Result<&'static Setting, SettingsError> {
    let twin = key.strip_prefix(TWIN_PREFIX).map(|rest| format!("{PREFIX}{rest}"));
    let wanted = twin.as_deref().unwrap_or(key);
    CATALOGUE
        .iter()
        .find(|setting| setting.key == wanted)
        .ok_or_else(|| SettingsError::UnknownKey(key.to_owned()))
}

impl Setting {
    /// Whether the key takes this value.
    ///
    /// # Errors
    /// [`SettingsError::BadValue`], which names the allowed values.
    pub fn check(&'static self, value: &str) -> Result<(), SettingsError> {
        self.accepts.check(value).map_err(|allowed| SettingsError::BadValue {
            key: self.key,
            value: value.to_owned(),
            allowed,
        })
    }
}

impl Accepts {
    fn check(&self, value: &str) -> Result<(), String> {
        match self {
            Self::Text => Ok(()),
            Self::OneOf(names) => names.contains(&value).then_some(()).ok_or_else(|| {
                let shown: Vec<&str> =
                    names.iter().map(|name| if name.is_empty() { "nothing" } else { *name }).collect();
                shown.join(", ")
            }),
            Self::Number { min, max } => match value.parse::<u64>() {
                Ok(n) if (*min..=*max).contains(&n) => Ok(()),
                _ => Err(format!("whole numbers from {min} to {max}")),
            },
            Self::Switch => switch(value).map(|_| ()).ok_or_else(|| String::from("0, 1, true, false")),
            Self::Amount => {
                let is_amount = value.parse::<f64>().is_ok_and(|amount| amount.is_finite() && amount >= 0.0);
                is_amount.then_some(()).ok_or_else(|| String::from("a number from 0, such as 0.5"))
            }
            Self::Prices => {
                let is_price = |part: &str| part.trim().is_empty() || Price::parse(part).is_some();
                value.split(',').all(is_price).then_some(()).ok_or_else(|| {
                    String::from("MODEL=INPUT/CACHED/OUTPUT in dollars per million tokens, comma-separated")
                })
            }
            Self::Patterns => {
                for line in value.lines().filter(|line| !line.trim().is_empty()) {
                    if let Err(error) = regex::Regex::new(line) {
                        return Err(format!("regular expressions ({error})"));
                    }
                }
                Ok(())
            }
        }
    }
}

pub(super) fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "" | "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}
