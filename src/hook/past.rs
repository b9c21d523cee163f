//! What happened before cmem was there, by the same rules as what happens now: the same decoding and cleaning, the same
//! exclusions, private turns and triage. Only the time is another.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::{arrival, decode, guard, skipped, triage};
use crate::config::Settings;
use crate::git;
use crate::model::{EventKind, Identity, Platform, Timestamp};
use crate::privacy::Cleaner;
use crate::spool::Arrival;

/// Turns payloads, as a client would have sent them, into arrivals.
#[derive(Debug)]
pub struct Past<'a> {
    settings: &'a Settings,
    cleaner: Cleaner,
    exclusions: HashMap<String, Option<&'static str>>,
    identities: HashMap<String, Identity>,
}

impl<'a> Past<'a> {
    /// By these settings.
    pub fn new(settings: &'a Settings) -> Self {
        Self {
            settings,
            cleaner: Cleaner::new(&settings.redact_patterns),
            exclusions: HashMap::new(),
            identities: HashMap::new(),
        }
    }

    /// The arrival of a payload, on the branch that was checked out then; `None` when there is nothing even to count.
    /// `private` tells whether the turn is, and is set by its prompt.
    pub fn arrival(
        &mut self,
        payload: Value,
        at: Timestamp,
        branch: Option<&str>,
        private: &mut bool,
    ) -> Option<Arrival> {
        let decoded = match decode(Platform::Claude, None, payload, &self.cleaner, at) {
            Ok(decoded) => decoded,
            Err(ignored) => return ignored.counts().then(|| skipped(ignored.reason())),
        };
        let event = decoded.event;
        let cwd = event.cwd.clone();
        let settings = self.settings;
        let exclusion = *self
            .exclusions
            .entry(cwd.clone())
            .or_insert_with(|| guard::exclusion(Path::new(&cwd), settings));
        if let Some(reason) = exclusion {
            return Some(skipped(reason));
        }
        if let EventKind::Prompt { private: wholly, .. } = event.kind {
            *private = wholly;
        }
        if *private && event.kind.is_evidence() {
            return Some(skipped("private"));
        }
        if let Some(reason) = triage::skip_reason(&event, settings) {
            return Some(skipped(reason));
        }
        let now = self.identities.entry(cwd).or_insert_with_key(|cwd| git::identify(Path::new(cwd)));
        // Which commit was checked out then is not recorded.
        let identity =
            Identity { branch: branch.map(str::to_owned), head: None, main_head: None, ..now.clone() };
        Some(arrival(event, Some(identity), &decoded.delivery))
    }
}
