//! Settings: flag > environment > `settings.json` > default.
//!
//! One catalogue names every key; each `CLAUDE_MEM_*` spelling is read as its `CMEM_*` twin, so that
//! published claude-mem instructions work as they are.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

use super::{Price, Provider, prices};

const PREFIX: &str = "CMEM_";
const TWIN_PREFIX: &str = "CLAUDE_MEM_";

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

static CATALOGUE: &[Setting] = &[
    setting("CMEM_OFF", "0", Accepts::Switch, "1 switches capture and injection off"),
    setting(
        "CMEM_PROVIDER",
        "auto",
        Accepts::OneOf(Provider::NAMES),
        "who turns events into memories; auto = claude where that command can be used, else builtin",
    ),
    setting("CMEM_MODEL", "", Accepts::Text, "model name; empty = the provider's default"),
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
        "CMEM_DAILY_TOKENS",
        "0",
        Accepts::Number { min: 0, max: u64::MAX },
        "most tokens that the observer may use in a day, cached ones included; 0 = no limit",
    ),
    setting(
        "CMEM_DAILY_DOLLARS",
        "0",
        Accepts::Amount,
        "most that the observer may cost in a day, by CMEM_PRICES; 0 = no limit",
    ),
    setting(
        "CMEM_PRICES",
        prices::LIST,
        Accepts::Prices,
        "dollars per million tokens, MODEL=INPUT/CACHED/OUTPUT, comma-separated",
    ),
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

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variant names are the documentation")]
pub enum Origin {
    Environment,
    File,
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Environment => "environment",
            Self::File => "file",
            Self::Default => "default",
        })
    }
}

/// What is wrong with a settings file or a value in it.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is there and cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not a JSON object.
    #[error("{path} is not a JSON object: {reason}")]
    Parse {
        /// The file.
        path: String,
        /// Where it stops making sense.
        reason: String,
    },
    /// No such key.
    #[error("unknown setting {0}")]
    UnknownKey(String),
    /// The key is known and does not take this value.
    #[error("{key} = {value:?}: allowed are {allowed}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// The refused value.
        value: String,
        /// What it takes.
        allowed: String,
    },
}

/// The raw values before they are judged: environment over file.
#[derive(Debug, Default)]
pub struct Sources {
    file: Map<String, Value>,
    environment: BTreeMap<String, String>,
}

impl Sources {
    /// Reads `settings.json` (a missing file is empty) and the process environment.
    ///
    /// # Errors
    /// [`SettingsError::Read`] or [`SettingsError::Parse`]; the file is never touched.
    pub fn load(path: &Path) -> Result<Self, SettingsError> {
        Ok(Self { file: read_file(path)?, environment: environment() })
    }

    /// The environment alone: what a hook uses when the file cannot be read.
    pub fn environment_only() -> Self {
        Self { file: Map::new(), environment: environment() }
    }

    /// The value of a key as text, and where it came from.
    pub fn get(&self, setting: &Setting) -> (Cow<'_, str>, Origin) {
        if self.environment.is_empty() && self.file.is_empty() {
            return (Cow::Borrowed(setting.default), Origin::Default);
        }
        let twin = format!("{TWIN_PREFIX}{}", setting.key.trim_start_matches(PREFIX));
        for name in [setting.key, &twin] {
            if let Some(value) = self.environment.get(name) {
                return (Cow::Borrowed(value), Origin::Environment);
            }
        }
        for name in [setting.key, &twin] {
            if let Some(value) = self.file.get(name) {
                return (Cow::Owned(as_text(value)), Origin::File);
            }
        }
        (Cow::Borrowed(setting.default), Origin::Default)
    }

    /// Keys in the file that no setting has (`CLAUDE_MEM_*` keys without a twin are another tool's own).
    pub fn unknown_keys(&self) -> Vec<String> {
        let known = |key: &str| CATALOGUE.iter().any(|setting| setting.key == key);
        self.file.keys().filter(|key| !known(key) && !key.starts_with(TWIN_PREFIX)).cloned().collect()
    }
}

