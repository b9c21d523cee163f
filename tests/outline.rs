//! `cmem outline` and `cmem unfold`, from outside.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::common::World;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/outline");

/// Outline of a fixture, then each of its items unfolded by its line, as long as they are short.
fn golden(name: &str) {
    let world = World::new();
    let file = world.project().join(name);
    fs::copy(Path::new(FIXTURES).join(name), &file).unwrap();
    let mut text = world.cmem(&["outline", name]).ok();
    let outline = world.cmem(&["outline", name, "--json"]).json();
    text.push_str("\npaths:\n");
    for item in outline["items"].as_array().unwrap() {
        let path = item["path"].as_str().unwrap();
        text.push_str(&format!("{} {path}\n", item["kind"].as_str().unwrap()));
        let line = item["first_line"].as_u64().unwrap().to_string();
        assert!(world.cmem(&["unfold", name, &line]).ok().contains(':'), "{name}:{line}");
        if !path.trim().is_empty() && path.parse::<usize>().is_err() {
            let found = world.cmem(&["unfold", name, path, "--json"]).json();
            let all =
                [&found["pieces"], &found["others"]].map(|list| list.as_array().unwrap().clone()).concat();
            assert!(
                all.iter().any(|piece| piece["first_line"] == item["first_line"]),
                "{name}: {path}: {found}"
            );
        }
    }
    insta::with_settings!({snapshot_suffix => name}, { insta::assert_snapshot!("golden", text) });
}

macro_rules! golden {
    ($($test:ident: $name:literal,)*) => {
        /// One golden outline for each language.
        mod languages {
            $(#[test]
            fn $test() {
                super::golden($name);
            })*
        }
    };
}

golden! {
    rust: "harbour.rs",
    python: "orchard.py",
    typescript: "ledger.ts",
    tsx: "panel.tsx",
    javascript: "kettle.js",
    go: "relay.go",
    java: "Garden.java",
    kotlin: "Bakery.kt",
    c: "tape.c",
    cpp: "engine.cpp",
    csharp: "Loom.cs",
    ruby: "smithy.rb",
    php: "Post.php",
    swift: "Tram.swift",
    scala: "Quarry.scala",
    bash: "backup.sh",
    lua: "lamp.lua",
    sql: "shop.sql",
    html: "page.html",
    css: "sheet.css",
    json: "service.json",
    yaml: "deploy.yaml",
    toml: "settings.toml",
    markdown: "guide.md",
}

#[test]
fn every_fixture_has_its_golden_outline() {
    for entry in fs::read_dir(FIXTURES).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(include_str!("outline.rs").contains(&format!("\"{name}\",")), "{name}");
    }
}

