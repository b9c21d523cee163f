//! From the words typed to the command that handles them. Opens nothing itself.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use rustix::fs::Mode;

use super::args::{Cli, Command, ConfigCommand, QueueCommand};
use super::printer::Printer;
use crate::commands;
use crate::config::Paths;
use crate::error::Failure;

/// Runs the command that the process was called with.
pub fn run() -> ExitCode {
    // What is observed is nobody else's to read: every file that this process makes is the user's alone.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let words: Vec<OsString> = env::args_os().collect();
    if let Some(event) = hook_event(&words) {
        commands::hook::run(event, None);
        return ExitCode::SUCCESS;
    }
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) => return not_understood(&words, &error),
    };
    let mut printer = Printer::new(cli.global.json);
    let outcome = execute(&cli, &mut printer);
    let mut talk = Printer::new(false);
    match outcome.and(printer.finish()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            talk.failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

/// The hot path: `cmem hook [EVENT]` and nothing else, before any argument parser is built.
fn hook_event(words: &[OsString]) -> Option<Option<&str>> {
    match words.get(1..)? {
        [command] if command == "hook" => Some(None),
        [command, event] if command == "hook" => {
            event.to_str().filter(|word| !word.starts_with('-')).map(Some)
        }
        _ => None,
    }
}

/// Help and version are data; a wrong call is exit code 2, which a client would take for a blocking answer
/// if it came from a hook.
fn not_understood(words: &[OsString], error: &clap::Error) -> ExitCode {
    let text = error.render().ansi().to_string();
    let text = text.trim_end();
    let mut printer = Printer::new(false);
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        printer.data(text);
        return match printer.finish() {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => ExitCode::from(failure.exit_code()),
        };
    }
    if words.get(1).is_some_and(|command| command == "hook") {
        commands::hook::run(
            words.get(2).and_then(|word| word.to_str()).filter(|word| !word.starts_with('-')),
            None,
        );
        return ExitCode::SUCCESS;
    }
    printer.talk(text);
    ExitCode::from(2)
}

fn execute(cli: &Cli, printer: &mut Printer) -> Result<(), Failure> {
    let paths = Paths::resolve(cli.global.data_dir.as_deref()).map_err(|error| {
        Failure::new("data directory", error, "name one with --data-dir or CMEM_DATA_DIR")
    })?;
    match &cli.command {
        Command::Hook(args) => {
            commands::hook::run(args.event.as_deref(), cli.global.data_dir.as_deref());
            Ok(())
        }
        Command::Drain(args) => commands::drain::run(args, &paths, printer),
        Command::Queue(QueueCommand::List) => commands::queue::list(&paths, printer),
        Command::Queue(QueueCommand::Retry(which)) => commands::queue::retry(which, &paths, printer),
        Command::Queue(QueueCommand::Drop { selection, yes }) => {
            commands::queue::discard(selection, *yes, &paths, printer)
        }
        Command::Search(args) => commands::search::run(args, &paths, printer),
        Command::Timeline(args) => commands::timeline::run(args, &paths, printer),
        Command::Get(args) => commands::get::run(args, &paths, printer),
        Command::Context(scope) => commands::context::run(scope, &paths, printer),
        Command::Report(args) => commands::report::run(args, &paths, printer),
        Command::Outline(args) => commands::outline::run(args, printer),
        Command::Unfold(args) => commands::unfold::run(args, printer),
        Command::Remember(args) => commands::remember::run(args, &paths, printer),
        Command::Edit(args) => commands::edit::run(args, &paths, printer),
        Command::Pin(args) => commands::pin::run(args, true, &paths, printer),
        Command::Unpin(args) => commands::pin::run(args, false, &paths, printer),
        Command::Supersede(args) => commands::supersede::run(args, &paths, printer),
        Command::Forget(args) => commands::forget::run(args, &paths, printer),
        Command::Review(args) => commands::review::run(args, &paths, printer),
        Command::Compact(args) => commands::compact::run(args, &paths, printer),
        Command::Prune(args) => commands::prune::run(args, &paths, printer),
        Command::Restore(args) => commands::restore::run(args, &paths, printer),
        Command::Export(args) => commands::export::run(args, &paths, printer),
        Command::Import(args) => commands::import::run(args, &paths, printer),
        Command::Adopt(args) => commands::adopt::run(args, &paths, printer),
        Command::Project(command) => commands::project::run(command, &paths, printer),
        Command::Install(args) => commands::install::run(args, &paths, printer),
        Command::Uninstall(args) => commands::uninstall::run(args, printer),
        Command::Stats(args) => commands::stats::run(args, &paths, printer),
        Command::Status => commands::status::run(&paths, printer),
        Command::Reindex => commands::reindex::run(&paths, printer),
        Command::Doctor => commands::doctor::run(&paths, printer),
        Command::Config(ConfigCommand::Get { key }) => commands::config::get(key, &paths, printer),
        Command::Config(ConfigCommand::Set { key, value }) => {
            commands::config::set(key, value, &paths, printer)
        }
        Command::Config(ConfigCommand::Unset { key }) => commands::config::unset(key, &paths, printer),
        Command::Config(ConfigCommand::List) => commands::config::list(&paths, printer),
        Command::Mode(command) => commands::mode::run(command, &paths, printer),
        Command::Completions { shell } => {
            commands::completions::run(*shell, printer);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_hook_call_needs_no_parser() {
        assert_eq!(hook_event(&words("cmem hook")), Some(None));
        assert_eq!(hook_event(&words("cmem hook Stop")), Some(Some("Stop")));
        for other in ["cmem", "cmem hook --help", "cmem search hook", "cmem hook Stop --data-dir x"] {
            assert_eq!(hook_event(&words(other)), None, "{other}");
        }
    }
}
