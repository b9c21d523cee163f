//! The API that the real Claude Code client talks to: Messages as server-sent events, played from a script.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::{Value, json};

use super::http::{Reply, Request, Server};
use super::model::failure;

/// One reply of the assistant: a text, tool calls, or both.
#[derive(Debug, Clone, Default)]
pub struct Step {
    text: String,
    tools: Vec<(&'static str, Value)>,
}

impl Step {
    pub fn say(text: impl Into<String>) -> Self {
        Self { text: text.into(), tools: Vec::new() }
    }

    pub fn call(tool: &'static str, input: Value) -> Self {
        Self { text: String::new(), tools: vec![(tool, input)] }
    }
}

/// How the service fails for a whole conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    Status(u16),
    /// It takes the request and never answers.
    Hang,
}

#[derive(Debug, Default)]
struct State {
    outage: Option<Outage>,
    script: VecDeque<Step>,
    turns: Vec<Value>,
    calls: usize,
    last_turn: Option<Instant>,
}

/// The running service.
#[derive(Debug)]
pub struct AgentApi {
    state: Arc<Mutex<State>>,
    server: Server,
}

impl AgentApi {
    pub fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let server = Server::start(0, move |request| answer(&request, &shared));
        Self { state, server }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port())
    }

    /// What the assistant says from now on; "Done." when it is used up.
    pub fn script(&self, steps: Vec<Step>) {
        self.state.lock().unwrap().script = steps.into();
    }

    /// Fails from now on.
    pub fn fail(&self, outage: Outage) {
        self.state.lock().unwrap().outage = Some(outage);
    }

    /// Request bodies of the conversation itself (no titles, no probes), oldest first.
    pub fn turns(&self) -> Vec<Value> {
        self.state.lock().unwrap().turns.clone()
    }

    /// When the last request of the conversation came in.
    pub fn last_turn(&self) -> Option<Instant> {
        self.state.lock().unwrap().last_turn
    }
}

fn answer(request: &Request, state: &Mutex<State>) -> Reply {
    let path = request.path.split('?').next().unwrap_or_default();
    let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    if path.ends_with("/messages/count_tokens") {
        return whole(&json!({"input_tokens": request.body.len() / 4}));
    }
    if !path.ends_with("/messages") {
        return Reply::Json {
            status: 404,
            headers: vec![],
            body: json!({"type": "error", "error": {"type": "not_found_error", "message": "no such path"}})
                .to_string()
                .into_bytes(),
        };
    }
    // The client also asks for titles and topic checks: no tools are offered then, and neither to an observer.
    let offers_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let observes = body["messages"].to_string().contains("<events>");
    let conversation = (offers_tools || observes) && body["max_tokens"] != 1;
    let (step, number) = {
        let mut state = state.lock().unwrap();
        match state.outage {
            Some(Outage::Hang) => return Reply::Hang,
            Some(Outage::Status(status)) => return failure(status, Vec::new()),
            None => {}
        }
        state.calls += 1;
        let step = if conversation {
            state.turns.push(body.clone());
            state.last_turn = Some(Instant::now());
            state.script.pop_front().unwrap_or_else(|| Step::say("Done."))
        } else {
            Step::say(r#"{"title": "A session", "isNewTopic": true}"#)
        };
        (step, state.calls)
    };
    let message = message(&step, &body, number, request.body.len());
    if body["stream"] == true { Reply::Events(stream(&message)) } else { whole(&message) }
}

fn whole(body: &Value) -> Reply {
    Reply::Json { status: 200, headers: vec![], body: body.to_string().into_bytes() }
}

fn message(step: &Step, body: &Value, number: usize, size: usize) -> Value {
    let mut content = Vec::new();
    if !step.text.is_empty() {
        content.push(json!({"type": "text", "text": step.text}));
    }
    for (index, (tool, input)) in step.tools.iter().enumerate() {
        let id = format!("toolu_{number:08}{index:04}");
        content.push(json!({"type": "tool_use", "id": id, "name": tool, "input": input}));
    }
    json!({
        "id": format!("msg_{number:012}"), "type": "message", "role": "assistant", "model": body["model"],
        "content": content, "stop_sequence": null,
        "stop_reason": if step.tools.is_empty() { "end_turn" } else { "tool_use" },
        "usage": {"input_tokens": size / 4, "output_tokens": 50, "cache_creation_input_tokens": 0,
                  "cache_read_input_tokens": 0},
    })
}

/// A message as the events of <https://docs.anthropic.com/en/api/messages-streaming>.
fn stream(message: &Value) -> Vec<(String, Value)> {
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let mut empty = block.clone();
        let delta = if block["type"] == "text" {
            empty["text"] = json!("");
            json!({"type": "text_delta", "text": block["text"]})
        } else {
            empty["input"] = json!({});
            json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": null},
        "usage": {"output_tokens": message["usage"]["output_tokens"]},
    }));
    events.push(json!({"type": "message_stop"}));
    events.into_iter().map(|event| (event["type"].as_str().unwrap_or_default().to_owned(), event)).collect()
}
