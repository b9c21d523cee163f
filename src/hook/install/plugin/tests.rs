use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::hook::install::Scope;

/// The files of an agent, as its own commands write them, with other things of the user in them.
struct Agent(tempfile::TempDir);

impl Agent {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn places(&self) -> Places {
        let at = |path: &str| self.0.path().join(path);
        Places {
            root: at("project"),
            logs: at("cache/claude-cli-nodejs"),
            settings: vec![
                (Scope::User, at("settings.json")),
                (Scope::Project, at("project/settings.json")),
                (Scope::Local, at("project/settings.local.json")),
            ],
            plugins: at("plugins"),
            notes: [at(".claude.json"), at("mcp-needs-auth-cache.json")],
        }
    }

    fn write(&self, path: &str, value: &Value) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{value:#}")).unwrap();
    }

    fn read(&self, path: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(self.0.path().join(path)).unwrap()).unwrap()
    }

    fn install(&self, version: &str) {
        let market = json!({"source": {"source": "directory", "path": "/d/marketplace"}});
        self.write(
            "settings.json",
            &json!({"model": "opus", "extraKnownMarketplaces": {"cmem-local": market},
                    "enabledPlugins": {"other@x": true, "cmem@cmem-local": true}}),
        );
        self.write("plugins/known_marketplaces.json", &json!({"x": {}, "cmem-local": market}));
        let entry = json!([{"scope": "user", "installPath": "/c/cmem", "version": version}]);
        self.write(
            "plugins/installed_plugins.json",
            &json!({"version": 2, "plugins": {"cmem@cmem-local": entry, "other@x": []}}),
        );
        self.write("plugins/cache/cmem-local/cmem/1/x.json", &json!({}));
        self.write("plugins/data/cmem-cmem-local/x.json", &json!({}));
        self.write("mcp-needs-auth-cache.json", &json!({"plugin:cmem:cmem": {}, "other": {}}));
        self.write("plugins/cache/x/other/x.json", &json!({}));
        self.write(
            ".claude.json",
            &json!({"userID": "u", "pluginUsage": {"cmem@cmem-local": {"usageCount": 3}, "other@x": {}},
                    "skillUsage": {"cmem:remember": {}, "cmem:mem-search": {}, "cmemory:x": {}},
                    "declinedPlugins": ["other@x", "cmem@cmem-local"],
                    "projects": {"/p": {"disabledMcpServers": ["a", "plugin:cmem:cmem"], "b": 1}}}),
        );
        self.write("cache/claude-cli-nodejs/-p/mcp-logs-plugin-cmem-cmem/1.jsonl", &json!({}));
        self.write("cache/claude-cli-nodejs/-p/mcp-logs-other/1.jsonl", &json!({}));
    }
}

#[test]
fn what_the_agent_knows_is_read_from_its_files() {
    let agent = Agent::new();
    assert_eq!(State::read(&agent.places()).unwrap(), State::default());
    agent.install("0.1.0+a");
    let state = State::read(&agent.places()).unwrap();
    assert_eq!(state.marketplace.as_deref(), Some(Path::new("/d/marketplace")));
    let own = state.own().unwrap();
    assert_eq!((own.version.as_str(), own.is_enabled), ("0.1.0+a", true));
    assert_eq!(state.in_use(), Some(own));

    // The nearest settings decide.
    agent.write("project/settings.json", &json!({"enabledPlugins": {"cmem@cmem-local": false}}));
    assert_eq!(State::read(&agent.places()).unwrap().in_use(), None);
    agent.write("project/settings.local.json", &json!({"enabledPlugins": {"cmem@cmem-local": true}}));
    assert!(State::read(&agent.places()).unwrap().in_use().is_some());
    // What is for every project, the user's settings decide; and what nobody said is no.
    agent.write("settings.json", &json!({}));
    let state = State::read(&agent.places()).unwrap();
    assert_eq!((state.in_use().is_some(), state.serving_user()), (true, None));
    agent.write("project/settings.local.json", &json!({}));
    agent.write("project/settings.json", &json!({}));
    assert_eq!(State::read(&agent.places()).unwrap().in_use(), None);
}

