//! What is known of a record beside what it says: what became of its files, and what it was put together from.

use super::plain::line;
use super::style::FAINT;
use crate::retrieve::{FilesSince, Lineage};

/// One line for each thing that there is to say; nothing mostly.
pub fn aside(since: Option<&FilesSince>, lineage: Option<&Lineage>) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(since) = since {
        said.push(list("file changed since", since.changed.iter().map(|file| line(file))));
        said.push(list("file is gone", since.gone.iter().map(|file| line(file))));
    }
    if let Some(lineage) = lineage {
        let id = |id: &i64| format!("#{id}");
        said.push(list("put together from", lineage.put_together_from.iter().map(id)));
        said.push(list("put together into", lineage.put_together_into.iter().map(id)));
    }
    said.retain(|text| !text.is_empty());
    said.iter().map(|text| format!("{FAINT}{text}{FAINT:#}")).collect()
}

fn list(label: &str, values: impl Iterator<Item = String>) -> String {
    let values = values.collect::<Vec<_>>().join(", ");
    if values.is_empty() { values } else { format!("{label}: {values}") }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    #[test]
    fn only_what_there_is_is_said() {
        let since = FilesSince { changed: vec![String::from("a\x1b[2J.rs")], ..FilesSince::default() };
        let lineage = Lineage { put_together_from: vec![3, 4], ..Lineage::default() };
        let text = aside(Some(&since), Some(&lineage)).join("\n");
        assert_eq!(strip_str(&text).to_string(), "file changed since: a.rs\nput together from: #3, #4");
        assert!(aside(Some(&FilesSince::default()), None).is_empty());
    }
}
