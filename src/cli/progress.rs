//! How far long work has come, for somebody who watches.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over so many `things`; hidden where nobody watches.
pub(crate) fn bar(length: u64, things: &str) -> ProgressBar {
    let bar = if io::stderr().is_terminal() { ProgressBar::new(length) } else { ProgressBar::hidden() };
    if let Ok(style) =
        ProgressStyle::with_template(&format!("{{bar:30}} {{pos}}/{{len}} {things}, {{eta}} left"))
    {
        bar.set_style(style);
    }
    bar
}
