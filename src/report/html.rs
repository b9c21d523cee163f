//! A report as one HTML page that needs nothing else: no script, no font, no picture, no address. Written so that it is
//! well-formed XML too.

mod heat;
mod treemap;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::markdown::rows;
use super::{FileHistory, Narrative, Reasoned, Report, Row, words};
use crate::mode::Mode;
use crate::model::{Part, RecordId, parts};
use crate::render;

/// Looks; no address in it.
const STYLE: &str = include_str!("html/style.css");
/// Whatever a page holds, a browser is told to fetch nothing and to run nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// Most memories that are shown of one day, and of all days together: the newest days have the first claim.
const A_DAY: usize = 100;
const ALL_DAYS: usize = 3_000;
/// Most themes, and most memories under one.
const THEMES: usize = 100;
const A_THEME: usize = 50;
/// Most entries of a list of memories with their reasons.
const ENTRIES: usize = 100;
/// Most files in the table.
const FILES: usize = 50;
/// Most sessions whose next steps are shown.
const SESSIONS: usize = 10;

/// Writes a report as a page. Nothing remembered becomes markup.
pub fn html(report: &Report, mode: &Mode) -> String {
    let shown = words::shown(report, A_DAY, ALL_DAYS);
    let mut anchors = HashSet::new();
    for (day, shown) in report.days.iter().zip(&shown) {
        anchors.extend(day.memories[..*shown].iter().map(|row| RecordId::Observation(row.id)));
    }
    anchors.extend(report.next_steps.iter().take(SESSIONS).map(|entry| entry.id));
    let page = Page { report, mode, rows: rows(report), anchors, shown };
    let title = escaped(&words::title(report));
    let language = match mode.locale.as_str() {
        "" => "en",
        locale => locale,
    };
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1 dir=\"auto\">{title}</h1>\n<p>{}",
        escaped(language),
        words::totals(&report.totals)
    );
    if let Some(rest) = words::not_listed(&report.not_listed) {
        let _ = write!(out, " {rest}");
    }
    out.push_str("</p>\n");
    page.types(&mut out);
    if let Some(narrative) = &report.narrative {
        page.narrative(&mut out, narrative);
    }
    page.calendar(&mut out);
    page.next_steps(&mut out);
    page.reasoned(&mut out, &words::heading(mode, "decision", "Decisions"), &report.decisions);
    page.reasoned(&mut out, &words::heading(mode, "bugfix", "Bugs and their causes"), &report.bugs);
    page.reasoned(&mut out, &words::heading(mode, "security_note", "Security"), &report.security);
    page.weeks(&mut out);
    page.days(&mut out);
    page.themes(&mut out);
    page.files(&mut out);
    page.spent(&mut out);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

struct Page<'a> {
    report: &'a Report,
    mode: &'a Mode,
    rows: HashMap<i64, &'a Row>,
    /// Records that have a place on the page to which others can lead.
    anchors: HashSet<RecordId>,
    /// How many memories of each day are shown.
    shown: Vec<usize>,
}

