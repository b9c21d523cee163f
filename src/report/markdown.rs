//! A report as Markdown.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::{FileHistory, Reasoned, Report, Row, words};
use crate::mode::Mode;
use crate::render;

/// Most memories that are shown of one day, and of all days together: the newest days have the first claim.
const A_DAY: usize = 20;
const ALL_DAYS: usize = 500;
/// Most themes, and most memories under one.
const THEMES: usize = 30;
const A_THEME: usize = 8;
/// Most entries of a list of memories with their reasons, and most files.
const ENTRIES: usize = 30;
/// Most sessions whose next steps are shown.
const SESSIONS: usize = 8;
/// Longest reason, in characters.
const REASON: usize = 600;

/// Writes a report as Markdown, with ids as `cmem get` takes them. Nothing remembered becomes markup.
pub fn markdown(report: &Report, mode: &Mode) -> String {
    let page = Page { report, mode, rows: rows(report) };
    let mut out = format!("# {}\n\n{}\n", escaped(&words::title(report)), words::totals(&report.totals));
    if let Some(rest) = words::not_listed(&report.not_listed) {
        let _ = writeln!(out, "{rest}");
    }
    if let Some(narrative) = &report.narrative {
        for paragraph in narrative.text.split("\n\n").filter(|text| !text.trim().is_empty()) {
            let _ = write!(out, "\n{}\n", escaped(paragraph));
        }
        let _ = write!(
            out,
            "\n*Written by {}; the rest of this report is made without a model.*\n",
            escaped(&narrative.model)
        );
    }
    page.next_steps(&mut out);
    page.reasoned(&mut out, &words::heading(mode, "decision", "Decisions"), &report.decisions);
    page.reasoned(&mut out, &words::heading(mode, "bugfix", "Bugs and their causes"), &report.bugs);
    page.reasoned(&mut out, &words::heading(mode, "security_note", "Security"), &report.security);
    page.weeks(&mut out);
    page.days(&mut out);
    page.themes(&mut out);
    page.files(&mut out);
    page.spent(&mut out);
    out
}

pub(super) fn rows(report: &Report) -> HashMap<i64, &Row> {
    report.days.iter().flat_map(|day| &day.memories).map(|row| (row.id, row)).collect()
}

struct Page<'a> {
    report: &'a Report,
    mode: &'a Mode,
    rows: HashMap<i64, &'a Row>,
}

