//! The name of what a line defines: function, class, heading, key. By the looks of one line, as a diff shows no
//! more; a line that is not sure to define something defines nothing.

/// What a line defines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Item {
    /// As shown: `fn login`, `class User`, `“Setup”`, `timeout`.
    pub(super) label: String,
    /// The bare name.
    pub(super) name: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Code,
    Prose,
    Colons,
    Equals,
    Json,
    Sql,
    Shell,
    Other,
}

fn family(path: &str) -> Family {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    match extension.as_str() {
        "rs" | "py" | "pyi" | "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "go" | "java" | "kt"
        | "kts" | "swift" | "c" | "h" | "cc" | "cpp" | "hpp" | "cs" | "rb" | "php" | "scala" | "ex"
        | "exs" | "lua" | "dart" | "zig" | "vue" | "svelte" | "proto" | "graphql" | "m" | "pl" => {
            Family::Code
        }
        "md" | "mdx" | "markdown" => Family::Prose,
        "yml" | "yaml" => Family::Colons,
        "toml" | "ini" | "cfg" | "conf" | "properties" | "env" => Family::Equals,
        "json" | "jsonc" | "json5" => Family::Json,
        "sql" => Family::Sql,
        "sh" | "bash" | "zsh" => Family::Shell,
        _ if name.starts_with(".env") => Family::Equals,
        _ => Family::Other,
    }
}

/// What `line` (without its diff prefix) defines in a file of that name.
pub(super) fn defined(path: &str, line: &str) -> Option<Item> {
    let text = line.trim();
    match family(path) {
        Family::Code => code(text, line.len() - line.trim_start().len()),
        Family::Prose => heading(text),
        Family::Colons => {
            let key = text.trim_start_matches("- ");
            let (key, rest) = key.split_once(':')?;
            (rest.is_empty() || rest.starts_with(' ')).then(|| plain_key(key)).flatten()
        }
        Family::Equals => match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(section) => item(text.to_owned(), section.trim_matches(['[', ']']).to_owned()),
            None => plain_key(text.split_once('=')?.0.trim()),
        },
        Family::Json => {
            let (key, rest) = text.strip_prefix('"')?.split_once('"')?;
            rest.trim_start().starts_with(':').then(|| plain_key(key)).flatten()
        }
        Family::Sql => sql(text),
        Family::Shell => {
            let name = text.strip_prefix("function ").unwrap_or(text);
            let (name, _) = name.split_once("()")?;
            identifier(name)
                .filter(|found| *found == name)
                .and_then(|name| item(format!("{name}()"), name.to_owned()))
        }
        Family::Other => None,
    }
}

fn item(label: String, name: String) -> Option<Item> {
    (!name.is_empty() && label.chars().count() <= 80).then_some(Item { label, name })
}

fn plain_key(key: &str) -> Option<Item> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | '/');
    let key = key.trim().trim_matches(['"', '\'']);
    let key = key.strip_prefix("export ").unwrap_or(key);
    if key.is_empty() || key.len() > 60 || !key.chars().all(fits) {
        return None;
    }
    item(key.to_owned(), key.to_owned())
}

fn heading(text: &str) -> Option<Item> {
    let title = text.trim_start_matches('#');
    let level = text.len() - title.len();
    if !(1..=6).contains(&level) || !title.starts_with(' ') {
        return None;
    }
    let title = title.trim().trim_end_matches('#').trim().replace(['`', '*'], "");
    item(format!("“{title}”"), title)
}

fn sql(text: &str) -> Option<Item> {
    let mut words = text.split_whitespace();
    let verb = words.next()?.to_ascii_uppercase();
    if !matches!(verb.as_str(), "CREATE" | "ALTER" | "DROP") {
        return None;
    }
    let skip =
        ["OR", "REPLACE", "UNIQUE", "TEMP", "TEMPORARY", "VIRTUAL", "MATERIALIZED", "IF", "NOT", "EXISTS"];
    let mut rest = words.skip_while(|word| skip.contains(&word.to_ascii_uppercase().as_str()));
    let kind = rest.next()?.to_ascii_lowercase();
    let mut rest = rest.skip_while(|word| skip.contains(&word.to_ascii_uppercase().as_str()));
    let name = rest.next()?.trim_matches(['"', '`', '(', ';']);
    let name = name.split('(').next().unwrap_or(name);
    item(format!("{kind} {name}"), name.to_owned())
}

