//! Whether a hook may look at all: recursion, the off switch, excluded projects, `.cmem-ignore`.
//!
//! Cheap, since every hook pays for it: a few `stat` calls, and no database.

mod glob;

use std::env;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use crate::config::Settings;
use crate::git;
use crate::model::Platform;
use crate::spool::Registrar;

/// A file of this name switches capture off for the tree below it; its content does not matter.
pub(super) const IGNORE_FILE: &str = ".cmem-ignore";

/// Whether this process was started by cmem's own observer, so that nothing it does may be observed again.
pub(crate) fn is_observer() -> bool {
    env::var_os("CMEM_OBSERVER").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Who called this hook. The client names a plugin's folder to the plugin's own hooks alone.
pub(super) fn registrar() -> Registrar {
    match env::var_os("CLAUDE_PLUGIN_ROOT") {
        Some(root) if !root.is_empty() => Registrar::Plugin(root.into()),
        _ => {
            let program = env::current_exe().unwrap_or_default().into_os_string();
            Registrar::Settings(iter::once(program).chain(env::args_os().skip(1)).collect())
        }
    }
}

/// Why nothing that happens in `cwd` is captured: `off`, `excluded_project` or `ignore_file`.
pub(crate) fn exclusion(cwd: &Path, settings: &Settings) -> Option<&'static str> {
    if settings.off {
        return Some("off");
    }
    let (canonical, _) = git::resolve(cwd);
    // The client's spelling counts too: a pattern may name a symlink.
    let mut places = vec![canonical];
    if cwd.is_absolute() && cwd != places[0] {
        places.push(cwd.to_owned());
    }
    if !settings.excluded_projects.is_empty() {
        let home = env::var_os("HOME").map(PathBuf::from);
        let patterns = Patterns::new(&settings.excluded_projects, home.as_deref());
        if places.iter().any(|place| patterns.exclude(place)) {
            return Some("excluded_project");
        }
    }
    places.iter().any(|place| has_ignore_file(place)).then_some("ignore_file")
}

/// The same for what an agent does in `cwd`: a command may run elsewhere than in the workspace, where other agents than
/// Claude Code start their hooks.
pub(super) fn exclusion_of(platform: Platform, cwd: &Path, settings: &Settings) -> Option<&'static str> {
    let workspace =
        || (!platform.is_claude()).then(env::current_dir)?.ok().filter(|workspace| workspace != cwd);
    exclusion(cwd, settings).or_else(|| exclusion(&workspace()?, settings))
}

/// In `dir` or above it; for a linked worktree also in its main checkout or above that, since the file is
/// often not committed.
fn has_ignore_file(dir: &Path) -> bool {
    let ignores = |dir: &Path| fs::symlink_metadata(dir.join(IGNORE_FILE)).is_ok();
    dir.ancestors().any(|ancestor| {
        ignores(ancestor) || git::linked_main(ancestor).is_some_and(|main| main.ancestors().any(ignores))
    })
}

/// The globs of `CMEM_EXCLUDED_PROJECTS`. A pattern excludes a directory with everything below it; one without a
/// slash is compared with each name in the path, as gitignore(5) does.
struct Patterns {
    paths: Vec<String>,
    names: Vec<String>,
}

impl Patterns {
    fn new(patterns: &[String], home: Option<&Path>) -> Self {
        let (mut paths, mut names) = (Vec::new(), Vec::new());
        for pattern in patterns.iter().map(|pattern| pattern.trim().replace('\\', "/")) {
            let pattern = pattern.trim_end_matches('/');
            let expanded = match (pattern.strip_prefix('~'), home) {
                (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                    format!("{}{rest}", home.display())
                }
                _ => pattern.to_owned(),
            };
            if expanded.is_empty() {
                continue;
            }
            if !expanded.contains('/') {
                names.push(expanded);
                continue;
            }
            paths.extend(with_canonical_prefix(&expanded));
            paths.push(expanded);
        }
        Self { paths, names }
    }

    fn exclude(&self, dir: &Path) -> bool {
        dir.ancestors().any(|ancestor| {
            let path = ancestor.to_string_lossy();
            let name = ancestor.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            self.paths.iter().any(|pattern| glob::matches(pattern, &path))
                || self.names.iter().any(|pattern| glob::matches(pattern, &name))
        })
    }
}

