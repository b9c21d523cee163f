//! The observer's model: answers Anthropic Messages, OpenAI chat completions and Gemini's generateContent with one
//! observation for each `@@text@@` in the request (of type `discovery`, or of the one in `@@type:: text@@`), or fails
//! in the way it is told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::http::{Reply, Request, Server};
use super::strings;

/// How the model answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    Ok,
    Status(u16),
    /// 429 with this `retry-after`, in seconds.
    RetryAfter(u64),
    /// HTTP 200 with this text in place of observations.
    Text(String),
    /// HTTP 200, the reply stopped by the token limit in the middle of a tag.
    Cut,
    /// HTTP 200, half of the promised bytes.
    Truncated,
    /// HTTP 200, the answer kept back by a filter (Gemini's way; others answer with nothing).
    Filtered,
    /// HTTP 200 with an HTML page.
    Html,
    Hang,
    Close,
    /// Useless prose for a request that holds this word, observations for any other.
    Poison(&'static str),
    /// This status and body for a request that holds this word, observations for any other.
    Refuse(&'static str, u16, &'static str),
    /// No answer to a request with more than so many notes, observations for any other.
    Slow(usize),
    /// Useless prose until it is asked more strictly.
    Careless,
}

#[derive(Debug)]
struct State {
    mode: Mode,
    script: VecDeque<Mode>,
    requests: Vec<Request>,
}

/// The running model; its port refuses connections once it is dropped or stopped.
#[derive(Debug)]
pub struct ModelServer {
    state: Arc<Mutex<State>>,
    server: Option<Server>,
    port: u16,
}

impl ModelServer {
    pub fn start() -> Self {
        let state =
            Arc::new(Mutex::new(State { mode: Mode::Ok, script: VecDeque::new(), requests: Vec::new() }));
        let mut model = Self { state, server: None, port: 0 };
        model.resume();
        model
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn mode(&self, mode: Mode) {
        self.state.lock().unwrap().mode = mode;
    }

    /// How the next requests are answered, one after the other; then as `mode` says.
    pub fn script(&self, modes: Vec<Mode>) {
        self.state.lock().unwrap().script = modes.into();
    }

    /// How many answers of the script are left.
    pub fn script_left(&self) -> usize {
        self.state.lock().unwrap().script.len()
    }

    /// Refuses connections from now on.
    pub fn stop(&mut self) {
        self.server = None;
    }

    /// Listens again on the same port.
    pub fn resume(&mut self) {
        let state = Arc::clone(&self.state);
        let server = Server::start(self.port, move |request| {
            let mode = {
                let mut state = state.lock().unwrap();
                state.requests.push(request.clone());
                state.script.pop_front().unwrap_or_else(|| state.mode.clone())
            };
            answer(&request, &mode)
        });
        self.port = server.port();
        self.server = Some(server);
    }

    pub fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap().requests.clone()
    }

    pub fn count(&self) -> usize {
        self.state.lock().unwrap().requests.len()
    }

    /// Whether any request holds these bytes.
    pub fn was_told(&self, needle: &str) -> bool {
        self.requests().iter().any(|request| {
            let mut text = String::from_utf8_lossy(&request.body).into_owned();
            if let Ok(body) = serde_json::from_slice::<Value>(&request.body) {
                text.push_str(&strings(&body).join("\n"));
            }
            text.contains(needle)
        })
    }
}

fn answer(request: &Request, mode: &Mode) -> Reply {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    let told = strings(&body).join("\n");
    let text = match mode {
        Mode::Status(502) => {
            return Reply::Html { status: 502, body: "<html><h1>502 Bad Gateway</h1></html>" };
        }
        Mode::Status(status) => return failure(*status, Vec::new()),
        Mode::RetryAfter(seconds) => return failure(429, vec![("retry-after", seconds.to_string())]),
        Mode::Slow(most) if notes(&told).len() > *most => return Reply::Hang,
        Mode::Html => {
            return Reply::Html { status: 200, body: "<html>Please sign in to this network</html>" };
        }
        Mode::Hang => return Reply::Hang,
        Mode::Close => return Reply::Close,
        Mode::Text(text) => text.clone(),
        Mode::Filtered => String::new(),
        Mode::Cut => String::from("<observation><type>discovery</type><title>ha"),
        Mode::Refuse(word, status, body) if told.contains(word) => {
            return Reply::Json { status: *status, headers: vec![], body: body.as_bytes().to_vec() };
        }
        Mode::Poison(word) if told.contains(word) => String::from("I looked at it and all seems fine."),
        Mode::Careless if !told.contains("could not be read") => String::from("Looks good to me."),
        Mode::Ok | Mode::Truncated | Mode::Poison(_) | Mode::Careless | Mode::Refuse(..) | Mode::Slow(_) => {
            observations(&told)
        }
    };
    let limit = *mode == Mode::Cut;
    let body = if request.path.ends_with("/chat/completions") {
        chat_completion(&text, limit)
    } else if request.path.ends_with(":generateContent") {
        generated_content(&text, limit, *mode == Mode::Filtered)
    } else {
        message(&text, limit)
    };
    let body = body.to_string().into_bytes();
    if *mode == Mode::Truncated {
        Reply::CutOff(body)
    } else {
        Reply::Json { status: 200, headers: vec![], body }
    }
}

/// An error in the shape of the Messages API.
pub(super) fn failure(status: u16, headers: Vec<(&'static str, String)>) -> Reply {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let body = json!({"type": "error", "error": {"type": kind, "message": format!("status {status}")}});
    Reply::Json { status, headers, body: body.to_string().into_bytes() }
}

/// One observation per `@@text@@`, or a plain one.
fn observations(told: &str) -> String {
    let mut seen = notes(told);
    if seen.is_empty() {
        seen.push("plain note");
    }
    seen.iter()
        .map(|text| {
            let (kind, text) = text.split_once(":: ").unwrap_or(("discovery", text));
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            format!(
                "<observation><type>{kind}</type><title>{text}</title><narrative>{text}</narrative></observation>\n"
            )
        })
        .collect()
}

/// Each `@@text@@` once.
fn notes(told: &str) -> Vec<&str> {
    let mut seen: Vec<&str> = Vec::new();
    for text in told.split("@@").skip(1).step_by(2) {
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen
}

fn message(text: &str, limit: bool) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "mock",
        "stop_reason": if limit { "max_tokens" } else { "end_turn" },
        "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 0,
                  "cache_creation_input_tokens": 0},
    })
}

fn chat_completion(text: &str, limit: bool) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": "mock",
        "choices": [{"index": 0, "finish_reason": if limit { "length" } else { "stop" },
                     "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    })
}

fn generated_content(text: &str, limit: bool, filtered: bool) -> Value {
    if filtered {
        return json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 100}});
    }
    json!({
        "candidates": [{"content": {"role": "model", "parts": [{"text": text}]},
                        "finishReason": if limit { "MAX_TOKENS" } else { "STOP" }}],
        "modelVersion": "mock",
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120},
    })
}