impl Page<'_> {
    fn types(&self, out: &mut String) {
        if self.report.totals.by_type.is_empty() {
            return;
        }
        out.push_str("<p class=\"types\">");
        for count in &self.report.totals.by_type {
            let name = escaped(&words::type_name(self.mode, &count.r#type));
            let _ = write!(out, "<span class=\"tag\"><b>{}</b> {name}</span> ", count.memories);
        }
        out.push_str("</p>\n");
    }

    fn narrative(&self, out: &mut String, narrative: &Narrative) {
        out.push_str("<section class=\"prose\">\n");
        for paragraph in narrative.text.split("\n\n").filter(|text| !text.trim().is_empty()) {
            let _ = writeln!(out, "<p dir=\"auto\">{}</p>", self.linked(paragraph));
        }
        let model = escaped(&narrative.model);
        let _ = write!(
            out,
            "<p class=\"faint\">Written by {model}; the rest of this report is made without a model.</p>\n</section>\n"
        );
    }

    /// Escaped text in which references such as `[12, S3]` lead to their records.
    fn linked(&self, text: &str) -> String {
        let text = render::line(text);
        let mut out = String::new();
        for part in parts(&text) {
            match part {
                Part::Text(text) => out.push_str(&escaped_as_is(text)),
                Part::References(ids) => {
                    let links: Vec<String> = ids.into_iter().map(|id| self.link(id)).collect();
                    let _ = write!(out, "[{}]", links.join(", "));
                }
            }
        }
        out
    }

    /// An id that leads to its record, if that is on the page.
    fn link(&self, id: RecordId) -> String {
        match self.anchors.contains(&id) {
            true => format!("<a href=\"#r{id}\">{id}</a>"),
            false => id.to_string(),
        }
    }

    fn calendar(&self, out: &mut String) {
        let days: Vec<_> = self.report.days.iter().map(|day| (day.day, day.memories.len())).collect();
        let years = heat::calendars(&days);
        if years.is_empty() {
            return;
        }
        out.push_str("<section>\n<h2>Calendar</h2>\n");
        for (year, picture) in years {
            let _ = write!(out, "<h3>{year}</h3>\n<div class=\"wide\">{picture}</div>\n");
        }
        out.push_str("</section>\n");
    }

    fn next_steps(&self, out: &mut String) {
        let steps = &self.report.next_steps;
        if steps.is_empty() {
            return;
        }
        let _ = write!(out, "<section>\n<h2>{}</h2>\n<ul>\n", escaped(&words::next_steps(self.mode)));
        for entry in steps.iter().take(SESSIONS) {
            let origin = self.origin(&entry.project, entry.merged_into.as_deref());
            let text = escaped(&entry.next_steps);
            let _ = writeln!(
                out,
                "<li id=\"r{0}\" dir=\"auto\"><code>{0}</code> <time>{1}</time>{origin} {text}</li>",
                entry.id, entry.day
            );
        }
        out.push_str("</ul>\n");
        more(out, steps.len(), SESSIONS);
        out.push_str("</section>\n");
    }

    fn reasoned(&self, out: &mut String, heading: &str, entries: &[Reasoned]) {
        if entries.is_empty() {
            return;
        }
        let _ = write!(out, "<section>\n<h2>{}</h2>\n<ul>\n", escaped(heading));
        for Reasoned { row, reason, text } in entries.iter().take(ENTRIES) {
            let why = escaped(reason.as_ref().unwrap_or(text));
            let _ = writeln!(
                out,
                "<li dir=\"auto\">{} <time>{}</time> <strong>{}</strong>{}<br/>{why}</li>",
                self.link(RecordId::Observation(row.id)),
                row.day,
                escaped(&row.title),
                self.origin(&row.project, row.merged_into.as_deref())
            );
        }
        out.push_str("</ul>\n");
        more(out, entries.len(), ENTRIES);
        out.push_str("</section>\n");
    }

    fn weeks(&self, out: &mut String) {
        if self.report.weeks.len() < 2 {
            return;
        }
        out.push_str("<section>\n<h2>Weeks</h2>\n");
        for week in &self.report.weeks {
            let (first, last) = week.days;
            let told = escaped(&words::week(week, self.mode));
            let _ = write!(
                out,
                "<h3>{} <span class=\"faint\">{first} to {last}</span></h3>\n<p>{told}</p>\n",
                week.week
            );
            self.list(out, &week.highlights);
        }
        out.push_str("</section>\n");
    }

    fn days(&self, out: &mut String) {
        if self.report.days.is_empty() {
            return;
        }
        out.push_str("<section>\n<h2>Day by day</h2>\n");
        for (day, shown) in self.report.days.iter().zip(&self.shown) {
            let _ = writeln!(
                out,
                "<h3>{} {} <span class=\"faint\">{}</span></h3>",
                day.day.strftime("%a"),
                day.day,
                words::day(day)
            );
            if *shown > 0 {
                out.push_str("<ul>\n");
                for row in &day.memories[..*shown] {
                    let _ = writeln!(
                        out,
                        "<li id=\"r{0}\" dir=\"auto\"><code>{0}</code> {1}</li>",
                        row.id,
                        self.said(row)
                    );
                }
                out.push_str("</ul>\n");
            }
            more(out, day.memories.len(), *shown);
        }
        out.push_str("</section>\n");
    }

    fn themes(&self, out: &mut String) {
        if self.report.themes.is_empty() {
            return;
        }
        out.push_str("<section>\n<h2>Themes</h2>\n");
        for theme in self.report.themes.iter().take(THEMES) {
            let name = escaped(&words::theme(self.mode, &theme.concept));
            let count = theme.memories.len();
            let _ =
                write!(out, "<details>\n<summary>{name} <span class=\"faint\">{count}</span></summary>\n");
            self.list(out, theme.memories.get(..A_THEME).unwrap_or(&theme.memories));
            more(out, count, A_THEME);
            out.push_str("</details>\n");
        }
        more(out, self.report.themes.len(), THEMES);
        out.push_str("</section>\n");
    }

    fn files(&self, out: &mut String) {
        let files = &self.report.files;
        if files.is_empty() {
            return;
        }
        let project = |file: &FileHistory| words::project_of(self.report, file);
        let places: Vec<String> = files
            .iter()
            .map(|file| match &self.report.project {
                Some(_) => file.path.clone(),
                None => format!("{}/{}", file.project, file.path.trim_start_matches('/')),
            })
            .collect();
        let weights: Vec<(&str, usize)> =
            places.iter().zip(files).map(|(place, file)| (place.as_str(), file.memories.len())).collect();
        let _ = write!(
            out,
            "<section>\n<h2>Files with most history</h2>\n<div class=\"wide\">{}</div>\n<div class=\"wide\"><table>\n\
             <tr><th>file</th><th>memories</th><th>changed</th><th>read</th><th>last</th></tr>\n",
            treemap::treemap(&weights)
        );
        for file in files.iter().take(FILES) {
            let _ = writeln!(
                out,
                "<tr><td><code>{}</code>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                escaped(&file.path),
                project(file).map_or_else(String::new, |project| format!(" {}", escaped(&project))),
                file.memories.len(),
                file.modified,
                file.read,
                file.last
            );
        }
        out.push_str("</table></div>\n");
        more(out, files.len(), FILES);
        out.push_str("</section>\n");
    }

    fn spent(&self, out: &mut String) {
        let spent = &self.report.spent;
        let tokens = self.report.tokens_of_memories;
        let _ = write!(
            out,
            "<section>\n<h2>Tokens and cost</h2>\n<p>The observer needed {tokens} tokens for the memories listed here."
        );
        if spent.models.is_empty() {
            out.push_str(" It was not asked in this period.</p>\n</section>\n");
            return;
        }
        out.push_str(
            "</p>\n<p>All calls in this period, for all projects together:</p>\n<div class=\"wide\"><table>\n<tr><th>model</th>\
             <th>calls</th><th>failed</th><th>in</th><th>cached</th><th>out</th><th>cost</th></tr>\n",
        );
        let mut line = |model: &str, numbers: [i64; 5], dollars| {
            let cells: String = numbers.iter().map(|number| format!("<td>{number}</td>")).collect();
            let _ = writeln!(out, "<tr><td>{model}</td>{cells}<td>{}</td></tr>", words::money(dollars));
        };
        for model in &spent.models {
            let count = &model.count;
            let numbers = [count.calls, count.failed, count.input, count.cached, count.output];
            line(&escaped(&count.model), numbers, model.dollars);
        }
        line("all", [spent.calls, spent.failed, spent.input, spent.cached, spent.output], spent.dollars);
        out.push_str("</table></div>\n</section>\n");
    }

    fn list(&self, out: &mut String, ids: &[i64]) {
        let rows: Vec<&&Row> = ids.iter().filter_map(|id| self.rows.get(id)).collect();
        if rows.is_empty() {
            return;
        }
        out.push_str("<ul>\n");
        for row in rows {
            let id = self.link(RecordId::Observation(row.id));
            let _ = writeln!(out, "<li dir=\"auto\">{id} {}</li>", self.said(row));
        }
        out.push_str("</ul>\n");
    }

    fn said(&self, row: &Row) -> String {
        let pinned = if row.pinned { " <span class=\"faint\">[pinned]</span>" } else { "" };
        format!(
            "<span class=\"tag\">{}</span> {}{}{pinned}",
            escaped(&words::type_name(self.mode, &row.r#type)),
            escaped(&row.title),
            self.origin(&row.project, row.merged_into.as_deref())
        )
    }

    fn origin(&self, project: &str, merged_into: Option<&str>) -> String {
        let origin = words::origin(self.report, self.mode, project, merged_into);
        origin
            .map_or_else(String::new, |origin| format!(" <span class=\"faint\">{}</span>", escaped(&origin)))
    }
}

fn more(out: &mut String, all: usize, shown: usize) {
    if all > shown {
        let _ = writeln!(out, "<p class=\"faint\">+{} more</p>", all - shown);
    }
}

/// One line in which nothing is markup, in elements and in attributes.
fn escaped(text: &str) -> String {
    escaped_as_is(&render::line(text))
}

fn escaped_as_is(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // No character of XML.
            '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}