/// The same pattern below the canonical form of its fixed part, where that differs (`/tmp` is a link on macOS).
fn with_canonical_prefix(pattern: &str) -> Option<String> {
    let wild = pattern.find(['*', '?']).unwrap_or(pattern.len());
    let fixed = if wild == pattern.len() { pattern } else { &pattern[..pattern[..wild].rfind('/')?] };
    let canonical = fs::canonicalize(fixed).ok()?.to_string_lossy().into_owned();
    (canonical != fixed).then(|| format!("{canonical}{}", &pattern[fixed.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Sources;

    fn settings(excluded: &[&str]) -> Settings {
        let (mut settings, _) = Settings::resolve_lenient(&Sources::default());
        settings.excluded_projects = excluded.iter().map(|pattern| (*pattern).to_owned()).collect();
        settings
    }

    fn excluded(patterns: &[&str], dir: &str) -> bool {
        exclusion(Path::new(dir), &settings(patterns)) == Some("excluded_project")
    }

    #[test]
    fn the_off_switch() {
        let mut off = settings(&[]);
        assert_eq!(exclusion(Path::new("/no/such"), &off), None);
        off.off = true;
        assert_eq!(exclusion(Path::new("/no/such"), &off), Some("off"));
    }

    #[test]
    fn a_pattern_excludes_a_directory_and_what_is_below_it() {
        let patterns = ["/no/clients/*", "/srv/*/kunden/**", "/x/?"];
        for dir in ["/no/clients/a", "/no/clients/a/src/deep", "/srv/me/kunden/a/b", "/x/a", "/x/a/b"] {
            assert!(excluded(&patterns, dir), "{dir}");
        }
        for dir in ["/no/clients", "/no/clients-2/a", "/srv/a/b/kunden/c", "/x/ab", "/other"] {
            assert!(!excluded(&patterns, dir), "{dir}");
        }
    }

    #[test]
    fn a_pattern_without_a_slash_is_a_name() {
        assert!(excluded(&["secret-*"], "/no/secret-app"));
        assert!(excluded(&["secret-*"], "/no/secret-app/src"));
        assert!(!excluded(&["secret-*"], "/no/my-secret-app"));
        assert!(!excluded(&["", "  ", "/"], "/no/app"));
    }

    #[test]
    fn home_and_the_ends_of_a_pattern() {
        let patterns =
            Patterns::new(&[String::from("~/secret/"), String::from("~other")], Some(Path::new("/home/dev")));
        assert!(patterns.exclude(Path::new("/home/dev/secret")));
        assert!(patterns.exclude(Path::new("/home/dev/secret/src")));
        assert!(!patterns.exclude(Path::new("/home/dev/secrets")));
        assert!(patterns.exclude(Path::new("/no/~other")));
    }

    #[test]
    fn links_do_not_lead_around_an_exclusion() {
        let dirs = tempfile::tempdir().unwrap();
        let real = dirs.path().join("real/app");
        fs::create_dir_all(&real).unwrap();
        let link = dirs.path().join("link");
        std::os::unix::fs::symlink(dirs.path().join("real"), &link).unwrap();
        let by_real = format!("{}/real/*", dirs.path().display());
        let by_link = format!("{}/link/*", dirs.path().display());
        for pattern in [by_real, by_link] {
            for dir in [real.clone(), link.join("app")] {
                let settings = settings(&[pattern.as_str()]);
                assert_eq!(
                    exclusion(&dir, &settings),
                    Some("excluded_project"),
                    "{pattern} {}",
                    dir.display()
                );
            }
        }
    }

    #[test]
    fn the_ignore_file_counts_in_the_tree_or_above_it() {
        let dirs = tempfile::tempdir().unwrap();
        let deep = dirs.path().join("app/src/deep");
        let beside = dirs.path().join("other");
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir_all(&beside).unwrap();
        assert_eq!(exclusion(&deep, &settings(&[])), None);
        fs::write(dirs.path().join("app").join(IGNORE_FILE), "").unwrap();
        assert_eq!(exclusion(&deep, &settings(&[])), Some("ignore_file"));
        assert_eq!(exclusion(&dirs.path().join("app/gone/dir"), &settings(&[])), Some("ignore_file"));
        assert_eq!(exclusion(&beside, &settings(&[])), None);
    }

    #[test]
    fn the_ignore_file_of_the_main_checkout_covers_its_worktrees() {
        let dirs = tempfile::tempdir().unwrap();
        let (main, worktree) = (dirs.path().join("main"), dirs.path().join("wt"));
        fs::create_dir_all(main.join(".git/worktrees/wt")).unwrap();
        fs::create_dir_all(worktree.join("src")).unwrap();
        fs::write(worktree.join(".git"), format!("gitdir: {}/.git/worktrees/wt\n", main.display())).unwrap();
        assert_eq!(exclusion(&worktree.join("src"), &settings(&[])), None);
        fs::write(main.join(IGNORE_FILE), "").unwrap();
        assert_eq!(exclusion(&worktree.join("src"), &settings(&[])), Some("ignore_file"));
    }
}
