//! Its settings, as far as there are the like here.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::config::{Setting, describe};
use crate::hook;
use crate::http::without_secrets;

const THEIRS: &str = "CLAUDE_MEM_";
const OURS: &str = "CMEM_";
/// Where its provider `openrouter` sends requests unless another address is set.
const OPENROUTER: &str = "https://openrouter.ai/api/v1";
/// Its default model of that provider, which it writes into every file.
const FREE_MODEL: &str = "xiaomi/mimo-v2-flash:free";

/// A setting there, and what it is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TakenSetting {
    /// The key there.
    pub from: String,
    /// The key here.
    pub key: &'static str,
    /// The value here.
    #[serde(serialize_with = "hidden")]
    pub value: SettingValue,
    /// What becomes of it.
    pub state: SettingState,
}

/// A value, and whether it is one to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingValue {
    /// The value.
    pub text: String,
    /// It is a secret.
    pub secret: bool,
    /// It is an address, which may hold one.
    pub address: bool,
}

impl SettingValue {
    /// What may be shown of it.
    pub fn shown(&self) -> Cow<'_, str> {
        match (self.secret, self.address) {
            (true, _) => Cow::Borrowed("[hidden]"),
            (false, true) => Cow::Owned(without_secrets(&self.text)),
            (false, false) => Cow::Borrowed(&self.text),
        }
    }
}

fn hidden<S: serde::Serializer>(value: &SettingValue, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.shown())
}

/// What becomes of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingState {
    /// Can be taken over.
    Offered,
    /// Was taken over.
    Taken,
    /// Is so here already, or by default.
    Known,
    /// Is set to something else here, which stays.
    Kept,
    /// The value means nothing here.
    Refused,
}

/// What the settings beside the database come to here; `set` tells what a key is set to here, if it is. A file that
/// cannot be read has none.
pub fn read_settings(folder: &Path, set: &dyn Fn(&Setting) -> Option<String>) -> Vec<TakenSetting> {
    let text = fs::read(folder.join("settings.json")).unwrap_or_default();
    let Ok(Value::Object(mut map)) = hook::parse_value(&text) else { return Vec::new() };
    // An older form.
    if let Some(Value::Object(nested)) = map.shift_remove("env") {
        nested.into_iter().for_each(|(key, value)| {
            map.entry(key).or_insert(value);
        });
    }
    let taken = translated(&map).into_iter().filter_map(|(from, key, value)| {
        let setting = describe(key).ok()?;
        let state = match set(setting) {
            _ if setting.check(&value).is_err() => SettingState::Refused,
            Some(here) if here == value => SettingState::Known,
            Some(_) => SettingState::Kept,
            None if value == setting.default => SettingState::Known,
            None => SettingState::Offered,
        };
        let address = setting.key.ends_with("_BASE_URL");
        let value = SettingValue { text: value, secret: setting.secret, address };
        Some(TakenSetting { from, key: setting.key, value, state })
    });
    taken.collect()
}

/// Key there, key here, value here.
fn translated(map: &Map<String, Value>) -> Vec<(String, &'static str, String)> {
    let value = |name: &str| map.get(&format!("{THEIRS}{name}")).map(as_text).filter(|text| !text.is_empty());
    let provider = value("PROVIDER").unwrap_or_default();
    let mut found = Vec::new();
    let mut add = |name: &str, key: &'static str, value: String| {
        found.push((format!("{THEIRS}{name}"), key, value));
    };
    match provider.as_str() {
        "" => {}
        "openrouter" => {
            add("PROVIDER", "CMEM_PROVIDER", String::from("openai"));
            let base = value("OPENROUTER_BASE_URL").unwrap_or_else(|| OPENROUTER.to_owned());
            add("OPENROUTER_BASE_URL", "CMEM_OPENAI_BASE_URL", base);
            let model = value("OPENROUTER_MODEL").unwrap_or_else(|| FREE_MODEL.to_owned());
            add("OPENROUTER_MODEL", "CMEM_MODEL", model);
        }
        other => add("PROVIDER", "CMEM_PROVIDER", other.to_owned()),
    }
    if let Some(key) = value("OPENROUTER_API_KEY") {
        add("OPENROUTER_API_KEY", "CMEM_OPENAI_API_KEY", key);
    }
    // One model for each provider there, one for the provider here.
    let model = match provider.as_str() {
        "gemini" => Some("GEMINI_MODEL"),
        "openrouter" => None,
        _ => Some("MODEL"),
    };
    if let Some((name, model)) = model.and_then(|name| Some((name, value(name)?)))
        && !model.starts_with('$')
    {
        add(name, "CMEM_MODEL", model);
    }
    for (key, own) in map {
        let Some(rest) = key.strip_prefix(THEIRS) else { continue };
        let is_done = ["PROVIDER", "MODEL"].contains(&rest);
        if let Some(setting) = describe(&format!("{OURS}{rest}")).ok().filter(|_| !is_done) {
            let text = as_text(own);
            let text = if rest == "LOG_LEVEL" { text.to_uppercase() } else { text };
            add(rest, setting.key, text);
        }
    }
    found
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(values) => values.iter().map(as_text).collect::<Vec<_>>().join(","),
        Value::Null | Value::Object(_) => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(text: &str, here: &[(&str, &str)]) -> Vec<(String, String, SettingState)> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("settings.json"), text).unwrap();
        let set = |setting: &Setting| {
            here.iter().find(|(key, _)| *key == setting.key).map(|(_, value)| (*value).to_owned())
        };
        let taken = read_settings(folder.path(), &set);
        taken
            .into_iter()
            .map(|setting| (setting.key.to_owned(), setting.value.shown().into_owned(), setting.state))
            .collect()
    }

    fn row(key: &str, value: &str, state: SettingState) -> (String, String, SettingState) {
        (key.to_owned(), value.to_owned(), state)
    }

    #[test]
    fn what_means_the_same_here_is_offered() {
        let text = r#"{"CLAUDE_MEM_MODE":"code--de","CLAUDE_MEM_CONTEXT_OBSERVATIONS":50,
            "CLAUDE_MEM_SKIP_TOOLS":"Bash","CLAUDE_MEM_WORKER_PORT":"37777","CLAUDE_MEM_LOG_LEVEL":"loud"}"#;
        assert_eq!(
            states(text, &[("CMEM_SKIP_TOOLS", "Read")]),
            [
                row("CMEM_MODE", "code--de", SettingState::Offered),
                row("CMEM_CONTEXT_OBSERVATIONS", "50", SettingState::Known),
                row("CMEM_SKIP_TOOLS", "Bash", SettingState::Kept),
                row("CMEM_LOG_LEVEL", "LOUD", SettingState::Refused),
            ]
        );
    }

    #[test]
    fn another_provider_has_its_own_model_and_a_key_is_not_shown() {
        let text = r#"{"env":{"CLAUDE_MEM_PROVIDER":"openrouter","CLAUDE_MEM_OPENROUTER_API_KEY":"sk-or-1",
            "CLAUDE_MEM_MODEL":"claude-haiku-4-5-20251001","CLAUDE_MEM_OPENROUTER_MODEL":"a/b"}}"#;
        assert_eq!(
            states(text, &[]),
            [
                row("CMEM_PROVIDER", "openai", SettingState::Offered),
                row("CMEM_OPENAI_BASE_URL", OPENROUTER, SettingState::Offered),
                row("CMEM_MODEL", "a/b", SettingState::Offered),
                row("CMEM_OPENAI_API_KEY", "[hidden]", SettingState::Offered),
            ]
        );
        assert_eq!(states("no json", &[]), []);
    }
}
