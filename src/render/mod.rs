//! Records as text: for people at a terminal, and for the model. Pure functions.

mod aside;
mod budget;
mod context;
mod full;
mod index;
mod plain;
mod score;
mod style;

pub use aside::aside;
pub use context::{MAX_UNITS, RenderedContext, context, hits};
pub use full::record;
pub use index::{row, timeline};
pub use plain::line;
pub use score::score;
