//! Reading what a client sends: one JSON value, however late the pipe closes and however odd the bytes are.

use std::borrow::Cow;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::Value;

/// Deeper nesting is replaced by null: it would overflow the stack of whoever walks the value.
const MAX_DEPTH: usize = 400;
/// Room for most events; the buffer doubles for the others.
const CHUNK: usize = 8 * 1024;

/// There is no event in what came in.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ReadError {
    /// Nothing but blanks came in.
    #[error("empty input")]
    Empty,
    /// The input ended, or time was up, before the value was complete.
    #[error("the input is cut off after {0} bytes")]
    CutOff(usize),
    /// The input is no JSON.
    #[error("the input is not JSON: {0}")]
    NotJson(String),
}

/// Reads one JSON value. Returns as soon as it is complete, at the end of the input, or after `limit`.
/// What follows the value is ignored; what a strict parser refuses is repaired.
///
/// The input must be unbuffered: what a buffer holds is not seen to be there.
///
/// # Errors
/// [`ReadError`] when there is no value to be had.
pub fn read_value(input: impl AsFd, limit: Duration) -> Result<Value, ReadError> {
    let deadline = Instant::now() + limit;
    let mut bytes = Vec::new();
    let mut scan = Scan::default();
    let mut end = None;
    while end.is_none() && is_readable(&input, deadline) {
        bytes.reserve(CHUNK);
        match rustix::io::read(&input, spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => break,
        }
        end = scan.end_of_value(&bytes);
    }
    parse_value(&bytes[..end.unwrap_or(bytes.len())])
}

/// Waits until there is something to read, or the end of the input; `false` when time is up.
fn is_readable(input: &impl AsFd, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(timeout) = Timespec::try_from(left) else { return false };
        match poll(&mut [PollFd::new(input, PollFlags::IN)], Some(&timeout)) {
            Ok(ready) => return ready > 0,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Finds the end of the first object or array, going on where it stopped.
#[derive(Debug, Default)]
struct Scan {
    at: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Scan {
    fn end_of_value(&mut self, bytes: &[u8]) -> Option<usize> {
        while self.at < bytes.len() {
            if self.in_string && !self.escaped {
                // Most bytes are inside long strings.
                match memchr::memchr2(b'"', b'\\', &bytes[self.at..]) {
                    Some(offset) => self.at += offset,
                    None => {
                        self.at = bytes.len();
                        return None;
                    }
                }
            }
            let byte = bytes[self.at];
            self.at += 1;
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                match byte {
                    b'\\' => self.escaped = true,
                    _ => self.in_string = false,
                }
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => {
                        self.depth = self.depth.saturating_sub(1);
                        if self.depth == 0 {
                            return Some(self.at);
                        }
                    }
                    _ => {}
                }
            }
        }
        None
    }
}

/// What bytes hold as JSON; what a strict parser refuses is repaired.
///
/// # Errors
/// [`ReadError`] when that is no value.
pub fn parse_value(bytes: &[u8]) -> Result<Value, ReadError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ReadError::Empty);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    };
    if let Ok(value) = serde_json::from_str(&text) {
        return Ok(value);
    }
    let repaired = repair(&text);
    let mut reader = serde_json::Deserializer::from_str(&repaired);
    // `repair` has bounded the depth.
    reader.disable_recursion_limit();
    match serde::Deserialize::deserialize(&mut reader) {
        Ok(value) => Ok(value),
        Err(error) if error.is_eof() => Err(ReadError::CutOff(bytes.len())),
        Err(error) => Err(ReadError::NotJson(error.to_string())),
    }
}

/// Rewrites what `serde_json` refuses: halves of surrogate pairs and unknown escapes (a client that cuts a
/// string inside an emoji sends them), raw control characters, numbers out of range, deep nesting.
fn repair(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = repair_string(text, at, &mut out),
            b'{' | b'[' => {
                if depth == MAX_DEPTH {
                    out.push_str("null");
                    at = skip_value(bytes, at);
                    continue;
                }
                depth += 1;
                out.push(char::from(bytes[at]));
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                out.push(char::from(bytes[at]));
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let end = (at..bytes.len())
                    .find(|i| !matches!(bytes[*i], b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))
                    .unwrap_or(bytes.len());
                let number = &text[at..end];
                let finite = number.parse::<f64>().is_ok_and(f64::is_finite);
                out.push_str(if finite { number } else { "null" });
                at = end;
            }
            byte if byte.is_ascii() => {
                out.push(char::from(byte));
                at += 1;
            }
            _ => {
                let next = text[at..].chars().next().unwrap_or('\u{fffd}');
                out.push(next);
                at += next.len_utf8();
            }
        }
    }
    out
}

