//! One POST with one deadline. The only place that names ureq.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::Uri;

use super::Verdict;
use super::class::{bounded, retry_after};
use crate::model::Timestamp;

/// Largest answer that is read: far more than a reply of `max_tokens`.
const MAX_ANSWER: u64 = 1024 * 1024;

/// Where requests go.
pub(super) struct Endpoint {
    agent: Agent,
    url: String,
    headers: Vec<(&'static str, String)>,
}

/// An answer with any status.
pub(super) struct HttpAnswer {
    /// HTTP status code.
    pub(super) status: u16,
    /// The `Retry-After` header.
    pub(super) wait: Option<Duration>,
    /// The body.
    pub(super) body: Vec<u8>,
}

impl Endpoint {
    /// `timeout` covers a whole request, from the name look-up to the last byte of the answer. Proxies are
    /// taken from the environment, except for this machine itself.
    pub(super) fn new(url: Uri, headers: Vec<(&'static str, String)>, timeout: Duration) -> Self {
        let mut config = Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("cmem/", env!("CARGO_PKG_VERSION")));
        if locality(&url) == Locality::ThisMachine {
            config = config.proxy(None);
        }
        Self { agent: Agent::new_with_config(config.build()), url: url.to_string(), headers }
    }

    /// Sends `body`.
    ///
    /// # Errors
    /// The verdict, when there is no complete answer of a sensible size.
    pub(super) fn post(&self, body: &Value) -> Result<HttpAnswer, Box<Verdict>> {
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let mut response = request.send(body.to_string()).map_err(|error| Box::new(self.verdict(&error)))?;
        let header = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let wait = header.and_then(|value| retry_after(value, Timestamp::now()));
        let status = response.status().as_u16();
        let reader = response.body_mut().with_config().limit(MAX_ANSWER);
        let body = reader.read_to_vec().map_err(|error| Box::new(self.verdict(&error)))?;
        Ok(HttpAnswer { status, wait, body })
    }

    /// Scheme and host, for messages.
    pub(super) fn host(&self) -> &str {
        let path = self.url.find("://").map_or(0, |at| at + 3);
        let end = self.url[path..].find('/').map_or(self.url.len(), |at| path + at);
        &self.url[..end]
    }

    fn verdict(&self, error: &ureq::Error) -> Verdict {
        match error {
            ureq::Error::BodyExceedsLimit(_) => {
                Verdict::Malformed { reason: format!("the answer is larger than {} KiB", MAX_ANSWER / 1024) }
            }
            error => Verdict::Transient { message: bounded(&format!("{}: {error}", self.host())) },
        }
    }
}

/// How far away a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Locality {
    /// A loopback address.
    ThisMachine,
    /// A private address, or a name that only a local network knows.
    LocalNetwork,
    /// Anywhere else.
    Internet,
}

/// How far away the server of a URL is, as far as its name tells.
pub(super) fn locality(url: &Uri) -> Locality {
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    let lower = host.to_ascii_lowercase();
    if lower == "localhost" || lower.ends_with(".localhost") {
        return Locality::ThisMachine;
    }
    match host.parse::<IpAddr>() {
        Ok(address) if address.is_loopback() => Locality::ThisMachine,
        Ok(IpAddr::V4(address)) if address.is_private() || address.is_link_local() => Locality::LocalNetwork,
        Ok(IpAddr::V6(address)) if address.is_unique_local() => Locality::LocalNetwork,
        Ok(_) => Locality::Internet,
        Err(_) if !lower.contains('.') => Locality::LocalNetwork,
        Err(_) if [".local", ".lan", ".internal"].iter().any(|end| lower.ends_with(end)) => {
            Locality::LocalNetwork
        }
        Err(_) => Locality::Internet,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn localities() {
        for (url, expected) in [
            ("http://127.0.0.1:11434/v1", Locality::ThisMachine),
            ("http://[::1]:8080", Locality::ThisMachine),
            ("http://LOCALHOST", Locality::ThisMachine),
            ("http://192.168.1.5/v1", Locality::LocalNetwork),
            ("http://gpu-box:8000/v1", Locality::LocalNetwork),
            ("http://ollama.local", Locality::LocalNetwork),
            ("https://api.openai.com/v1", Locality::Internet),
            ("https://127.0.0.1.example.org", Locality::Internet),
        ] {
            assert_eq!(locality(&url.parse().unwrap()), expected, "{url}");
        }
    }
}
