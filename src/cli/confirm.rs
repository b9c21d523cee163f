//! Asking before something is done that nobody can take back.

use std::io::{self, IsTerminal};

use super::printer::Printer;
use crate::error::Failure;

/// Asks on a terminal. `danger` says what is about to happen, `spared` what a no comes to.
///
/// # Errors
/// [`Failure`] where there is no terminal to ask on (a script has to say `--yes`), and when the answer is no.
pub(crate) fn confirm(
    what: &str,
    danger: &str,
    question: &str,
    spared: &str,
    printer: &mut Printer,
) -> Result<(), Failure> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failure::usage(what, danger, "say --yes"));
    }
    printer.talk(&format!("{question} [y/N]"));
    let mut answer = String::new();
    let _ = io::stdin().read_line(&mut answer);
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::new(what, "the answer was not yes", spared))
}
