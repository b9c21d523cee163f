//! Items of a language by its grammar. The only place that knows of tree-sitter.
//!
//! `rules.rs` says what can be said of a language, the files beside it say it of each, `walk.rs` applies it.

mod data;
mod heredocs;
mod limits;
mod managed;
mod name;
mod rules;
mod scripts;
mod signature;
mod systems;
mod walk;
mod web;

use std::borrow::Cow;
use std::ops::ControlFlow;

use tree_sitter::{Language, Node, ParseOptions, Parser, Tree};

use self::rules::Rules;
use super::{Parsed, Plain, Until};

/// Most places of errors that are named.
const MOST_ERRORS: usize = 5;
/// Most nodes below each other that are looked at.
const DEEPEST: usize = 300;

/// The items of a text, and what of it could not be read.
pub(super) fn parse(language: &str, text: &str, until: &Until) -> Result<Parsed, Plain> {
    let (grammar, rules) = of(language).ok_or(Plain::NoGrammars)?;
    if !limits::fit(language, text) {
        return Err(Plain::TooDeep);
    }
    // What is listed is shown as it was written; both have the same bytes at the same places.
    let read = if language == "ruby" { heredocs::blanked(text) } else { Cow::Borrowed(text) };
    let tree = tree(&grammar, &read, until).ok_or(Plain::TooSlow)?;
    let (errors, errors_left_out) = errors(&tree);
    Ok(Parsed { items: walk::items(&tree, text, rules, until)?, errors, errors_left_out })
}

/// A grammar and what is to be known of it.
fn of(language: &str) -> Option<(Language, &'static Rules)> {
    let (grammar, rules) = match language {
        "rust" => (tree_sitter_rust::LANGUAGE, &systems::RUST),
        "go" => (tree_sitter_go::LANGUAGE, &systems::GO),
        "c" => (tree_sitter_c::LANGUAGE, &systems::C),
        "cpp" => (tree_sitter_cpp::LANGUAGE, &systems::CPP),
        "swift" => (tree_sitter_swift::LANGUAGE, &systems::SWIFT),
        "java" => (tree_sitter_java::LANGUAGE, &managed::JAVA),
        "kotlin" => (tree_sitter_kotlin_ng::LANGUAGE, &managed::KOTLIN),
        "scala" => (tree_sitter_scala::LANGUAGE, &managed::SCALA),
        "csharp" => (tree_sitter_c_sharp::LANGUAGE, &managed::CSHARP),
        "python" => (tree_sitter_python::LANGUAGE, &scripts::PYTHON),
        "ruby" => (tree_sitter_ruby::LANGUAGE, &scripts::RUBY),
        "php" => (tree_sitter_php::LANGUAGE_PHP, &scripts::PHP),
        "bash" => (tree_sitter_bash::LANGUAGE, &scripts::BASH),
        "lua" => (tree_sitter_lua::LANGUAGE, &scripts::LUA),
        "typescript" => (tree_sitter_typescript::LANGUAGE_TYPESCRIPT, &web::SCRIPT),
        "tsx" => (tree_sitter_typescript::LANGUAGE_TSX, &web::SCRIPT),
        "javascript" => (tree_sitter_javascript::LANGUAGE, &web::SCRIPT),
        "html" => (tree_sitter_html::LANGUAGE, &web::HTML),
        "css" => (tree_sitter_css::LANGUAGE, &web::CSS),
        "sql" => (tree_sitter_sequel::LANGUAGE, &data::SQL),
        "json" => (tree_sitter_json::LANGUAGE, &data::JSON),
        "yaml" => (tree_sitter_yaml::LANGUAGE, &data::YAML),
        "toml" => (tree_sitter_toml_ng::LANGUAGE, &data::TOML),
        _ => return None,
    };
    Some((grammar.into(), rules))
}

/// `None` when the time was over first.
fn tree(grammar: &Language, text: &str, until: &Until) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(grammar).ok()?;
    let mut in_time = |_: &tree_sitter::ParseState| match until.is_over() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let options = ParseOptions::new().progress_callback(&mut in_time);
    let bytes = text.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

/// Lines, first and last, that could not be read, and how many such places are not among them.
fn errors(tree: &Tree) -> (Vec<(usize, usize)>, usize) {
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut cursor = tree.walk();
    let mut depth = 0;
    loop {
        let node = cursor.node();
        let is_one = node.is_error() || node.is_missing();
        if is_one {
            let (first, last) = (node.start_position().row + 1, last_row(&node) + 1);
            match places.last_mut() {
                Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
                _ => places.push((first, last)),
            }
        }
        if !is_one && node.has_error() && depth < DEEPEST && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                let left_out = places.len().saturating_sub(MOST_ERRORS);
                places.truncate(MOST_ERRORS);
                return (places, left_out);
            }
            depth -= 1;
        }
    }
}

