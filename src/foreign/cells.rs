//! Rows of a database that somebody else wrote: any column may be missing, and any value may be of another type.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde_json::Value;

use crate::hook;

/// Keys under which an entry of a list may hold its text.
const TEXT_KEYS: [&str; 8] = ["text", "fact", "concept", "name", "path", "file", "title", "value"];

/// Names of a table's columns; none when there is no such table.
pub(super) fn columns(conn: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = conn.prepare("SELECT name FROM pragma_table_info(?1)")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

/// A statement for columns, each under the first of its names that the table has; NULL where it has none.
pub(super) fn select(table: &str, present: &[String], wanted: &[&[&str]], rest: &str) -> String {
    let column = |names: &&[&str]| {
        let name = names.iter().find(|name| present.iter().any(|column| column == *name));
        name.map_or_else(|| String::from("NULL"), |name| format!("\"{name}\""))
    };
    let list: Vec<String> = wanted.iter().map(column).collect();
    format!("SELECT {} FROM \"{table}\" {rest}", list.join(", "))
}

/// One row, read by the place of its columns.
pub(super) struct Cells<'a, 'b>(pub(super) &'a Row<'b>);

impl Cells<'_, '_> {
    /// The text of a value, without NUL characters; `None` when there is none but blanks.
    pub(super) fn text(&self, column: usize) -> Option<String> {
        let text = match self.0.get_ref(column).ok()? {
            ValueRef::Null => return None,
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Real(number) => number.to_string(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).replace('\0', ""),
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// A whole number, however it was written.
    pub(super) fn number(&self, column: usize) -> Option<i64> {
        match self.0.get_ref(column).ok()? {
            ValueRef::Integer(number) => Some(number),
            ValueRef::Real(number) => whole(number),
            _ => {
                let text = self.text(column)?;
                text.parse().ok().or_else(|| whole(text.parse().ok()?))
            }
        }
    }

    /// The entries of a JSON array of texts; a value that is no array is its own only entry.
    pub(super) fn list(&self, column: usize) -> Vec<String> {
        let Some(text) = self.text(column) else { return Vec::new() };
        let mut entries = Vec::new();
        add(&mut entries, parsed(&text).unwrap_or(Value::String(text)), true);
        entries
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the range is asked for first")]
fn whole(number: f64) -> Option<i64> {
    (number.is_finite() && number.abs() < 9e15).then_some(number as i64)
}

/// What a text holds as JSON, if that is a list or a text.
fn parsed(text: &str) -> Option<Value> {
    if !text.starts_with(['[', '{', '"']) && text != "null" {
        return None;
    }
    hook::parse_value(text.as_bytes()).ok()
}

/// `again` = a text may hold the list once more as JSON.
fn add(entries: &mut Vec<String>, value: Value, again: bool) {
    match value {
        Value::Null => {}
        Value::Array(values) => values.into_iter().for_each(|value| add(entries, value, again)),
        Value::Object(map) => match TEXT_KEYS.iter().find_map(|key| map.get(*key)) {
            Some(text) => add(entries, text.clone(), false),
            None if map.is_empty() => {}
            None => entries.push(Value::Object(map).to_string()),
        },
        Value::String(text) => {
            let text = text.replace('\0', "");
            let text = text.trim();
            match parsed(text).filter(|value| again && value.is_array()) {
                Some(list) => add(entries, list, false),
                None if text.is_empty() || entries.iter().any(|entry| entry == text) => {}
                None => entries.push(text.to_owned()),
            }
        }
        other => entries.push(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell<T>(value: &str, read: impl Fn(Cells<'_, '_>) -> T) -> T {
        let conn = Connection::open_in_memory().unwrap();
        conn.query_row(&format!("SELECT {value}"), [], |row| Ok(read(Cells(row)))).unwrap()
    }

    #[test]
    fn a_text_is_read_from_any_type() {
        let text = |value: &str| cell(value, |cells| cells.text(0));
        assert_eq!(text("'  a b '").as_deref(), Some("a b"));
        assert_eq!(text("12").as_deref(), Some("12"));
        assert_eq!(text("x'6100620a'").as_deref(), Some("ab"));
        assert_eq!(
            text("CAST(x'eda0bd20ff41' AS TEXT)").as_deref(),
            Some("\u{fffd}\u{fffd}\u{fffd} \u{fffd}A")
        );
        assert_eq!((text("NULL"), text("'  '"), text("x'00'")), (None, None, None));
    }

    #[test]
    fn a_number_is_read_from_any_type() {
        let number = |value: &str| cell(value, |cells| cells.number(0));
        for same in ["7", "7.0", "'7'", "' 7.9 '", "x'37'"] {
            assert_eq!(number(same), Some(7), "{same}");
        }
        assert_eq!((number("NULL"), number("'seven'"), number("1e300")), (None, None, None));
    }

    #[test]
    fn a_list_is_read_however_it_was_written() {
        let list = |value: &str| cell(&format!("'{value}'"), |cells| cells.list(0));
        assert_eq!(list(r#"["a", " b ", "", null, "a", 3]"#), ["a", "b", "3"]);
        assert_eq!(list(r#""[\"a\",\"b\"]""#), ["a", "b"]);
        assert_eq!(list(r#"[{"fact":"a"},{"x":1},{}]"#), ["a", r#"{"x":1}"#]);
        assert_eq!(list(r#"["half \ud83d"]"#), ["half \u{fffd}"]);
        assert_eq!(list("plain words"), ["plain words"]);
        assert_eq!(list(r#"["cut off"#), [r#"["cut off"#]);
        assert_eq!(list("null"), Vec::<String>::new());
    }

    #[test]
    fn a_missing_column_is_null() {
        let present = [String::from("id"), String::from("sdk_session_id")];
        let wanted: [&[&str]; 3] = [&["id"], &["memory_session_id", "sdk_session_id"], &["text"]];
        assert_eq!(
            select("observations", &present, &wanted, "ORDER BY id"),
            r#"SELECT "id", "sdk_session_id", NULL FROM "observations" ORDER BY id"#
        );
    }
}
