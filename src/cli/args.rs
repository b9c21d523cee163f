//! What can be typed. Types only; the doc comments are the help texts.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use super::when;
use crate::commands::adopt::AdoptArgs;
use crate::commands::compact::CompactArgs;
use crate::commands::edit::EditArgs;
use crate::commands::export::ExportArgs;
use crate::commands::forget::ForgetArgs;
use crate::commands::import::ImportArgs;
use crate::commands::install::InstallArgs;
use crate::commands::mode::ModeCommand;
use crate::commands::outline::OutlineArgs;
use crate::commands::pin::PinArgs;
use crate::commands::project::ProjectCommand;
use crate::commands::prune::PruneArgs;
use crate::commands::remember::RememberArgs;
use crate::commands::report::ReportArgs;
use crate::commands::restore::RestoreArgs;
use crate::commands::review::ReviewArgs;
use crate::commands::stats::StatsArgs;
use crate::commands::supersede::SupersedeArgs;
use crate::commands::unfold::UnfoldArgs;
use crate::commands::uninstall::UninstallArgs;
use crate::model::{Platform, Status, Timestamp};
use crate::retrieve::RecordKind;

/// Memory across sessions for coding agents: hooks capture, a drainer distils, the next session recalls.
#[derive(Debug, Parser)]
#[command(
    name = "cmem",
    version,
    disable_help_subcommand = true,
    after_help = "Example:\n  cmem install          register the hooks with Claude Code\n  cmem search \
                  'retry limit'   find what was learned\n  cmem doctor           see whether all is well"
)]
pub struct Cli {
    #[command(flatten)]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub global: GlobalArgs,
    #[command(subcommand)]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
pub struct GlobalArgs {
    /// Data directory [default: $CMEM_DATA_DIR, else ~/.cmem]
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Print JSON of a stable shape
    #[arg(long, global = true)]
    pub json: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Take in one event of a coding agent from standard input (called by the agent's client)
    Hook(HookArgs),
    /// Turn the waiting events into memories now
    Drain(DrainArgs),
    /// List, retry or drop the events that wait
    #[command(subcommand, after_help = "Example:\n  cmem queue list\n  cmem queue retry --all")]
    Queue(QueueCommand),
    /// Find memories: an index of rows, 50-100 tokens each
    Search(SearchArgs),
    /// Show what happened around one memory
    Timeline(TimelineArgs),
    /// Show whole records, 500-1,000 tokens each
    Get(GetArgs),
    /// Show what a new session in this directory would be told
    #[command(after_help = "Example:\n  cmem context\n  cmem context --project api")]
    Context(ScopeArgs),
    /// Tell what happened in a period: decisions, bugs, files, next steps, cost
    Report(ReportArgs),
    /// List what a source file defines, with lines and without bodies; or find a symbol in a directory
    Outline(OutlineArgs),
    /// Show one item of a source file whole
    Unfold(UnfoldArgs),
    /// Remember a text as it stands
    Remember(RememberArgs),
    /// Change what an observation says, in an editor or by flags
    Edit(EditArgs),
    /// Keep observations in every context
    #[command(after_help = "Example:\n  cmem pin 12 15")]
    Pin(PinArgs),
    /// Keep observations in every context no longer
    #[command(after_help = "Example:\n  cmem unpin 12")]
    Unpin(PinArgs),
    /// Say that one observation takes the place of another
    Supersede(SupersedeArgs),
    /// Take records away for good, from every file
    Forget(ForgetArgs),
    /// Decide what becomes of memories that wait: suggestions, and what would replace something that matters
    Review(ReviewArgs),
    /// Put memories together that say the same
    Compact(CompactArgs),
    /// Put away what was of no use for long
    Prune(PruneArgs),
    /// Bring back what was put away or has expired
    Restore(RestoreArgs),
    /// Write the memory, or a part of it, to take along
    Export(ExportArgs),
    /// Take in what was exported, or what another program remembers
    Import(ImportArgs),
    /// Bring the memory of merged worktrees home
    Adopt(AdoptArgs),
    /// List projects, or say that two are one
    #[command(subcommand, after_help = "Example:\n  cmem project list")]
    Project(ProjectCommand),
    /// Register with Claude Code: the hooks, or a plugin with skills
    Install(InstallArgs),
    /// Take cmem out of Claude Code again
    Uninstall(UninstallArgs),
    /// Show what waits, what is remembered and what went wrong
    #[command(after_help = "Example:\n  cmem status\n  cmem status --json")]
    Status,
    /// Show what the observer was asked and what that cost
    Stats(StatsArgs),
    /// Check the whole installation, with a remedy for each finding
    #[command(after_help = "Example:\n  cmem doctor")]
    Doctor,
    /// Make the vector index anew, and embed what an embeddings endpoint lacks; searches work meanwhile
    #[command(after_help = "Example:\n  cmem reindex")]
    Reindex,
    /// Show or change settings
    #[command(
        subcommand,
        after_help = "Example:\n  cmem config list\n  cmem config set CMEM_PROVIDER anthropic"
    )]
    Config(ConfigCommand),
    /// Choose what kinds of memory are kept, and in which language
    #[command(
        subcommand,
        after_help = "Example:\n  cmem mode list\n  cmem mode use code--de\n  cmem mode create"
    )]
    Mode(ModeCommand),
    /// Serve the memory to an agent as tools and resources, over MCP on standard input and output
    #[command(after_help = "Example:\n  claude mcp add cmem -- cmem mcp\n  cmem mcp --agent codex")]
    Mcp {
        /// The coding agent whose client it is: what it remembers is marked as its own
        #[arg(long, value_name = "AGENT")]
        agent: Option<Platform>,
    },
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  cmem completions bash > ~/.local/share/bash-completion/completions/cmem"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Arguments of `cmem hook`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cmem hook < event.json\n  cmem hook PostToolUse < event.json\n  cmem hook --agent codex Stop < event.json"
)]
pub struct HookArgs {
    /// Event name, where the input does not hold it
    pub event: Option<String>,
    /// The coding agent that calls; without it Claude Code
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<Platform>,
}

