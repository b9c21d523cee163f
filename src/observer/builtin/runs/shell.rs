//! What a shell command is for, by its words.

use crate::observer::text::{one_line, shorten};

/// What a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Test,
    Build,
    Commit,
    /// It only looks.
    Look,
    Other,
}

/// A command as it is shown and compared.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Described {
    pub(super) shown: String,
    pub(super) key: String,
    pub(super) purpose: Purpose,
    /// The exit code is not that of the part that matters.
    pub(super) masks_exit: bool,
}

/// Programs that only look; with a subcommand where the program can do more.
static LOOKS: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "grep",
    "rg",
    "ag",
    "find",
    "fd",
    "wc",
    "pwd",
    "which",
    "type",
    "echo",
    "printf",
    "tree",
    "stat",
    "file",
    "du",
    "df",
    "ps",
    "env",
    "printenv",
    "date",
    "whoami",
    "uname",
    "jq",
    "yq",
    "diff",
    "sort",
    "uniq",
    "cut",
    "awk",
    "less",
    "more",
    "xxd",
    "od",
    "test",
    "[",
    "true",
    "false",
    "sleep",
    "cd",
    "export",
    "set",
    "source",
    ".",
    "nl",
    "column",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "history",
    "man",
    "tee",
    "git status",
    "git log",
    "git diff",
    "git show",
    "git branch",
    "git blame",
    "git ls-files",
    "git rev-parse",
    "git remote",
    "git stash list",
    "git grep",
    "git describe",
    "git fetch",
    "git add",
    "gh pr view",
    "gh issue view",
    "gh run view",
    "gh pr list",
    "gh issue list",
    "docker ps",
    "docker logs",
    "docker images",
    "kubectl get",
    "kubectl describe",
    "kubectl logs",
    "npm ls",
    "npm view",
    "cargo tree",
    "cargo metadata",
    "pip show",
    "pip list",
    "sed -n",
    "mkdir",
    "wait",
    "seq",
    "sqlite3",
];

static TESTS: &[&str] = &[
    "cargo test",
    "cargo nextest",
    "go test",
    "pytest",
    "python -m pytest",
    "python3 -m pytest",
    "python -m unittest",
    "python3 -m unittest",
    "npm test",
    "npm t",
    "npm run test",
    "pnpm test",
    "pnpm run test",
    "yarn test",
    "yarn run test",
    "bun test",
    "bun run test",
    "jest",
    "npx jest",
    "vitest",
    "npx vitest",
    "mocha",
    "npx mocha",
    "npx playwright",
    "mvn test",
    "mvn verify",
    "./mvnw test",
    "gradle test",
    "./gradlew test",
    "rspec",
    "bundle exec rspec",
    "rake test",
    "rails test",
    "phpunit",
    "vendor/bin/phpunit",
    "dotnet test",
    "ctest",
    "make test",
    "make check",
    "just test",
    "tox",
    "nox",
    "deno test",
    "swift test",
    "mix test",
    "node --test",
    "uv run pytest",
    "poetry run pytest",
    "zig test",
];

static BUILDS: &[&str] = &[
    "cargo build",
    "cargo check",
    "cargo clippy",
    "cargo fmt",
    "go build",
    "go vet",
    "npm run build",
    "npm run lint",
    "npm run typecheck",
    "npm run check",
    "pnpm build",
    "pnpm lint",
    "pnpm run build",
    "yarn build",
    "yarn lint",
    "tsc",
    "npx tsc",
    "eslint",
    "npx eslint",
    "ruff",
    "mypy",
    "make",
    "just",
    "mvn compile",
    "mvn package",
    "gradle build",
    "./gradlew build",
    "docker build",
    "cmake",
    "dotnet build",
    "swift build",
    "ninja",
    "bazel build",
    "uv run mypy",
    "uv run ruff",
    "pre-commit",
];

/// Reads a command.
pub(super) fn describe(command: &str) -> Described {
    let segments = segments(command);
    let words: Vec<Vec<&str>> = segments.iter().map(|(_, text)| plain_words(text)).collect();
    let first = |purpose: Purpose, table: &'static [&'static str]| {
        words
            .iter()
            .enumerate()
            .find_map(|(at, words)| Some((at, purpose, *table.iter().find(|known| begins(words, known))?)))
    };
    let commit = words.iter().position(|words| begins(words, "git commit"));
    let found = first(Purpose::Test, TESTS).or_else(|| first(Purpose::Build, BUILDS));
    let (at, purpose, runner) = match (commit, found) {
        (Some(at), _) => (at, Purpose::Commit, ""),
        (None, Some(found)) => found,
        (None, None) => {
            let acts = words
                .iter()
                .position(|words| !words.is_empty() && !LOOKS.iter().any(|known| begins(words, known)));
            match acts {
                Some(at) => (at, Purpose::Other, ""),
                None => (words.iter().position(|words| !words.is_empty()).unwrap_or(0), Purpose::Look, ""),
            }
        }
    };
    let (join, text) = segments.get(at).copied().unwrap_or(("", command));
    let shown = one_line(text).replace('`', "'");
    let shown = shown.trim_end_matches("2>&1").trim_end();
    let key = if runner.is_empty() { shown.to_owned() } else { runner.to_owned() };
    let masks_exit = segments.len() > at + 1 && matches!(join, "|" | ";" | "||" | "\n");
    Described { shown: shorten(shown, 80), key, purpose, masks_exit }
}