/// Copies the string that starts at `start`, mended; returns where it ends.
fn repair_string(text: &str, start: usize, out: &mut String) -> usize {
    let bytes = text.as_bytes();
    out.push('"');
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                out.push('"');
                return at + 1;
            }
            b'\\' => at = repair_escape(text, at, out),
            control @ 0..=0x1f => {
                out.push_str(&format!("\\u{control:04x}"));
                at += 1;
            }
            _ => {
                let end = (at..bytes.len())
                    .find(|i| matches!(bytes[*i], b'"' | b'\\' | 0..=0x1f))
                    .unwrap_or(bytes.len());
                out.push_str(&text[at..end]);
                at = end;
            }
        }
    }
    at
}

fn repair_escape(text: &str, at: usize, out: &mut String) -> usize {
    let unit = |from: usize| -> Option<u32> {
        let digits = text.get(from..from + 6)?.strip_prefix("\\u")?;
        digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    };
    match text.as_bytes().get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
            out.push_str(&text[at..at + 2]);
            at + 2
        }
        Some(b'u') => match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => {
                out.push_str(&text[at..at + 12]);
                at + 12
            }
            (Some(0xd800..=0xdfff), _) => {
                out.push('\u{fffd}');
                at + 6
            }
            (Some(_), _) => {
                out.push_str(&text[at..at + 6]);
                at + 6
            }
            (None, _) => {
                out.push_str("\\\\");
                at + 1
            }
        },
        _ => {
            out.push_str("\\\\");
            at + 1
        }
    }
}

/// Where the object or array that starts at `start` ends.
fn skip_value(bytes: &[u8], start: usize) -> usize {
    let mut scan = Scan { at: start, ..Scan::default() };
    scan.end_of_value(bytes).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::thread;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(bytes: impl Into<Vec<u8>>) -> Result<Value, ReadError> {
        let bytes = bytes.into();
        let (mut client, hook) = UnixStream::pair().unwrap();
        let writer = thread::spawn(move || {
            let _ = client.write_all(&bytes);
        });
        let result = read_value(hook, Duration::from_secs(5));
        writer.join().unwrap();
        result
    }

    #[test]
    fn odd_bytes_are_mended() {
        for (bytes, expected) in [
            (&b"\xef\xbb\xbf{\"a\":1}"[..], json!({"a": 1})),
            (b"{\"a\":1} trailing junk", json!({"a": 1})),
            (b"{\"a\":1}{\"b\":2}", json!({"a": 1})),
            (b"{\"a\":\"cut \\ud83d\"}", json!({"a": "cut \u{fffd}"})),
            (b"{\"a\":\"\\udc00 cut\"}", json!({"a": "\u{fffd} cut"})),
            (b"{\"a\":\"\\ud83d\\ude80 \\ud83d\"}", json!({"a": "\u{1f680} \u{fffd}"})),
            (b"{\"a\":\"x \xff\xfe y\"}", json!({"a": "x \u{fffd}\u{fffd} y"})),
            (b"{\"a\":\"a\x01\x1b[31mb\"}", json!({"a": "a\u{1}\u{1b}[31mb"})),
            (b"{\"a\":\"C:\\work\\x\"}", json!({"a": "C:\\work\\x"})),
            (b"{\"a\":1e999,\"b\":-1.5e3}", json!({"a": null, "b": -1500.0})),
        ] {
            assert_eq!(read(bytes), Ok(expected), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth);
        let mut value = &read(nested(300)).unwrap();
        for _ in 0..300 {
            value = &value["a"];
        }
        assert_eq!(value, 1);
        assert!(read(nested(5_000)).is_ok());
        assert!(read("[".repeat(1_000_000)).is_err());
    }

    #[test]
    fn what_is_no_event_says_why() {
        assert_eq!(read(""), Err(ReadError::Empty));
        assert_eq!(read(" \n"), Err(ReadError::Empty));
        assert_eq!(read("{\"a\":\"b"), Err(ReadError::CutOff(7)));
        assert!(matches!(read("not json"), Err(ReadError::NotJson(_))));
    }

    #[test]
    fn a_pipe_that_never_closes_does_not_hold_a_complete_value_back() {
        let held = |bytes: &[u8]| {
            let (mut client, hook) = UnixStream::pair().unwrap();
            client.write_all(bytes).unwrap();
            (client, hook)
        };
        let start = Instant::now();
        let (_client, hook) = held(b"{\"a\":1}");
        assert_eq!(read_value(hook, Duration::from_secs(30)), Ok(json!({"a": 1})));
        let (_client, hook) = held(b"{\"a\":");
        assert_eq!(read_value(hook, Duration::from_millis(50)), Err(ReadError::CutOff(5)));
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(bytes);
        }

        #[test]
        fn near_json_is_read_or_refused(text in "[\\[\\]{}\":,\\\\ud8a0 1e-]{0,80}") {
            let _ = read(text);
        }

        #[test]
        fn a_value_reads_back_equal(text in any::<String>(), number in any::<i64>(), on in any::<bool>()) {
            let value = json!({"a": text, "b": [number, {"c": on}], text: null});
            prop_assert_eq!(read(value.to_string()), Ok(value));
        }
    }
}