fn environment() -> BTreeMap<String, String> {
    let is_ours = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        name.starts_with(PREFIX.as_bytes()) || name.starts_with(TWIN_PREFIX.as_bytes())
    };
    env::vars_os()
        .filter(|(name, _)| is_ours(name))
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

fn read_file(path: &Path) -> Result<Map<String, Value>, SettingsError> {
    let shown = || path.display().to_string();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(source) => return Err(SettingsError::Read { path: shown(), source }),
    };
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(SettingsError::Parse { path: shown(), reason: String::from("another kind of value") }),
        Err(error) => Err(SettingsError::Parse { path: shown(), reason: error.to_string() }),
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(on) => String::from(if *on { "1" } else { "0" }),
        Value::Array(items) => items.iter().map(as_text).collect::<Vec<_>>().join("\n"),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

impl Accepts {
    fn check(&self, value: &str) -> Result<(), String> {
        match self {
            Self::Text => Ok(()),
            Self::OneOf(names) => names.contains(&value).then_some(()).ok_or_else(|| names.join(", ")),
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

fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "" | "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
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

/// Every setting as the code uses it.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the catalogue holds the help line of each key")]
pub struct Settings {
    pub off: bool,
    pub provider: Provider,
    pub model: String,
    pub anthropic_api_key: String,
    pub anthropic_base_url: String,
    pub openai_api_key: String,
    pub openai_base_url: String,
    pub gemini_api_key: String,
    pub gemini_base_url: String,
    pub claude_env: Vec<String>,
    pub timeout: Duration,
    pub linger: Duration,
    pub mode: String,
    pub skip_tools: Vec<String>,
    pub excluded_projects: Vec<String>,
    pub redact_patterns: Vec<String>,
    pub context_tokens: usize,
    pub context_observations: usize,
    pub daily_tokens: u64,
    pub daily_dollars: f64,
    pub prices: Vec<Price>,
    pub log_level: String,
}

impl Settings {
    /// Judges every value.
    ///
    /// # Errors
    /// [`SettingsError::BadValue`] for the first value that its key does not take.
    pub fn resolve(sources: &Sources) -> Result<Self, SettingsError> {
        let (settings, problems) = Self::resolve_lenient(sources);
        match problems.into_iter().next() {
            Some(problem) => Err(problem),
            None => Ok(settings),
        }
    }

    /// As [`Settings::resolve`], with the default in place of each bad value: for hooks, which never fail.
    pub fn resolve_lenient(sources: &Sources) -> (Self, Vec<SettingsError>) {
        let mut problems = Vec::new();
        let mut values = BTreeMap::new();
        for setting in CATALOGUE {
            let (mut value, origin) = sources.get(setting);
            if origin != Origin::Default
                && let Err(problem) = setting.check(&value)
            {
                problems.push(problem);
                value = Cow::Borrowed(setting.default);
            }
            values.insert(setting.key, value);
        }
        (Self::from_values(&values), problems)
    }

    fn from_values(values: &BTreeMap<&'static str, Cow<'_, str>>) -> Self {
        let value = |key: &str| values.get(key).map(|value| &**value).unwrap_or_default();
        let text = |key: &str| value(key).to_owned();
        let number = |key: &str| value(key).parse::<u64>().unwrap_or_default();
        let count = |key: &str| usize::try_from(number(key)).unwrap_or(usize::MAX);
        let split = |key: &str, at: char| {
            value(key).split(at).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        Self {
            off: switch(value("CMEM_OFF")).unwrap_or_default(),
            provider: Provider::from_name(value("CMEM_PROVIDER")),
            model: text("CMEM_MODEL"),
            anthropic_api_key: text("CMEM_ANTHROPIC_API_KEY"),
            anthropic_base_url: text("CMEM_ANTHROPIC_BASE_URL"),
            openai_api_key: text("CMEM_OPENAI_API_KEY"),
            openai_base_url: text("CMEM_OPENAI_BASE_URL"),
            gemini_api_key: text("CMEM_GEMINI_API_KEY"),
            gemini_base_url: text("CMEM_GEMINI_BASE_URL"),
            claude_env: split("CMEM_CLAUDE_ENV", ','),
            timeout: Duration::from_secs(number("CMEM_TIMEOUT_SECS")),
            linger: Duration::from_secs(number("CMEM_LINGER_SECS")),
            mode: text("CMEM_MODE"),
            skip_tools: split("CMEM_SKIP_TOOLS", ','),
            excluded_projects: split("CMEM_EXCLUDED_PROJECTS", ','),
            redact_patterns: split("CMEM_REDACT_PATTERNS", '\n'),
            context_tokens: count("CMEM_CONTEXT_TOKENS"),
            context_observations: count("CMEM_CONTEXT_OBSERVATIONS"),
            daily_tokens: number("CMEM_DAILY_TOKENS"),
            daily_dollars: value("CMEM_DAILY_DOLLARS").parse().unwrap_or_default(),
            prices: value("CMEM_PRICES").split(',').filter_map(Price::parse).collect(),
            log_level: text("CMEM_LOG_LEVEL"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(file: &str, environment: &[(&str, &str)]) -> Sources {
        let Ok(Value::Object(file)) = serde_json::from_str(file) else { panic!("{file}") };
        let environment = environment.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Sources { file, environment }
    }

    fn origin(sources: &Sources, key: &str) -> (String, Origin) {
        let (value, origin) = sources.get(describe(key).unwrap());
        (value.into_owned(), origin)
    }

    #[test]
    fn environment_wins_over_file_over_default() {
        let s = sources(r#"{"CMEM_MODEL":"file","CMEM_LINGER_SECS":3}"#, &[("CMEM_MODEL", "env")]);
        assert_eq!(origin(&s, "CMEM_MODEL"), (String::from("env"), Origin::Environment));
        assert_eq!(origin(&s, "CMEM_LINGER_SECS"), (String::from("3"), Origin::File));
        assert_eq!(origin(&s, "CMEM_TIMEOUT_SECS"), (String::from("30"), Origin::Default));
    }

    #[test]
    fn published_claude_mem_settings_are_read() {
        let s = sources(
            r#"{"CLAUDE_MEM_CONTEXT_OBSERVATIONS":"30","CLAUDE_MEM_MODEL":"claude-haiku-4-5-20251001",
                "CLAUDE_MEM_LOG_LEVEL":"INFO","CLAUDE_MEM_WORKER_PORT":"37777"}"#,
            &[],
        );
        let settings = Settings::resolve(&s).unwrap();
        assert_eq!(settings.context_observations, 30);
        assert_eq!(settings.model, "claude-haiku-4-5-20251001");
        assert!(s.unknown_keys().is_empty());
    }

    #[test]
    fn a_bad_value_names_key_value_and_allowed_values() {
        let s = sources(r#"{"CMEM_PROVIDER":"clod"}"#, &[]);
        let message = Settings::resolve(&s).unwrap_err().to_string();
        for part in ["CMEM_PROVIDER", "clod", "builtin", "anthropic", "openai"] {
            assert!(message.contains(part), "{message}");
        }
        let (lenient, problems) = Settings::resolve_lenient(&s);
        assert_eq!((lenient.provider, problems.len()), (Provider::Auto, 1));
    }

    #[test]
    fn unknown_keys_are_named() {
        assert_eq!(sources(r#"{"CMEM_MODLE":"x"}"#, &[]).unknown_keys(), ["CMEM_MODLE"]);
    }

    #[test]
    fn every_default_is_accepted_by_its_own_key() {
        for setting in CATALOGUE {
            assert!(setting.check(setting.default).is_ok(), "{}", setting.key);
            assert!(setting.key.starts_with(PREFIX));
        }
    }
}
