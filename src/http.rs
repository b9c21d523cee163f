//! One POST with one deadline. The only place that names ureq.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
pub use ureq::http::Uri;

use crate::model::Timestamp;

/// Largest answer that is read unless more is asked for: far more than a reply of a model's `max_tokens`.
const MAX_ANSWER: u64 = 1024 * 1024;
/// No server means more than this; a larger figure is a mistake of one side.
pub const MAX_WAIT: Duration = Duration::from_secs(35 * 24 * 3600);

/// Where requests go.
#[derive(Debug)]
pub struct Endpoint {
    agent: Agent,
    url: Uri,
    headers: Vec<(&'static str, String)>,
    connecting: Option<Duration>,
    max_answer: u64,
}

/// An answer with any status.
#[derive(Debug)]
pub struct HttpAnswer {
    /// HTTP status code.
    pub status: u16,
    /// The `Retry-After` header.
    pub wait: Option<Duration>,
    /// The body.
    pub body: Vec<u8>,
}

/// There is no complete answer of a sensible size. Its text never quotes the URL, which may hold a secret.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The body is larger than what is read.
    #[error("the answer is larger than {} KiB", most / 1024)]
    TooLarge {
        /// What is read, in bytes.
        most: u64,
        /// HTTP status code.
        status: u16,
    },
    /// The time was over when the connection stood: the request may have arrived.
    #[error("no answer in time")]
    NoAnswer,
    /// The connection failed, or broke off.
    #[error("{reason}")]
    Failed {
        /// HTTP status code, if the answer came as far as that.
        status: Option<u16>,
        /// What failed.
        reason: String,
    },
}

impl Endpoint {
    /// `timeout` covers a whole request, from the name look-up to the last byte of the answer. Proxies are
    /// taken from the environment, except for this machine itself.
    pub fn new(url: Uri, headers: Vec<(&'static str, String)>, timeout: Duration) -> Self {
        let mut config = Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("cmem/", env!("CARGO_PKG_VERSION")));
        if locality(&url) == Locality::ThisMachine {
            config = config.proxy(None);
        }
        Self {
            agent: Agent::new_with_config(config.build()),
            url,
            headers,
            connecting: None,
            max_answer: MAX_ANSWER,
        }
    }

    /// Allows so long for the name look-up, and so long for the connection. With twice that below the whole
    /// time, [`HttpError::NoAnswer`] tells a server that is slow from one that cannot be reached.
    pub fn connecting_within(self, limit: Duration) -> Self {
        Self { connecting: Some(limit), ..self }
    }

    /// Reads answers of up to so many bytes.
    pub fn reading_up_to(self, max_answer: u64) -> Self {
        Self { max_answer, ..self }
    }

    /// Sends `body`.
    ///
    /// # Errors
    /// [`HttpError`].
    pub fn post(&self, body: &Value) -> Result<HttpAnswer, HttpError> {
        let config = self.agent.post(&self.url).config();
        let config = match self.connecting {
            Some(_) => config.timeout_resolve(self.connecting).timeout_connect(self.connecting),
            None => config,
        };
        let mut request = config.build().header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let mut response = request.send(body.to_string()).map_err(|error| self.failure(None, &error))?;
        let header = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let wait = header.and_then(|value| retry_after(value, Timestamp::now()));
        let status = response.status().as_u16();
        let reader = response.body_mut().with_config().limit(self.max_answer);
        let body = reader.read_to_vec().map_err(|error| self.failure(Some(status), &error))?;
        Ok(HttpAnswer { status, wait, body })
    }

    fn failure(&self, status: Option<u16>, error: &ureq::Error) -> HttpError {
        match (error, status) {
            (ureq::Error::BodyExceedsLimit(_), Some(status)) => {
                HttpError::TooLarge { most: self.max_answer, status }
            }
            _ => failure(status, error),
        }
    }

    /// Scheme, host and port, for messages.
    pub fn host(&self) -> String {
        let host = self.url.host().unwrap_or_default();
        let port = self.url.port_u16().map_or_else(String::new, |port| format!(":{port}"));
        format!("{}://{host}{port}", self.url.scheme_str().unwrap_or_default())
    }
}

fn failure(status: Option<u16>, error: &ureq::Error) -> HttpError {
    use ureq::Timeout::{Connect, Resolve};
    match (error, status) {
        (ureq::Error::Timeout(Resolve | Connect), _) => {
            HttpError::Failed { status, reason: String::from("no connection in time") }
        }
        (ureq::Error::Timeout(_), None) => HttpError::NoAnswer,
        // These quote the address.
        (ureq::Error::BadUri(_) | ureq::Error::RequireHttpsOnly(_), _) => {
            HttpError::Failed { status, reason: String::from("the address cannot be used") }
        }
        (error, _) => HttpError::Failed { status, reason: error.to_string() },
    }
}

