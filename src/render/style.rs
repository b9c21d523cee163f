//! Colours and signs. The printer takes the colours away where they do not belong.

use anstyle::{AnsiColor, Style};

use crate::retrieve::RecordKind;

/// Ids.
pub(super) const ID: Style = AnsiColor::Yellow.on_default();
/// What is beside the point.
pub(super) const FAINT: Style = Style::new().dimmed();
/// Titles and headings.
pub(super) const STRONG: Style = Style::new().bold();

/// The sign of a type of the mode `code`, as in `modes/code.json`; all in the basic plane.
pub(super) fn glyph(kind: RecordKind, r#type: &str) -> &'static str {
    match (kind, r#type) {
        (RecordKind::Summary, _) => "Σ",
        (RecordKind::Prompt, _) => "›",
        (_, "bugfix") => "●",
        (_, "feature") => "◆",
        (_, "refactor") => "↻",
        (_, "change") => "✓",
        (_, "discovery") => "○",
        (_, "decision") => "⚖",
        (_, "security_alert") => "⚠",
        (_, "security_note") => "⚷",
        (_, "sensitive") => "⊘",
        _ => "·",
    }
}
