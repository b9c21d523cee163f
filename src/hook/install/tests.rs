use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::*;
use crate::hook::agents::Version;

const PROGRAM: &str = "/opt/my tools/cmem";
const NEWEST: Option<Version> = Some(Version(2, 1, 332));

/// Somebody's settings, laid out by hand.
const THEIRS: &str = r#"{
    "model": "opus",
    "permissions": {"allow": ["Bash(ls:*)",  "Read"], "deny": []},
    "timeout": 1.50,
    "hooks": {
        "PostToolUse": [
            {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "prettier --write"}]}
        ],
        "Stop": []
    }
}
"#;

struct Settings(tempfile::TempDir);

impl Settings {
    fn new(text: Option<&str>) -> Self {
        let settings = Self(tempfile::tempdir().unwrap());
        if let Some(text) = text {
            fs::write(settings.path(), text).unwrap();
        }
        settings
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("settings.json")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn value(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    fn install(&self, program: &str, version: Option<Version>) -> Vec<Change> {
        let plan = Plan::install(&self.path(), program, version).unwrap();
        plan.apply().unwrap();
        plan.changes().to_vec()
    }

    fn uninstall(&self) -> Vec<Change> {
        let plan = Plan::uninstall(&self.path(), PROGRAM).unwrap();
        plan.apply().unwrap();
        plan.changes().to_vec()
    }

    fn events(&self) -> Vec<String> {
        let commands = registered(&self.path()).unwrap().commands;
        commands.into_iter().map(|(event, _)| event).collect()
    }
}

#[test]
fn a_missing_file_is_made() {
    let settings = Settings::new(None);
    assert_eq!(settings.install(PROGRAM, NEWEST).len(), 10);
    let hook = json!({"type": "command", "command": "'/opt/my tools/cmem' hook SessionStart", "timeout": 10});
    assert_eq!(settings.value()["hooks"]["SessionStart"], json!([{"hooks": [hook]}]));
    assert_eq!(settings.value()["hooks"]["PreToolUse"][0]["matcher"], "Read");
    assert!(!settings.text().contains("async"));
    assert_eq!(settings.text().matches("matcher").count(), 1);
    assert_eq!(
        fs::read_dir(settings.0.path()).unwrap().count(),
        1,
        "no backup of nothing, no temporary file"
    );
}

#[test]
fn old_clients_get_no_name_that_they_do_not_know() {
    for (version, further) in [
        (None, vec![]),
        (Some(Version(1, 0, 128)), vec![]),
        (Some(Version(2, 0, 77)), vec!["PostToolUseFailure"]),
        (Some(Version(2, 1, 111)), vec!["PostToolUseFailure"]),
        (Some(Version(2, 1, 112)), vec!["PostToolUseFailure", "WorktreeRemove"]),
    ] {
        let settings = Settings::new(None);
        settings.install(PROGRAM, version);
        assert_eq!(settings.events()[8..], further, "{version:?}");
    }
    let settings = Settings::new(None);
    settings.install(PROGRAM, NEWEST);
    assert_eq!(settings.install(PROGRAM, None), [], "an unknown version takes nothing away");
    assert_eq!(settings.install(PROGRAM, Some(Version(1, 0, 128))).len(), 2);
    assert_eq!(settings.events().len(), 8);
}

#[test]
fn everything_else_keeps_its_place_and_its_layout() {
    let settings = Settings::new(Some(THEIRS));
    settings.install(PROGRAM, NEWEST);
    let text = settings.text();
    for line in THEIRS.lines().filter(|line| line.contains("permissions") || line.contains("prettier")) {
        assert!(text.contains(line), "{text}");
    }
    assert!(text.contains("\"timeout\": 1.50,"));
    assert_eq!(settings.value()["hooks"]["PostToolUse"].as_array().unwrap().len(), 2);
    assert_eq!(settings.events().len(), 10);
}

#[test]
fn twice_is_once() {
    let settings = Settings::new(Some(THEIRS));
    settings.install(PROGRAM, NEWEST);
    let text = settings.text();
    assert_eq!(settings.install(PROGRAM, NEWEST), []);
    assert_eq!(settings.text(), text);
}

#[test]
fn a_moved_binary_is_updated_and_not_doubled() {
    let settings = Settings::new(Some(THEIRS));
    settings.install("/old/place/cmem", NEWEST);
    let changes = settings.install(PROGRAM, NEWEST);
    assert_eq!(changes.len(), 10);
    assert!(changes.iter().all(|change| matches!(change, Change::Update { .. })), "{changes:?}");
    assert!(!settings.text().contains("/old/place"));
    assert_eq!(settings.events().len(), 10);
}

#[test]
fn what_the_user_added_to_an_entry_stays() {
    let entry =
        json!({"type": "command", "command": "CMEM_MODE=x '/opt/my tools/cmem' hook Stop", "timeout": 60});
    let theirs = json!({"hooks": {"Stop": [{"hooks": [entry.clone(), {"type": "command", "command": "cmem hook Stop"}]}]}});
    let settings = Settings::new(Some(&theirs.to_string()));
    let changes = settings.install(PROGRAM, None);
    assert_eq!(settings.value()["hooks"]["Stop"], json!([{"hooks": [entry]}]));
    assert_eq!(changes.iter().filter(|change| matches!(change, Change::Remove { .. })).count(), 1);
}

#[test]
fn what_the_user_added_to_an_entry_moves_with_the_binary() {
    let hooks = |stop: &str, end: &str| {
        json!({"hooks": {
            "Stop": [{"hooks": [{"type": "command", "command": stop}]}],
            "SessionEnd": [{"hooks": [{"type": "command", "command": end}]}],
        }})
    };
    let theirs = hooks("nice '/old/cmem' hook Stop", "CMEM_DATA_DIR=/srv/mem '/old/cmem' hook SessionEnd");
    let settings = Settings::new(Some(&theirs.to_string()));
    settings.install(PROGRAM, None);
    let moved = hooks(
        "nice '/opt/my tools/cmem' hook Stop",
        "CMEM_DATA_DIR=/srv/mem '/opt/my tools/cmem' hook SessionEnd",
    );
    for event in ["Stop", "SessionEnd"] {
        assert_eq!(settings.value()["hooks"][event], moved["hooks"][event]);
    }
    assert_eq!(settings.events().len(), 8);
}

#[test]
fn other_commands_of_the_user_are_not_taken_for_hooks() {
    for command in ["/x/cmem report --since 1d > /tmp/r && notify hook done", "cmem search hook > /tmp/x"] {
        let theirs = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}});
        let settings = Settings::new(Some(&theirs.to_string()));
        settings.install(PROGRAM, None);
        assert_eq!(settings.value()["hooks"]["Stop"][0], theirs["hooks"]["Stop"][0]);
        settings.uninstall();
        assert_eq!(settings.value(), theirs);
    }
}

