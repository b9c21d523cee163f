//! Where the agent keeps what it knows of its plugins.

use std::env;
use std::path::{Path, PathBuf};

use crate::git;
use crate::hook::agents::CLAUDE_CODE;
use crate::hook::install::{InstallError, Scope, settings_file};

/// The files that can name a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The root of the project that is looked from.
    pub root: PathBuf,
    /// Settings of every scope, the user's first: `enabledPlugins`, `extraKnownMarketplaces`.
    pub settings: Vec<(Scope, PathBuf)>,
    /// The agent's folder of plugins: lists of them and of marketplaces, copies, data.
    pub plugins: PathBuf,
    /// What the agent notes for itself: what was used how often, what the user declined; which MCP servers did not start.
    pub notes: [PathBuf; 2],
    /// Where the agent keeps logs of MCP servers, a folder for each directory that it was started in.
    pub logs: PathBuf,
}

impl Places {
    /// As seen from `cwd`.
    ///
    /// # Errors
    /// [`InstallError::NoHome`] when nothing says where the user's settings are.
    pub fn find(cwd: &Path) -> Result<Self, InstallError> {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let mut settings: Vec<(Scope, PathBuf)> = Vec::new();
        for scope in Scope::ALL {
            let file = settings_file(scope, cwd)?;
            // In the home directory the user's file and the project's are one.
            if settings.iter().all(|(_, known)| git::resolve(known) != git::resolve(&file)) {
                settings.push((scope, file));
            }
        }
        let user = settings_file(Scope::User, cwd)?;
        let config = user.parent().map(Path::to_owned).unwrap_or_default();
        let plugins = set("CLAUDE_CODE_PLUGIN_CACHE_DIR").unwrap_or_else(|| config.join("plugins"));
        // Beside the folder, unless that was moved.
        let notes = match set(CLAUDE_CODE.config_variable) {
            Some(moved) => moved.join(".claude.json"),
            None => config.with_file_name(".claude.json"),
        };
        let notes = [notes, config.join("mcp-needs-auth-cache.json")];
        let cache = set("XDG_CACHE_HOME").or_else(|| {
            let home = set("HOME")?;
            Some(home.join(if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" }))
        });
        let logs = cache.unwrap_or_default().join("claude-cli-nodejs");
        Ok(Self { root: PathBuf::from(git::identify(cwd).root), settings, plugins, notes, logs })
    }

    /// With the settings of these projects, where there are any.
    #[must_use]
    pub fn and_of(mut self, projects: &[PathBuf]) -> Self {
        for project in projects {
            let folder = project.join(CLAUDE_CODE.config_dir);
            for (scope, name) in [(Scope::Project, "settings.json"), (Scope::Local, "settings.local.json")] {
                let file = folder.join(name);
                let known = |(_, known): &(Scope, PathBuf)| git::resolve(known) == git::resolve(&file);
                if file.exists() && !self.settings.iter().any(known) {
                    self.settings.push((scope, file));
                }
            }
        }
        self
    }

    /// The plugins that were installed.
    pub fn installed(&self) -> PathBuf {
        self.plugins.join("installed_plugins.json")
    }

    /// The marketplaces that were added.
    pub fn marketplaces(&self) -> PathBuf {
        self.plugins.join("known_marketplaces.json")
    }
}
