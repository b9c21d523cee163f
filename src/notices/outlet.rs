//! The destinations as they are set up, and one attempt to send to them.

use std::time::Duration;

use super::policy::{self, Class};
use super::{Told, one_line, telegram, webhook};
use crate::config::Settings;
use crate::http::{Endpoint, HttpAnswer, HttpError};
use crate::model::Timestamp;
use crate::privacy::Cleaner;
use crate::store::{Fate, Notice};

/// Limit for one attempt.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Limit for the name look-up, and for the connection.
const CONNECTING: Duration = Duration::from_secs(3);
/// Longest reason that is kept, in characters.
const MAX_REASON: usize = 200;

/// Where notices can go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// A chat with a Telegram bot in it.
    Telegram,
    /// An address of the user's that takes JSON.
    Webhook,
}

impl Destination {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Telegram, Self::Webhook];

    /// Its name in the outbox and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Telegram => "telegram",
            Self::Webhook => "webhook",
        }
    }
}

/// A destination that cannot be used as it is set up: nothing is queued for it. Names settings, never their values.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SetupError {
    /// One setting of two.
    #[error("{set} is set, and {missing} is not")]
    Half {
        /// The one.
        set: &'static str,
        /// The other.
        missing: &'static str,
    },
    /// The token holds what no token does.
    #[error("CMEM_TELEGRAM_BOT_TOKEN is not a bot's token: letters, digits, `:`, `_` and `-`")]
    BadToken,
    /// The address cannot be used.
    #[error("{setting}: {reason}")]
    BadUrl {
        /// The setting.
        setting: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl SetupError {
    /// What the user can do about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::Half { set, missing } => {
                format!("`cmem config set {missing} …`, or `cmem config unset {set}`")
            }
            Self::BadToken => {
                String::from("`cmem config set CMEM_TELEGRAM_BOT_TOKEN …` with the token alone")
            }
            Self::BadUrl { setting, .. } => format!("`cmem config set {setting} https://…`"),
        }
    }
}

/// A destination that can be used.
#[derive(Debug)]
pub struct Outlet {
    destination: Destination,
    types: Vec<String>,
    chat: String,
    endpoint: Endpoint,
    /// What must not be told when a server repeats it.
    secret: String,
}

impl Outlet {
    /// The destination as it is set up; `None` when it is switched off or nothing is set.
    ///
    /// # Errors
    /// [`SetupError`] when it is set up in part, or wrongly.
    pub fn from_settings(destination: Destination, settings: &Settings) -> Result<Option<Self>, SetupError> {
        match destination {
            Destination::Telegram => Self::telegram(settings),
            Destination::Webhook => Self::webhook(settings),
        }
    }

    fn telegram(settings: &Settings) -> Result<Option<Self>, SetupError> {
        const TOKEN: &str = "CMEM_TELEGRAM_BOT_TOKEN";
        const CHAT: &str = "CMEM_TELEGRAM_CHAT_ID";
        let (token, chat) = (settings.telegram_bot_token.trim(), settings.telegram_chat_id.trim());
        let types = &settings.telegram_trigger_types;
        match (settings.telegram_enabled && !types.is_empty(), token, chat) {
            (false, ..) | (true, "", "") => return Ok(None),
            (true, _, "") => return Err(SetupError::Half { set: TOKEN, missing: CHAT }),
            (true, "", _) => return Err(SetupError::Half { set: CHAT, missing: TOKEN }),
            (true, _, _) => {}
        }
        let url = telegram::url(&settings.telegram_base_url, token)?;
        Ok(Some(Self {
            destination: Destination::Telegram,
            types: types.clone(),
            chat: chat.to_owned(),
            endpoint: Endpoint::new(url, Vec::new(), TIMEOUT).connecting_within(CONNECTING),
            secret: token.to_owned(),
        }))
    }

    fn webhook(settings: &Settings) -> Result<Option<Self>, SetupError> {
        let address = settings.webhook_url.trim();
        if settings.webhook_trigger_types.is_empty() || address.is_empty() {
            return Ok(None);
        }
        let url = webhook::url(address)?;
        Ok(Some(Self {
            destination: Destination::Webhook,
            types: settings.webhook_trigger_types.clone(),
            chat: String::new(),
            endpoint: Endpoint::new(url, Vec::new(), TIMEOUT).connecting_within(CONNECTING),
            secret: address.to_owned(),
        }))
    }

    /// Which one it is.
    pub fn destination(&self) -> Destination {
        self.destination
    }

    /// The types of observations that are told there.
    pub fn types(&self) -> &[String] {
        &self.types
    }

    pub(super) fn wants(&self, r#type: &str) -> bool {
        self.types.iter().any(|wanted| wanted.eq_ignore_ascii_case(r#type))
    }

    /// Sends a notice that was claimed.
    pub(super) fn send(&self, notice: &Notice, cleaner: &Cleaner) -> (Class, Fate) {
        let told = Told::of(&notice.observation, cleaner);
        let body = match self.destination {
            Destination::Telegram => telegram::body(&self.chat, &told),
            Destination::Webhook => webhook::body(&told),
        };
        let (class, reason, status) = self.judge(self.endpoint.post(&body));
        let reason = one_line(&cleaner.redact(&reason.replace(&self.secret, "[redacted:secret]")));
        let failure = (reason.chars().take(MAX_REASON).collect(), self.remedy(class, status));
        (class, policy::fate(class, failure, notice.tries, notice.queued_at, Timestamp::now()))
    }

    /// Class, reason and status of what came back. Once there is a status, the rest of an answer changes nothing.
    pub(super) fn judge(&self, result: Result<HttpAnswer, HttpError>) -> (Class, String, u16) {
        let answer = match result {
            Ok(answer) => answer,
            Err(HttpError::TooLarge { status, .. } | HttpError::Failed { status: Some(status), .. }) => {
                HttpAnswer { status, wait: None, body: Vec::new() }
            }
            Err(error @ HttpError::Failed { status: None, .. }) => {
                return (Class::Transient, format!("{}: {error}", self.endpoint.host()), 0);
            }
            Err(HttpError::NoAnswer) => {
                let seconds = TIMEOUT.as_secs();
                let reason =
                    format!("no answer within {seconds} s: it may have arrived, and is not sent twice");
                return (Class::Unknown, reason, 0);
            }
        };
        let (class, said) = match self.destination {
            Destination::Telegram => telegram::class(&answer),
            Destination::Webhook => webhook::class(&answer),
        };
        let reason = format!("HTTP {}: {said}", answer.status);
        (class, reason.trim_end_matches(": ").to_owned(), answer.status)
    }

    fn remedy(&self, class: Class, status: u16) -> String {
        let remedy = match (class, self.destination) {
            (Class::Sent, _) => "",
            (Class::RateLimited(_), _) => {
                "nothing: it is sent when the time that the server asked for has passed"
            }
            (Class::Transient, Destination::Telegram) => {
                "nothing if it passes; otherwise check the network and CMEM_TELEGRAM_BASE_URL"
            }
            (Class::Transient, Destination::Webhook) => {
                "nothing if it passes; otherwise check the network and CMEM_WEBHOOK_URL"
            }
            (Class::Refused, Destination::Telegram) => telegram::remedy(status),
            (Class::Refused, Destination::Webhook) => {
                "check the address: `cmem config set CMEM_WEBHOOK_URL …`, and what its server logs"
            }
            (Class::Unknown, _) => "look whether it arrived",
        };
        remedy.to_owned()
    }
}