/// The parts between `&&`, `||`, `;`, `|` and line ends outside quotes, each with what follows it.
fn segments(command: &str) -> Vec<(&str, &str)> {
    let bytes = command.as_bytes();
    let mut parts = Vec::new();
    let (mut start, mut at, mut quote) = (0, 0, None);
    while let Some(byte) = bytes.get(at) {
        let pair = bytes.get(at..at + 2).unwrap_or_default();
        let join = match (quote, *byte) {
            (Some(open), byte) if byte == open => {
                quote = None;
                ""
            }
            (Some(_), b'\\') => {
                at += 1;
                ""
            }
            (Some(_), _) => "",
            (None, b'\'' | b'"') => {
                quote = Some(*byte);
                ""
            }
            (None, b'\\') => {
                at += 1;
                ""
            }
            (None, b'<') if pair == b"<<" => break,
            (None, b'&') if pair == b"&&" => "&&",
            (None, b'|') if pair == b"||" => "||",
            (None, b'|') => "|",
            (None, b';') => ";",
            (None, b'\n') => "\n",
            _ => "",
        };
        if join.is_empty() {
            at += 1;
            continue;
        }
        push(&mut parts, join, command.get(start..at));
        at += join.len();
        start = at;
    }
    let rest = command.get(start..).unwrap_or_default();
    push(&mut parts, "", rest.split("<<").next());
    parts
}

fn push<'a>(parts: &mut Vec<(&'a str, &'a str)>, join: &'static str, text: Option<&'a str>) {
    let text = text.unwrap_or_default().trim();
    if !text.is_empty() && !text.starts_with('#') {
        parts.push((join, text));
    }
}

/// The words without assignments and without programs that only start another.
fn plain_words(text: &str) -> Vec<&str> {
    let is_assignment = |word: &&str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
    };
    let mut words = text.trim_start_matches(['(', '{', ' ']).split_whitespace().peekable();
    loop {
        match words.peek() {
            Some(word)
                if is_assignment(word)
                    || matches!(*word, "sudo" | "time" | "env" | "exec" | "nice" | "command") =>
            {
                words.next();
            }
            Some(&"timeout") => {
                words.next();
                words.next();
            }
            _ => return words.collect(),
        }
    }
}

fn begins(words: &[&str], known: &str) -> bool {
    let mut words = words.iter();
    known.split(' ').all(|wanted| {
        // Options may stand between: `git -C dir commit`, `cargo --quiet test`.
        match words.next() {
            Some(word) if *word == wanted => true,
            Some(&"-C" | &"-c") => {
                words.next();
                words.next().is_some_and(|word| *word == wanted)
            }
            Some(word) if word.starts_with('+') || (word.starts_with('-') && !wanted.starts_with('-')) => {
                words.next().is_some_and(|word| *word == wanted)
            }
            _ => false,
        }
    })
}

/// The subject that a `git commit` command carries.
pub(super) fn commit_subject(command: &str) -> Option<String> {
    let rest = &command[command.find("git commit").or_else(|| command.find("commit"))?..];
    if let Some((_, after)) = rest.split_once("<<") {
        let line = after.lines().nth(1)?.trim();
        return (!line.is_empty()).then(|| shorten(line, 160));
    }
    let at = ["-m ", "-am ", "--message ", "--message=", "-m"]
        .iter()
        .find_map(|flag| Some(rest.find(flag)? + flag.len()))?;
    let text = rest[at..].trim_start();
    let subject = match text.chars().next()? {
        quote @ ('"' | '\'') => text[1..].split(quote).next()?,
        _ => text.split_whitespace().next()?,
    };
    let line = subject.lines().next()?.trim();
    (!line.is_empty()).then(|| shorten(line, 160))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn commands_are_understood() {
        for (command, shown, purpose, masks) in [
            ("cargo test -p cmem", "cargo test -p cmem", Purpose::Test, false),
            (
                "cd /x && RUST_LOG=1 cargo +nightly test 2>&1 | tail -5",
                "RUST_LOG=1 cargo +nightly test",
                Purpose::Test,
                true,
            ),
            ("timeout 60 npm test", "timeout 60 npm test", Purpose::Test, false),
            ("git -C /x commit -m 'a; b'", "git -C /x commit -m 'a; b'", Purpose::Commit, false),
            ("ls | head; cat x", "ls", Purpose::Look, true),
            ("python3 - <<'E'\nprint('cargo test')\nE", "python3 -", Purpose::Other, false),
            ("make -j8 && make install", "make -j8", Purpose::Build, false),
            ("echo 'cargo test'", "echo 'cargo test'", Purpose::Look, false),
            ("# note\nrm -rf build", "rm -rf build", Purpose::Other, false),
            ("", "", Purpose::Look, false),
        ] {
            let found = describe(command);
            assert_eq!(
                (found.shown.as_str(), found.purpose, found.masks_exit),
                (shown, purpose, masks),
                "{command}"
            );
        }
    }

    proptest! {
        #[test]
        fn never_panics(command in "(git commit -m|cargo test|<<|\\\\|'|\"|&&| |\\||é|\\PC){0,20}") {
            describe(&command);
            commit_subject(&command);
        }
    }
}
