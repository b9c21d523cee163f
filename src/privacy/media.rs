//! Pictures and other binary data become a note of their type and size.

use once_cell::sync::Lazy;
use regex::Regex;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A text of only base64 characters is data from this length on; identifiers and hashes are shorter.
const MIN_BLOB: usize = 1_024;

static DATA_URI: Lazy<Option<Regex>> =
    Lazy::new(|| Regex::new(r"data:([A-Za-z0-9.+/-]{1,80});base64,([A-Za-z0-9+/=_-]{64,})").ok());

/// Notes the base64 of an image block (`{type: "base64", media_type, data}`) and of a picture that was read
/// (`{base64, type, originalSize}`).
pub(super) fn note_blobs(mut map: Map<String, Value>) -> Map<String, Value> {
    let kind = ["media_type", "type"]
        .iter()
        .filter_map(|key| map.get(*key)?.as_str())
        .find(|kind| kind.contains('/'));
    let kind = kind.unwrap_or("data").to_owned();
    let is_block = map.get("type").and_then(Value::as_str) == Some("base64");
    for key in ["base64", "data"] {
        if let Some(Value::String(data)) = map.get_mut(key) {
            let is_data = !data.is_empty() && data.bytes().all(is_base64);
            if is_data && (key == "base64" || is_block) {
                *data = note(&kind, data.len());
            }
        }
    }
    map
}

/// The note for a text that is base64 data as a whole.
pub(super) fn note_blob(text: &str) -> Option<String> {
    let is_blob = text.len() >= MIN_BLOB
        && text.bytes().all(|b| is_base64(b) || matches!(b, b'\r' | b'\n'))
        && text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().any(|b| b.is_ascii_uppercase());
    is_blob.then(|| note("base64", text.len()))
}

/// Notes every data URI in a text.
pub(super) fn note_data_uris(text: &str) -> Cow<'_, str> {
    if memchr::memmem::find(text.as_bytes(), b";base64,").is_none() {
        return Cow::Borrowed(text);
    }
    match &*DATA_URI {
        Some(pattern) => {
            pattern.replace_all(text, |found: &regex::Captures<'_>| note(&found[1], found[2].len()))
        }
        None => Cow::Borrowed(text),
    }
}

fn note(kind: &str, base64_length: usize) -> String {
    format!("[{kind}: {} bytes left out]", base64_length / 4 * 3)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}