/// Source files of a project.
fn project() -> World {
    let world = World::new();
    world.repository("project");
    let project = world.project();
    for (name, text) in [
        (
            "src/pool.rs",
            "/// Lends.\npub struct Pool;\n\nimpl Pool {\n    /// One.\n    pub fn get(&self) -> u8 {\n        1\n    }\n}\n",
        ),
        (
            "src/store.py",
            "class Store:\n    def get_pool(self):\n        return 1\n\n    def poolside(self):\n        pass\n",
        ),
        ("web/pool.ts", "export function pool(size: number) {\n  return size;\n}\n"),
        ("target/gen.rs", "pub fn pool() {}\n"),
        ("README.md", "# Pool\n\n## Use\n"),
        ("notes.txt", "pool\n"),
        (".gitignore", "/target\n"),
    ] {
        let path = project.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    world
}

#[test]
fn a_directory_lists_what_its_files_define_by_the_rules_of_git() {
    let world = project();
    insta::assert_snapshot!(world.cmem(&["outline"]).ok());
    let below = world.cmem(&["outline", "src"]).ok();
    assert!(below.contains("src/pool.rs (rust, 9 lines)") && !below.contains("web/"), "{below}");
    let listed = world.cmem(&["outline", ".", "--json"]).json();
    let files: Vec<&str> =
        listed["files"].as_array().unwrap().iter().map(|file| file["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["README.md", "src/pool.rs", "src/store.py", "web/pool.ts"]);
    assert_eq!((&listed["files_left_out"], &listed["is_cut"]), (&json!(0), &json!(false)));
    assert_eq!(listed["files"][0]["left_out"], 1);
    // A link to above is not followed, and the rules count outside of a repository too.
    symlink("..", world.project().join("web/up")).unwrap();
    fs::remove_dir_all(world.project().join(".git")).unwrap();
    assert_eq!(world.cmem(&["outline", ".", "--json"]).json()["files"], listed["files"]);
    let empty = world.path("tmp");
    assert_eq!(world.cmem_in(&empty, &["outline"], b"").ok(), "");
}

#[test]
fn symbols_are_found_by_name_the_best_first() {
    let world = project();
    let found = |name: &str| -> Vec<String> {
        let found = world.cmem(&["outline", "--search", name, "--json"]).json();
        assert_eq!(found["query"], name);
        let hits = found["hits"].as_array().unwrap();
        hits.iter()
            .map(|hit| {
                format!(
                    "{}:{} {}",
                    hit["file"].as_str().unwrap(),
                    hit["first_line"],
                    hit["path"].as_str().unwrap()
                )
            })
            .collect()
    };
    assert_eq!(
        found("pool"),
        [
            "src/pool.rs:2 Pool",
            "src/pool.rs:4 Pool",
            "web/pool.ts:1 pool",
            "README.md:1 Pool",
            "src/store.py:5 Store.poolside",
            "src/store.py:2 Store.get_pool",
            "src/pool.rs:6 Pool.get",
            "README.md:3 Pool.Use",
        ]
    );
    assert_eq!(found("Pool::get"), ["src/pool.rs:6 Pool.get", "src/store.py:2 Store.get_pool"]);
    assert_eq!(found("getPool"), ["src/store.py:2 Store.get_pool", "src/pool.rs:6 Pool.get"]);
    assert_eq!(found("nothing like it"), Vec::<String>::new());
    let one = world.cmem(&["outline", "src", "--search", "pool", "--limit", "1"]).ok();
    assert_eq!(one, "src/pool.rs:2  struct Pool\n4 more: --limit shows more\n");
    let none = world.cmem(&["outline", "--search", "pooll"]);
    assert_eq!(none.out, "");
    assert!(none.err.contains("no symbol pooll") && none.err.contains("did you mean Pool"), "{}", none.err);
    assert!(
        world
            .cmem(&["outline", "notes.txt", "--search", "x"])
            .failed(1)
            .contains("is no directory: name a directory")
    );
    assert!(world.cmem(&["outline", "--limit", "3"]).failed(2).contains("--search"));
}

#[test]
fn an_item_is_unfolded_whole_with_what_stands_above_it() {
    let world = project();
    let whole =
        "src/pool.rs:5-8  fn Pool.get\n    /// One.\n    pub fn get(&self) -> u8 {\n        1\n    }\n";
    for symbol in [
        "Pool::get",
        "Pool.get",
        "get",
        "pool.GET",
        "7",
        "6-8",
        "#7",
        "fn get",
        "get(&self)",
        "Pool<T>::get",
        "pub fn get(&self) -> u8",
    ] {
        assert_eq!(world.cmem(&["unfold", "src/pool.rs", symbol]).ok(), whole, "{symbol}");
    }
    let several = world.cmem(&["unfold", "src/pool.rs", "Pool"]).ok();
    assert_eq!(
        several,
        "src/pool.rs:1-2  struct Pool\n/// Lends.\npub struct Pool;\nalso src/pool.rs:4-9  impl Pool: `cmem unfold src/pool.rs 4`\n"
    );
    let found = world.cmem(&["unfold", "src/pool.rs", "Pool", "--json"]).json();
    assert_eq!(
        found,
        json!({
            "file": "src/pool.rs", "language": "rust", "plain": null,
            "pieces": [{"kind": "struct", "name": "Pool", "path": "Pool", "depth": 0, "signature": "pub struct Pool",
                        "from_line": 1, "first_line": 2, "last_line": 2, "text": "/// Lends.\npub struct Pool;\n",
                        "lines_cut": 0, "lines_left_out": 0}],
            "others": [{"kind": "impl", "name": "Pool", "path": "Pool", "depth": 0, "signature": "impl Pool",
                        "from_line": 4, "first_line": 4, "last_line": 9}],
        })
    );
    let near = world.cmem(&["unfold", "src/pool.rs", "Pol"]).failed(1);
    assert!(
        near.contains("has no Pol: did you mean Pool") && near.contains("`cmem outline src/pool.rs`"),
        "{near}"
    );
    assert!(world.cmem(&["unfold", "src/pool.rs", "900"]).failed(1).contains("has no 900"));
    // Where no grammar helps, a heading is as good.
    fs::write(world.project().join("conf"), "[one]\n  a\n\n[two]\n  b\n  c\n\n[three]\n  d\n").unwrap();
    let plain = world.cmem(&["unfold", "conf", "[two]"]).ok();
    assert!(
        plain.starts_with("no items of a language here") && plain.ends_with("line [two]\n[two]\n  b\n  c\n"),
        "{plain}"
    );
}

#[test]
fn an_item_of_any_size_is_shown_in_part() {
    let world = World::new();
    fs::write(world.project().join("min.js"), "function a(b){return b}".repeat(200_000)).unwrap();
    fs::write(
        world.project().join("wide.py"),
        format!("def f():\n{}", format!("    x = '{}'\n", "a".repeat(289)).repeat(300)),
    )
    .unwrap();
    let minified = world.cmem(&["unfold", "min.js", "1"]).ok();
    assert!(minified.len() < 3_000, "{} bytes", minified.len());
    assert!(minified.ends_with("…\n1 line is cut where … stands: it is too long\n"), "{minified}");
    let piece = &world.cmem(&["unfold", "min.js", "1", "--json"]).json()["pieces"][0];
    assert_eq!((&piece["lines_cut"], &piece["lines_left_out"]), (&json!(1), &json!(0)));
    let wide = world.cmem(&["unfold", "wide.py", "f"]).ok();
    assert!(wide.len() < 61_000 && wide.ends_with("\n101 more lines are left out\n"), "{} bytes", wide.len());
    let piece = &world.cmem(&["unfold", "wide.py", "f", "--json"]).json()["pieces"][0];
    assert_eq!((&piece["lines_cut"], &piece["lines_left_out"]), (&json!(0), &json!(101)));
}

#[test]
fn files_that_no_grammar_can_be_used_on_are_counted() {
    let world = project();
    let write = |name: &str, text: String| fs::write(world.project().join(name), text).unwrap();
    write("min.js", "function a(b){return b}".repeat(2_000));
    write("deep.yaml", (0..127).map(|n| format!("{0}k:\n{0}-\n", " ".repeat(n))).collect());
    write("large.ts", "export const a = 1;\n".repeat(60_000));
    write("empty.rs", String::new());
    let said = "3 files could not be read: too large, minified, nested too deeply or too slow to parse\n";
    let listed = world.cmem(&["outline"]).ok();
    assert!(listed.contains("src/pool.rs") && listed.ends_with(said), "{listed}");
    assert!(world.cmem(&["outline", "--search", "pool"]).ok().ends_with(said));
    for args in [&["outline", ".", "--json"][..], &["outline", "--search", "nothing", "--json"]] {
        let told = world.cmem(args).json();
        assert_eq!((&told["files_unread"], &told["is_cut"]), (&json!(3), &json!(false)));
    }
    fs::remove_file(world.project().join("min.js")).unwrap();
    fs::remove_file(world.project().join("large.ts")).unwrap();
    assert!(world.cmem(&["outline"]).ok().contains("1 file could not be read: "));
}

#[test]
fn every_file_has_an_outline_that_says_what_it_is() {
    let world = World::new();
    let write = |name: &str, bytes: &[u8]| fs::write(world.project().join(name), bytes).unwrap();
    let plain = |name: &str| {
        let text = world.cmem(&["outline", name]).ok();
        let outline: Value = world.cmem(&["outline", name, "--json"]).json();
        assert_eq!(outline["file"], name);
        assert!(text.len() < 60_000, "{name}: {} bytes", text.len());
        (outline["plain"].clone(), text, outline)
    };
    write("empty.rs", b"");
    write("bom.rs", b"\xef\xbb\xbffn a() {}\r\n\r\nfn b() {}\r\n");
    write("latin.py", b"# caf\xe9\ndef f\xe9(): pass\ndef g(): pass\n");
    write("binary.rs", b"fn a() {}\0\x01\x02");
    write("unknown.conf", b"server {\n  listen 80\n}\nclient {\n  x\n}\nend {\n  y\n}\n");
    write("min.js", "function a(b){return b}".repeat(2_000).as_bytes());
    write("large.ts", "export const a = 1;\n".repeat(300_000).as_bytes());
    write("comments.rs", b"// nothing\n\n// at all\n");
    write("many.rs", (0..20_000).map(|n| format!("fn f{n}() {{}}\n")).collect::<String>().as_bytes());
    write("broken.go", b"package a\n\nfunc Good() int { return 1 }\n\nfunc Bad( {{{ ]\n\nfunc After() {}\n");
    write("deep.json", "[".repeat(100_000).as_bytes());
    let nested: String = (0..600).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    write("deep.yaml", nested.as_bytes());
    write("evil.rs", "fn a\u{1b}[2J() {}\n/* \u{202e} */ fn b\u{7}() {}\nfn c() {}\n".as_bytes());
    for (name, why, said) in [
        ("empty.rs", json!("empty"), "nothing in it"),
        ("binary.rs", json!("binary"), "no text: 12 bytes"),
        ("unknown.conf", json!("unknown_language"), "no grammar for this kind of file: these are only lines"),
        ("min.js", json!("minified"), "too long to be written by hand"),
        ("large.ts", json!("too_large"), "too large to parse (6000000 bytes)"),
        ("deep.yaml", json!("too_deep"), "nested too deeply to parse"),
        ("comments.rs", json!("nothing_found"), "the grammar found nothing to list"),
        ("many.rs", json!(null), "19700 more are left out"),
        ("broken.go", json!(null), "parse error in lines 5"),
        ("bom.rs", json!(null), "bom.rs (rust, 3 lines)\n1  fn a()\n3  fn b()\n"),
        ("latin.py", json!(null), "3  def g()"),
    ] {
        let (plain, text, _) = plain(name);
        assert_eq!(plain, why, "{name}");
        assert!(text.contains(said), "{name}: {text}");
    }
    let (_, broken, outline) = plain("broken.go");
    assert!(broken.contains("func Good() int"), "{broken}");
    assert_eq!(outline["errors"][0][0], 5);
    let (.., many) = plain("many.rs");
    assert_eq!((many["items"].as_array().unwrap().len(), &many["left_out"]), (300, &json!(19_700)));
    assert!(world.cmem(&["unfold", "many.rs", "f19999"]).ok().contains("fn f19999() {}"));
    let _ = plain("deep.json");
    let (_, evil, _) = plain("evil.rs");
    assert!(!evil.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'), "{evil:?}");
    let unfolded = world.cmem(&["unfold", "evil.rs", "1"]).ok();
    assert!(!unfolded.contains('\u{1b}'), "{unfolded:?}");
    assert!(world.cmem(&["unfold", "binary.rs", "a"]).failed(1).contains("is no text: name a file of text"));
    assert!(world.cmem(&["unfold", "empty.rs", "a"]).failed(1).contains("has no a"));
}

#[test]
fn what_cannot_be_read_is_named() {
    let world = project();
    for command in [&["outline", "no.rs"][..], &["unfold", "no.rs", "x"]] {
        let said = world.cmem(command).failed(1);
        assert!(
            said.contains(&format!("cmem: {}: no.rs does not exist: check the path", command[0])),
            "{said}"
        );
    }
    for command in [&["outline", ""][..], &["outline", "", "--search", "x"], &["unfold", "", "x"]] {
        let said = world.cmem(command).failed(2);
        assert!(said.contains("the path is empty: name a file"), "{said}");
    }
    assert!(world.cmem(&["unfold", "src", "x"]).failed(1).contains("src is a directory: name a file in it"));
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.project().join("pipe.rs"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert!(world.cmem(&["outline", "pipe.rs"]).failed(1).contains("is no regular file"));
    let secret = world.project().join("secret.rs");
    fs::write(&secret, "fn a() {}").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&secret).is_err() {
        assert!(world.cmem(&["outline", "secret.rs"]).failed(1).contains("check the file's permissions"));
    }
    assert!(!world.data().exists(), "an outline needs no data directory");
}
