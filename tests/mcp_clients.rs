//! `cmem mcp` in the hands of clients that others wrote: the official one of the TypeScript SDK, and Claude Code itself,
//! offline. `scripts/get-mcp-client` and `scripts/get-client` install them; a test without its client says that it was
//! skipped.

use std::fs;

use serde_json::{Value, json};

use crate::common::client::{self, last_result, with_each_client};
use crate::common::world::binary;
use crate::common::{AgentApi, Step, World};

const FACT: &str = "Deploys fail on Mondays because warm() runs before the cache host zirconium-4 is up.";

#[test]
fn the_official_client_finds_its_way() {
    let folder = fs::read_dir(client::cache())
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .find(|folder| folder.join("node_modules/@modelcontextprotocol/sdk").is_dir());
    let Some(folder) = folder else {
        println!("SKIPPED: the official MCP client is not installed; scripts/get-mcp-client");
        return;
    };
    let world = World::new();
    world.remember(&["The retry limit is 5: the gateway drops the sixth call."]);
    let ran = world
        .command("node", &world.project())
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/mcp_sdk.cjs"))
        .arg(folder)
        .arg(binary())
        .arg("mcp")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr);
    let seen: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"));
    assert_eq!(seen["server"]["name"], "cmem");
    assert!(seen["instructions"].as_str().is_some_and(|text| text.contains("Index first")), "{seen}");
    assert_eq!(
        seen["tools"],
        json!(["search", "timeline", "get_observations", "remember", "context", "outline", "unfold"])
    );
    let text = |name: &str| seen[name]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text("rows").contains("The retry limit is 5"), "{seen}");
    assert!(text("whole").contains("the gateway drops the sixth call."), "{seen}");
    assert_eq!(seen["wrong"]["isError"], true, "{seen}");
    assert_eq!(seen["unknown"]["code"], -32602, "{seen}");
    assert_eq!(seen["resources"], json!(["cmem://context", "cmem://context/project"]));
    assert_eq!(seen["templates"], json!(["cmem://context/{project}"]));
    assert_eq!(seen["context"], world.cmem(&["context"]).ok());
    assert_eq!(seen["aborted"], "aborted");
    assert_eq!((&seen["after"], &seen["left"]), (&json!({}), &json!(true)), "{seen}");
}

/// Names of the tools that a request offers the model.
fn offered(turn: &Value) -> Vec<&str> {
    turn["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn the_model_searches_and_then_gets_what_matters() {
    with_each_client(|client| {
        let (mut world, api) = (World::new(), AgentApi::start());
        // What is told unasked would hide what is asked for.
        world.set("CMEM_CONTEXT_TOKENS", "0");
        world.set("CMEM_PROMPT_HITS", "0");
        let project = world.repository("project");
        let id = world.remember(&["--title", "Monday deploys", FACT]).to_string();
        let _ = world.cmem(&["install", "--scope", "user"]).ok();
        let said = client.add_mcp(&world, &project);
        assert!(said.contains("cmem"), "{said}");
        api.script(vec![
            Step::call("mcp__cmem__search", json!({"query": "why do deploys fail?"})),
            Step::call("mcp__cmem__get_observations", json!({ "ids": [id] })),
            Step::call("mcp__cmem__remember", json!({"text": "The mend is to wait for the host."})),
            Step::call("ReadMcpResourceTool", json!({"server": "cmem", "uri": "cmem://context"})),
            Step::say("The cache host is not up yet."),
        ]);
        client.run(&world, &api, &project, "Why do deploys fail on Mondays?", &[]);
        let version = &client.version;
        let turns = api.turns();
        assert_eq!(turns.len(), 5, "{version}");
        assert!(
            turns[0].to_string().contains("Index first, then expand"),
            "{version}: the instructions arrive"
        );
        let rows = last_result(&api, 1);
        assert!(rows.contains("Monday deploys") && !rows.contains("zirconium-4"), "{version}: {rows}");
        let whole = last_result(&api, 2);
        assert!(whole.contains("zirconium-4"), "{version}: {whole}");
        let kept = last_result(&api, 3);
        assert!(kept.contains("remembered in project project"), "{version}: {kept}");
        let memory = world.cmem(&["get", "--json", "2"]).json()[0].clone();
        assert_eq!(memory["session"].as_str().map(str::len), Some(36), "{version}: {memory}");
        let resource = last_result(&api, 4);
        assert!(
            resource.contains("cmem://context") && !resource.contains("is_error"),
            "{version}: {resource}"
        );

        // Nothing of it comes back as something that was learned now.
        world.drain();
        world.wait_for_drainers();
        let skipped = "SELECT coalesce(sum(count), 0) FROM ledger WHERE entry = 'skipped:own_tool'";
        assert_eq!(world.number("spool.db", skipped), 4, "{version}");
        assert_eq!(
            world.number("memory.db", "SELECT count(*) FROM observations WHERE source = 'observer'"),
            0
        );
        world.assert_sound();
    });
}

#[test]
fn the_tools_are_offered_or_found() {
    with_each_client(|client| {
        let (world, api) = (World::new(), AgentApi::start());
        let project = world.repository("project");
        client.add_mcp(&world, &project);
        api.script(vec![
            Step::call("ToolSearch", json!({"query": "memory of earlier sessions", "max_results": 5})),
            Step::say("I see."),
        ]);
        client.run(&world, &api, &project, "What do we know?", &[]);
        let turns = api.turns();
        let names = offered(&turns[0]);
        let found = last_result(&api, 1);
        let version = &client.version;
        if names.contains(&"ToolSearch") {
            assert!(!names.contains(&"mcp__cmem__search"), "{version}: {names:?}");
            assert!(found.contains("mcp__cmem__search"), "{version}: {found}");
        } else {
            for tool in ["search", "timeline", "get_observations", "remember", "context", "outline", "unfold"]
            {
                assert!(names.contains(&&*format!("mcp__cmem__{tool}")), "{version}: {names:?}");
            }
        }
    });
}
