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
use crate::model::{Caller, Gone, Platform};

/// Runs the command that the process was called with.
pub fn run() -> ExitCode {
    // What is observed is nobody else's to read: every file that this process makes is the user's alone.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let words: Vec<OsString> = env::args_os().collect();
    if let Some(HookCall { platform, event }) = hook_call(&words) {
        commands::hook::run(platform, event, None);
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

/// What a plain call of a hook says.
#[derive(Debug, Default, PartialEq, Eq)]
struct HookCall<'a> {
    platform: Option<Platform>,
    event: Option<&'a str>,
}

/// The hot path: `cmem hook [--agent NAME] [EVENT]` and nothing else, before any argument parser is built.
fn hook_call(words: &[OsString]) -> Option<HookCall<'_>> {
    let (command, rest) = words.get(1..)?.split_first()?;
    if command != "hook" {
        return None;
    }
    let (platform, rest) = match rest {
        [flag, name, rest @ ..] if flag == "--agent" => (Some(Platform::from_name(name.to_str()?)?), rest),
        rest => (None, rest),
    };
    let event = match rest {
        [] => None,
        [event] => Some(event.to_str().filter(|word| !word.starts_with('-'))?),
        _ => return None,
    };
    Some(HookCall { platform, event })
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
        if words.iter().any(|word| word.to_string_lossy().starts_with("--agent")) {
            // Of an agent that this version does not know.
            return ExitCode::SUCCESS;
        }
        commands::hook::run(
            None,
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
            commands::hook::run(args.agent, args.event.as_deref(), cli.global.data_dir.as_deref());
            Ok(())
        }
        Command::Drain(args) => commands::drain::run(args, &paths, printer),
        Command::Queue(QueueCommand::List) => commands::queue::list(&paths, printer),
        Command::Queue(QueueCommand::Retry(which)) => commands::queue::retry(which, &paths, printer),
        Command::Queue(QueueCommand::Drop { selection, yes }) => {
            commands::queue::discard(selection, *yes, &paths, printer)
        }
        Command::Search(args) => commands::search::run(args, &Caller::here(), &paths, printer),
        Command::Timeline(args) => commands::timeline::run(args, &Caller::here(), &paths, printer),
        Command::Get(args) => commands::get::run(args, &Caller::here(), &paths, printer),
        Command::Context(scope) => commands::context::run(scope, &Caller::here(), &paths, printer),
        Command::Report(args) => commands::report::run(args, &paths, printer),
        Command::Outline(args) => commands::outline::run(args, &Gone::default(), printer),
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
        Command::Uninstall(args) => commands::uninstall::run(args, &paths, printer),
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
        Command::Mcp { agent } => commands::mcp::run(*agent, &paths),
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
        let call = |platform, event| Some(HookCall { platform, event });
        for (text, expected) in [
            ("cmem hook", call(None, None)),
            ("cmem hook Stop", call(None, Some("Stop"))),
            ("cmem hook --agent codex", call(Some(Platform::Codex), None)),
            ("cmem hook --agent copilot agentStop", call(Some(Platform::Copilot), Some("agentStop"))),
        ] {
            assert_eq!(hook_call(&words(text)), expected, "{text}");
        }
        for other in [
            "cmem",
            "cmem hook --help",
            "cmem search hook",
            "cmem hook Stop --data-dir x",
            "cmem hook --agent",
            "cmem hook --agent nobody Stop",
        ] {
            assert_eq!(hook_call(&words(other)), None, "{other}");
        }
    }
}
