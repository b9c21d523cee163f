//! Names and paths in addresses.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What may not stand in one part of an address as it is (RFC 3986, 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as one part of an address.
pub fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// The text that a part of an address stands for; `None` when it is not UTF-8.
pub fn percent_decoded(part: &str) -> Option<String> {
    percent_decode_str(part).decode_utf8().ok().map(Into::into)
}

/// The path of a `file://` address of this machine.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let bytes: Vec<u8> = path.starts_with('/').then(|| percent_decode_str(path).collect())?;
    Some(PathBuf::from(OsStr::from_bytes(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_paths_are_found() {
        for name in ["app", "app/fix-login", "übung 1%", "登录", "a?b#c", ""] {
            let encoded = percent_encoded(name);
            assert!(encoded.is_ascii() && !encoded.contains(['/', ' ', '?', '#']), "{encoded}");
            assert_eq!(percent_decoded(&encoded).as_deref(), Some(name));
        }
        assert_eq!(percent_decoded("%ff"), None);
        for (uri, path) in [
            ("file:///a/b%20c", Some("/a/b c")),
            ("file://localhost/a", Some("/a")),
            ("file://elsewhere/a", None),
            ("file:a", None),
            ("https:///a", None),
        ] {
            assert_eq!(path_of(uri), path.map(PathBuf::from), "{uri}");
        }
    }
}
