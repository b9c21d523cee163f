//! What a turn changed in files: names of added, changed and removed items, from the diffs.

use super::items::{self, Item};
use super::words::{Words, fill};
use crate::model::{Event, EventKind};
use crate::observer::diff::{self, FileChange, Hunk};
use crate::observer::evidence;

/// Most items named per file and kind of change.
const MAX_ITEMS: usize = 6;

/// All changes of one file in a turn.
#[derive(Debug, Default)]
pub(super) struct Edit {
    /// Relative to the root.
    pub(super) path: String,
    pub(super) created: bool,
    pub(super) deleted: bool,
    pub(super) added: Vec<Item>,
    pub(super) changed: Vec<Item>,
    pub(super) removed: Vec<Item>,
    pub(super) renamed: Vec<(Item, Item)>,
    pub(super) plus: usize,
    pub(super) minus: usize,
}

/// The changes of a turn by file, oldest first.
pub(super) fn edits(events: &[Event], root: &str) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for event in events {
        let EventKind::Tool { tool, input, outcome } = &event.kind else { continue };
        for change in diff::changes(tool, input, outcome) {
            let path = evidence::relative(&change.path, root, &event.cwd);
            let index = edits.iter().position(|edit| edit.path == path).unwrap_or_else(|| {
                edits.push(Edit { path, ..Edit::default() });
                edits.len() - 1
            });
            if let Some(edit) = edits.get_mut(index) {
                edit.absorb(&change);
            }
        }
    }
    edits
}

impl Edit {
    fn absorb(&mut self, change: &FileChange) {
        self.created |= change.created;
        self.deleted = change.deleted;
        for hunk in &change.hunks {
            self.plus += hunk.lines.iter().filter(|line| line.starts_with('+')).count();
            self.minus += hunk.lines.iter().filter(|line| line.starts_with('-')).count();
            self.absorb_hunk(hunk);
        }
    }

    fn absorb_hunk(&mut self, hunk: &Hunk) {
        let mut added: Vec<(Item, &str)> = Vec::new();
        let mut removed: Vec<(Item, &str)> = Vec::new();
        let mut around: Option<(Item, usize)> = None;
        for line in &hunk.lines {
            let Some(sign) = line.chars().next().filter(|sign| matches!(sign, '+' | '-' | ' ')) else {
                continue;
            };
            let text = &line[1..];
            let indent = text.len() - text.trim_start().len();
            match (items::defined(&self.path, text), sign) {
                (Some(item), '+') => added.push((item, text)),
                (Some(item), '-') => removed.push((item, text)),
                (Some(item), _) => around = Some((item, indent)),
                (None, ' ') => {
                    if !text.trim().is_empty() && around.as_ref().is_some_and(|(_, outer)| indent < *outer) {
                        around = None;
                    }
                }
                (None, _) => {
                    let inside =
                        around.as_ref().filter(|(_, outer)| indent > *outer && !text.trim().is_empty());
                    if let Some((item, _)) = inside {
                        note(&mut self.changed, item.clone());
                    }
                }
            }
        }
        if let ([(new, new_line)], [(old, old_line)]) = (&added[..], &removed[..])
            && new.name != old.name
            && old_line.replace(&old.name, &new.name) == *new_line
        {
            self.renamed.push((old.clone(), new.clone()));
            return;
        }
        for (item, _) in &removed {
            if added.iter().any(|(new, _)| new == item) {
                note(&mut self.changed, item.clone());
            } else if let Some(at) = self.added.iter().position(|new| new == item) {
                self.added.remove(at);
            } else {
                note(&mut self.removed, item.clone());
            }
        }
        for (item, _) in added {
            if removed.iter().any(|(old, _)| *old == item) {
                continue;
            }
            match self.removed.iter().position(|old| *old == item) {
                Some(at) => note(&mut self.changed, self.removed.remove(at)),
                None => note(&mut self.added, item),
            }
        }
        let fresh = &self.added;
        self.changed.retain(|item| !fresh.contains(item));
    }

    /// The changes in one line, such as `src/a.rs: added fn login; changed fn main`.
    pub(super) fn fact(&self, words: &Words) -> String {
        let names = |items: &[Item]| listed(items, words);
        if self.deleted {
            return fill(words.deleted, &[&self.path]);
        }
        if self.created {
            let made = fill(words.created, &[&self.path]);
            return if self.added.is_empty() { made } else { format!("{made} ({})", names(&self.added)) };
        }
        let mut clauses = Vec::new();
        for (template, items) in
            [(words.added, &self.added), (words.changed, &self.changed), (words.removed, &self.removed)]
        {
            if !items.is_empty() {
                clauses.push(fill(template, &[&names(items)]));
            }
        }
        clauses.extend(self.renamed.iter().map(|(old, new)| fill(words.renamed, &[&old.label, &new.name])));
        if clauses.is_empty() {
            return fill(words.lines, &[&self.path, &format!("+{} −{}", self.plus, self.minus)]);
        }
        let colon = if words.lines.starts_with("{} :") { " : " } else { ": " };
        format!("{}{colon}{}", self.path, clauses.join(words.clauses))
    }

