use super::*;

fn of(name: &str, text: &str) -> Outline {
    of_source(Path::new(name), &Source::of_bytes(text.as_bytes().to_vec()), &Gone::default())
}

fn names(outline: &Outline) -> Vec<&str> {
    outline.items.iter().map(|item| item.path.as_str()).collect()
}

#[test]
fn what_does_not_fit_is_counted_and_the_deepest_goes_first() {
    let text = format!("# top\n{}", "## a\n### b\n".repeat(200));
    let outline = of("a.md", &text);
    assert_eq!((outline.items.len(), outline.left_out), (MOST_ITEMS, 401 - MOST_ITEMS));
    let at = |depth: usize| outline.items.iter().filter(|item| item.depth == depth).count();
    assert_eq!([at(0), at(1), at(2)], [1, 200, MOST_ITEMS - 201]);
    let lines: Vec<usize> = outline.items.iter().map(|item| item.first_line).collect();
    assert!(lines.is_sorted());
}

#[test]
fn what_cannot_be_parsed_says_why() {
    for (name, text, plain) in [
        ("a.txt", "a\n\nb\n".repeat(3), Plain::UnknownLanguage),
        ("a.md", "only words\n".to_owned(), Plain::NothingFound),
        ("a.md", "# a\n".repeat(2_000_000), Plain::TooLarge),
        ("a.md", "# a ".repeat(3_000), Plain::Minified),
        ("a.md", " \n".to_owned(), Plain::Empty),
    ] {
        let outline = of(name, &text);
        assert_eq!(outline.plain, Some(plain), "{name}");
        assert_eq!(outline.items.is_empty(), plain == Plain::Empty, "{name}");
        assert!(outline.items.len() <= MOST_ITEMS);
    }
}

#[test]
fn a_listing_keeps_no_more_of_a_file_than_it_tells() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.md"), "# a\n".repeat(10_000)).unwrap();
    let listing = tree(dir.path(), &Gone::default()).unwrap();
    let file = &listing.files[0];
    assert_eq!((file.items.len(), file.left_out), (25, 9_975));
    assert!(file.items.capacity() < 100, "{}", file.items.capacity());
}

#[cfg(not(feature = "grammars"))]
#[test]
fn without_grammars_there_are_lines_and_headings() {
    assert_eq!(of("a.rs", "fn a() {\n    1\n}\n").plain, Some(Plain::NoGrammars));
    assert_eq!(names(&of("a.rs", "fn a() {\n    1\n}\n")), ["fn a() {"]);
    assert_eq!(names(&of("a.md", "# a\n## b\n")), ["a", "a.b"]);
    assert!(!has_grammar(Path::new("a.rs")) && has_grammar(Path::new("a.md")));
}

#[cfg(feature = "grammars")]
mod with_grammars {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/outline");