#[test]
fn events_that_cmem_no_longer_wants_go() {
    let theirs = json!({"hooks": {"Notification": [{"hooks": [{"type": "command", "command": "cmem hook Notification"}]}]}});
    let settings = Settings::new(Some(&theirs.to_string()));
    settings.install(PROGRAM, None);
    assert!(settings.value()["hooks"].get("Notification").is_none());
    assert_eq!(settings.events().len(), 8);
}

#[test]
fn uninstall_takes_exactly_its_own() {
    for theirs in [
        THEIRS,
        "{}\n",
        "{\n  \"model\": \"opus\"\n}",
        "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"x\"}]}]}}",
    ] {
        let settings = Settings::new(Some(theirs));
        settings.install(PROGRAM, NEWEST);
        assert_eq!(settings.uninstall().len(), 10);
        // An empty list that had been there is filled and then gone.
        let expected: Value = serde_json::from_str(&theirs.replace(",\n        \"Stop\": []", "")).unwrap();
        assert_eq!(settings.value(), expected);
        if !theirs.contains("\"Stop\": []") {
            assert_eq!(settings.text(), theirs);
        }
        assert_eq!(settings.uninstall(), []);
    }
    assert_eq!(Settings::new(None).uninstall(), []);
}

#[test]
fn uninstall_leaves_a_neighbour_in_the_same_group() {
    let other = json!({"type": "command", "command": "notify"});
    let own = json!({"type": "command", "command": "/x/cmem hook Stop"});
    let theirs = json!({"hooks": {"Stop": [{"matcher": "", "hooks": [own, other.clone()]}]}});
    let settings = Settings::new(Some(&theirs.to_string()));
    settings.uninstall();
    assert_eq!(settings.value(), json!({"hooks": {"Stop": [{"matcher": "", "hooks": [other]}]}}));
}