/// Arguments of `cmem drain`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cmem drain --wait")]
pub struct DrainArgs {
    /// Wait for a drainer that is at work already
    #[arg(long)]
    pub wait: bool,
    /// The life of a detached drainer; started by hooks
    #[arg(long, hide = true)]
    pub background: bool,
    /// Descriptor of the drain lock, inherited from the hook
    #[arg(long, hide = true, value_name = "N")]
    pub lock_fd: Option<i32>,
}

/// Whose memories a reader sees.
#[derive(Debug, Clone, Default, Args)]
pub struct ScopeArgs {
    /// Another project, by name [default: the current directory's]
    #[arg(long, value_name = "NAME", conflicts_with = "all_projects")]
    pub project: Option<String>,
    /// Every project
    #[arg(long)]
    pub all_projects: bool,
}

/// Arguments of `cmem search`.
#[derive(Debug, Args)]
#[command(
    override_usage = "cmem search [OPTIONS] [QUERY]...",
    after_help = "Example:\n  cmem search retry limit\n  cmem search '*' --type decision --since 7d\n  \
                  cmem search login --kind prompt --all-projects\n\nAll characters of a query are plain text; \
                  no query, or *, lists the newest first."
)]
pub struct SearchArgs {
    /// Words to look for
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    pub query: Option<String>,
    /// Further words
    #[arg(value_name = "QUERY", hide = true)]
    pub more: Vec<String>,
    /// At most so many rows
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Skip so many rows
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub offset: usize,
    /// Show what the score of each row is made of
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub filter: FilterArgs,
}

/// Which records.
#[derive(Debug, Clone, Default, Args)]
pub struct FilterArgs {
    /// Only observations of these types, such as bugfix or decision; also by the name that the mode gives them
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub types: Vec<String>,
    /// Only observations with one of these concepts, such as gotcha
    #[arg(long = "concept", value_name = "CONCEPT", value_delimiter = ',')]
    pub concepts: Vec<String>,
    /// Only observations that read or changed a file whose path contains this
    #[arg(long = "file", value_name = "PATH")]
    pub files: Vec<String>,
    /// Not before this date, time or age (2026-01-31, yesterday, 7d)
    #[arg(long, value_name = "WHEN", value_parser = when::since)]
    pub since: Option<Timestamp>,
    /// Not after this date, time or age; a date includes its day
    #[arg(long, value_name = "WHEN", value_parser = when::until)]
    pub until: Option<Timestamp>,
    /// Only records of this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only records of sessions of these coding agents
    #[arg(long = "platform", value_name = "AGENT", value_delimiter = ',')]
    pub platforms: Vec<Platform>,
    /// Only these kinds of record
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',')]
    pub kinds: Vec<KindName>,
    /// Only observations in these states; what was put away is archived
    #[arg(long = "status", value_name = "STATUS", value_delimiter = ',')]
    pub statuses: Vec<StatusName>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub scope: ScopeArgs,
}

impl FilterArgs {
    /// Whether nothing is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.types.is_empty()
            && self.concepts.is_empty()
            && self.files.is_empty()
            && self.since.is_none()
            && self.until.is_none()
            && self.session.is_none()
            && self.platforms.is_empty()
            && self.kinds.is_empty()
            && self.statuses.is_empty()
            && self.scope.project.is_none()
            && !self.scope.all_projects
    }
}

/// A kind of record by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the variant names are the documentation")]
pub enum KindName {
    Observation,
    Summary,
    Prompt,
}

