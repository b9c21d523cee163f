//! The files of the plugin, and of the marketplace around it, as texts.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{MARKETPLACE, NAME};
use crate::hook::agents::CLAUDE_CODE;
use crate::hook::install::command::{hook_command, quoted};

/// Each skill by its name.
const SKILLS: [(&str, &str); 7] = [
    ("mem-search", include_str!("skills/mem-search/SKILL.md")),
    ("remember", include_str!("skills/remember/SKILL.md")),
    ("timeline-report", include_str!("skills/timeline-report/SKILL.md")),
    ("weekly-digest", include_str!("skills/weekly-digest/SKILL.md")),
    ("standup", include_str!("skills/standup/SKILL.md")),
    ("mode-creator", include_str!("skills/mode-creator/SKILL.md")),
    ("adopt-worktree", include_str!("skills/adopt-worktree/SKILL.md")),
];

const README: &str = include_str!("README.md");

/// The marketplace that others can add.
const PUBLISHED: &str = "cmem";
const DESCRIPTION: &str = "Memory across sessions: what was learned is there in the next one";

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    files: Vec<(String, String)>,
    version: String,
}

/// How the plugin finds cmem.
enum Program<'a> {
    /// By the absolute path of its file.
    At(&'a str),
    /// By the PATH of whoever uses the plugin.
    OnPath,
}

impl Bundle {
    /// For this machine: everything names `program`. The version tells its content too, so that the agent takes every
    /// change for an update, also of the path alone.
    pub fn local(program: &str) -> Self {
        let own = env!("CARGO_PKG_VERSION");
        let plain = files(MARKETPLACE, &Program::At(program), own);
        let content = plain.iter().fold(Sha256::new(), |hasher, (path, text)| {
            hasher.chain_update(path).chain_update([0]).chain_update(text).chain_update([0])
        });
        let digest = content.finalize().iter().take(4).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let version = format!("{own}+{digest}");
        Self { files: files(MARKETPLACE, &Program::At(program), &version), version }
    }

    /// For others: everything finds cmem on the PATH.
    pub fn published() -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { files: files(PUBLISHED, &Program::OnPath, &version), version }
    }

    /// Paths, relative to the marketplace, with their texts.
    pub fn files(&self) -> &[(String, String)] {
        &self.files
    }

    /// The version that the agent is told.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The events that the plugin registers: those that every version of the agent knows.
    pub fn events() -> impl Iterator<Item = &'static str> {
        CLAUDE_CODE.events.iter().filter(|event| event.since.is_none()).map(|event| event.name)
    }
}

fn files(marketplace: &str, program: &Program<'_>, version: &str) -> Vec<(String, String)> {
    let author = json!({ "name": "cmem" });
    let market = json!({
        "name": marketplace,
        "owner": author,
        "metadata": { "description": DESCRIPTION },
        "plugins": [{ "name": NAME, "source": "./plugins/cmem", "description": DESCRIPTION, "version": version }],
    });
    let manifest = json!({
        "name": NAME,
        "version": version,
        "description": DESCRIPTION,
        "author": author,
        "license": env!("CARGO_PKG_LICENSE"),
        "keywords": ["memory"],
    });
    let command = match program {
        Program::At(path) => path,
        Program::OnPath => "cmem",
    };
    let servers = json!({ "mcpServers": { "cmem": { "command": command, "args": ["mcp"] } } });
    let mut files = vec![
        (String::from(".claude-plugin/marketplace.json"), text(&market)),
        (String::from("plugins/cmem/.claude-plugin/plugin.json"), text(&manifest)),
        (String::from("plugins/cmem/hooks/hooks.json"), text(&hooks(program))),
        (String::from("plugins/cmem/.mcp.json"), text(&servers)),
        (String::from("plugins/cmem/README.md"), README.to_owned()),
    ];
    files.extend(
        SKILLS.iter().map(|(name, skill)| {
            (format!("plugins/cmem/skills/{name}/SKILL.md"), with_program(skill, program))
        }),
    );
    files
}

fn text(value: &Value) -> String {
    format!("{value:#}\n")
}

fn hooks(program: &Program<'_>) -> Value {
    let mut events = serde_json::Map::new();
    for event in CLAUDE_CODE.events.iter().filter(|event| event.since.is_none()) {
        let command = match program {
            Program::At(path) => hook_command(path, event.name),
            Program::OnPath => on_path(event.name),
        };
        let hook = json!({ "type": "command", "command": command, "timeout": CLAUDE_CODE.timeout_secs });
        let group = match event.matcher {
            Some(tool) => json!({ "matcher": tool, "hooks": [hook] }),
            None => json!({ "hooks": [hook] }),
        };
        events.insert(event.name.to_owned(), json!([group]));
    }
    json!({ "description": DESCRIPTION, "hooks": events })
}

/// Whoever has the plugin and not the program is told at the start of a session, once, and left alone otherwise.
fn on_path(event: &str) -> String {
    let otherwise = match event {
        "SessionStart" => {
            r#"echo '{"systemMessage": "cmem: the program is not on the PATH: nothing is remembered; install it, or disable this plugin"}'"#
        }
        _ => ":",
    };
    format!("if command -v cmem >/dev/null 2>&1; then cmem hook {event}; else {otherwise}; fi")
}

