//! A file as text: whatever its bytes are, within bounds.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Plain;

/// What is longer is looked at so far and not parsed.
const LARGEST: u64 = 4 * 1024 * 1024;
/// So much is looked at for a zero byte, as git does.
const LOOKED_AT: usize = 8_000;
/// From this size on lines are looked at for being those of a machine ...
const SMALLEST_MINIFIED: usize = 4_000;
/// ... which are this long, on average or for a third of the file.
const LONG_LINE: usize = 400;

/// Why there is no source.
#[derive(Debug, Error)]
pub enum SourceError {
    /// There is nothing of that name.
    #[error("{} does not exist", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// It is a directory.
    #[error("{} is a directory", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// A pipe, a device, a socket: reading may never end.
    #[error("{} is no regular file", path.display())]
    Special {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
}

/// A text with what is wrong about it.
#[derive(Debug)]
pub struct Source {
    text: String,
    bytes: u64,
    flaw: Option<Plain>,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// [`SourceError`] when it is none, or cannot be read.
    pub fn read(path: &Path) -> Result<Self, SourceError> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                SourceError::Missing { path: path.to_owned() }
            }
            _ => SourceError::Read { path: path.to_owned(), source },
        };
        // A pipe would be waited for as it is opened.
        let about = fs::metadata(path).map_err(failed)?;
        if about.is_dir() {
            return Err(SourceError::Directory { path: path.to_owned() });
        }
        if !about.is_file() {
            return Err(SourceError::Special { path: path.to_owned() });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(about.len().min(LARGEST)).unwrap_or_default());
        let file = File::open(path).map_err(failed)?;
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
        let size = about.len().max(bytes.len() as u64);
        Ok(Self { bytes: size, ..Self::of_bytes(bytes) })
    }

    /// Takes bytes for a text: UTF-8 with or without a mark at its beginning, what is none replaced.
    pub fn of_bytes(mut bytes: Vec<u8>) -> Self {
        let size = bytes.len() as u64;
        if bytes[..bytes.len().min(LOOKED_AT)].contains(&0) {
            return Self { text: String::new(), bytes: size, flaw: Some(Plain::Binary) };
        }
        let is_large = size > LARGEST;
        if is_large {
            bytes.truncate(usize::try_from(LARGEST).unwrap_or(usize::MAX));
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        let flaw = if text.trim().is_empty() {
            Some(Plain::Empty)
        } else if is_large {
            Some(Plain::TooLarge)
        } else {
            is_minified(&text).then_some(Plain::Minified)
        };
        Self { text, bytes: size, flaw }
    }

    /// What was looked at.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How large the file is.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn lines(&self) -> usize {
        self.text.lines().count()
    }

    pub(super) fn flaw(&self) -> Option<Plain> {
        self.flaw
    }
}

fn is_minified(text: &str) -> bool {
    if text.len() < SMALLEST_MINIFIED {
        return false;
    }
    let (mut lines, mut in_long) = (0, 0);
    for line in text.lines() {
        lines += 1;
        if line.len() > LONG_LINE * 10 {
            in_long += line.len();
        }
    }
    text.len() / lines.max(1) > LONG_LINE || in_long > text.len() / 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaw(bytes: &[u8]) -> Option<Plain> {
        Source::of_bytes(bytes.to_vec()).flaw()
    }

    #[test]
    fn any_bytes_are_a_text_with_its_flaw() {
        assert_eq!(Source::of_bytes(b"\xef\xbb\xbffn a\xff() {}".to_vec()).text(), "fn a\u{fffd}() {}");
        assert_eq!(flaw(b"fn a() {}\r\n"), None);
        assert_eq!(flaw(b""), Some(Plain::Empty));
        assert_eq!(flaw(b"\xef\xbb\xbf \n\n"), Some(Plain::Empty));
        assert_eq!(flaw(b"PK\x03\x04\0"), Some(Plain::Binary));
        assert_eq!(flaw("var a=1;".repeat(2_000).as_bytes()), Some(Plain::Minified));
        assert_eq!(flaw("let a = 1;\n".repeat(2_000).as_bytes()), None);
        let licence_and_one_line = format!("{}{}", "// line\n".repeat(400), "x".repeat(5_000));
        assert_eq!(flaw(licence_and_one_line.as_bytes()), Some(Plain::Minified));
        let large = Source::of_bytes("let a = 1;\n".repeat(500_000).into_bytes());
        assert_eq!((large.flaw(), large.bytes()), (Some(Plain::TooLarge), 5_500_000));
        assert!(large.text().len() <= 4 * 1024 * 1024);
    }

    #[test]
    fn what_is_no_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(matches!(Source::read(folder.path()), Err(SourceError::Directory { .. })));
        assert!(matches!(Source::read(&at("none")), Err(SourceError::Missing { .. })));
        fs::write(at("file"), "x").unwrap();
        assert!(matches!(Source::read(&at("file/below")), Err(SourceError::Missing { .. })));
        let socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        assert!(matches!(Source::read(&at("socket")), Err(SourceError::Special { .. })));
        drop(socket);
    }
}
