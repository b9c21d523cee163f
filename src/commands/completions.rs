//! `cmem completions SHELL`.

use clap::CommandFactory;

use crate::cli::args::Cli;
use crate::cli::printer::Printer;

/// Prints the completion script of a shell.
pub fn run(shell: clap_complete::Shell, printer: &mut Printer) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cmem", &mut script);
    printer.data(String::from_utf8_lossy(&script).trim_end());
}
