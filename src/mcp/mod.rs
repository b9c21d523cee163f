//! The Model Context Protocol on standard input and output, by the official SDK: which messages there are, who is
//! answered, what is broken off. What is offered comes from outside; no other folder names the SDK or its runtime.

mod arguments;
mod input;
mod offer;
mod places;
mod serve;
mod server;
mod uri;
mod wire;

pub use arguments::Arguments;
pub use offer::{Kind, Offer, Parameter, Resource, Resources, Tool};
pub use serve::serve;
pub use uri::{percent_decoded, percent_encoded};
