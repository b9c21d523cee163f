//! The user's own `claude` command as the observer: their subscription, no key. One stateless call per batch, with
//! everything switched off that a session would bring along: tools, MCP servers, settings, hooks, history.

mod answer;
mod probe;
mod process;

pub(super) use probe::{Cli, cached, is_usable};

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::prompt::{self, Request};
use super::{
    Answer, Batch, Consolidation, Narration, Observer, ObserverError, Usage, Verdict, consolidate, judge,
    narrate,
};
use crate::config::{Paths, Provider, Settings, is_inherited};
use crate::mode::Mode;
use crate::model::Timestamp;

/// The alias of the smallest model: an observer's work is to sum up.
pub(super) const DEFAULT_MODEL: &str = "haiku";

/// An observer behind the `claude` command.
pub(super) struct Claude {
    mode: Mode,
    cli: Cli,
    model: String,
    timeout: Duration,
    folder: PathBuf,
    inherited: Vec<String>,
}

impl Claude {
    /// Finds the command and makes sure that it can be used.
    pub(super) fn new(settings: &Settings, paths: &Paths, mode: Mode) -> Result<Self, ObserverError> {
        let cli = Cli::find(paths)?;
        let model = match settings.model.trim() {
            "" => DEFAULT_MODEL,
            model => model,
        };
        Ok(Self {
            mode,
            cli,
            model: model.to_owned(),
            timeout: settings.timeout,
            folder: paths.observer(),
            inherited: settings.claude_env.clone(),
        })
    }

    fn arguments(&self, system: &str) -> Vec<OsString> {
        let fixed = [
            "-p",
            "--output-format",
            "json",
            "--settings",
            "{\"disableAllHooks\":true}",
            "--setting-sources",
            "",
            "--strict-mcp-config",
            "--tools",
            "",
            "--no-session-persistence",
            "--model",
            &self.model,
            "--system-prompt",
            system,
        ];
        fixed.into_iter().map(OsString::from).collect()
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let variable = |name: &str, value: String| (OsString::from(name), OsString::from(value));
        let kept = |name: &OsString| name.to_str().is_some_and(|name| is_inherited(name, &self.inherited));
        let defaults = [
            // It would try again, and say nothing, for longer than the deadline. Events wait better in the spool.
            variable("CLAUDE_CODE_MAX_RETRIES", String::from("0")),
            // With nobody left to end it, it ends by itself.
            variable("API_TIMEOUT_MS", self.timeout.as_millis().to_string()),
        ];
        // The second lock against recursion: a hook that is run all the same sees who runs it.
        let guard = variable("CMEM_OBSERVER", String::from("1"));
        let inherited = std::env::vars_os().filter(|(name, _)| kept(name));
        defaults.into_iter().chain(inherited).chain([guard]).collect()
    }

    /// Sends a request; `judge` is told what the model wrote.
    fn ask(
        &self,
        request: &Request,
        judge: impl FnOnce(&str, Timestamp) -> Verdict,
    ) -> (Verdict, Usage, Option<String>) {
        let failed = |message: String| (Verdict::Transient { message }, Usage::default(), None);
        // Empty and its own: a project folder would bring its instructions along.
        if let Err(error) = fs::create_dir_all(&self.folder) {
            return failed(format!("{}: {error}", self.folder.display()));
        }
        let call = process::Call {
            program: &self.cli.program,
            arguments: self.arguments(&request.system),
            environment: self.environment(),
            folder: &self.folder,
            input: request.user.as_bytes(),
            limit: self.timeout,
        };
        let output = match process::run(call) {
            Ok(output) => output,
            Err(error) => return failed(error.to_string()),
        };
        let now = Timestamp::now();
        let said = match answer::read(&output, now) {
            Ok(said) => said,
            Err(verdict) => return (*verdict, Usage::default(), None),
        };
        let verdict = judge(&said.text, now);
        (verdict, said.usage, said.model)
    }
}

impl Claude {
    fn answer(&self, (verdict, usage, model): (Verdict, Usage, Option<String>)) -> Answer {
        Answer { verdict, usage, model: model.unwrap_or_else(|| self.model.clone()) }
    }
}

impl Observer for Claude {
    fn observe(&self, batch: &Batch) -> Answer {
        let request = prompt::request(&self.mode, batch);
        self.answer(self.ask(&request, |text, now| judge(text, false, &self.mode, batch, now)))
    }

    fn consolidate(&self, asked: &Consolidation) -> Answer {
        let request = consolidate::request(&self.mode, asked);
        self.answer(self.ask(&request, |text, now| consolidate::judge(text, false, &self.mode, asked, now)))
    }

    fn narrate(&self, asked: &Narration) -> Answer {
        let request = narrate::request(&self.mode, asked);
        self.answer(self.ask(&request, |text, now| narrate::judge(text, false, &self.mode, asked, now)))
    }

    fn wants_whole_turns(&self) -> bool {
        false
    }

    fn provider(&self) -> Provider {
        Provider::Claude
    }
}

#[cfg(test)]
mod tests;
