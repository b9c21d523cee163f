//! cmem in the hands of the real Claude Code client, offline.

use serde_json::json;

use crate::common::client::{Client, REFERENCE};
use crate::common::{AgentApi, Step, World};

#[test]
fn the_mock_api_drives_the_client() {
    for client in [Client::find(REFERENCE), Client::newest()].into_iter().flatten() {
    let (world, api) = (World::new(), AgentApi::start());
    let project = world.repository("project");
    api.script(vec![
        Step::call("Write", json!({"file_path": project.join("a.txt"), "content": "one\n"})),
        Step::call("Bash", json!({"command": "cat a.txt", "description": "Show it"})),
        Step::say("Wrote a.txt."),
    ]);
    let took = client.run(&world, &api, &project, "Write a file.", &[]);
    println!("{client:?} {took:?}");
    assert_eq!(api.turns().len(), 3);
    assert_eq!(std::fs::read_to_string(project.join("a.txt")).unwrap(), "one\n");
    }
}
