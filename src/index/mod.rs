//! The indexes over memory, of words and of meaning, and the records written together with their index rows.

mod bulk;
mod endpoint;
mod fts;
mod meaning;
mod reembed;
mod space;
mod spelling;
mod split;
mod vectors;

pub use bulk::Bulk;
pub use endpoint::{
    Coverage, Unembedded, coverage, forget_others, forget_refusals, keep, nearness, space_of, unembedded_in,
};
pub use fts::{
    Prepared, forget_observation, forget_prompt, forget_summary, purge, record_consolidated,
    record_observation, record_prompt, record_summary, restore_observation, restore_prompt, restore_summary,
    revise_observation,
};
pub use meaning::Meaning;
pub use reembed::{embed_some, unembedded};
pub use space::{Probe, Space};
pub use spelling::{is_comparable, nearest_words};
pub use split::{Term, query_terms, spelled, tokens};
pub use vectors::{Near, kept, nearest, nearest_to, observations, rarity, rebuild, refresh, renew};