impl Page<'_> {
    fn next_steps(&self, out: &mut String) {
        let steps = &self.report.next_steps;
        if steps.is_empty() {
            return;
        }
        let _ = write!(out, "\n## {}\n\n", escaped(&words::next_steps(self.mode)));
        for entry in steps.iter().take(SESSIONS) {
            let origin = self.origin(&entry.project, entry.merged_into.as_deref());
            let _ = writeln!(out, "- `{}` {}{origin}: {}", entry.id, entry.day, escaped(&entry.next_steps));
        }
        more(out, steps.len(), SESSIONS, "sessions");
    }

    fn reasoned(&self, out: &mut String, heading: &str, entries: &[Reasoned]) {
        if entries.is_empty() {
            return;
        }
        let _ = write!(out, "\n## {}\n\n", escaped(heading));
        for Reasoned { row, reason, text } in entries.iter().take(ENTRIES) {
            let why = escaped(&words::clipped(&render::line(reason.as_ref().unwrap_or(text)), REASON));
            let dash = if why.is_empty() { "" } else { ": " };
            let _ = writeln!(
                out,
                "- `{}` {} **{}**{}{dash}{why}",
                row.id,
                row.day,
                escaped(&row.title),
                self.origin_of(row)
            );
        }
        more(out, entries.len(), ENTRIES, "");
    }

    fn weeks(&self, out: &mut String) {
        if self.report.weeks.len() < 2 {
            return;
        }
        let _ = write!(out, "\n## Weeks\n");
        for week in &self.report.weeks {
            let (first, last) = week.days;
            let told = escaped(&words::week(week, self.mode));
            let _ = write!(out, "\n### {} ({first} to {last})\n\n{told}\n", week.week);
            if !week.highlights.is_empty() {
                out.push('\n');
            }
            self.list(out, &week.highlights);
        }
    }

    fn days(&self, out: &mut String) {
        if self.report.days.is_empty() {
            return;
        }
        let _ = write!(out, "\n## Day by day\n");
        let shown = words::shown(self.report, A_DAY, ALL_DAYS);
        for (day, shown) in self.report.days.iter().zip(shown) {
            let name = day.day.strftime("%a");
            let _ = write!(out, "\n### {name} {}: {}\n\n", day.day, words::day(day));
            for row in &day.memories[..shown] {
                self.row(out, row);
            }
            more(out, day.memories.len(), shown, &format!("(`cmem timeline {}`)", day.day));
        }
    }

    fn themes(&self, out: &mut String) {
        if self.report.themes.is_empty() {
            return;
        }
        let _ = write!(out, "\n## Themes\n");
        for theme in self.report.themes.iter().take(THEMES) {
            let name = escaped(&words::theme(self.mode, &theme.concept));
            let _ = write!(out, "\n### {name} ({})\n\n", theme.memories.len());
            self.list(out, theme.memories.get(..A_THEME).unwrap_or(&theme.memories));
            more(out, theme.memories.len(), A_THEME, "");
        }
        if self.report.themes.len() > THEMES {
            out.push('\n');
        }
        more(out, self.report.themes.len(), THEMES, "themes");
    }

    fn files(&self, out: &mut String) {
        if self.report.files.is_empty() {
            return;
        }
        let _ = write!(
            out,
            "\n## Files with most history\n\n| file | memories | changed | read | last |\n|---|---|---|---|---|\n"
        );
        for file in self.report.files.iter().take(ENTRIES) {
            let path = self.path_of(file);
            let _ = writeln!(
                out,
                "| {path} | {} | {} | {} | {} |",
                file.memories.len(),
                file.modified,
                file.read,
                file.last
            );
        }
        if self.report.files.len() > ENTRIES {
            out.push('\n');
        }
        more(out, self.report.files.len(), ENTRIES, "files");
    }

    fn path_of(&self, file: &FileHistory) -> String {
        let project = words::project_of(self.report, file);
        project.map_or_else(
            || escaped(&file.path),
            |project| format!("{} {}", escaped(&file.path), escaped(&project)),
        )
    }

    fn spent(&self, out: &mut String) {
        let spent = &self.report.spent;
        let _ = write!(
            out,
            "\n## Tokens and cost\n\nThe observer needed {} tokens for the memories listed here.\n",
            self.report.tokens_of_memories
        );
        if spent.models.is_empty() {
            let _ = writeln!(out, "It was not asked in this period.");
            return;
        }
        let _ = write!(
            out,
            "\nAll calls in this period, for all projects together:\n\n| model | calls | failed | in | cached | out | cost |\n|---|---|---|---|---|---|---|\n"
        );
        for model in &spent.models {
            let count = &model.count;
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} |",
                escaped(&count.model),
                count.calls,
                count.failed,
                count.input,
                count.cached,
                count.output,
                words::money(model.dollars)
            );
        }
        let _ = writeln!(
            out,
            "| all | {} | {} | {} | {} | {} | {} |",
            spent.calls,
            spent.failed,
            spent.input,
            spent.cached,
            spent.output,
            words::money(spent.dollars)
        );
    }

    fn list(&self, out: &mut String, ids: &[i64]) {
        for row in ids.iter().filter_map(|id| self.rows.get(id)) {
            self.row(out, row);
        }
    }

    fn row(&self, out: &mut String, row: &Row) {
        let pinned = if row.pinned { " [pinned]" } else { "" };
        let _ = writeln!(
            out,
            "- `{}` {}: {}{}{pinned}",
            row.id,
            escaped(&words::type_name(self.mode, &row.r#type)),
            escaped(&row.title),
            self.origin_of(row)
        );
    }

    fn origin_of(&self, row: &Row) -> String {
        self.origin(&row.project, row.merged_into.as_deref())
    }

    fn origin(&self, project: &str, merged_into: Option<&str>) -> String {
        let origin = words::origin(self.report, self.mode, project, merged_into);
        origin.map_or_else(String::new, |origin| format!(" {}", escaped(&origin)))
    }
}

fn more(out: &mut String, all: usize, shown: usize, what: &str) {
    if all > shown {
        let _ = writeln!(out, "- {}", format!("+{} more {what}", all - shown).trim_end());
    }
}

/// One line in which nothing is markup. An underscore inside a word is none anyway.
fn escaped(text: &str) -> String {
    let text = render::line(text);
    let mut out = String::with_capacity(text.len());
    let mut before: Option<char> = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let opens = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '~' | '|' => true,
            '_' => !(inside(before) && inside(next)),
            '&' => next.is_some_and(|next| next == '#' || next.is_ascii_alphabetic()),
            '#' | '-' | '+' | '>' | '=' => before.is_none(),
            _ => false,
        };
        if opens {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_no_markup() {
        assert_eq!(escaped("max_retries is 5 * 2"), "max_retries is 5 \\* 2");
        assert_eq!(escaped("![x](http://a.example/p.png)"), "!\\[x\\](http://a.example/p.png)");
        assert_eq!(escaped("<img src=x>\n# no"), "\\<img src=x> # no");
        assert_eq!(escaped("# a"), "\\# a");
        assert_eq!(escaped("|a|b"), "\\|a\\|b");
        assert_eq!(escaped("__init__ &lt; && `code`"), "\\_\\_init\\_\\_ \\&lt; && \\`code\\`");
    }
}
