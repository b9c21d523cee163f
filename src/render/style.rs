//! Colours and signs. The printer takes the colours away where they do not belong.

use anstyle::{AnsiColor, Style};

use unicode_segmentation::UnicodeSegmentation;

use super::plain::line;
use crate::mode::Mode;
use crate::retrieve::RecordKind;

/// Ids.
pub(super) const ID: Style = AnsiColor::Yellow.on_default();
/// What is beside the point.
pub(super) const FAINT: Style = Style::new().dimmed();
/// Titles and headings.
pub(super) const STRONG: Style = Style::new().bold();

/// What stands for a type that the mode does not have, or has no sign for.
const OTHER: &str = "·";

/// The sign of a record: of an observation, what the mode says of its type.
pub(super) fn glyph(kind: RecordKind, r#type: &str, mode: &Mode) -> String {
    match kind {
        RecordKind::Summary => String::from("Σ"),
        RecordKind::Prompt => String::from("›"),
        RecordKind::Observation => {
            let sign = line(mode.type_glyph(r#type).unwrap_or_default());
            sign.graphemes(true).next().unwrap_or(OTHER).to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::Term;

    #[test]
    fn a_mode_decides_the_sign_of_its_types() {
        let mut mode = Mode::english();
        let sign = |mode: &Mode, id: &str| glyph(RecordKind::Observation, id, mode);
        assert_eq!((sign(&mode, "bugfix").as_str(), sign(&mode, "lead").as_str()), ("●", OTHER));
        for (given, shown) in [("", OTHER), ("\u{1b}[31m", OTHER), ("⚖️ law", "⚖️"), ("🌱🌱", "🌱")]
        {
            mode.types = vec![Term { glyph: given.to_owned(), ..Term::new("seed", "") }];
            assert_eq!(sign(&mode, "seed"), shown, "{given:?}");
        }
        assert_eq!(glyph(RecordKind::Summary, "", &mode), "Σ");
    }
}