    /// Every name that the edit brought in or touched.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let renamed = self.renamed.iter().map(|(_, new)| new);
        self.added.iter().chain(renamed).chain(&self.changed).map(|item| item.name.as_str())
    }

    /// Whether the file is program text, by its name: neither prose nor configuration.
    pub(super) fn is_code(&self) -> bool {
        let prose = [
            "md", "mdx", "markdown", "txt", "rst", "adoc", "json", "yml", "yaml", "toml", "ini", "lock",
            "cfg", "env",
        ];
        match self.path.rsplit('/').next().and_then(|name| name.rsplit_once('.')) {
            Some((_, extension)) => !prose.contains(&extension.to_ascii_lowercase().as_str()),
            None => false,
        }
    }

    /// Whether the file holds tests, by its name.
    pub(super) fn is_test(&self) -> bool {
        let lower = self.path.to_ascii_lowercase();
        let name = lower.rsplit('/').next().unwrap_or(&lower);
        lower.split('/').any(|part| matches!(part, "test" | "tests" | "__tests__" | "spec"))
            || name.starts_with("test_")
            || ["_test.", ".test.", ".spec.", "_spec."].iter().any(|mark| name.contains(mark))
    }
}

fn note(items: &mut Vec<Item>, item: Item) {
    if !items.contains(&item) {
        items.push(item);
    }
}

fn listed(items: &[Item], words: &Words) -> String {
    let names: Vec<&str> = items.iter().take(MAX_ITEMS).map(|item| item.label.as_str()).collect();
    let mut text = names.join(words.list);
    if items.len() > MAX_ITEMS {
        text.push_str(&format!(" +{}", items.len() - MAX_ITEMS));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::words::Language;
    use super::*;
    use crate::model::{Outcome, Timestamp};

    fn event(tool: &str, input: Value, response: Value) -> Event {
        let kind = EventKind::Tool { tool: tool.to_owned(), input, outcome: Outcome::Response(response) };
        Event {
            session: String::from("s"),
            platform: Default::default(),
            at: Timestamp(0),
            cwd: String::from("/p"),
            agent: None,
            kind,
        }
    }

    fn patch(path: &str, lines: &[&str]) -> Event {
        let response = json!({"filePath": path, "structuredPatch": [{"oldStart": 1, "lines": lines}]});
        event("Edit", json!({"file_path": path}), response)
    }

    fn facts(events: &[Event]) -> Vec<String> {
        edits(events, "/p").iter().map(|edit| edit.fact(Language::English.words())).collect()
    }

    #[test]
    fn names_of_what_changed() {
        let events = [
            patch(
                "/p/src/a.py",
                &[
                    " import sys",
                    "+def farewell(name):",
                    "+    return name",
                    " def main():",
                    "-    greet()",
                    "+    farewell()",
                ],
            ),
            patch("/p/src/b.rs", &["-fn old(x: u8) {", "+fn new(x: u8) {"]),
            patch("/p/src/c.rs", &["-fn same() {", "+fn same(x: u8) {", "-fn gone() {}"]),
            patch("/p/notes.txt", &["-a", "+b", "+c"]),
            event(
                "Write",
                json!({"file_path": "/p/n.py", "content": "VALUE = 42\n"}),
                json!({"type": "create", "structuredPatch": []}),
            ),
            event("apply_patch", json!("*** Delete File: z.ts"), json!("ok")),
        ];
        assert_eq!(
            facts(&events),
            [
                "src/a.py: added def farewell; changed def main",
                "src/b.rs: renamed fn old to new",
                "src/c.rs: changed fn same; removed fn gone",
                "notes.txt: +2 −1 lines",
                "n.py: created (VALUE)",
                "z.ts: deleted",
            ]
        );
    }

    #[test]
    fn edits_of_one_file_add_up() {
        let events = [
            patch("/p/a.rs", &["+fn helper() {}"]),
            patch("/p/a.rs", &["-fn helper() {}"]),
            patch("/p/a.rs", &["-fn moved() {}"]),
            patch("/p/a.rs", &["+fn moved() {}"]),
            patch("/p/a.rs", &["+fn kept() {}"]),
            patch("/p/a.rs", &[" fn kept() {", "+    work();"]),
        ];
        assert_eq!(facts(&events), ["a.rs: added fn kept; changed fn moved"]);
    }

    #[test]
    fn a_change_outside_is_not_a_change_inside() {
        let lines = [" mod tests {", "     fn a() {", "     }", " }", "+use x;"];
        assert_eq!(facts(&[patch("/p/a.rs", &lines)]), ["a.rs: +1 −0 lines"]);
    }

    #[test]
    fn lists_are_bounded() {
        let lines: Vec<String> = (0..9).map(|n| format!("+fn f{n}() {{}}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(
            facts(&[patch("/p/a.rs", &lines)]),
            ["a.rs: added fn f0, fn f1, fn f2, fn f3, fn f4, fn f5 +3"]
        );
    }
}