    /// The fixtures, one of each language: name and text.
    fn fixtures() -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = fs::read_dir(FIXTURES)
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap())
            })
            .collect();
        found.sort();
        found
    }

    /// What is appended to each to break it, and where a whole item stood before.
    fn broken(name: &str, text: &str) -> String {
        let wreck = match name.rsplit('.').next().unwrap() {
            "html" => "<p <<< =\"",
            "json" => "{{{ \"a\": : ]",
            "yaml" => "\n  - [ }: :\n\t{",
            "toml" => "\n= = [\n",
            "sql" => "\nCREATE TABLE (((;\n",
            "css" => "\n} } @ {{ ;;; :\n",
            "php" => "\n<?php ) } class { function (\n",
            "sh" => "\nif then ((( fi {\n",
            _ => "\n) } ]] %% ( class { ((( \"\n",
        };
        format!("{text}{wreck}")
    }

    #[test]
    fn every_language_has_a_fixture_that_its_grammar_reads_whole() {
        let mut seen = std::collections::BTreeSet::new();
        for (name, text) in fixtures() {
            let outline = of(&name, &text);
            assert_eq!((outline.plain, &outline.errors[..]), (None, &[][..]), "{name}");
            assert!(
                outline.items.iter().any(|item| item.depth > 0)
                    || ["shop.sql", "backup.sh", "relay.go", "tape.c"].contains(&&*name),
                "{name}"
            );
            assert!(
                outline.items.iter().any(|item| item.from_line < item.first_line)
                    || ["json", languages::MARKDOWN].contains(&outline.language.unwrap()),
                "{name}: no comment belongs to anything"
            );
            seen.insert(outline.language.unwrap());
        }
        assert_eq!(seen.len(), languages::count());
    }

    #[test]
    fn what_is_readable_of_a_broken_file_is_listed() {
        for (name, text) in fixtures() {
            let whole = of(&name, &text);
            let outline = of(&name, &broken(&name, &text));
            if outline.language == Some(languages::MARKDOWN) {
                // Any text is Markdown.
                continue;
            }
            assert!(!outline.errors.is_empty(), "{name}");
            assert_eq!(outline.plain, None, "{name}");
            let kept = names(&whole).iter().filter(|path| names(&outline).contains(path)).count();
            assert!(kept * 2 >= whole.items.len(), "{name}: {kept} of {}", whole.items.len());
        }
    }

    #[test]
    fn line_ends_and_marks_change_nothing() {
        for (name, text) in fixtures() {
            let plain = of(&name, &text);
            let windows = of(&name, &format!("\u{feff}{}", text.replace('\n', "\r\n")));
            assert_eq!(windows.items, plain.items, "{name}");
            let bad = text.replacen('a', "\u{fffd}", 1);
            assert_eq!(of(&name, &bad).lines, plain.lines, "{name}");
        }
    }

    #[test]
    fn lines_of_items_are_those_of_the_file() {
        for (name, text) in fixtures() {
            let outline = of(&name, &text);
            for item in &outline.items {
                assert!(
                    item.from_line <= item.first_line
                        && item.first_line <= item.last_line
                        && item.last_line <= outline.lines,
                    "{name}: {item:?}"
                );
                assert!(!text.lines().nth(item.last_line - 1).unwrap().trim().is_empty(), "{name}: {item:?}");
            }
        }
    }

    #[test]
    fn a_tree_is_left_as_soon_as_nobody_waits_for_it() {
        let (here, gone) = (Path::new(FIXTURES), Gone::default());
        let listing = tree(here, &gone).unwrap();
        assert!(!listing.files.is_empty() && !listing.is_cut);
        let found = find(here, "kettle", 5, &gone).unwrap();
        assert!(!found.hits.is_empty() && !found.is_cut);
        gone.set();
        let listing = tree(here, &gone).unwrap();
        assert!(listing.files.is_empty() && listing.is_cut);
        let found = find(here, "kettle", 5, &gone).unwrap();
        assert!(found.hits.is_empty() && found.is_cut);
    }

    /// Kind, path and signature of each item.
    fn shown(name: &str, text: &str) -> Vec<String> {
        let outline = of(name, text);
        assert_eq!((outline.plain, &outline.errors[..]), (None, &[][..]), "{text}");
        outline.items.iter().map(|item| format!("{} {}: {}", item.kind, item.path, item.signature)).collect()
    }

    #[test]
    fn classes_and_functions_without_a_name_of_their_own_are_listed() {
        for (text, expected) in [
            (
                "export default class extends X { go() {} }",
                &["class default: export default class extends X", "method default.go: go()"][..],
            ),
            (
                "export default class Named { go() {} }",
                &["class Named: export default class Named", "method Named.go: go()"],
            ),
            ("export default function (a) { b(); }", &["function default: export default function (a)"]),
            ("export default (a) => a + 1;", &["function default: export default (a)"]),
            ("module.exports = class Foo { go() {} }", &["class Foo: class Foo", "method Foo.go: go()"]),
            (
                "exports.Foo = class extends X { go() {} }",
                &["class Foo: exports.Foo = class extends X", "method Foo.go: go()"],
            ),
            ("const K = class { go() {} }", &["class K: const K = class", "method K.go: go()"]),
            ("const K = class Inner { go() {} }", &["class K: const K = class Inner", "method K.go: go()"]),
            (
                "const all = { K: class { go() {} } }",
                &["const all: const all", "class all.K: K: class", "method all.K.go: go()"],
            ),
        ] {
            assert_eq!(shown("a.js", text), expected, "{text}");
            assert_eq!(shown("a.ts", text), expected, "{text}");
        }
        let members = ["const a: const a", "function a.go: go: (x: number)", "method a.stop: stop()"];
        for how in ["as const", "satisfies X", "as const satisfies X"] {
            let text = format!("const a = {{ go: (x: number) => x, stop() {{}} }} {how};");
            assert_eq!(shown("a.ts", &text), members, "{how}");
        }
    }

    #[test]
    fn methods_behind_a_call_are_listed() {
        let text = "class A\n  # One.\n  private def x(a)\n  end\n\n  included do\n    def y; end\n  end\n\n  memoize def z = 1\nend\n";
        assert_eq!(
            shown("a.rb", text),
            ["class A: class A", "def A.x: private def x(a)", "def A.y: def y", "def A.z: memoize def z",]
        );
        assert_eq!(of("a.rb", text).items[1].from_line, 2);
    }

    #[test]
    fn heredocs_are_no_errors() {
        let text = "class A\n  Q = <<~SQL\n    SELECT ' #{x}\n  SQL\n  def x(log)\n    log <<1\n    f(<<-A, <<B)\n def (\n    A\n]\nB\n  end\nend\n";
        assert_eq!(shown("a.rb", text), ["class A: class A", "const A.Q: Q", "def A.x: def x(log)"]);
    }

    #[test]
    fn what_is_implemented_for_a_reference_goes_by_its_type() {
        let text = "impl<'a, T> Show for &'a mut Pool<T> { fn fmt() {} }\nimpl Show for *const Pool {}\n";
        assert_eq!(
            shown("a.rs", text),
            [
                "impl Pool: impl<'a, T> Show for &'a mut Pool<T>",
                "fn Pool.fmt: fn fmt()",
                "impl Pool: impl Show for *const Pool",
            ]
        );
    }

    #[test]
    fn a_shortened_file_is_read_as_far_as_it_goes() {
        for (name, text) in fixtures() {
            for end in (0..text.len()).step_by(37).filter(|end| text.is_char_boundary(*end)) {
                let _ = of(&name, &text[..end]);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn no_text_is_too_odd(pieces in proptest::collection::vec("[\\x00-\\x7fé日]{0,40}", 1..6), cut in 0usize..400) {
            for (name, text) in fixtures() {
                let at = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
                let odd = format!("{}{}{}", &text[..at], pieces.concat(), &text[at..]);
                let outline = of(&name, &odd);
                prop_assert!(outline.items.iter().all(|item| item.last_line <= outline.lines.max(1)), "{name}");
            }
        }
    }
}
