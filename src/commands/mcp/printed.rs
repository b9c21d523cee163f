//! What a command prints, as one text.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use crate::cli::printer::Printer;
use crate::error::Failure;

/// Data and talk in their order, as on a terminal. A command that fails after it gave some of what was asked says both.
///
/// # Errors
/// That of a command which gave nothing.
pub(super) fn printed(run: impl FnOnce(&mut Printer) -> Result<(), Failure>) -> Result<String, Failure> {
    let (both, data) = (Lines::default(), Lines::default());
    let outcome =
        run(&mut Printer::to(false, Box::new(Both(both.clone(), data.clone())), Box::new(both.clone())));
    let text = both.text();
    match outcome {
        Ok(()) => Ok(text.trim_end().to_owned()),
        Err(failure) if data.text().is_empty() => Err(failure),
        Err(failure) => Ok(format!("{text}cmem: {failure}")),
    }
}

/// The data alone, to the byte.
///
/// # Errors
/// That of the command.
pub(super) fn data(run: impl FnOnce(&mut Printer) -> Result<(), Failure>) -> Result<String, Failure> {
    let data = Lines::default();
    run(&mut Printer::to(false, Box::new(data.clone()), Box::new(io::sink())))?;
    Ok(data.text())
}

/// What was written, in a place that the printer and its owner share.
#[derive(Debug, Clone, Default)]
struct Lines(Rc<RefCell<Vec<u8>>>);

impl Lines {
    /// Without colours.
    fn text(&self) -> String {
        anstream::adapter::strip_str(&String::from_utf8_lossy(&self.0.borrow())).to_string()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Both(Lines, Lines);

impl Write for Both {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)?;
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure() -> Failure {
        Failure::new("get", "there is no record 9", "find ids")
    }

    #[test]
    fn both_streams_are_one_text_without_colours() {
        let text = printed(|printer| {
            printer.data("\u{1b}[1mone\u{1b}[0m");
            printer.talk("of one");
            Ok(())
        });
        assert_eq!(text.unwrap(), "one\nof one");
    }

    #[test]
    fn a_failure_is_an_answer_only_beside_one() {
        let some = printed(|printer| {
            printer.data("one");
            Err(failure())
        });
        assert_eq!(some.unwrap(), "one\ncmem: get: there is no record 9: find ids");
        let none = printed(|printer| {
            printer.talk("a warning");
            Err(failure())
        });
        assert!(none.is_err());
    }
}