/// The last row that a node has something on; counted from 0.
fn last_row(node: &Node<'_>) -> usize {
    let (start, end) = (node.start_position(), node.end_position());
    if end.column == 0 && end.row > start.row { end.row - 1 } else { end.row }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::Gone;

    fn parse(language: &str, text: &str, patience: Duration) -> Result<Parsed, Plain> {
        super::parse(language, text, &Until::after(patience, &Gone::default()))
    }

    #[test]
    fn no_parse_goes_on_for_somebody_who_is_gone() {
        let gone = Gone::default();
        gone.set();
        let until = Until::after(Duration::from_secs(60), &gone);
        let text = "fn f() {}\n".repeat(20_000);
        assert_eq!(super::parse("rust", &text, &until).map(|_| ()), Err(Plain::TooSlow));
    }

    #[test]
    fn no_parse_goes_on_after_its_deadline() {
        let text = "fn f() { a::<b<c<d>>>(((((1))))) }\n".repeat(20_000);
        assert_eq!(parse("rust", &text, Duration::ZERO).map(|_| ()), Err(Plain::TooSlow));
    }

    #[test]
    fn depth_is_no_danger() {
        let indented =
            |line: &str| (0..3_000).map(|depth| format!("{}{line}\n", " ".repeat(depth))).collect::<String>();
        // Deeper than any of its lines looks.
        let continued = |many: usize| {
            let deep = |depth: usize| {
                format!(
                    "{}{}",
                    format!("{}\\\n", " ".repeat(300)).repeat(depth / 300),
                    " ".repeat(depth % 300)
                )
            };
            let lines: String = (0..many).map(|depth| format!("{}if a:\n", deep(depth))).collect();
            format!("{lines}{}x = \"s\"\n", deep(many))
        };
        for (language, text) in [
            ("json", "[".repeat(50_000)),
            ("json", "{\"a\":".repeat(50_000)),
            ("javascript", "(".repeat(50_000)),
            ("javascript", "`${".repeat(20_000)),
            ("typescript", "namespace a {".repeat(20_000)),
            ("rust", "mod a {".repeat(50_000)),
            ("rust", format!("r{}\"", "#".repeat(50_000))),
            ("cpp", format!("R\"{}(", "a".repeat(50_000))),
            ("cpp", "namespace a {".repeat(20_000)),
            ("csharp", "$\"{".repeat(20_000)),
            ("kotlin", "\"${".repeat(20_000)),
            ("swift", "\"\\(".repeat(20_000)),
            ("swift", "#".repeat(50_000)),
            ("html", "<div id=a>".repeat(50_000)),
            ("html", format!("<{}>", "a".repeat(50_000))),
            ("css", "@media a {".repeat(20_000)),
            ("yaml", (0..127).map(|depth| format!("{0}k:\n{0}-\n", " ".repeat(depth))).collect()),
            ("yaml", (0..255).map(|depth| format!("{0}k:\n{0}-\n", " ".repeat(depth % 60))).collect()),
            ("yaml", "[".repeat(20_000)),
            ("yaml", "- ".repeat(20_000)),
            ("yaml", indented("a:")),
            ("yaml", (0..230).map(|depth| format!("{}- a:\n", " ".repeat(depth))).collect()),
            ("python", indented("if a:")),
            ("python", "f\"{".repeat(20_000)),
            ("python", continued(700)),
            ("scala", indented("object A:")),
            ("ruby", "<<A ".repeat(5_000)),
            ("ruby", format!("x = <<{}\n", "A".repeat(1_019))),
            ("ruby", format!("<<A\n#{{<<'x y'e<<'x y'(<<'x (<<''{}\nA\nx y\nx (<<\n", "%[".repeat(190))),
            ("ruby", "%w(".repeat(20_000)),
            ("bash", "cat <<A ".repeat(5_000)),
            ("bash", "$(".repeat(20_000)),
            ("php", format!("<?php {}", "<<<A\n".repeat(5_000))),
            ("lua", format!("[{}[", "=".repeat(50_000))),
            ("sql", format!("CREATE FUNCTION a() AS ${}$", "a".repeat(50_000))),
            ("toml", "[a.".repeat(20_000)),
            ("go", "func(".repeat(20_000)),
            ("java", "class A {".repeat(20_000)),
            ("c", "struct {".repeat(20_000)),
        ] {
            let _ = parse(language, &text, Duration::from_millis(300));
        }
    }

    #[test]
    fn many_items_side_by_side_take_no_longer_each() {
        let text = "export const a = () => 1;\n".repeat(30_000);
        let parsed = parse("typescript", &text, Duration::from_secs(60)).unwrap();
        assert_eq!(parsed.items.len(), 30_000);
    }
}