impl From<KindName> for RecordKind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Observation => Self::Observation,
            KindName::Summary => Self::Summary,
            KindName::Prompt => Self::Prompt,
        }
    }
}

/// A state of an observation by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the variant names are the documentation")]
pub enum StatusName {
    Active,
    Review,
    Superseded,
    Archived,
}

impl From<StatusName> for Status {
    fn from(name: StatusName) -> Self {
        match name {
            StatusName::Active => Self::Active,
            StatusName::Review => Self::Review,
            StatusName::Superseded => Self::Superseded,
            StatusName::Archived => Self::Archived,
        }
    }
}

/// Arguments of `cmem timeline`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cmem timeline 123\n  cmem timeline S12 --before 3 --after 10\n  \
                        cmem timeline 2026-01-31T10:00:00Z\n  cmem timeline retry limit")]
pub struct TimelineArgs {
    /// An id (123, S12, P7), a date or time, or words to look for [default: now]
    pub anchor: Vec<String>,
    /// So many records before it
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub before: usize,
    /// So many records after it
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub after: usize,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub scope: ScopeArgs,
}

/// Arguments of `cmem get`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cmem get 123\n  cmem get 1,2,3 S12 P7 --json\n  cmem get 123 --history")]
pub struct GetArgs {
    /// Ids: 123 (observation), S12 (summary), P7 (prompt)
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
    /// Show also what an observation said before each edit
    #[arg(long)]
    pub history: bool,
}

/// The parts of `cmem queue`.
#[derive(Debug, Subcommand)]
pub enum QueueCommand {
    /// Print the events that wait or are parked, oldest first
    #[command(after_help = "Example:\n  cmem queue list")]
    List,
    /// Make events due again, parked ones included
    #[command(after_help = "Example:\n  cmem queue retry --all\n  cmem queue retry 12 13")]
    Retry(QueueSelection),
    /// Delete events for good
    #[command(after_help = "Example:\n  cmem queue drop 12\n  cmem queue drop --all --yes")]
    Drop {
        #[command(flatten)]
        #[expect(missing_docs, reason = "the flattened type is documented")]
        selection: QueueSelection,
        /// Do not ask; needed where there is no terminal
        #[arg(long)]
        yes: bool,
    },
}

/// Which events.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true))]
pub struct QueueSelection {
    /// Numbers of events
    #[arg(group = "which", value_name = "ID")]
    pub ids: Vec<i64>,
    /// Every event
    #[arg(long, group = "which")]
    pub all: bool,
}

/// The parts of `cmem config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print one value
    #[command(after_help = "Example:\n  cmem config get CMEM_MODEL")]
    Get {
        /// The setting
        key: String,
    },
    /// Write a value to settings.json
    #[command(after_help = "Example:\n  cmem config set CMEM_CONTEXT_TOKENS 4000")]
    Set {
        /// The setting
        key: String,
        /// Its value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Take a setting out of settings.json
    #[command(after_help = "Example:\n  cmem config unset CMEM_MODEL")]
    Unset {
        /// The setting
        key: String,
    },
    /// Print every setting, its value and where that comes from
    #[command(after_help = "Example:\n  cmem config list")]
    List,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(words: &[&str]) -> Cli {
        Cli::try_parse_from([&["cmem"], words].concat()).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        fn walk(command: &clap::Command) {
            for sub in command.get_subcommands() {
                let text = sub.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(text.contains("Example"), "{}", sub.get_name());
                walk(sub);
            }
        }
        walk(&Cli::command());
    }

    #[test]
    fn a_query_may_look_like_an_option() {
        for words in [["search", "-flag", "--limit", "20"], ["search", "--limit", "20", "-"]] {
            let Command::Search(args) = parse(&words).command else { panic!() };
            assert_eq!(args.limit, 20);
            assert!(args.query.is_some_and(|query| query.starts_with('-')));
        }
        let Command::Search(args) = parse(&["search", "why", "fail", "--all-projects", "deploys"]).command
        else {
            panic!()
        };
        assert_eq!((args.query.as_deref(), args.more.len()), (Some("why"), 2));
        assert!(args.filter.scope.all_projects);
    }

    #[test]
    fn a_wrong_kind_names_the_allowed_ones() {
        let told = Cli::try_parse_from(["cmem", "search", "--kind", "dream"]).unwrap_err().to_string();
        assert!(
            told.contains("observation") && told.contains("summary") && told.contains("prompt"),
            "{told}"
        );
    }

    #[test]
    fn a_queue_command_needs_to_know_which() {
        assert!(Cli::try_parse_from(["cmem", "queue", "retry"]).is_err());
        assert!(Cli::try_parse_from(["cmem", "queue", "retry", "--all", "3"]).is_err());
        assert!(Cli::try_parse_from(["cmem", "queue", "drop", "3", "4", "--yes"]).is_ok());
    }
}
