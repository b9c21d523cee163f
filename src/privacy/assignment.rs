//! Whether `name = value` gives a credential away, or is code, prose or a count.

use super::rules::CREDENTIAL_WORDS;
use super::secrets::PLACEHOLDER;

/// The part of an assignment's value that is secret, as a byte range of `value`; `None` when there is none.
/// `value` begins after the separator and reaches to a closing quote or the end of the line.
pub(super) fn secret_range(name: &str, separator: &str, value: &str) -> Option<std::ops::Range<usize>> {
    let escapes = value.len() - value.trim_start_matches('\\').len();
    let quote = value[escapes..].chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    let closed = quote.is_some_and(|quote| value.len() > escapes + 1 && value.ends_with(quote));
    let range = match quote {
        // An opening quote that nothing closes in this line: the line was cut, all of it is the value.
        Some(_) if !closed => escapes + 1..value.len(),
        Some(_) => {
            let inner = escapes + 1..value.len() - 1;
            // The closing quote of JSON in a string has its own backslashes.
            let text = &value[inner.clone()];
            inner.start..inner.start + text.trim_end_matches('\\').len()
        }
        None => 0..unquoted_end(name, separator, value),
    };
    let secret = &value[range.clone()];
    let plain = quote.is_none();
    let keep = secret.trim().is_empty()
        || secret.contains(PLACEHOLDER)
        || is_placeholder(secret)
        || (plain && (is_code(secret) || names_a_credential(secret)))
        || (plain && is_prose(name, separator, secret));
    (!keep).then_some(range)
}

/// Whether a JSON key names a credential, so that its string is one.
pub(super) fn is_credential_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    CREDENTIAL_WORDS.iter().any(|word| lower.ends_with(word))
        || lower.ends_with("credentials")
        || lower.ends_with("authorization")
}

fn is_password(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["password", "passwd", "passphrase", "pwd"].iter().any(|word| lower.ends_with(word))
}

/// A password after a colon or spaced sign may hold blanks; anything else ends at the next blank.
fn unquoted_end(name: &str, separator: &str, value: &str) -> usize {
    let spaced = separator.contains(':') || separator.ends_with([' ', '\t']);
    let blanks_belong = is_password(name) && spaced && !separator.contains(":=");
    value
        .find(|c: char| matches!(c, ',' | ';' | '&') || (!blanks_belong && c.is_ascii_whitespace()))
        .unwrap_or(value.trim_end().len())
}

fn is_placeholder(secret: &str) -> bool {
    let text = secret.trim();
    text.chars().all(|c| matches!(c, '*' | '.' | 'x' | 'X' | '•' | '-' | '_'))
        || (text.starts_with('<') && text.ends_with('>'))
        || (text.starts_with("${") && text.ends_with('}'))
        || text.starts_with("{{")
}

/// Types, calls, variables: what stands behind the sign in a program.
fn is_code(secret: &str) -> bool {
    const WORDS: &[&str] = &[
        "string",
        "str",
        "&str",
        "bool",
        "boolean",
        "int",
        "number",
        "any",
        "null",
        "none",
        "nil",
        "true",
        "false",
        "undefined",
        "unknown",
        "optional",
        "required",
        "void",
        "bytes",
        "object",
        "char",
        "varchar",
        "text",
        "self",
        "u8",
        "usize",
        "u32",
        "i64",
        "u64",
    ];
    let text = secret.trim().trim_end_matches([')', '}', ']']);
    let first = text.split([' ', '<', '[', '?', '|', '=']).next().unwrap_or_default();
    WORDS.contains(&first.to_ascii_lowercase().as_str())
        || text.starts_with(['$', '&', '*', '(', '[', '{', '<', '%', '@', '|', '=', '!'])
        || text.contains('(')
        || text.contains("::")
        || text.contains("->")
        || [
            "process.env",
            "os.environ",
            "env.",
            "self.",
            "this.",
            "config.",
            "settings.",
            "args.",
            "opts.",
            "options.",
        ]
        .iter()
        .any(|prefix| text.starts_with(prefix))
}

/// `token=access_token`: a variable named after what it holds.
fn names_a_credential(secret: &str) -> bool {
    let text = secret.trim().trim_end_matches([')', '}', ']', '.']);
    let identifier = text.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '-'));
    identifier && is_credential_name(text)
}

/// "Fix the token: refresh it earlier": after a colon only a password may be ordinary words, and counts and
/// flags are no secrets.
fn is_prose(name: &str, separator: &str, secret: &str) -> bool {
    if is_password(name) {
        return false;
    }
    let digits = secret.bytes().filter(u8::is_ascii_digit).count();
    let number = digits == secret.trim().len();
    let tight = separator.contains('=') && !separator.ends_with([' ', '\t']);
    number || (!tight && digits == 0 && secret.len() < 20)
}
