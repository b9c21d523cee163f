//! Which language a file is in: by its name, or by the interpreter that its first line names.

use std::path::Path;

/// Has no grammar: the headings are all there is to it.
pub(super) const MARKDOWN: &str = "markdown";

/// Name, endings of file names, whole file names.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const LANGUAGES: [Row; 24] = [
    ("rust", &["rs"], &[]),
    ("python", &["py", "pyi", "pyw"], &["SConstruct", "wscript"]),
    ("typescript", &["ts", "mts", "cts"], &[]),
    ("tsx", &["tsx"], &[]),
    ("javascript", &["js", "jsx", "mjs", "cjs", "es6"], &["Jakefile"]),
    ("go", &["go"], &[]),
    ("java", &["java"], &[]),
    ("kotlin", &["kt", "kts"], &[]),
    ("c", &["c", "h"], &[]),
    (
        "cpp",
        &["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "inl", "ipp", "tpp", "ino", "cu", "cuh"],
        &[],
    ),
    ("csharp", &["cs", "csx"], &[]),
    (
        "ruby",
        &["rb", "rake", "gemspec", "ru"],
        &["Gemfile", "Rakefile", "Vagrantfile", "Podfile", "Fastfile"],
    ),
    ("php", &["php", "phtml", "php5", "inc"], &[]),
    ("swift", &["swift"], &[]),
    ("scala", &["scala", "sc", "sbt"], &[]),
    (
        "bash",
        &["sh", "bash", "zsh", "ksh", "bats"],
        &[".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD"],
    ),
    ("lua", &["lua"], &[]),
    ("sql", &["sql", "ddl"], &[]),
    ("html", &["html", "htm", "xhtml"], &[]),
    ("css", &["css"], &[]),
    (
        "json",
        &["json", "webmanifest", "geojson", "jsonc"],
        &[".babelrc", ".eslintrc", ".prettierrc", "composer.lock"],
    ),
    ("yaml", &["yaml", "yml"], &[".clang-format"]),
    ("toml", &["toml"], &["Cargo.lock", "poetry.lock", "uv.lock", "Pipfile"]),
    (MARKDOWN, &["md", "markdown", "mdx", "mkd"], &[]),
];

/// First lines of scripts.
const INTERPRETERS: [(&str, &str); 10] = [
    ("bash", "bash"),
    ("zsh", "bash"),
    ("ksh", "bash"),
    ("dash", "bash"),
    ("sh", "bash"),
    ("python", "python"),
    ("node", "javascript"),
    ("ruby", "ruby"),
    ("lua", "lua"),
    ("php", "php"),
];

/// What only C++ has at the beginning of a line of a header.
const CPP_ONLY: [&str; 6] = ["namespace ", "template", "class ", "public:", "private:", "using "];

/// The language of a file.
pub(super) fn of(path: &Path, text: &str) -> Option<&'static str> {
    let language = by_name(path).or_else(|| by_interpreter(text))?;
    let is_header = path.extension().is_some_and(|ending| ending == "h");
    let is_cpp = || text.lines().any(|line| CPP_ONLY.iter().any(|word| line.trim_start().starts_with(word)));
    Some(if is_header && is_cpp() { "cpp" } else { language })
}

/// Whether the name of a file tells that more than its lines can be listed.
pub fn has_grammar(path: &Path) -> bool {
    by_name(path).is_some_and(|name| cfg!(feature = "grammars") || name == MARKDOWN)
}

/// Whether the name of a file tells that it holds values rather than definitions.
pub fn is_data(path: &Path) -> bool {
    by_name(path).is_some_and(|name| ["json", "yaml", "toml"].contains(&name))
}

/// How many there are.
#[cfg(all(test, feature = "grammars"))]
pub(super) fn count() -> usize {
    LANGUAGES.len()
}

/// Whether what it defines is code: no keys and no headings.
pub(super) fn is_code(language: &str) -> bool {
    !["html", "css", "json", "yaml", "toml", MARKDOWN].contains(&language)
}

fn by_name(path: &Path) -> Option<&'static str> {
    let file = path.file_name()?.to_str()?;
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    let is = |(_, endings, files): &&Row| {
        files.contains(&file) || ending.as_deref().is_some_and(|ending| endings.contains(&ending))
    };
    LANGUAGES.iter().find(is).map(|(name, ..)| *name)
}

/// `#!/usr/bin/env -S python3 -u` is Python.
fn by_interpreter(text: &str) -> Option<&'static str> {
    let line = text.lines().next()?.strip_prefix("#!")?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = words.find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
    let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.iter().find(|(name, _)| *name == program).map(|(_, language)| *language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_first_lines_tell() {
        for (name, text, language) in [
            ("src/a.rs", "", Some("rust")),
            ("A.PY", "", Some("python")),
            ("Rakefile", "", Some("ruby")),
            ("a.h", "int f(void);\n", Some("c")),
            ("a.h", "#pragma once\nnamespace a {\n}\n", Some("cpp")),
            ("run", "#!/usr/bin/env -S python3.12 -u\n", Some("python")),
            ("run", "#!/bin/sh\n", Some("bash")),
            ("run", "#!/usr/bin/perl\n", None),
            ("notes.txt", "# heading\n", None),
            ("", "", None),
        ] {
            assert_eq!(of(Path::new(name), text), language, "{name} {text}");
        }
        assert!(has_grammar(Path::new("a.md")) && !has_grammar(Path::new("a.txt")));
    }

    #[test]
    fn no_name_stands_for_two_languages() {
        let mut seen = std::collections::HashSet::new();
        for (_, endings, files) in LANGUAGES {
            assert!(endings.iter().chain(files).all(|name| seen.insert(*name)), "{endings:?} {files:?}");
        }
    }
}
