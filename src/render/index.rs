//! One line a record: the index that `search` and `timeline` print.

use super::context::by;
use super::plain::line;
use super::style::{FAINT, ID, STRONG, glyph};
use crate::mode::Mode;
use crate::model::{RecordId, Status};
use crate::retrieve::{FilesSince, Hit, Timeline};

/// One row of a search: id, date, sign of the type, title, price; the project where it is not `home`, and
/// where a merged record came from, the agent unless it is Claude Code. With `home` = `None` the project is not named.
pub fn row(hit: &Hit, mode: &Mode, home: Option<&str>) -> String {
    format!(
        "{ID}{:>5}{ID:#}  {}  {}{}",
        hit.id.to_string(),
        hit.created_at.local("%Y-%m-%d"),
        what(hit, mode),
        place(hit, home)
    )
}

/// The rows of a timeline, oldest first, the anchor marked.
pub fn timeline(timeline: &Timeline, mode: &Mode, home: Option<&str>) -> Vec<String> {
    timeline.items.iter().map(|hit| moment(hit, timeline.anchor, mode, home)).collect()
}

fn moment(hit: &Hit, anchor: RecordId, mode: &Mode, home: Option<&str>) -> String {
    format!(
        "{} {ID}{:>5}{ID:#}  {}  {}{}",
        if hit.id == anchor { "→" } else { " " },
        hit.id.to_string(),
        hit.created_at.local("%Y-%m-%d %H:%M"),
        what(hit, mode),
        place(hit, home)
    )
}

fn what(hit: &Hit, mode: &Mode) -> String {
    let mark = match hit.status {
        Status::Active => "",
        Status::Review => " [in review]",
        Status::Superseded => " [superseded]",
        Status::Archived => " [archived]",
    };
    let by = hit.platform.filter(|platform| !platform.is_claude()).map(by).unwrap_or_default();
    format!(
        "{} {STRONG}{}{STRONG:#}{mark}{}{by}  {FAINT}(~{} tokens){FAINT:#}",
        glyph(hit.kind, &hit.r#type, mode),
        line(&hit.title),
        hit.files_since.as_ref().map_or("", files_mark),
        hit.tokens
    )
}

fn files_mark(since: &FilesSince) -> &'static str {
    match (since.gone.is_empty(), since.changed.is_empty()) {
        (false, _) => " [file is gone]",
        (true, false) => " [file changed since]",
        (true, true) => "",
    }
}

fn place(hit: &Hit, home: Option<&str>) -> String {
    match (&hit.merged_into, home) {
        (Some(_), _) => format!("  ← {}, merged", line(&hit.project)),
        (None, Some(home)) if home != hit.project => format!("  {FAINT}{}{FAINT:#}", line(&hit.project)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;
    use crate::model::Timestamp;
    use crate::retrieve::RecordKind;

    fn hit() -> Hit {
        Hit {
            id: RecordId::Observation(12),
            uid: None,
            kind: RecordKind::Observation,
            r#type: String::from("bugfix"),
            title: String::from("cache\x1b[31m is\ncold"),
            subtitle: String::new(),
            project: String::from("api"),
            merged_into: None,
            created_at: Timestamp::parse("2026-01-31").unwrap(),
            score: 1.0,
            tokens: 85,
            files: Vec::new(),
            status: Status::Active,
            platform: None,
            files_since: None,
        }
    }

    fn plain(text: &str) -> String {
        strip_str(text).to_string()
    }

    #[test]
    fn a_row_is_one_line_with_its_price() {
        assert_eq!(
            plain(&row(&hit(), &Mode::english(), None)),
            "   12  2026-01-31  ● cache is cold  (~85 tokens)"
        );
        assert_eq!(
            plain(&row(&hit(), &Mode::english(), Some("api"))),
            plain(&row(&hit(), &Mode::english(), None))
        );
        assert!(plain(&row(&hit(), &Mode::english(), Some("web"))).ends_with("(~85 tokens)  api"));
    }

    #[test]
    fn a_merged_row_names_its_origin() {
        let merged =
            Hit { project: String::from("api/side"), merged_into: Some(String::from("api")), ..hit() };
        assert!(plain(&row(&merged, &Mode::english(), None)).ends_with("  ← api/side, merged"));
    }

    #[test]
    fn the_anchor_is_marked_and_a_state_is_said() {
        let old = Hit { id: RecordId::Summary(3), status: Status::Superseded, ..hit() };
        let both = Timeline { anchor: RecordId::Observation(12), items: vec![old, hit()] };
        let lines = timeline(&both, &Mode::english(), None);
        assert!(lines[0].starts_with(' ') && lines[0].contains("[superseded]"), "{}", lines[0]);
        assert!(lines[1].starts_with('→'), "{}", lines[1]);
    }
}
