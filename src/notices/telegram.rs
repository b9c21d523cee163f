//! The Telegram Bot API, <https://core.telegram.org/bots/api#sendmessage>. The token is part of the address.

use std::time::Duration;

use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation;

use super::policy::Class;
use super::{SetupError, Told};
use crate::http::{HttpAnswer, MAX_WAIT, Uri, parse_url};

/// Most of each text, in the UTF-16 units that Telegram counts. Together they stay below its 4,096 for a message.
const LIMITS: Limits = Limits { r#type: 100, title: 1_200, subtitle: 2_000, project: 400 };

struct Limits {
    r#type: usize,
    title: usize,
    subtitle: usize,
    project: usize,
}

pub(super) fn url(base: &str, token: &str) -> Result<Uri, SetupError> {
    const SETTING: &str = "CMEM_TELEGRAM_BASE_URL";
    if !token.bytes().all(|b| b.is_ascii_alphanumeric() || b":_-".contains(&b)) {
        return Err(SetupError::BadToken);
    }
    let base = base.trim().trim_end_matches('/');
    parse_url(&format!("{base}/bot{token}/sendMessage"))
        .map_err(|reason| SetupError::BadUrl { setting: SETTING, reason })
}

/// Plain text: nothing in it is markup, so nothing needs to be escaped. Links are not followed for a preview.
pub(super) fn body(chat: &str, told: &Told) -> Value {
    json!({
        "chat_id": chat,
        "text": text(told),
        "link_preview_options": {"is_disabled": true},
    })
}

fn text(told: &Told) -> String {
    let sign = match told.r#type.as_str() {
        "security_alert" => "🚨",
        "sensitive" => "🔐",
        _ => "🔔",
    };
    let mut lines =
        vec![format!("{sign} {}: {}", cut(&told.r#type, LIMITS.r#type), cut(&told.title, LIMITS.title))];
    if !told.subtitle.is_empty() {
        lines.push(cut(&told.subtitle, LIMITS.subtitle));
    }
    lines.push(format!("{} · cmem get {}", cut(&told.project, LIMITS.project), told.id));
    lines.join("\n")
}

/// At most `max` UTF-16 units, cut between what a reader sees as characters; `…` marks the cut.
fn cut(text: &str, max: usize) -> String {
    let units = |text: &str| text.encode_utf16().count();
    if units(text) <= max {
        return text.to_owned();
    }
    let (mut kept, mut room) = (0, max - 1);
    for character in text.graphemes(true) {
        match room.checked_sub(units(character)) {
            Some(left) => (kept, room) = (kept + character.len(), left),
            None => break,
        }
    }
    format!("{}…", &text[..kept])
}

/// `{"ok": …, "description": …, "parameters": {"retry_after": seconds}}`, with any status. A page in place of it
/// comes from something between us and Telegram.
pub(super) fn class(answer: &HttpAnswer) -> (Class, String) {
    let said = serde_json::from_slice::<Value>(&answer.body).unwrap_or_default();
    let description = said.get("description").and_then(Value::as_str).unwrap_or_default();
    let is_page = answer.body.trim_ascii_start().first() == Some(&b'<');
    let class = match Class::of_status(answer.status, answer.wait) {
        Class::Sent | Class::Refused if is_page => Class::Transient,
        Class::Sent if said.get("ok") == Some(&Value::Bool(false)) => Class::Refused,
        Class::RateLimited(wait) => Class::RateLimited(wait.or_else(|| retry_after(&said))),
        other => other,
    };
    let reason = if is_page { "a page in place of an answer" } else { description };
    (class, reason.to_owned())
}

fn retry_after(said: &Value) -> Option<Duration> {
    let seconds = said.pointer("/parameters/retry_after")?.as_f64().filter(|seconds| *seconds >= 0.0)?;
    Some(Duration::from_secs_f64(seconds.min(MAX_WAIT.as_secs_f64())))
}

/// What a refusal asks for.
pub(super) fn remedy(status: u16) -> &'static str {
    match status {
        401 | 404 => {
            "check the token: `cmem config set CMEM_TELEGRAM_BOT_TOKEN …` with what @BotFather says (and CMEM_TELEGRAM_BASE_URL)"
        }
        400 | 403 => {
            "check CMEM_TELEGRAM_CHAT_ID, and write to the bot once from that chat: a bot cannot begin one"
        }
        _ => "check CMEM_TELEGRAM_BASE_URL",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::notices::tests::told;

    fn answer(status: u16, body: &str) -> HttpAnswer {
        HttpAnswer { status, wait: None, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn what_a_message_says() {
        let message = text(&told("security_alert", "A *key* is in the image", "Rotate <it> now"));
        assert_eq!(message, "🚨 security_alert: A *key* is in the image\nRotate <it> now\napp · cmem get 12");
        assert!(text(&told("decision", "x", "")).starts_with("🔔 decision: x\napp"));
    }

    #[test]
    fn answers() {
        let ok = r#"{"ok":true,"result":{"message_id":1}}"#;
        let wait = r#"{"ok":false,"error_code":429,"description":"x","parameters":{"retry_after":7}}"#;
        for (status, body, expected) in [
            (200, ok, Class::Sent),
            (200, r#"{"ok":false,"description":"no"}"#, Class::Refused),
            (200, "<html>sign in</html>", Class::Transient),
            (404, "\n<html>not here</html>", Class::Transient),
            (401, r#"{"ok":false,"description":"Unauthorized"}"#, Class::Refused),
            (429, wait, Class::RateLimited(Some(Duration::from_secs(7)))),
            (502, "<html>", Class::Transient),
        ] {
            assert_eq!(class(&answer(status, body)).0, expected, "{status} {body}");
        }
        assert_eq!(class(&answer(401, r#"{"ok":false,"description":"Unauthorized"}"#)).1, "Unauthorized");
    }

    #[test]
    fn a_token_that_would_be_another_path_is_refused_without_being_told() {
        for token in ["1:a/b", "1:a?b", "1:a#", "1 2", "1:ä", "1:a%2f"] {
            assert!(matches!(url("https://h", token), Err(SetupError::BadToken)), "{token}");
        }
        assert_eq!(url("https://h/x/", "1:aB_-").unwrap(), "https://h/x/bot1:aB_-/sendMessage");
    }

    #[test]
    fn nothing_is_cut_in_two() {
        assert_eq!(cut("a👩‍👩‍👧b", 8), "a…", "a family is eight units");
        assert_eq!(cut("🚨🚨🚨", 5), "🚨🚨…");
        assert_eq!(cut("🚨🚨🚨", 6), "🚨🚨🚨");
    }

    proptest! {
        #[test]
        fn no_message_is_longer_than_telegram_takes(part in "\\PC{0,40}", times in 1usize..400) {
            let long = part.repeat(times);
            let mut told = told(&long, &long, &long);
            (told.project, told.id) = (long.clone(), i64::MAX);
            prop_assert!(text(&told).encode_utf16().count() <= 4_096);
        }
    }
}
