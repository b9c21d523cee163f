//! The text indexes over memory, and the records written together with their index rows.

mod fts;
mod split;

pub use fts::{record_observation, record_prompt, record_summary};
pub use split::{Term, query_terms, tokens};