#[test]
fn a_file_that_is_not_understood_is_named_and_left() {
    for (text, part) in [
        ("{\n  // comment\n}", "line 2 column 3"),
        ("{\"a\": 1,}", "line 1 column 9"),
        ("[]", "the file"),
        ("{\"hooks\": []}", "hooks"),
        ("{\"hooks\": {\"Stop\": {}}}", "hooks.Stop"),
    ] {
        let settings = Settings::new(Some(text));
        for error in [
            Plan::install(&settings.path(), PROGRAM, NEWEST).unwrap_err(),
            Plan::uninstall(&settings.path(), PROGRAM).unwrap_err(),
            registered(&settings.path()).unwrap_err(),
        ] {
            let message = error.to_string();
            assert!(message.contains("settings.json") && message.contains(part), "{message}");
            assert!(!error.hint().is_empty());
        }
        assert_eq!(settings.text(), text);
    }
    let settings = Settings::new(None);
    fs::write(settings.path(), b"{\"a\": \"\xff\"}").unwrap();
    let message = Plan::install(&settings.path(), PROGRAM, NEWEST).unwrap_err().to_string();
    assert!(message.contains("byte 7"), "{message}");
}

#[test]
fn the_old_file_is_kept_beside_the_new_one_with_its_mode() {
    let settings = Settings::new(Some(THEIRS));
    fs::set_permissions(settings.path(), fs::Permissions::from_mode(0o640)).unwrap();
    let plan = Plan::install(&settings.path(), PROGRAM, NEWEST).unwrap();
    let backup = plan.apply().unwrap().unwrap();
    assert_eq!(fs::read_to_string(&backup).unwrap(), THEIRS);
    assert_eq!(backup.parent(), fs::canonicalize(settings.0.path()).ok().as_deref());
    for path in [settings.path(), backup] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o640);
    }
    assert_eq!(fs::read_dir(settings.0.path()).unwrap().count(), 2, "no temporary file is left");
}

#[test]
fn a_linked_settings_file_stays_a_link() {
    let settings = Settings::new(None);
    let real = settings.0.path().join("dotfiles.json");
    fs::write(&real, "{}\n").unwrap();
    std::os::unix::fs::symlink(&real, settings.path()).unwrap();
    settings.install(PROGRAM, NEWEST);
    assert!(settings.path().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("SessionStart"));
    fs::remove_file(&real).unwrap();
    assert!(matches!(Plan::install(&settings.path(), PROGRAM, NEWEST), Err(InstallError::Read { .. })));
}

#[test]
fn a_change_by_somebody_else_is_not_overwritten() {
    let settings = Settings::new(Some("{}"));
    let plan = Plan::install(&settings.path(), PROGRAM, NEWEST).unwrap();
    fs::write(settings.path(), "{\"model\": \"opus\"}").unwrap();
    assert!(matches!(plan.apply(), Err(InstallError::Changed { .. })));
    assert_eq!(settings.text(), "{\"model\": \"opus\"}");
}

#[test]
fn a_switch_that_silences_all_hooks_is_noticed() {
    let settings = Settings::new(Some("{\"disableAllHooks\": true}"));
    assert!(registered(&settings.path()).unwrap().hooks_disabled);
    assert!(Plan::install(&settings.path(), PROGRAM, NEWEST).unwrap().hooks_disabled());
    assert_eq!(registered(Path::new("/no/such/settings.json")).unwrap(), Registration::default());
}

#[test]
fn project_settings_are_in_the_root_of_the_repository() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    assert_eq!(settings_file(Scope::Project, &root).unwrap(), root.join(".claude/settings.json"));
    assert_eq!(settings_file(Scope::Local, &root).unwrap(), root.join(".claude/settings.local.json"));
}
