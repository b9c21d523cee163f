//! The one place that writes to stdout and stderr: stdout is data, stderr is talk.

use std::fmt;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::error::Failure;

const ALARM: Style = AnsiColor::Red.on_default().bold();

/// Prints for one command. Colours reach terminals only, and not with `NO_COLOR`.
pub struct Printer {
    json: bool,
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    trouble: Option<io::Error>,
}

impl fmt::Debug for Printer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Printer").field("json", &self.json).finish_non_exhaustive()
    }
}

impl Printer {
    /// Prints to the process's own stdout and stderr.
    pub fn new(json: bool) -> Self {
        Self::to(json, Box::new(anstream::stdout()), Box::new(anstream::stderr()))
    }

    /// Prints to the given writers, whatever they make of colours.
    pub fn to(json: bool, out: Box<dyn Write>, err: Box<dyn Write>) -> Self {
        Self { json, out, err, trouble: None }
    }

    /// Whether the user asked for JSON.
    pub fn wants_json(&self) -> bool {
        self.json
    }

    /// One or more lines of data.
    pub fn data(&mut self, text: &str) {
        let _ = writeln!(self, "{text}");
    }

    /// Data as JSON.
    pub fn json(&mut self, value: &impl Serialize) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.data(&text),
            Err(error) => self.trouble = self.trouble.take().or(Some(error.into())),
        }
    }

    /// One line for the person or agent who called; never part of the data.
    pub fn talk(&mut self, line: &str) {
        let _ = writeln!(self.err, "{line}");
    }

    /// A failure: what failed, why, what to do.
    pub fn failure(&mut self, failure: &Failure) {
        let _ = writeln!(self.err, "{ALARM}cmem:{ALARM:#} {failure}");
    }

    /// Ends the output. A reader that went away has got what it wanted.
    ///
    /// # Errors
    /// [`Failure`] when data could not be written.
    pub fn finish(mut self) -> Result<(), Failure> {
        let flushed = self.out.flush().err();
        match self.trouble.or(flushed) {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::new("output", error, "check where standard output goes"))
            }
            _ => Ok(()),
        }
    }
}

/// Data that comes in pieces. Never fails here: what went wrong is told by [`Printer::finish`].
impl Write for Printer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.trouble.is_none() {
            self.trouble = self.out.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Refusing(io::ErrorKind);

    impl Write for Refusing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn print_to(kind: io::ErrorKind) -> Result<(), Failure> {
        let mut printer = Printer::to(false, Box::new(Refusing(kind)), Box::new(io::sink()));
        printer.data("one");
        printer.json(&[1, 2]);
        printer.finish()
    }

    #[test]
    fn a_reader_that_goes_away_is_no_failure() {
        assert!(print_to(io::ErrorKind::BrokenPipe).is_ok());
    }

    #[test]
    fn a_full_disk_is_a_failure() {
        assert_eq!(print_to(io::ErrorKind::StorageFull).unwrap_err().exit_code(), 1);
    }
}
