//! The command line: what can be typed, who handles it, and the one place that prints.

pub mod args;
pub(crate) mod confirm;
mod dispatch;
pub mod printer;
pub(crate) mod progress;
pub(crate) mod when;

pub use dispatch::run;
