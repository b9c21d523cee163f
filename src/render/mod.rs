//! Records as text: for people at a terminal, and for the model. Pure functions.

mod budget;
mod context;
mod files_since;
mod full;
mod gate;
mod history;
mod index;
mod outline;
mod plain;
mod score;
mod style;
mod waiting;

pub use context::{MAX_UNITS, RenderedContext, context, hits};
pub use files_since::files_since;
pub use full::record;
pub use gate::{GatedFile, gate, price_of};
pub use history::{history, links};
pub use index::{row, timeline};
pub use outline::{listing, outline, symbols, unfolded};
pub use plain::line;
pub use score::score;
pub use waiting::waiting_for_review;