/// Words that may stand in front of a definition.
static MODIFIERS: &[&str] = &[
    "pub",
    "async",
    "unsafe",
    "extern",
    "export",
    "default",
    "public",
    "private",
    "protected",
    "internal",
    "static",
    "final",
    "abstract",
    "override",
    "virtual",
    "inline",
    "sealed",
    "open",
    "data",
    "suspend",
    "partial",
    "readonly",
    "declare",
    "local",
    "constexpr",
];

/// Words that begin a definition, name after them.
static KEYWORDS: &[&str] = &[
    "fn",
    "def",
    "defp",
    "defmodule",
    "class",
    "function",
    "func",
    "fun",
    "struct",
    "enum",
    "union",
    "trait",
    "interface",
    "type",
    "mod",
    "module",
    "namespace",
    "protocol",
    "extension",
    "record",
    "object",
    "message",
    "service",
    "sub",
    "macro_rules!",
    "const",
    "static",
    "impl",
];

/// Words in front of a parenthesis that are no function names.
static CONTROL: &[&str] = &[
    "if",
    "for",
    "while",
    "switch",
    "match",
    "catch",
    "return",
    "else",
    "function",
    "new",
    "await",
    "throw",
    "super",
    "constructor",
    "with",
    "assert",
    "print",
    "loop",
    "unless",
    "until",
    "when",
    "elif",
    "sizeof",
    "async",
];

fn code(text: &str, indent: usize) -> Option<Item> {
    if text.starts_with("//") || text.starts_with('#') || text.starts_with('*') || text.starts_with("/*") {
        return None;
    }
    if let Some(item) = test_case(text) {
        return Some(item);
    }
    let mut rest = text;
    loop {
        let word = rest.split([' ', '(']).next().unwrap_or_default();
        let constant_fn = word == "const" && rest["const".len()..].trim_start().starts_with("fn ");
        if !(MODIFIERS.contains(&word) || constant_fn)
            || (word == "static" && indent == 0 && text.starts_with("static "))
        {
            break;
        }
        rest = rest[word.len()..].trim_start();
        if word == "pub"
            && let Some(scope) = rest.strip_prefix('(')
        {
            rest = scope.split_once(')')?.1.trim_start();
        } else if word == "extern" && rest.starts_with('"') {
            rest = rest[1..].split_once('"')?.1.trim_start();
        }
    }
    let (word, after) = rest.split_once([' ', '<', '(']).unwrap_or((rest, ""));
    if KEYWORDS.contains(&word) {
        return keyword(word, rest, after, indent);
    }
    constant(text, indent).or_else(|| method(rest, indent))
}

fn keyword(word: &str, rest: &str, after: &str, indent: usize) -> Option<Item> {
    if word == "impl" {
        let subject = rest.split(['{', '\n']).next()?.split(" where ").next()?.trim();
        return item(subject.to_owned(), subject.rsplit(' ').next()?.to_owned());
    }
    let mut after = after.trim_start();
    // Go's receiver: func (s *Server) Close().
    if let (true, Some(receiver)) = (word == "func" && rest.starts_with("func ("), rest.split_once(')')) {
        after = receiver.1.trim_start();
    }
    let after = after.trim_start_matches(['*', '&']);
    let after = after.strip_prefix("mut ").unwrap_or(after);
    let name = identifier(after)?;
    if matches!(word, "const" | "static") && indent > 0 {
        return None;
    }
    let tail = after[name.len()..].trim_start();
    let is_function =
        tail.starts_with("= (") || tail.starts_with("= async") || tail.starts_with("= function");
    let no_definition = word == "type"
        && !(tail.starts_with(['=', '<', '{'])
            || tail.starts_with("struct")
            || tail.starts_with("interface"));
    if no_definition || matches!(name, "of" | "is" | "as" | "in" | "for") {
        return None;
    }
    let label = if is_function { name.to_owned() } else { format!("{} {name}", word.trim_end_matches('!')) };
    item(label, name.to_owned())
}

/// `LIMIT = 5` at the top level of a script.
fn constant(text: &str, indent: usize) -> Option<Item> {
    let name = identifier(text)?;
    let shouted = name.len() > 1 && !name.bytes().any(|b| b.is_ascii_lowercase());
    let rest = text[name.len()..].trim_start();
    let assigned = (rest.starts_with('=') && !rest.starts_with("==")) || rest.starts_with(": ");
    (indent == 0 && shouted && assigned).then(|| item(name.to_owned(), name.to_owned())).flatten()
}

