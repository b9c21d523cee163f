//! Observers that ask a model over HTTP. What differs between providers is only how a request is written and
//! an answer read.

mod anthropic;
mod gemini;
mod openai;

pub(super) use anthropic::DEFAULT_MODEL as ANTHROPIC_MODEL;
pub(super) use gemini::DEFAULT_MODEL as GEMINI_MODEL;

use serde_json::Value;

use super::prompt::{self, Request};
use super::{
    Answer, Batch, Consolidation, Narration, Observer, ObserverError, Usage, Verdict, class, consolidate,
    judge, narrate,
};
use crate::config::{Provider, Settings};
use crate::http::{Endpoint, HttpError, Locality, Uri, locality, parse_url};
use crate::mode::Mode;
use crate::model::Timestamp;

/// Most output tokens per reply. Some ten observations; a batch seldom gives more than three.
const MAX_TOKENS: u32 = 8_192;

/// A provider's way of writing requests and answers.
trait Wire {
    /// The body of a request to `model`.
    fn body(&self, model: &str, request: &Request) -> Value;
    /// What a successful answer says.
    fn read(&self, answer: &Value) -> Spoken;
}

/// What a model said.
#[derive(Debug, Default)]
struct Spoken {
    text: String,
    /// It was stopped at its length limit.
    cut: bool,
    /// The provider's filter kept the answer back, for this reason.
    refused: Option<String>,
    /// The model's own name for itself.
    model: Option<String>,
    usage: Usage,
}

/// An observer behind an HTTP endpoint.
pub(super) struct Remote {
    mode: Mode,
    model: String,
    key: String,
    endpoint: Endpoint,
    wire: Box<dyn Wire + Send + Sync>,
    provider: Provider,
}

impl Remote {
    /// Through the Anthropic Messages API.
    pub(super) fn anthropic(settings: &Settings, mode: Mode) -> Result<Self, ObserverError> {
        let url = anthropic::url(&settings.anthropic_base_url)?;
        let key = header_safe("CMEM_ANTHROPIC_API_KEY", &settings.anthropic_api_key)?;
        if key.is_empty() {
            return Err(ObserverError::NoKey { provider: "anthropic", key: "CMEM_ANTHROPIC_API_KEY" });
        }
        let model = match settings.model.trim() {
            "" => anthropic::DEFAULT_MODEL,
            model => model,
        };
        let endpoint = Endpoint::new(url, anthropic::headers(&key), settings.timeout);
        Ok(Self {
            mode,
            model: model.to_owned(),
            key,
            endpoint,
            wire: Box::new(anthropic::Messages),
            provider: Provider::Anthropic,
        })
    }

    /// Through any OpenAI-compatible chat completions endpoint.
    pub(super) fn openai(settings: &Settings, mode: Mode) -> Result<Self, ObserverError> {
        let url = openai::url(&settings.openai_base_url)?;
        let key = header_safe("CMEM_OPENAI_API_KEY", &settings.openai_api_key)?;
        if key.is_empty() && locality(&url) == Locality::Internet {
            return Err(ObserverError::NoKey { provider: "openai", key: "CMEM_OPENAI_API_KEY" });
        }
        let model = settings.model.trim();
        if model.is_empty() {
            return Err(ObserverError::NoModel);
        }
        let wire = openai::ChatCompletions::at(&url);
        let endpoint = Endpoint::new(url, openai::headers(&key), settings.timeout);
        Ok(Self {
            mode,
            model: model.to_owned(),
            key,
            endpoint,
            wire: Box::new(wire),
            provider: Provider::OpenAi,
        })
    }

    /// Through Google's Gemini API.
    pub(super) fn gemini(settings: &Settings, mode: Mode) -> Result<Self, ObserverError> {
        let model = match settings.model.trim() {
            "" => gemini::DEFAULT_MODEL,
            model => model,
        };
        let url = gemini::url(&settings.gemini_base_url, model)?;
        let key = header_safe("CMEM_GEMINI_API_KEY", &settings.gemini_api_key)?;
        if key.is_empty() {
            return Err(ObserverError::NoKey { provider: "gemini", key: "CMEM_GEMINI_API_KEY" });
        }
        let endpoint = Endpoint::new(url, gemini::headers(&key), settings.timeout);
        let wire = Box::new(gemini::GenerateContent);
        Ok(Self { mode, model: model.to_owned(), key, endpoint, wire, provider: Provider::Gemini })
    }