#[test]
fn what_is_installed_for_the_user_comes_before_what_is_for_projects() {
    let agent = Agent::new();
    agent.install("1");
    let at = |path: &str| agent.0.path().join(path);
    let of = |scope: &str, project: &str, version: &str| json!({"scope": scope, "projectPath": at(project), "installPath": "/c", "version": version});
    let read = |entries: Value| {
        agent.write("plugins/installed_plugins.json", &json!({"plugins": {"cmem@cmem-local": entries}}));
        State::read(&agent.places()).unwrap()
    };
    let user = json!({"scope": "user", "installPath": "/c", "version": "3"});
    let all = read(json!([of("project", "other", "1"), of("local", "project", "2"), user]));
    let own = all.own().unwrap();
    assert_eq!((own.reach, own.version.as_str(), own.serves_user()), (Reach::User, "3", true));
    assert_eq!(all.projects, [at("other"), at("project")]);
    let here = read(json!([of("project", "other", "1"), of("local", "project", "2")]));
    let own = here.own().unwrap();
    assert_eq!((own.reach, own.version.as_str(), own.is_enabled), (Reach::Here, "2", true));
    assert!(!own.serves_user());
    let elsewhere = read(json!([of("project", "other", "1")]));
    assert_eq!((elsewhere.own().unwrap().reach, elsewhere.in_use()), (Reach::Elsewhere, None));
    assert_eq!(read(json!({"installPath": "/c", "version": "1"})).own().unwrap().reach, Reach::User);
}

#[test]
fn settings_of_noted_projects_are_looked_at_once() {
    let agent = Agent::new();
    let other = agent.0.path().join("other");
    agent.write("other/.claude/settings.json", &json!({"enabledPlugins": {"cmem@cmem-local": true}}));
    let places = agent.places().and_of(&[other.clone(), other, PathBuf::from("/no/such/project")]);
    assert_eq!(places.settings.len(), 4);
    sweep(&places).unwrap();
    assert_eq!(agent.read("other/.claude/settings.json"), json!({}));
}

#[test]
fn every_trace_goes_and_everything_else_stays() {
    let agent = Agent::new();
    sweep(&agent.places()).unwrap();
    agent.install("1");
    let found = traces(&agent.places()).unwrap();
    assert_eq!(found.len(), 10 + 3, "{found:#?}");
    sweep(&agent.places()).unwrap();
    assert_eq!(traces(&agent.places()).unwrap(), []);
    assert_eq!(agent.read("settings.json"), json!({"model": "opus", "enabledPlugins": {"other@x": true}}));
    assert_eq!(agent.read("plugins/known_marketplaces.json"), json!({"x": {}}));
    assert_eq!(
        agent.read("plugins/installed_plugins.json"),
        json!({"version": 2, "plugins": {"other@x": []}})
    );
    assert_eq!(
        agent.read(".claude.json"),
        json!({"userID": "u", "pluginUsage": {"other@x": {}}, "skillUsage": {"cmemory:x": {}},
               "declinedPlugins": ["other@x"], "projects": {"/p": {"disabledMcpServers": ["a"], "b": 1}}})
    );
    let logs = fs::read_dir(agent.0.path().join("cache/claude-cli-nodejs/-p")).unwrap().flatten();
    assert_eq!(logs.map(|entry| entry.file_name()).collect::<Vec<_>>(), ["mcp-logs-other"]);
    assert_eq!(agent.read("mcp-needs-auth-cache.json"), json!({"other": {}}));
    assert!(agent.0.path().join("plugins/cache/x").exists());
    let names: Vec<_> =
        fs::read_dir(agent.0.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names.len(), 5, "no backup and no temporary file: {names:?}");
}

#[test]
fn a_file_of_the_agent_that_is_no_json_is_named_and_left() {
    let agent = Agent::new();
    agent.install("1");
    let [path, _] = agent.places().notes;
    fs::write(&path, "{\"a\": ").unwrap();
    assert!(traces(&agent.places()).is_ok() && sweep(&agent.places()).is_ok(), "it names nothing of ours");
    fs::write(&path, "{\"cmem:remember\": ").unwrap();
    for error in [traces(&agent.places()).unwrap_err(), sweep(&agent.places()).unwrap_err()] {
        assert!(error.to_string().contains(".claude.json") && !error.hint().is_empty(), "{error}");
    }
    assert_eq!(fs::read_to_string(path).unwrap(), "{\"cmem:remember\": ");
}
