//! Help texts, as people read them. A changed text is a reviewed change of its snapshot.

use crate::common::World;

const COMMANDS: [&str; 31] = [
    "hook",
    "drain",
    "queue",
    "search",
    "timeline",
    "get",
    "context",
    "report",
    "outline",
    "unfold",
    "remember",
    "edit",
    "pin",
    "unpin",
    "supersede",
    "forget",
    "review",
    "compact",
    "prune",
    "restore",
    "export",
    "import",
    "install",
    "uninstall",
    "status",
    "stats",
    "doctor",
    "config",
    "mode",
    "mcp",
    "completions",
];

#[test]
fn every_command_explains_itself_with_an_example() {
    let world = World::new();
    let general = world.cmem(&["--help"]).ok();
    let mut all = format!("$ cmem --help\n{general}");
    for command in COMMANDS {
        let help = world.cmem(&[command, "--help"]).ok();
        assert!(general.contains(command), "{command} is not in the overview");
        assert!(help.contains("Example"), "{command}: {help}");
        assert!(help.contains(&format!("cmem {command}")), "{command}: {help}");
        all.push_str(&format!("\n$ cmem {command} --help\n{help}"));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn the_version_is_the_packages() {
    assert_eq!(World::new().cmem(&["--version"]).ok().trim(), concat!("cmem ", env!("CARGO_PKG_VERSION")));
}
