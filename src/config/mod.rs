//! Settings and file locations, resolved once per process.

mod catalogue;
mod inherited;
mod paths;
mod prices;
mod provider;
mod read_gate;
mod replace;
mod settings;

pub use catalogue::{Setting, catalogue, describe};
pub use inherited::{billed_by, is_inherited};
pub use paths::{Paths, PathsError};
pub use prices::{LIST_DATE, Price, TOKENS_PER_OBSERVATION, TokensPerObservation};
pub use provider::Provider;
pub use read_gate::ReadGate;
pub use replace::replace;
pub use settings::{Origin, Settings, SettingsError, Sources};