/// Reads an address that begins with `http://` or `https://` and names a host.
///
/// # Errors
/// What is wrong with it, without quoting it.
pub fn parse_url(text: &str) -> Result<Uri, &'static str> {
    if !text.starts_with("http://") && !text.starts_with("https://") {
        return Err("it must begin with http:// or https://");
    }
    let url: Uri = text.parse().map_err(|_| "it is not a URL")?;
    match url.host() {
        Some(host) if !host.is_empty() => Ok(url),
        _ => Err("it names no host"),
    }
}

/// An address as it may be shown: without user name, password and query, whether or not it can be read as one.
pub fn without_secrets(address: &str) -> String {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), address),
    };
    // A password may hold any other character.
    let (user, rest) = match rest.rsplit_once('@') {
        Some((_, rest)) => ("…@", rest),
        None => ("", rest),
    };
    match rest.find(['?', '#', '&']) {
        Some(end) => format!("{scheme}{user}{}?…", &rest[..end]),
        None => format!("{scheme}{user}{rest}"),
    }
}

/// The value of a `Retry-After` header (RFC 9110, 10.2.3): seconds, or an HTTP date.
fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        let valid = seconds.is_finite() && seconds >= 0.0;
        return valid.then(|| Duration::from_secs_f64(seconds.min(MAX_WAIT.as_secs_f64())));
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?;
    let wait = date.timestamp().as_millisecond().saturating_sub(now.0);
    Some(Duration::from_millis(u64::try_from(wait).unwrap_or(0)).min(MAX_WAIT))
}

/// How far away a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locality {
    /// A loopback address.
    ThisMachine,
    /// A private address, or a name that only a local network knows.
    LocalNetwork,
    /// Anywhere else.
    Internet,
}

/// How far away the server of a URL is, as far as its name tells.
pub fn locality(url: &Uri) -> Locality {
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

    #[test]
    fn retry_after_in_both_forms() {
        const NOW: Timestamp = Timestamp(1_770_000_000_000);
        assert_eq!(retry_after("2", NOW), Some(Duration::from_secs(2)));
        assert_eq!(retry_after(" 0.5 ", NOW), Some(Duration::from_millis(500)));
        // 2026-02-02T02:40:00Z is NOW.
        assert_eq!(retry_after("Mon, 02 Feb 2026 02:41:30 GMT", NOW), Some(Duration::from_secs(90)));
        assert_eq!(retry_after("Mon, 02 Feb 2026 02:00:00 GMT", NOW), Some(Duration::ZERO));
        assert_eq!(retry_after("1e300", NOW), Some(Duration::from_secs(35 * 24 * 3600)));
        for nonsense in ["", "-1", "soon", "NaN", "inf"] {
            assert_eq!(retry_after(nonsense, NOW), None, "{nonsense}");
        }
    }

    #[test]
    fn no_message_quotes_the_secret_parts_of_an_address() {
        let url = parse_url("http://user:SECRET@127.0.0.1:1/SECRET?k=SECRET").unwrap();
        let endpoint = Endpoint::new(url, Vec::new(), Duration::from_secs(2));
        let error = endpoint.post(&Value::Null).unwrap_err();
        let told = format!("{}: {error}", endpoint.host());
        assert!(told.starts_with("http://127.0.0.1:1: ") && !told.contains("SECRET"), "{told}");
        let uri = ureq::Error::BadUri(String::from("http://SECRET"));
        assert_eq!(failure(None, &uri).to_string(), "the address cannot be used");
    }

    #[test]
    fn addresses_as_they_may_be_shown() {
        for (address, shown) in [
            ("https://api.example.org:8443/v1", "https://api.example.org:8443/v1"),
            ("", ""),
            ("https://me:p@h/v1", "https://…@h/v1"),
            ("https://me:p@ss/w?rd@h/v1?key=k", "https://…@h/v1?…"),
            ("me:p@h", "…@h"),
            ("h/v1?mail=a@b&key=k", "…@b?…"),
            ("h/v1#k", "h/v1?…"),
        ] {
            assert_eq!(without_secrets(address), shown);
        }
    }

    #[test]
    fn a_server_that_is_slow_is_told_from_one_that_is_away() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let post = |port: u16| {
            let url = parse_url(&format!("http://127.0.0.1:{port}/")).unwrap();
            let endpoint = Endpoint::new(url, Vec::new(), Duration::from_millis(600));
            endpoint.connecting_within(Duration::from_millis(200)).post(&Value::Null).unwrap_err()
        };
        let port = silent.local_addr().unwrap().port();
        assert!(matches!(post(port), HttpError::NoAnswer));
        drop(silent);
        assert!(matches!(post(port), HttpError::Failed { status: None, .. }));
    }

    #[test]
    fn addresses() {
        for (text, fault) in [
            ("https://example.org/x?y", None),
            ("http://127.0.0.1:80", None),
            ("example.org", Some("it must begin with http:// or https://")),
            ("ftp://example.org", Some("it must begin with http:// or https://")),
            ("https://", Some("it is not a URL")),
            ("https://a b/", Some("it is not a URL")),
        ] {
            assert_eq!(parse_url(text).err(), fault, "{text}");
        }
    }
}