    /// Sends a request; `judge` is told what the model wrote and whether it was cut.
    fn ask(
        &self,
        request: &Request,
        judge: impl FnOnce(&str, bool, Timestamp) -> Verdict,
    ) -> (Verdict, Spoken) {
        let answer = match self.endpoint.post(&self.wire.body(&self.model, request)) {
            Ok(answer) => answer,
            Err(error) => return (self.no_answer(&error), Spoken::default()),
        };
        let now = Timestamp::now();
        if !(200..300).contains(&answer.status) {
            return (class::of_failure(answer.status, answer.wait, &answer.body, now), Spoken::default());
        }
        let Ok(value) = serde_json::from_slice::<Value>(&answer.body) else {
            let message = format!("{} answered {} without JSON", self.endpoint.host(), answer.status);
            return (Verdict::Transient { message }, Spoken::default());
        };
        if let Some(verdict) = class::of_error_object(&value, answer.wait, now) {
            return (verdict, Spoken::default());
        }
        let spoken = self.wire.read(&value);
        if let Some(why) = spoken.refused.as_deref().filter(|_| spoken.text.trim().is_empty()) {
            // Smaller batches find the event that it is about.
            let reason = format!("the provider's filter kept the answer back: {}", class::bounded(why));
            return (Verdict::Malformed { reason }, spoken);
        }
        let verdict = judge(&spoken.text, spoken.cut, now);
        (verdict, spoken)
    }

    fn no_answer(&self, error: &HttpError) -> Verdict {
        match error {
            HttpError::TooLarge { .. } => Verdict::Malformed { reason: error.to_string() },
            HttpError::NoAnswer | HttpError::Failed { .. } => {
                Verdict::Transient { message: class::bounded(&format!("{}: {error}", self.endpoint.host())) }
            }
        }
    }

    fn answer(&self, (verdict, spoken): (Verdict, Spoken)) -> Answer {
        let model = spoken.model.filter(|name| !name.is_empty() && name.len() <= 200);
        Answer {
            verdict: class::without_key(verdict, &self.key),
            usage: spoken.usage,
            model: model.unwrap_or_else(|| self.model.clone()),
        }
    }
}

impl Observer for Remote {
    fn observe(&self, batch: &Batch) -> Answer {
        let request = prompt::request(&self.mode, batch);
        self.answer(self.ask(&request, |text, cut, now| judge(text, cut, &self.mode, batch, now)))
    }

    fn consolidate(&self, asked: &Consolidation) -> Answer {
        let request = consolidate::request(&self.mode, asked);
        self.answer(
            self.ask(&request, |text, cut, now| consolidate::judge(text, cut, &self.mode, asked, now)),
        )
    }

    fn narrate(&self, asked: &Narration) -> Answer {
        let request = narrate::request(&self.mode, asked);
        self.answer(self.ask(&request, |text, cut, now| narrate::judge(text, cut, &self.mode, asked, now)))
    }

    fn wants_whole_turns(&self) -> bool {
        false
    }

    fn provider(&self) -> Provider {
        self.provider
    }
}

/// Joins the path of an API to a base URL, whichever part of it is there already. Where the base has a path of
/// its own, `/v1` is added only if `versioned` says that the API always lies below that.
fn join(setting: &'static str, base: &str, versioned: bool, path: &str) -> Result<Uri, ObserverError> {
    let trimmed = base.trim().trim_end_matches('/');
    let has_path = trimmed.splitn(4, '/').nth(3).is_some();
    let complete = trimmed.ends_with("/v1") || (has_path && !versioned);
    let url = match (trimmed.ends_with(path), complete) {
        (true, _) => trimmed.to_owned(),
        (false, true) => format!("{trimmed}{path}"),
        (false, false) => format!("{trimmed}/v1{path}"),
    };
    parse_url(&url).map_err(|reason| ObserverError::BadUrl { setting, reason })
}

/// The address of an OpenAI-compatible API below a base URL.
///
/// # Errors
/// [`ObserverError::BadUrl`].
pub(crate) fn address(setting: &'static str, base: &str, path: &str) -> Result<Uri, ObserverError> {
    join(setting, base, false, path)
}

/// A key as a header takes it.
///
/// # Errors
/// [`ObserverError::BadKey`].
pub(crate) fn header_safe(setting: &'static str, key: &str) -> Result<String, ObserverError> {
    let key = key.trim();
    match key.bytes().all(|b| b.is_ascii_graphic()) {
        true => Ok(key.to_owned()),
        false => Err(ObserverError::BadKey { key: setting }),
    }
}

#[cfg(test)]
mod tests;
