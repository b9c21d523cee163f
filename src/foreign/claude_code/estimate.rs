//! What it would cost to have transcripts observed, before anything is sent.

use std::path::Path;

use serde::Serialize;

use super::{Sink, TranscriptError, is_evidence};
use crate::config::{Price, Provider, Settings, TOKENS_PER_OBSERVATION};
use crate::drain::MODEL_BATCH;
use crate::mode::Mode;
use crate::model::{Event, Identity};
use crate::observer::{self, Batch};
use crate::spool::{Arrival, Taken};

/// What a request holds beside its events and its fixed part once there are memories: titles of the session and
/// related memories.
const STATE_TOKENS: u64 = 400;

/// Adds up the requests that a model would get.
#[derive(Debug)]
pub struct Estimate<'a> {
    mode: &'a Mode,
    requests: u64,
    input: u64,
}

/// The sum.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// Who observes.
    pub provider: &'static str,
    /// Its model; empty where there is none.
    pub model: String,
    /// Requests.
    pub requests: u64,
    /// Tokens that the model reads.
    pub input_tokens: u64,
    /// Tokens that it writes, by experience.
    pub output_tokens: u64,
    /// In dollars by `CMEM_PRICES`; `None` = it names no price for the model. The embedded observer costs nothing.
    pub dollars: Option<f64>,
}

impl<'a> Estimate<'a> {
    /// In this mode.
    pub fn new(mode: &'a Mode) -> Self {
        Self { mode, requests: 0, input: 0 }
    }

    /// What all of it comes to with a provider.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate, never negative"
    )]
    pub fn cost(&self, provider: Provider, settings: &Settings) -> Cost {
        let model = match settings.model.as_str() {
            "" => observer::default_model(provider).unwrap_or_default(),
            model => model,
        };
        if matches!(provider, Provider::Builtin) {
            let (name, model) = (provider.name(), String::new());
            return Cost {
                provider: name,
                model,
                requests: 0,
                input_tokens: 0,
                output_tokens: 0,
                dollars: Some(0.0),
            };
        }
        let observations = (self.input as f64 / TOKENS_PER_OBSERVATION.input).max(self.requests as f64);
        let output = observations * TOKENS_PER_OBSERVATION.output;
        let price = Price::of(model, &settings.prices);
        Cost {
            provider: provider.name(),
            model: model.to_owned(),
            requests: self.requests,
            input_tokens: self.input,
            output_tokens: output as u64,
            dollars: price.map(|price| price.dollars(self.input as f64, 0.0, output)),
        }
    }

    fn batch(&mut self, identity: &Identity, events: Vec<Event>) {
        let batch = Batch {
            project: identity.name.clone(),
            root: identity.root.clone(),
            events,
            request: None,
            titles: Vec::new(),
            similar: Vec::new(),
            strict: false,
        };
        self.requests += 1;
        self.input += observer::request_tokens(self.mode, &batch) as u64 + STATE_TOKENS;
    }
}

impl Sink for Estimate<'_> {
    fn take(&mut self, _: &Path, _: &Taken, arrivals: &[Arrival]) -> Result<(), TranscriptError> {
        if !arrivals.iter().any(is_evidence) {
            return Ok(());
        }
        let mut place: Option<&Identity> = None;
        let (mut events, mut bytes) = (Vec::new(), 0);
        for arrival in arrivals {
            let Arrival::Event { event, identity, .. } = arrival else { continue };
            let size = serde_json::to_vec(event).map_or(0, |body| body.len()) as i64;
            let full = events.len() >= MODEL_BATCH.0 as usize || bytes + size > MODEL_BATCH.1;
            if let Some(place) = place.filter(|_| full && !events.is_empty()) {
                self.batch(place, std::mem::take(&mut events));
                bytes = 0;
            }
            place = identity.as_deref().or(place);
            bytes += size;
            events.push((**event).clone());
        }
        if let Some(place) = place.filter(|_| !events.is_empty()) {
            self.batch(place, events);
        }
        Ok(())
    }
}