/// A skill is read by a model that types what it sees: each command line begins with the program as a shell takes it.
fn with_program(skill: &str, program: &Program<'_>) -> String {
    let Program::At(path) = program else { return skill.to_owned() };
    let is_plain = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+@".contains(&byte));
    let word = if is_plain { (*path).to_owned() } else { quoted(path) };
    let lines = skill.lines().map(|line| {
        let line = line.replace("`cmem ", &format!("`{word} "));
        match line.trim_start().strip_prefix("cmem ") {
            Some(rest) => format!("{}{word} {rest}", &line[..line.len() - line.trim_start().len()]),
            None => line,
        }
    });
    lines.fold(String::new(), |text, line| text + &line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::install::command::own_program;
    use crate::model::estimate_tokens;

    fn file<'a>(bundle: &'a Bundle, end: &str) -> &'a str {
        let found = bundle.files().iter().find(|(path, _)| path.ends_with(end));
        &found.unwrap_or_else(|| panic!("no {end}")).1
    }

    #[test]
    fn the_version_changes_with_the_content_and_with_nothing_else() {
        let (here, there) = (Bundle::local("/a/cmem"), Bundle::local("/b/cmem"));
        assert_eq!(here, Bundle::local("/a/cmem"));
        assert_ne!(here.version(), there.version());
        for bundle in [&here, &there, &Bundle::published()] {
            assert!(bundle.version().starts_with(env!("CARGO_PKG_VERSION")), "{}", bundle.version());
            for end in ["marketplace.json", "plugin.json"] {
                assert!(
                    file(bundle, end).contains(&format!("\"version\": \"{}\"", bundle.version())),
                    "{end}"
                );
            }
        }
    }

    #[test]
    fn hooks_name_events_that_every_version_knows_in_the_form_that_every_version_takes() {
        const BASIC: [&str; 9] = [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "Notification",
            "SubagentStop",
            "Stop",
            "PreCompact",
            "SessionEnd",
        ];
        for bundle in [Bundle::local("/opt/my tools/cmem"), Bundle::published()] {
            let hooks: Value = serde_json::from_str(file(&bundle, "hooks.json")).unwrap();
            let events = hooks["hooks"].as_object().unwrap();
            assert_eq!(
                events.keys().map(String::as_str).collect::<Vec<_>>(),
                Bundle::events().collect::<Vec<_>>()
            );
            for (event, groups) in events {
                assert!(BASIC.contains(&event.as_str()), "{event}");
                let hook = &groups[0]["hooks"][0];
                assert_eq!((&hook["type"], groups.as_array().unwrap().len()), (&json!("command"), 1));
                assert!(hook.get("args").is_none() && hook.get("async").is_none(), "{hook}");
            }
            assert_eq!(events["PreToolUse"][0]["matcher"], "Read");
        }
        let local = Bundle::local("/opt/my tools/cmem");
        let hooks: Value = serde_json::from_str(file(&local, "hooks.json")).unwrap();
        let command = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
        assert_eq!(own_program(command, None).as_deref(), Some("/opt/my tools/cmem"));
    }

    #[test]
    fn a_skill_names_the_program_as_a_shell_takes_it() {
        let search = |path| file(&Bundle::local(path), "mem-search/SKILL.md").to_owned();
        assert!(search("/opt/cmem").contains("   /opt/cmem search 'QUERY' --limit 10\n"));
        assert!(search("/opt/cmem").contains("`/opt/cmem search 'QUERY' --all-projects`"));
        assert!(search("/it's/cmem").contains(r"   '/it'\''s/cmem' get ID ID"));
        for path in ["/opt/cmem", "/it's/cmem"] {
            let text = search(path);
            assert!(!text.contains("`cmem ") && !text.contains("\n   cmem "), "{text}");
        }
        assert_eq!(file(&Bundle::published(), "mem-search/SKILL.md"), SKILLS[0].1);
    }

    /// Name and description of every skill travel with every request of every session.
    #[test]
    fn skills_are_described_in_few_words() {
        let mut all = 0;
        for (name, skill) in SKILLS {
            let mut lines = skill.lines();
            assert_eq!(lines.next(), Some("---"), "{name}");
            assert_eq!(lines.next(), Some(format!("name: {name}").as_str()));
            let description = lines.next().unwrap().strip_prefix("description: ").unwrap();
            assert_eq!(lines.next(), Some("---"), "{name}");
            // A colon and a blank would make a mapping of it, in YAML.
            assert!(!description.contains(": ") && description.contains("Use "), "{name}: {description}");
            all += estimate_tokens(&format!("- cmem:{name}: {description}"));
            assert!(estimate_tokens(skill) <= 600, "{name}: {} tokens", estimate_tokens(skill));
        }
        assert!(all <= 400, "{all} tokens");
    }

    #[test]
    fn the_readme_names_every_skill() {
        for (name, _) in SKILLS {
            assert!(README.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn nothing_in_it_instructs_an_agent_at_large() {
        for (path, _) in Bundle::local("/a/cmem").files() {
            assert!(!path.ends_with("CLAUDE.md") && !path.ends_with("AGENTS.md"), "{path}");
        }
    }
}
