//! What makes two deliveries of an event the same: a user may have registered cmem twice.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::hook::wire::{EventName, Payload, id_of};
use crate::model::{Agent, EventKind, Platform};

/// The identity of one delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    key: [u8; 32],
    exact: bool,
}

impl Delivery {
    pub(super) fn new(
        platform: Platform,
        session: &str,
        name: EventName,
        agent: Option<&Agent>,
        payload: &Payload,
        kind: &EventKind,
    ) -> Self {
        let common = [platform.name(), session, name.name()];
        if let (EventKind::Tool { .. }, Some(id)) = (kind, id_of(&payload.tool_use_id)) {
            let [platform, session, name] = common;
            return Self { key: hash(&[platform, session, name, &id].map(str::as_bytes)), exact: true };
        }
        let [platform, session, name] = common.map(str::as_bytes);
        let agent = agent.map(|agent| agent.id.as_str()).unwrap_or_default();
        let prompt = match &payload.prompt_id {
            Value::Null => String::new(),
            id => id_of(id).unwrap_or_default(),
        };
        // Always possible: an event kind is plain data with string keys.
        let content = serde_json::to_vec(kind).unwrap_or_default();
        let parts = [platform, session, name, agent.as_bytes(), prompt.as_bytes(), &content];
        Self { key: hash(&parts), exact: false }
    }

    /// SHA-256 over platform, session, event name and the client's id of the tool call, else over the prompt's id
    /// and the content.
    pub fn delivery_key(&self) -> [u8; 32] {
        self.key
    }

    /// Whether the key holds the client's id of the call, so that an equal one is the same call at any time.
    /// Otherwise two equal events may both be meant: a user may say "continue" twice.
    pub fn is_exact(&self) -> bool {
        self.exact
    }
}

/// The length goes before each part, so that `ab`, `c` is not `a`, `bc`.
fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Half of the SHA-256 over `parts`, 32 hexadecimal digits.
pub(super) fn digest(parts: &[&[u8]]) -> String {
    hash(parts)[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
