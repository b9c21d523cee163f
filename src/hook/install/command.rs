//! The command line of a hook entry.

use std::path::Path;

use crate::model::Platform;

/// The shell command that calls `program` for an event. Clients before 2.1.197 run it through the shell and know no
/// other form.
pub(super) fn hook_command(program: &str, event: &str) -> String {
    format!("{} hook {event}", quoted(program))
}

/// The same for another agent's event.
pub(super) fn agent_command(program: &str, platform: Platform, event: &str) -> String {
    format!("{} hook --agent {platform} {event}", quoted(program))
}

/// In single quotes, within which a POSIX shell takes everything literally; a quote itself is put between two such
/// parts (POSIX.1-2024, Shell Command Language, 2.2).
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The program of a command that runs `cmem hook`, whatever its path; `None` for any other command.
/// `also` is a further path that counts as cmem: a binary may have another name.
pub(super) fn own_program(command: &str, also: Option<&str>) -> Option<String> {
    let words = words(command);
    let mut words = words.iter().skip_while(|word| is_assignment(word));
    let program = words.next()?;
    let name = Path::new(program).file_name()?.to_str()?;
    let is_cmem = matches!(name, "cmem" | "cmem.exe") || Some(program.as_str()) == also;
    (is_cmem && words.any(|word| word == "hook")).then(|| program.clone())
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Words as a shell splits them, without expansions.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, space) if space.is_whitespace() => words.extend(word.take()),
            (_, other) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn own_commands_and_others() {
        for command in [
            "'/a b/cmem' hook Stop",
            "cmem hook",
            "\"/x/cmem\" hook PostToolUse",
            "/x/cmem --data-dir /d hook Stop",
            "CMEM_DATA_DIR=/d /x/cmem hook Stop",
            "/opt/my\\ tools/cmem hook Stop",
        ] {
            assert!(own_program(command, None).is_some(), "{command}");
        }
        for command in
            ["", "cmem status", "echo cmem hook", "/x/cmemory hook Stop", "cmem-hook", "hook cmem", "A=1"]
        {
            assert_eq!(own_program(command, None), None, "{command}");
        }
        assert_eq!(
            own_program("/x/cmem-0.2 hook Stop", Some("/x/cmem-0.2")),
            Some(String::from("/x/cmem-0.2"))
        );
    }

    #[test]
    fn a_shell_reads_the_path_back() {
        let path = "/tmp/it's \"odd\" $HOME `x` \\ ü/cmem";
        let script = format!("printf %s {}", quoted(path));
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), path);
    }

    proptest! {
        #[test]
        fn what_is_written_is_recognised(folder in "[ -~é]{0,20}") {
            let program = format!("/{}/cmem", folder.replace('/', "_"));
            prop_assert_eq!(own_program(&hook_command(&program, "Stop"), None), Some(program));
        }
    }
}
