//! Settings and file locations, resolved once per process.

mod paths;
mod prices;
mod provider;
mod settings;

pub use paths::{Paths, PathsError};
pub use prices::Price;
pub use provider::Provider;
pub use settings::{Origin, Setting, Settings, SettingsError, Sources, catalogue, describe};
