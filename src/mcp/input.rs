//! Standard input, line by line, read by a thread of its own: a read that nothing comes for holds nobody up.

use std::io::{self, BufRead};
use std::thread;

use tokio::sync::mpsc::{self, Receiver};

/// Longest message, in bytes. The longest that makes sense is a text to remember.
pub(super) const LONGEST: usize = 4 * 1024 * 1024;
/// So many lines are read ahead.
const AHEAD: usize = 64;

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Without its end.
    Whole(Vec<u8>),
    /// A longer one than is read; it was left out.
    TooLong,
}

/// Reads standard input until its end, which ends the channel.
pub(super) fn lines() -> io::Result<Receiver<Line>> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    thread::Builder::new().name(String::from("input")).spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(line) = next(&mut input, LONGEST) {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    })?;
    Ok(receiver)
}

/// The next line; one that the end cuts off is none, and neither is what cannot be read.
fn next(input: &mut impl BufRead, longest: usize) -> Option<Line> {
    let (mut line, mut is_too_long) = (Vec::new(), false);
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) | Ok([]) => return None,
            Ok(available) => available,
        };
        let end = memchr::memchr(b'\n', available);
        let part = &available[..end.unwrap_or(available.len())];
        is_too_long |= line.len() + part.len() > longest;
        if is_too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Some(if is_too_long { Line::TooLong } else { Line::Whole(line) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_are_bounded_and_the_next_one_is_whole_again() {
        for capacity in [1, 3, 100] {
            let text: &[u8] = b"one\n\nfour5\ntoo long\nlast\ncut off";
            let mut input = BufReader::with_capacity(capacity, text);
            let lines: Vec<Line> = std::iter::from_fn(|| next(&mut input, 5)).collect();
            let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
            assert_eq!(lines, [whole("one"), whole(""), whole("four5"), Line::TooLong, whole("last")]);
        }
    }
}
