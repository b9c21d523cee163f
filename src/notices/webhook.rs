//! A webhook: one JSON object by POST. Its shape is a promise to whoever receives it: within a version fields are
//! only added.

use serde_json::{Value, json};

use super::policy::Class;
use super::{SetupError, Told};
use crate::http::{HttpAnswer, Uri, parse_url};

/// Rises when a field is taken away or means something else.
const VERSION: u32 = 1;

pub(super) fn url(address: &str) -> Result<Uri, SetupError> {
    parse_url(address).map_err(|reason| SetupError::BadUrl { setting: "CMEM_WEBHOOK_URL", reason })
}

pub(super) fn body(told: &Told) -> Value {
    json!({
        "version": VERSION,
        "event": "observation",
        "uid": told.uid,
        "id": told.id,
        "type": told.r#type,
        "title": told.title,
        "subtitle": told.subtitle,
        "project": told.project,
        "created_at": told.created_at,
    })
}

/// Only the status counts. What a receiver says beside it may repeat what it was told, and is not kept.
pub(super) fn class(answer: &HttpAnswer) -> (Class, String) {
    (Class::of_status(answer.status, answer.wait), String::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notices::tests::told;

    #[test]
    fn the_shape_of_version_1() {
        assert_eq!(
            body(&told("security_alert", "A title", "More")).to_string(),
            r#"{"version":1,"event":"observation","uid":"0199-x","id":12,"type":"security_alert","title":"A title","subtitle":"More","project":"app","created_at":"2026-02-02T02:40:00.000Z"}"#
        );
    }
}
