//! Just enough of a shell's grammar to know which programs a plain command line runs.

use std::iter::Peekable;
use std::str::Chars;

/// One program call: the words, quotes removed. Never empty.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call(Vec<String>);

impl Call {
    /// The program's name without its folder.
    pub(super) fn program(&self) -> &str {
        let word = self.0.first().map(String::as_str).unwrap_or_default();
        word.rsplit('/').next().unwrap_or(word)
    }

    pub(super) fn args(&self) -> &[String] {
        self.0.get(1..).unwrap_or_default()
    }
}

/// The calls of a command line, or `None` when it holds anything beyond words, quotes, `&&`, `||`, `;`, `|`, line
/// ends, leading assignments and output sent to `/dev/null`: substitutions, redirections to files, blocks,
/// background jobs.
pub(super) fn parse(command: &str) -> Option<Vec<Call>> {
    let mut letters = command.chars().peekable();
    let mut calls = Vec::new();
    let mut words: Vec<String> = Vec::new();
    loop {
        match letters.peek().copied() {
            None => break,
            Some('\n' | ';') => {
                letters.next();
                finish(&mut words, &mut calls);
            }
            Some(' ' | '\t' | '\r') => drop(letters.next()),
            Some(sign @ ('&' | '|')) => {
                letters.next();
                let doubled = letters.next_if_eq(&sign).is_some();
                if sign == '&' && !doubled {
                    return None;
                }
                finish(&mut words, &mut calls);
            }
            Some(_) => {
                let (word, quoted) = word(&mut letters)?;
                match quoted {
                    false if is_silenced(&word) => {}
                    false if is_special(&word, words.is_empty()) => return None,
                    false if words.is_empty() && is_assignment(&word) => {}
                    _ => words.push(word),
                }
            }
        }
    }
    finish(&mut words, &mut calls);
    (!calls.is_empty()).then_some(calls)
}

fn finish(words: &mut Vec<String>, calls: &mut Vec<Call>) {
    if !words.is_empty() {
        calls.push(Call(std::mem::take(words)));
    }
}

/// One word and whether any part of it was quoted. `&` inside a redirection (`2>&1`) belongs to the word.
fn word(letters: &mut Peekable<Chars<'_>>) -> Option<(String, bool)> {
    let (mut word, mut quoted) = (String::new(), false);
    while let Some(&letter) = letters.peek() {
        match letter {
            ' ' | '\t' | '\r' | '\n' | ';' | '|' => break,
            '&' if !word.ends_with('>') => break,
            '`' | '(' | ')' | '<' | '\\' | '#' if !quoted || letter != '#' => return None,
            '$' => return None,
            '\'' => {
                letters.next();
                quoted = true;
                loop {
                    match letters.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                letters.next();
                quoted = true;
                loop {
                    match letters.next()? {
                        '"' => break,
                        '$' | '`' | '\\' => return None,
                        inner => word.push(inner),
                    }
                }
            }
            _ => {
                word.push(letter);
                letters.next();
            }
        }
    }
    Some((word, quoted))
}

fn is_silenced(word: &str) -> bool {
    matches!(word, "2>&1" | "1>&2" | ">/dev/null" | "1>/dev/null" | "2>/dev/null" | ">&2")
}

/// Words of the grammar, and redirections to anywhere else.
fn is_special(word: &str, first: bool) -> bool {
    const RESERVED: [&str; 14] = [
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
        "function", "!",
    ];
    word.contains('>') || (first && (RESERVED.contains(&word) || word.starts_with(['{', '}', '['])))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn calls(command: &str) -> Option<Vec<Vec<String>>> {
        parse(command).map(|calls| calls.into_iter().map(|call| call.0).collect())
    }

    #[test]
    fn plain_command_lines() {
        for (command, expected) in [
            ("ls", "ls"),
            ("cd /a && ls -la | head -5; pwd\n/usr/bin/true", "cd,/a|ls,-la|head,-5|pwd|/usr/bin/true"),
            ("FOO=1 BAR=x cmem search 'two words' 2>&1", "cmem,search,two words"),
            ("ls \"a b\" 2>/dev/null || true", "ls,a b|true"),
            ("grep 'a>b' f", "grep,a>b,f"),
            ("echo ''", "echo,"),
        ] {
            let expected: Vec<Vec<String>> =
                expected.split('|').map(|call| call.split(',').map(str::to_owned).collect()).collect();
            assert_eq!(calls(command), Some(expected), "{command}");
        }
        assert_eq!(parse("/opt/x/bin/cmem get 1").unwrap()[0].program(), "cmem");
    }

    #[test]
    fn anything_else_is_not_understood() {
        for command in [
            "",
            "  ",
            ";",
            "ls > out.txt",
            "ls >> out",
            "cat < in",
            "ls $(pwd)",
            "ls `pwd`",
            "ls $HOME",
            "sleep 5 &",
            "(ls)",
            "if true; then ls; fi",
            "for x in a; do ls; done",
            "ls \"$X\"",
            "ls 'open",
            "a \\; b",
            "ls # why",
            "ls &> f",
            "{ ls; }",
            "[ -f x ]",
            "! ls",
        ] {
            assert_eq!(calls(command), None, "{command}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_never_gives_an_empty_call(command in "[ -~\\n]{0,40}") {
            for call in calls(&command).unwrap_or_default() {
                prop_assert!(!call.is_empty());
            }
        }
    }
}
