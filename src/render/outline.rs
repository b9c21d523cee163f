//! Outlines of source files, items of them, and symbols that were found, as text. What stands in a file is anybody's.

use super::plain::{line, source};
use crate::outline::{Found, Item, Listing, Outline, Plain, Unfolded};

/// The outline of a file: lines, then how each item is declared, by depth.
pub fn outline(file: &str, outline: &Outline) -> String {
    let language = outline.language.unwrap_or("text");
    let count = match outline.lines {
        1 => String::from("1 line"),
        lines => format!("{lines} lines"),
    };
    let mut lines = vec![format!("{} ({language}, {count})", line(file))];
    lines.extend(outline.plain.map(|plain| why(plain, outline)));
    lines.extend(errors(outline));
    lines.extend(rows(&outline.items, ""));
    if outline.left_out > 0 {
        lines.push(format!(
            "{} more are left out, the deepest ones first; `cmem unfold` finds them too",
            outline.left_out
        ));
    }
    lines.join("\n")
}

fn why(plain: Plain, outline: &Outline) -> String {
    const LINES: &str = "these are only lines that open something";
    match plain {
        Plain::UnknownLanguage => format!("no grammar for this kind of file: {LINES}"),
        Plain::NoGrammars => format!("this cmem was built without grammars: {LINES}"),
        Plain::TooLarge => {
            format!("too large to parse ({} bytes): {LINES}, from its beginning", outline.bytes)
        }
        Plain::Minified => format!("its lines are too long to be written by hand: {LINES}"),
        Plain::TooDeep => format!("nested too deeply to parse: {LINES}"),
        Plain::TooSlow => format!("parsing took too long and was stopped: {LINES}"),
        Plain::NothingFound => format!("the grammar found nothing to list: {LINES}"),
        Plain::Binary => format!("no text: {} bytes", outline.bytes),
        Plain::Empty => String::from("nothing in it"),
    }
}

fn errors(outline: &Outline) -> Option<String> {
    if outline.errors.is_empty() {
        return None;
    }
    let places: Vec<String> = outline.errors.iter().map(|(first, last)| span(*first, *last)).collect();
    let more = match outline.errors_left_out {
        0 => String::new(),
        more => format!(" and {more} more places"),
    };
    Some(format!("parse error in lines {}{more}: what stands there may be missing", places.join(", ")))
}

fn rows(items: &[Item], indent: &str) -> Vec<String> {
    let spans: Vec<String> = items.iter().map(|item| span(item.first_line, item.last_line)).collect();
    let width = spans.iter().map(String::len).max().unwrap_or_default();
    let row = |(span, item): (String, &Item)| {
        let deeper = "  ".repeat(item.depth);
        format!("{indent}{span:>width$}  {deeper}{}", line(&item.signature))
    };
    spans.into_iter().zip(items).map(row).collect()
}

fn span(first: usize, last: usize) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// Items with their text, each under a line that says where it stands.
pub fn unfolded(file: &str, unfolded: &Unfolded) -> String {
    let file = line(file);
    let place = |item: &Item| format!("{file}:{}", span(item.from_line, item.last_line));
    let named = |item: &Item| format!("{} {}", item.kind, line(&item.path));
    let mut lines = Vec::new();
    if unfolded.plain.is_some() {
        lines.push(String::from(
            "no items of a language here: from this line to the next that opens something",
        ));
    }
    for piece in &unfolded.pieces {
        lines.push(format!("{}  {}", place(&piece.item), named(&piece.item)));
        if !piece.text.is_empty() {
            lines.push(source(&piece.text));
        }
        lines.extend(match piece.lines_cut {
            0 => None,
            1 => Some(String::from("1 line is cut where … stands: it is too long")),
            cut => Some(format!("{cut} lines are cut where … stands: they are too long")),
        });
        if piece.lines_left_out > 0 {
            lines.push(format!("{} more lines are left out", piece.lines_left_out));
        }
    }
    lines.extend(unfolded.others.iter().map(|item| {
        format!("also {}  {}: `cmem unfold {file} {}`", place(item), line(&item.signature), item.first_line)
    }));
    lines.join("\n")
}

/// The files of a directory with what lies at their top.
pub fn listing(listing: &Listing) -> String {
    let mut lines = Vec::new();
    for file in &listing.files {
        lines.push(format!("{} ({}, {} lines)", line(&file.file), file.language, file.lines));
        lines.extend(rows(&file.items, "  "));
        if file.left_out > 0 {
            lines.push(format!("  {} more in it: `cmem outline {}`", file.left_out, line(&file.file)));
        }
    }
    if listing.files_left_out > 0 {
        lines.push(format!(
            "{} more files: name a directory below, or a symbol with --search",
            listing.files_left_out
        ));
    }
    lines.extend(unread(listing.files_unread));
    lines.extend(listing.is_cut.then(cut));
    lines.join("\n")
}

/// Symbols, each with where it stands.
pub fn symbols(found: &Found) -> String {
    let row = |file: &str, item: &Item| {
        let (path, signature) = (line(&item.path), line(&item.signature));
        let place = format!("{}:{}  {} {path}", line(file), span(item.first_line, item.last_line), item.kind);
        // A key or a heading says nothing more.
        if item.signature.ends_with(&item.name) { place } else { format!("{place}  {signature}") }
    };
    let mut lines: Vec<String> = found.hits.iter().map(|hit| row(&hit.file, &hit.item)).collect();
    if found.left_out > 0 {
        lines.push(format!("{} more: --limit shows more", found.left_out));
    }
    lines.extend(unread(found.files_unread));
    lines.extend(found.is_cut.then(cut));
    lines.join("\n")
}

fn unread(files: usize) -> Option<String> {
    const WHY: &str = "too large, minified, nested too deeply or too slow to parse";
    match files {
        0 => None,
        1 => Some(format!("1 file could not be read: {WHY}")),
        files => Some(format!("{files} files could not be read: {WHY}")),
    }
}

fn cut() -> String {
    String::from("not every file was looked into: there are too many")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::{Hit, Piece};

    fn item(signature: &str) -> Item {
        Item {
            kind: "fn",
            name: String::from("f"),
            path: String::from("a.f"),
            depth: 1,
            signature: signature.to_owned(),
            from_line: 3,
            first_line: 4,
            last_line: 9,
        }
    }

    #[test]
    fn nothing_in_a_file_reaches_a_terminal_unseen() {
        let evil = "fn f\x1b]0;x\x07()\u{202e}\u{7}";
        let piece = Piece { item: item(evil), text: format!("\t{evil}\n"), lines_cut: 1, lines_left_out: 2 };
        let unfolded_ =
            Unfolded { language: None, plain: None, pieces: vec![piece], others: vec![item(evil)] };
        let hit = Hit { file: String::from("\x1b[2Ja.rs"), item: item(evil) };
        let found = Found { hits: vec![hit], left_out: 3, near: Vec::new(), files_unread: 1, is_cut: true };
        for text in [unfolded("\x1b[1ma.rs", &unfolded_), symbols(&found)] {
            let is_hidden = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
            assert!(!text.contains(is_hidden), "{text:?}");
            assert!(text.contains("fn f()"), "{text:?}");
        }
        assert_eq!(
            unfolded("a.rs", &unfolded_),
            "a.rs:3-9  fn a.f\n\tfn f()\n1 line is cut where … stands: it is too long\n2 more lines are left out\nalso a.rs:3-9  fn f(): `cmem unfold a.rs 4`"
        );
    }
}
