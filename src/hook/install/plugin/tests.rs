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
                    "declinedPlugins": ["other@x", "cmem@cmem-local"]}),
        );
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
}

#[test]
fn every_trace_goes_and_everything_else_stays() {
    let agent = Agent::new();
    sweep(&agent.places()).unwrap();
    agent.install("1");
    let found = traces(&agent.places()).unwrap();
    assert_eq!(found.len(), 9 + 2, "{found:#?}");
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
               "declinedPlugins": ["other@x"]})
    );
    assert_eq!(agent.read("mcp-needs-auth-cache.json"), json!({"other": {}}));
    assert!(agent.0.path().join("plugins/cache/x").exists());
    let names: Vec<_> =
        fs::read_dir(agent.0.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names.len(), 4, "no backup and no temporary file: {names:?}");
}

#[test]
fn a_file_of_the_agent_that_is_no_json_is_named_and_left() {
    let agent = Agent::new();
    agent.install("1");
    let [path, _] = agent.places().notes;
    fs::write(&path, "{\"a\": ").unwrap();
    for error in [traces(&agent.places()).unwrap_err(), sweep(&agent.places()).unwrap_err()] {
        assert!(error.to_string().contains(".claude.json") && !error.hint().is_empty(), "{error}");
    }
    assert_eq!(fs::read_to_string(path).unwrap(), "{\"a\": ");
}
