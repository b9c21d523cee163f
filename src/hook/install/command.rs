//! The command line of a hook entry.

use std::path::{Path, PathBuf};

use crate::hook::words::{Word, after_options, words};
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

/// Programs that run another one: what they start may be cmem.
const WRAPPERS: [&str; 9] =
    ["env", "nice", "ionice", "nohup", "exec", "command", "setsid", "time", "timeout"];
/// What ends a command in the shell, where it stands alone.
const ENDS: [&str; 5] = [";", "&", "&&", "|", "||"];

/// The program of a command that runs `cmem hook`, whatever its path; `None` for any other command.
/// `also` is a further path that counts as cmem: a binary may have another name.
pub(super) fn own_program(command: &str, also: Option<&str>) -> Option<String> {
    own_word(command, also).map(|word| word.text)
}

/// What stands before and behind the program in such a command.
pub(super) fn around_program<'a>(command: &'a str, also: Option<&str>) -> Option<(&'a str, &'a str)> {
    let Word { place, .. } = own_word(command, also)?;
    Some((&command[..place.start], &command[place.end..]))
}

/// The same command with `program` in the place of its own; `None` for a command that does not run `cmem hook`.
pub(super) fn with_program(command: &str, also: Option<&str>, program: &str) -> Option<String> {
    let (before, after) = around_program(command, also)?;
    Some(format!("{before}{}{after}", quoted(program)))
}

/// The program that such a command names by an absolute path where there is no file.
pub fn missing_program(command: &str) -> Option<PathBuf> {
    let path = PathBuf::from(own_program(command, None)?);
    (path.is_absolute() && !path.is_file()).then_some(path)
}

/// Whether a program is cmem: by its name, or at the further path that counts as it.
pub(super) fn names_cmem(program: &str, also: Option<&str>) -> bool {
    let name = Path::new(program).file_name().and_then(|name| name.to_str());
    matches!(name, Some("cmem" | "cmem.exe")) || Some(program) == also
}

/// The word that names cmem, if what it is to do is `hook`.
fn own_word(command: &str, also: Option<&str>) -> Option<Word> {
    let mut words = words(command, &[]);
    words.truncate(words.iter().position(|word| ENDS.contains(&word.text.as_str())).unwrap_or(words.len()));
    let names_cmem = |word: &Word| names_cmem(&word.text, also);
    let first = words.iter().position(|word| !is_assignment(&word.text))?;
    let at = match words[first].text.rsplit('/').next() {
        Some(name) if WRAPPERS.contains(&name) => first + words[first..].iter().position(names_cmem)?,
        _ => first,
    };
    let is_hook = after_options(&words[at + 1..])?.0 == "hook";
    (is_hook && names_cmem(&words[at])).then(|| words.swap_remove(at))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
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
            "/x/cmem --json --data-dir=/d hook Stop",
            "nice -n 5 '/x/cmem' hook Stop",
            "A=1 /usr/bin/env B=2 /x/cmem hook Stop",
        ] {
            assert!(own_program(command, None).is_some(), "{command}");
        }
        for command in [
            "",
            "cmem",
            "cmem status",
            "echo cmem hook",
            "/x/cmemory hook Stop",
            "cmem-hook",
            "hook cmem",
            "A=1",
            "nice",
            "nice true && cmem hook Stop",
            "\"/x/cmem report --since 1d > /tmp/r && notify hook done\"",
            "/x/cmem report --since 1d > /tmp/r && notify hook done",
            "cmem search hook > /tmp/x",
            "cmem --data-dir hook status",
        ] {
            assert_eq!(own_program(command, None), None, "{command}");
        }
        assert_eq!(
            own_program("/x/cmem-0.2 hook Stop", Some("/x/cmem-0.2")),
            Some(String::from("/x/cmem-0.2"))
        );
    }

    #[test]
    fn only_the_program_of_a_command_is_replaced() {
        for (command, replaced) in [
            ("'/old/cmem' hook Stop", "'/it'\\''s/cmem' hook Stop"),
            (
                "A='x y' \"/o ld\"/cmem --data-dir /d hook Stop 2>/dev/null",
                "A='x y' '/it'\\''s/cmem' --data-dir /d hook Stop 2>/dev/null",
            ),
            ("  nice cmem hook  Stop ", "  nice '/it'\\''s/cmem' hook  Stop "),
        ] {
            assert_eq!(with_program(command, None, "/it's/cmem").as_deref(), Some(replaced));
        }
        assert_eq!(with_program("cmem search hook", None, "/x/cmem"), None);
    }

    #[test]
    fn a_program_that_is_gone_is_named() {
        let here = std::env::current_exe().unwrap();
        let command = format!("{} hook Stop", quoted(here.to_str().unwrap()));
        assert_eq!(own_program(&command, here.to_str()).map(PathBuf::from), Some(here));
        assert_eq!(missing_program("A=1 '/no/such/cmem' hook Stop"), Some(PathBuf::from("/no/such/cmem")));
        for command in ["cmem hook Stop", "/no/such/cmem status", "/no/such/other hook"] {
            assert_eq!(missing_program(command), None, "{command}");
        }
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
