//! Settings and file locations, resolved once per process.

mod paths;
mod prices;
mod settings;

pub use paths::{Paths, PathsError};
pub use prices::Price;
pub use settings::{Origin, Provider, Setting, Settings, SettingsError, Sources, catalogue, describe};
