//! What became of the files of a record.

use super::plain::line;
use super::style::FAINT;
use crate::retrieve::FilesSince;

/// One line for each thing that became of files; nothing mostly.
pub fn files_since(since: &FilesSince) -> Vec<String> {
    let list = |label: &str, files: &[String]| {
        let files: Vec<String> = files.iter().map(|file| line(file)).collect();
        (!files.is_empty()).then(|| format!("{FAINT}{label}: {}{FAINT:#}", files.join(", ")))
    };
    [list("file changed since", &since.changed), list("file is gone", &since.gone)]
        .into_iter()
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    #[test]
    fn only_what_there_is_is_said() {
        let since = FilesSince { changed: vec![String::from("a\x1b[2J.rs")], ..FilesSince::default() };
        assert_eq!(strip_str(&files_since(&since).join("\n")).to_string(), "file changed since: a.rs");
        assert!(files_since(&FilesSince::default()).is_empty());
    }
}
