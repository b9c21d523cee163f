//! A provider that fails in every way, in a mixed order: of a thousand events none is lost and none is doubled.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::common::{Mode, ModelServer, World};

const EVENTS: usize = 1_000;
/// Of this many events there is one failure.
const EVENTS_PER_FAILURE: usize = 25;

/// Every way to fail that costs no waiting, for `count` calls, in an order that is mixed and always the same.
fn mix(count: usize) -> Vec<Mode> {
    let ways = [
        Mode::Status(400),
        Mode::Status(401),
        Mode::Status(403),
        Mode::Status(404),
        Mode::Status(413),
        Mode::Status(500),
        Mode::Status(502),
        Mode::Status(529),
        Mode::RetryAfter(3_600),
        Mode::Text(String::from("You have reached your usage limit for this period.")),
        Mode::Text(String::from("I looked at it and all seems fine.")),
        Mode::Text(String::new()),
        Mode::Filtered,
        Mode::Cut,
        Mode::Truncated,
        Mode::Html,
        Mode::Close,
    ];
    let mut state = 7_usize;
    (0..count)
        .map(|number| {
            // Each way once, then by chance (Knuth's MMIX constants).
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ways[if number < ways.len() { number } else { (state >> 33) % ways.len() }].clone()
        })
        .flat_map(|way| [way, Mode::Ok])
        .collect()
}

fn capture(world: &World) -> BTreeSet<String> {
    let titles: BTreeSet<String> = (0..EVENTS).map(|number| format!("event-{number:04}")).collect();
    for title in &titles {
        world.note(title);
    }
    titles
}

/// Retries as a user would until nothing waits, or `most` times.
fn drain_through(world: &World, most: usize) {
    for _ in 0..most {
        let _ = world.cmem(&["drain", "--wait"]);
        world.wait_for_drainers();
        let ledger = world.ledger();
        if (ledger.waiting, ledger.parked) == (0, 0) {
            return;
        }
        let _ = world.cmem(&["queue", "retry", "--all"]).ok();
    }
}

fn assert_each_once(world: &World, wanted: &BTreeSet<String>) {
    world.assert_all_done();
    world.assert_sound();
    let count = world.number("memory.db", "SELECT count(*) FROM observations");
    let titles = world.cmem(&["search", "--json", "--limit", "2000", "--", "*"]).json();
    let titles: BTreeSet<String> = titles["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["title"].as_str().unwrap().to_owned())
        .collect();
    let lost: Vec<&String> = wanted.difference(&titles).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    assert_eq!(count, i64::try_from(wanted.len()).unwrap(), "some are there twice");
}

fn through(provider: &str, prepare: impl Fn(&mut World, &ModelServer)) {
    let model = ModelServer::start();
    let mut world = World::new();
    world.set("CMEM_PROVIDER", provider);
    prepare(&mut world, &model);
    // Refused while they come in, so that all of them go through the mix.
    model.mode(Mode::Status(401));
    let wanted = capture(&world);
    world.wait_for_drainers();
    let failures = mix(EVENTS / EVENTS_PER_FAILURE);
    let most = failures.len() * 2;
    model.script(failures);
    model.mode(Mode::Ok);
    let _ = world.cmem(&["queue", "retry", "--all"]).ok();
    drain_through(&world, most);
    assert_eq!(model.script_left(), 0, "the whole mix was played");
    assert_each_once(&world, &wanted);
}

#[test]
fn anthropic() {
    through("anthropic", |world, model| {
        world.set("CMEM_ANTHROPIC_BASE_URL", &model.url());
        world.set("CMEM_ANTHROPIC_API_KEY", "test-key");
    });
}

#[test]
fn openai() {
    through("openai", |world, model| {
        world.set("CMEM_OPENAI_BASE_URL", &format!("{}/v1", model.url()));
        world.set("CMEM_OPENAI_API_KEY", "test-key");
        world.set("CMEM_MODEL", "some-model");
    });
}

#[test]
fn gemini() {
    through("gemini", |world, model| {
        world.set("CMEM_GEMINI_BASE_URL", &model.url());
        world.set("CMEM_GEMINI_API_KEY", "test-key");
    });
}

/// The command as a script: it fails in each of its ways in turn, every other time.
#[test]
fn claude() {
    let mut world = World::new();
    let options = "--output-format --setting-sources --strict-mcp-config --tools --system-prompt --no-session-persistence";
    let error = |text: &str| json!({"type": "result", "is_error": true, "result": text}).to_string();
    let failures = [
        format!("echo '{}'; exit 1", error("Invalid API key · Please run /login")),
        format!("echo '{}'; exit 1", error("Claude AI usage limit reached|4102444800")),
        format!("echo '{}'; exit 1", error("API Error: 429 rate limited")),
        format!("echo '{}'; exit 1", error("API Error: 529 Overloaded")),
        format!("echo '{}'; exit 1", error("Prompt is too long")),
        format!("echo '{}'", json!({"type": "result", "is_error": false, "result": "All seems fine."})),
        String::from("echo 'Segmentation fault' >&2; exit 139"),
        String::from("kill -9 $$"),
        String::from("exit 0"),
    ];
    let cases: String =
        failures.iter().enumerate().map(|(n, act)| format!("{}) {act}; exit ;;\n", 2 * n + 1)).collect();
    let script = format!(
        r#"#!/bin/sh
case "$*" in *--help*) echo "{options}"; exit ;; esac
cat > "$TMPDIR/asked"
n=$(cat "$TMPDIR/calls" 2>/dev/null || echo 0); n=$((n + 1)); echo $n > "$TMPDIR/calls"
case $((n % 32)) in
{cases}esac
printf '{{"type":"result","is_error":false,"result":"'
grep -o 'event-[0-9]*' "$TMPDIR/asked" | sort -u | while read -r title; do
    printf '<observation><type>discovery</type><title>%s</title><narrative>%s</narrative></observation>' $title $title
done
printf '"}}
'
"#
    );
    let bin = world.path("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("claude"), script).unwrap();
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    world.set("PATH", &format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default()));
    world.set("CMEM_PROVIDER", "claude");
    let wanted = capture(&world);
    world.wait_for_drainers();
    let _ = world.cmem(&["queue", "retry", "--all"]).ok();
    drain_through(&world, 200);
    let calls: usize = fs::read_to_string(world.path("tmp/calls")).unwrap().trim().parse().unwrap();
    assert!(calls > 2 * failures.len(), "{calls} calls: not every failure was met");
    assert_each_once(&world, &wanted);
}
