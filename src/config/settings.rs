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

use super::catalogue::{CATALOGUE, Setting, switch};
use super::{Price, Provider, ReadGate};
use crate::model::Priority;

pub(super) const PREFIX: &str = "CMEM_";
pub(super) const TWIN_PREFIX: &str = "CLAUDE_MEM_";

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

/// Every setting as the code uses it.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the catalogue holds the help line of each key")]
pub struct Settings {
    pub off: bool,
    pub provider: Provider,
    pub model: String,
    pub fallback_provider: Option<Provider>,
    pub fallback_model: String,
    pub anthropic_api_key: String,
    pub anthropic_base_url: String,
    pub openai_api_key: String,
    pub openai_base_url: String,
    pub gemini_api_key: String,
    pub gemini_base_url: String,
    pub embed_base_url: String,
    pub embed_model: String,
    pub embed_api_key: String,
    pub claude_env: Vec<String>,
    pub timeout: Duration,
    pub linger: Duration,
    pub mode: String,
    pub skip_tools: Vec<String>,
    pub excluded_projects: Vec<String>,
    pub redact_patterns: Vec<String>,
    pub accept_suggestions: bool,
    pub context_tokens: usize,
    pub context_observations: usize,
    pub prompt_hits: usize,
    pub read_gate: ReadGate,
    pub prune_days: u64,
    pub prune_priority: Priority,
    pub daily_tokens: u64,
    pub daily_usd: f64,
    pub prices: Vec<Price>,
    pub telegram_enabled: bool,
    pub telegram_bot_token: String,
    pub telegram_chat_id: String,
    pub telegram_trigger_types: Vec<String>,
    pub telegram_base_url: String,
    pub webhook_url: String,
    pub webhook_trigger_types: Vec<String>,
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

    /// The settings as another provider is to see them that takes the place of the one that is set.
    pub fn of_fallback(&self, provider: Provider) -> Self {
        Self { provider, model: self.fallback_model.clone(), ..self.clone() }
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
            fallback_provider: match value("CMEM_FALLBACK_PROVIDER") {
                "" => None,
                name => Some(Provider::from_name(name)),
            },
            fallback_model: text("CMEM_FALLBACK_MODEL"),
            anthropic_api_key: text("CMEM_ANTHROPIC_API_KEY"),
            anthropic_base_url: text("CMEM_ANTHROPIC_BASE_URL"),
            openai_api_key: text("CMEM_OPENAI_API_KEY"),
            openai_base_url: text("CMEM_OPENAI_BASE_URL"),
            gemini_api_key: text("CMEM_GEMINI_API_KEY"),
            gemini_base_url: text("CMEM_GEMINI_BASE_URL"),
            embed_base_url: text("CMEM_EMBED_BASE_URL"),
            embed_model: text("CMEM_EMBED_MODEL"),
            embed_api_key: text("CMEM_EMBED_API_KEY"),
            claude_env: split("CMEM_CLAUDE_ENV", ','),
            timeout: Duration::from_secs(number("CMEM_TIMEOUT_SECS")),
            linger: Duration::from_secs(number("CMEM_LINGER_SECS")),
            mode: text("CMEM_MODE"),
            skip_tools: split("CMEM_SKIP_TOOLS", ','),
            excluded_projects: split("CMEM_EXCLUDED_PROJECTS", ','),
            redact_patterns: split("CMEM_REDACT_PATTERNS", '\n'),
            accept_suggestions: switch(value("CMEM_ACCEPT_SUGGESTIONS")).unwrap_or_default(),
            context_tokens: count("CMEM_CONTEXT_TOKENS"),
            context_observations: count("CMEM_CONTEXT_OBSERVATIONS"),
            prompt_hits: count("CMEM_PROMPT_HITS"),
            read_gate: ReadGate::from_name(value("CMEM_READ_GATE")),
            prune_days: number("CMEM_PRUNE_DAYS"),
            prune_priority: match value("CMEM_PRUNE_PRIORITY") {
                "normal" => Priority::Normal,
                _ => Priority::Low,
            },
            daily_tokens: number("CMEM_DAILY_TOKENS"),
            daily_usd: value("CMEM_DAILY_USD").parse().unwrap_or_default(),
            prices: value("CMEM_PRICES").split(',').filter_map(Price::parse).collect(),
            telegram_enabled: switch(value("CMEM_TELEGRAM_ENABLED")).unwrap_or_default(),
            telegram_bot_token: text("CMEM_TELEGRAM_BOT_TOKEN"),
            telegram_chat_id: text("CMEM_TELEGRAM_CHAT_ID"),
            telegram_trigger_types: split("CMEM_TELEGRAM_TRIGGER_TYPES", ','),
            telegram_base_url: text("CMEM_TELEGRAM_BASE_URL"),
            webhook_url: text("CMEM_WEBHOOK_URL"),
            webhook_trigger_types: split("CMEM_WEBHOOK_TRIGGER_TYPES", ','),
            log_level: text("CMEM_LOG_LEVEL"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::describe;
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
