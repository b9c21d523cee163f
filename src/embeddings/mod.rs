//! An OpenAI-compatible embeddings endpoint beside the embedded model: the drainer has it embed observations, and
//! `cmem search` a question. Hooks never ask it.

mod pause;
mod round;
mod wire;

use std::fmt::Write as _;
use std::time::Duration;

use sha2::{Digest, Sha256};

pub use pause::EmbeddingPause;
pub use round::{Failure, Pace, Report, Round, Step};

use crate::config::Settings;
use crate::http::{Endpoint, HttpError};
use crate::index::{Probe, Space};
use crate::observer::{self, ObserverError, Verdict};
use crate::privacy::Cleaner;
use crate::store::{Store, StoreError};

/// What `cmem search` waits for the vector of a question.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest question that is sent, in characters.
const QUESTION: usize = 2_000;
/// What the drainer waits for an answer, whatever it may wait for an observer.
const MOST_TIMEOUT: Duration = Duration::from_secs(30);
/// Largest answer that is read: 64 vectors of 4,096 numbers in 40 characters each.
const MAX_ANSWER: u64 = 12 << 20;
/// Most numbers in a vector.
const MAX_DIMENSION: usize = 16_384;

/// An endpoint that cannot be used as it is set up. Nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The address without a model.
    #[error("CMEM_EMBED_BASE_URL is set, and CMEM_EMBED_MODEL is not")]
    NoModel,
    /// The address or the key cannot be used.
    #[error(transparent)]
    Endpoint(#[from] ObserverError),
}

impl SetupError {
    /// What the user can do about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::NoModel => String::from("`cmem config set CMEM_EMBED_MODEL …` with a model of that server"),
            Self::Endpoint(error) => error.remedy(),
        }
    }
}

/// The endpoint that the settings name.
#[derive(Debug)]
pub struct Embedder {
    model: String,
    key: String,
    url: crate::http::Uri,
    timeout: Duration,
    fingerprint: String,
}

/// What an endpoint said to some texts.
#[derive(Debug)]
struct Answered {
    /// A vector of one dimension for each text.
    vectors: Result<Vec<Vec<f32>>, Fault>,
    /// Tokens that it counted.
    tokens: i64,
}

/// Why there are no vectors.
#[derive(Debug)]
struct Fault {
    /// Its class, without secrets.
    verdict: Verdict,
    /// It may be about one of the texts, or about their number: others may pass.
    about_texts: bool,
}

impl Embedder {
    /// `None` when no endpoint is set up. Sends nothing.
    ///
    /// # Errors
    /// [`SetupError`] names the setting that keeps it from being used.
    pub fn from_settings(settings: &Settings) -> Result<Option<Self>, SetupError> {
        const BASE: &str = "CMEM_EMBED_BASE_URL";
        if settings.embed_base_url.trim().is_empty() {
            return Ok(None);
        }
        let url = observer::address(BASE, &settings.embed_base_url, "/embeddings")?;
        let key = observer::header_safe("CMEM_EMBED_API_KEY", &settings.embed_api_key)?;
        let model = settings.embed_model.trim().to_owned();
        if model.is_empty() {
            return Err(SetupError::NoModel);
        }
        let fingerprint = fingerprint(&[&url.to_string(), &key, &model]);
        Ok(Some(Self { model, key, url, timeout: settings.timeout.min(MOST_TIMEOUT), fingerprint }))
    }

    /// The name of its model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Scheme, host and port, for messages.
    pub fn host(&self) -> String {
        self.endpoint(self.timeout).host()
    }

    /// Why it is not asked for now. What failed with other settings does not count.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn pause(&self, store: &Store) -> Result<Option<EmbeddingPause>, StoreError> {
        Ok(EmbeddingPause::read(store)?.filter(|pause| pause.fingerprint == self.fingerprint))
    }

    /// The vector of a question, soon or not at all.
    ///
    /// # Errors
    /// Why there is none, without secrets.
    pub fn ask(&self, question: &str, cleaner: &Cleaner) -> Result<Probe, String> {
        let text: String = cleaner.redact(question).chars().take(QUESTION).collect();
        let vectors =
            self.embed(&[text], QUESTION_TIMEOUT).vectors.map_err(|fault| message(&fault.verdict))?;
        let vector = vectors.first().map(Vec::as_slice).unwrap_or_default();
        let space = Space::of_endpoint(&self.model, u32::try_from(vector.len()).unwrap_or(0));
        space.probe(vector).ok_or_else(|| String::from("the vector is empty"))
    }

    /// One request.
    fn embed(&self, texts: &[String], timeout: Duration) -> Answered {
        let endpoint = self.endpoint(timeout);
        let (vectors, tokens) = match endpoint.post(&wire::body(&self.model, texts)) {
            Ok(answer) => wire::read(&answer, texts.len(), &endpoint.host()),
            Err(error) => (Err(no_answer(&error, &endpoint.host())), 0),
        };
        let vectors = vectors.map_err(|fault| Fault {
            verdict: observer::without_key(fault.verdict, &self.key),
            about_texts: fault.about_texts,
        });
        Answered { vectors, tokens }
    }

    fn endpoint(&self, timeout: Duration) -> Endpoint {
        let headers = match self.key.as_str() {
            "" => Vec::new(),
            key => vec![("authorization", format!("Bearer {key}"))],
        };
        Endpoint::new(self.url.clone(), headers, timeout).reading_up_to(MAX_ANSWER)
    }

    /// What the user can do about a failure.
    fn remedy(verdict: &Verdict) -> &'static str {
        match verdict {
            Verdict::Stored(_) | Verdict::Nothing | Verdict::RateLimited { .. } => {
                "nothing: it goes on by itself"
            }
            Verdict::Auth { .. } => {
                "check CMEM_EMBED_API_KEY (and CMEM_EMBED_BASE_URL): `cmem config set CMEM_EMBED_API_KEY …`, then `cmem reindex`"
            }
            Verdict::Quota { .. } => {
                "wait, top up the account that CMEM_EMBED_API_KEY belongs to, or `cmem config set CMEM_EMBED_BASE_URL ''`"
            }
            Verdict::Transient { .. } => {
                "nothing if it passes; otherwise check CMEM_EMBED_BASE_URL and the network, then `cmem reindex`"
            }
            Verdict::Malformed { .. } | Verdict::Unrecoverable { .. } => {
                "check CMEM_EMBED_MODEL and CMEM_EMBED_BASE_URL, then `cmem reindex`"
            }
        }
    }
}

/// What a failure says.
fn message(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Stored(_) | Verdict::Nothing => String::new(),
        Verdict::Malformed { reason } => reason.clone(),
        Verdict::RateLimited { .. } => String::from("too many requests"),
        Verdict::Quota { message, .. }
        | Verdict::Auth { message }
        | Verdict::Transient { message }
        | Verdict::Unrecoverable { message } => message.clone(),
    }
}

fn no_answer(error: &HttpError, host: &str) -> Fault {
    match error {
        HttpError::TooLarge { .. } => {
            Fault { verdict: Verdict::Malformed { reason: error.to_string() }, about_texts: true }
        }
        HttpError::NoAnswer | HttpError::Failed { .. } => {
            Fault { verdict: Verdict::Transient { message: format!("{host}: {error}") }, about_texts: false }
        }
    }
}

/// Identifies the settings that decide whether the endpoint can be reached, without revealing them.
fn fingerprint(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
