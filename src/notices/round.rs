//! What one run of a drainer sends: one notice at a time, a bounded number in a bounded time, so that a destination
//! that is slow or away holds nothing up.

use std::time::{Duration, Instant};

use super::{Destination, Outlet, policy};
use crate::config::Settings;
use crate::model::Timestamp;
use crate::privacy::Cleaner;
use crate::store::{Fate, Store, StoreError};

/// Most attempts at one destination.
const MAX_ATTEMPTS: u32 = 20;
/// No further attempt at a destination that has taken so long.
const PATIENCE: Duration = Duration::from_secs(15);

/// Attempts of one drainer.
#[derive(Debug)]
pub struct Round {
    lanes: Vec<Lane>,
    /// Destinations that are not, or not rightly, set up.
    closed: Vec<Destination>,
    begun: bool,
    report: Report,
}

/// What became of the notices.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Report {
    /// Delivered.
    pub sent: u64,
    /// To be tried again.
    pub put_off: u64,
    /// Given up.
    pub given_up: u64,
    /// Destination and reason of each failure since the last report, without secrets.
    pub failures: Vec<String>,
}

#[derive(Debug)]
struct Lane {
    outlet: Outlet,
    left: u32,
    spent: Duration,
}

impl Round {
    /// The destinations that are set up. Sends nothing.
    pub fn new(settings: &Settings) -> Self {
        let (mut lanes, mut closed) = (Vec::new(), Vec::new());
        for destination in Destination::ALL {
            match Outlet::from_settings(destination, settings) {
                Ok(Some(outlet)) => lanes.push(Lane { outlet, left: MAX_ATTEMPTS, spent: Duration::ZERO }),
                Ok(None) | Err(_) => closed.push(destination),
            }
        }
        Self { lanes, closed, begun: false, report: Report::default() }
    }

    /// Where an observation of this type is to be told.
    pub fn wanting(&self, r#type: &str) -> impl Iterator<Item = &'static str> {
        let wanting = self.lanes.iter().filter(move |lane| lane.outlet.wants(r#type));
        wanting.map(|lane| lane.outlet.destination().name())
    }

    /// Makes one attempt at a notice that is due, as far as this round allows; with `eager` also at one that would
    /// wait between attempts. Tells whether there was one.
    ///
    /// # Errors
    /// [`StoreError`]; what was being sent is not sent again.
    pub fn send_next(&mut self, store: &Store, cleaner: &Cleaner, eager: bool) -> Result<bool, StoreError> {
        if !self.begun {
            self.begun = true;
            self.clear(store)?;
        }
        for lane in self.lanes.iter_mut().filter(|lane| lane.left > 0 && lane.spent < PATIENCE) {
            let name = lane.outlet.destination().name();
            let Some(notice) = store.claim_notice(name, Timestamp::now(), eager)? else { continue };
            let began = Instant::now();
            let (class, fate) = lane.outlet.send(&notice, cleaner);
            lane.spent += began.elapsed();
            lane.left = if class.ends_the_round() { 0 } else { lane.left - 1 };
            store.settle_notice(notice.id, &fate, Timestamp::now())?;
            self.report.count(name, fate);
            return Ok(true);
        }
        Ok(false)
    }

    /// When the next notice that can be sent is due; `None` when none waits.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn next_due(&self, store: &Store) -> Result<Option<Timestamp>, StoreError> {
        let due = self.lanes.iter().map(|lane| store.next_notice(lane.outlet.destination().name()));
        Ok(due.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().min())
    }

    /// What became of the notices so far; the failures are told once.
    pub fn report(&mut self) -> Report {
        let failures = std::mem::take(&mut self.report.failures);
        Report { failures, ..self.report.clone() }
    }

    /// Gives up what cannot be sent: left in flight by a drainer that was killed, or waiting too long for a
    /// destination that is gone.
    fn clear(&self, store: &Store) -> Result<(), StoreError> {
        let now = Timestamp::now();
        store.give_up_claimed(
            "cmem was ended while it was being sent: it may have arrived, and is not sent twice",
            "look whether it arrived",
            now,
        )?;
        for destination in &self.closed {
            let failure = ("not set up, or switched off, for a day", "set it up, if you want notices there");
            store.give_up_pending(destination.name(), policy::too_old(now), failure, now)?;
        }
        Ok(())
    }
}

impl Report {
    fn count(&mut self, destination: &str, fate: Fate) {
        let reason = match fate {
            Fate::Sent => return self.sent += 1,
            Fate::Again { reason, .. } => {
                self.put_off += 1;
                reason
            }
            Fate::GivenUp { reason, .. } => {
                self.given_up += 1;
                reason
            }
        };
        self.failures.push(format!("{destination}: {reason}"));
    }
}
