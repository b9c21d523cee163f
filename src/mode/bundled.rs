//! The modes in the binary. `code--LOCALE` is also what every other mode takes its language from.

use serde_json::{Map, Value};

/// Whose variants are languages.
const LANGUAGES_OF: &str = "code--";

macro_rules! bundled {
    ($($id:literal),* $(,)?) => {
        &[$(($id, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/modes/", $id, ".json")))),*]
    };
}

/// Id and JSON text, sorted.
static BUNDLED: &[(&str, &str)] = bundled![
    "code",
    "code--ar",
    "code--bn",
    "code--concise",
    "code--cs",
    "code--da",
    "code--de",
    "code--el",
    "code--es",
    "code--fi",
    "code--fr",
    "code--he",
    "code--hi",
    "code--hu",
    "code--id",
    "code--it",
    "code--ja",
    "code--ko",
    "code--nl",
    "code--no",
    "code--pl",
    "code--pt-br",
    "code--ro",
    "code--ru",
    "code--sv",
    "code--th",
    "code--tr",
    "code--uk",
    "code--ur",
    "code--vi",
    "code--zh",
    "code--zh-tw",
    "email-investigation",
    "law-study",
    "ops-incident",
];

/// Ids of the modes in the binary.
pub(super) fn ids() -> impl Iterator<Item = &'static str> {
    BUNDLED.iter().map(|(id, _)| *id)
}

/// The JSON text of a mode in the binary.
pub(super) fn text(id: &str) -> Option<&'static str> {
    BUNDLED.iter().find(|(known, _)| *known == id).map(|(_, text)| *text)
}

/// What the language of this locale gives to any mode: `language`, `locale` and `labels`. `None` for a locale that is
/// not bundled.
pub(super) fn language_pack(locale: &str) -> Option<Map<String, Value>> {
    let text = text(&format!("{LANGUAGES_OF}{locale}"))?;
    let Ok(Value::Object(mut mode)) = serde_json::from_str(text) else { return None };
    mode.retain(|key, _| matches!(key.as_str(), "language" | "locale" | "labels"));
    mode.contains_key("locale").then_some(mode)
}

/// Each bundled language: its locale and its names, such as `de` and `German`, `Deutsch`.
pub(super) fn languages() -> impl Iterator<Item = (&'static str, Vec<String>)> {
    ids().filter_map(|id| {
        let locale = id.strip_prefix(LANGUAGES_OF)?;
        let name = language_pack(locale)?.get("language")?.as_str()?.to_owned();
        let names =
            name.split(['(', ')']).map(|part| part.split(" as written ").next().unwrap_or(part).trim());
        Some((locale, names.filter(|name| !name.is_empty()).map(str::to_owned).collect()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_has_an_english_and_a_native_name() {
        let all: Vec<_> = languages().collect();
        assert_eq!(all.len(), 30);
        for (locale, names) in &all {
            assert_eq!(names.len(), 2, "{locale}: {names:?}");
        }
        assert!(
            all.contains(&("zh-tw", vec![String::from("Traditional Chinese"), String::from("繁體中文")]))
        );
        assert!(language_pack("concise").is_none(), "a manner is no language");
    }
}