/// `name(args) {` in a class body, or `type name(args) {` in the C family.
fn method(text: &str, indent: usize) -> Option<Item> {
    let open = text.find('(')?;
    let head = text[..open].trim_end();
    if !text.ends_with('{') || !text.contains(')') || head.contains(['=', '.', '"', '\'', ',', ';', '{']) {
        return None;
    }
    let mut words = head.split_whitespace();
    let first = words.next()?;
    let name = head.rsplit([' ', '*', '&']).next()?;
    let lone = words.next().is_none();
    if CONTROL.contains(&first) || CONTROL.contains(&name) || (lone && indent == 0) || first == "}" {
        return None;
    }
    let plain = name.rsplit("::").next()?;
    (identifier(plain) == Some(plain)).then(|| item(format!("{name}()"), plain.to_owned())).flatten()
}

/// `it("does this", …)` and its relatives.
fn test_case(text: &str) -> Option<Item> {
    let (word, rest) = text.split_once('(')?;
    if !matches!(word, "test" | "it" | "describe" | "test.each" | "it.only" | "test.only") {
        return None;
    }
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let (name, _) = rest[1..].split_once(quote)?;
    item(format!("{word} “{name}”"), name.to_owned())
}

/// The identifier at the beginning of a text.
fn identifier(text: &str) -> Option<&str> {
    let end = text
        .char_indices()
        .find(|(_, c)| !(c.is_alphanumeric() || matches!(c, '_' | '$')))
        .map_or(text.len(), |(at, _)| at);
    let name = &text[..end];
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn definitions() {
        for (path, line, label) in [
            ("a.rs", "pub(crate) async fn login(user: &str) -> bool {", "fn login"),
            ("a.rs", "    const fn size() -> usize {", "fn size"),
            ("a.rs", "impl<T: Clone> Iterator for Walk<T> {", "impl<T: Clone> Iterator for Walk<T>"),
            ("a.rs", "pub struct Token<'a> {", "struct Token"),
            ("a.rs", "const LIMIT: usize = 5;", "const LIMIT"),
            ("a.rs", "static mut COUNT: u8 = 0;", "static COUNT"),
            ("a.rs", "macro_rules! bundled {", "macro_rules bundled"),
            ("a.py", "    async def fetch(self):", "def fetch"),
            ("a.py", "class User(Base):", "class User"),
            ("a.py", "MAX_RETRY = 3", "MAX_RETRY"),
            ("a.ts", "export const handler = async (event) => {", "handler"),
            ("a.ts", "export default class App extends X {", "class App"),
            ("a.ts", "export type Id = string;", "type Id"),
            ("a.ts", "  private renderRow(row: Row): string {", "renderRow()"),
            ("a.test.ts", "  it('rejects expired tokens', () => {", "it “rejects expired tokens”"),
            ("a.go", "func (s *Server) Close() error {", "func Close"),
            ("a.go", "type Server struct {", "type Server"),
            ("A.java", "    public static void main(String[] args) {", "main()"),
            ("a.cpp", "int Parser::next(char c) {", "Parser::next()"),
            ("a.kt", "suspend fun load(id: Int): User {", "fun load"),
            ("README.md", "## Set up `cmem`", "“Set up cmem”"),
            ("a.yml", "  timeout: 30", "timeout"),
            ("Cargo.toml", "[dependencies]", "[dependencies]"),
            ("Cargo.toml", "serde = { version = \"1\" }", "serde"),
            ("package.json", "  \"scripts\": {", "scripts"),
            ("m.sql", "CREATE UNIQUE INDEX IF NOT EXISTS users_email ON users(email);", "index users_email"),
            ("m.sql", "create table users (", "table users"),
            ("x.sh", "deploy() {", "deploy()"),
        ] {
            assert_eq!(defined(path, line).map(|item| item.label).as_deref(), Some(label), "{line}");
        }
    }

    #[test]
    fn what_defines_nothing() {
        for (path, line) in [
            ("a.rs", "    let x = login(user);"),
            ("a.rs", "// fn old() {"),
            ("a.rs", "    if ready(x) {"),
            ("a.rs", "    foo.bar(|x| {"),
            ("a.rs", "        match kind(x) {"),
            ("a.py", "    return def_value"),
            ("a.py", "# class X"),
            ("a.ts", "} else if (a) {"),
            ("a.ts", "    const local = 5;"),
            ("a.ts", "  type: string;"),
            ("a.md", "#hashtag"),
            ("a.md", "plain words"),
            ("a.yml", "  - http://x"),
            ("a.txt", "fn x() {"),
            ("a.rs", ""),
            ("", ""),
        ] {
            assert_eq!(defined(path, line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(line in "(pub|const|impl|static|fn|extern|func|it|CREATE|#|\\[|\"|  )?[ (<\"{=:.é]{0,4}\\PC{0,30}[({]?", path in "a\\.(rs|go|ts|md|toml|sql|sh|json|yml|py)") {
            defined(&path, &line);
        }
    }
}
