//! An embeddings endpoint: words that belong together (`WORDS`) lie in one direction, and everything else in a direction of
//! its own. Or it fails in the way it is told to.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::http::{Reply, Request, Server};

/// Each line is one direction. No model knows these words.
const WORDS: [[&str; 2]; 3] = [["blorvik", "snedzel"], ["quamtor", "frelisk"], ["ombrant", "yuttle"]];

/// How it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Embed {
    /// Vectors of so many numbers.
    Ok(usize),
    /// The same, the last text first, as their numbers say.
    Backwards,
    /// One vector too few for more than so many texts.
    TooFew(usize),
    /// A number that is none.
    NotANumber,
    /// This status, the key repeated in what is said.
    Status(u16),
    /// 429 with this `retry-after`, in seconds.
    RetryAfter(u64),
    /// 400 for a request that holds this word.
    Refuse(&'static str),
    /// 400 for a text of more than so many characters.
    TooLong(usize),
    Html,
    Hang,
}

#[derive(Debug)]
struct State {
    mode: Embed,
    script: Vec<Embed>,
    requests: Vec<Request>,
}

/// The running endpoint; its port refuses connections once it is dropped or stopped.
#[derive(Debug)]
pub struct EmbedServer {
    state: Arc<Mutex<State>>,
    server: Option<Server>,
    port: u16,
}

impl EmbedServer {
    pub fn start() -> Self {
        let state = State { mode: Embed::Ok(8), script: Vec::new(), requests: Vec::new() };
        let mut endpoint = Self { state: Arc::new(Mutex::new(state)), server: None, port: 0 };
        endpoint.resume();
        endpoint
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn mode(&self, mode: Embed) {
        self.state.lock().unwrap().mode = mode;
    }

    /// How the next requests are answered, one after the other; then as `mode` says.
    pub fn script(&self, modes: &[Embed]) {
        self.state.lock().unwrap().script = modes.iter().rev().copied().collect();
    }

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
                state.script.pop().unwrap_or(state.mode)
            };
            answer(&request, mode)
        });
        self.port = server.port();
        self.server = Some(server);
    }

    /// The texts of each request so far.
    pub fn asked(&self) -> Vec<Vec<String>> {
        self.state.lock().unwrap().requests.iter().map(texts).collect()
    }

    pub fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap().requests.clone()
    }
}

fn texts(request: &Request) -> Vec<String> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn answer(request: &Request, mode: Embed) -> Reply {
    let texts = texts(request);
    let refusal = |status: u16, message: String, headers: Vec<(&'static str, String)>| {
        let body = json!({"error": {"message": message}}).to_string().into_bytes();
        Reply::Json { status, headers, body }
    };
    let dim = match mode {
        Embed::Hang => return Reply::Hang,
        Embed::Html => return Reply::Html { status: 200, body: "<html>Please sign in</html>" },
        Embed::Status(status) => {
            let key = request.header("authorization").unwrap_or_default();
            return refusal(status, format!("refused: {key}"), vec![]);
        }
        Embed::RetryAfter(seconds) => {
            return refusal(429, String::from("slow down"), vec![("retry-after", seconds.to_string())]);
        }
        Embed::Refuse(word) if texts.iter().any(|text| text.contains(word)) => {
            return refusal(400, String::from("this input is not for us"), vec![]);
        }
        Embed::TooLong(most) if texts.iter().any(|text| text.chars().count() > most) => {
            return refusal(400, String::from("maximum context length is 512 tokens"), vec![]);
        }
        Embed::Ok(dim) => dim,
        _ => 8,
    };
    let mut data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| json!({"object": "embedding", "index": index, "embedding": vector(text, dim)}))
        .collect();
    match mode {
        Embed::Backwards => data.reverse(),
        Embed::TooFew(most) if texts.len() > most => drop(data.pop()),
        Embed::NotANumber => data[0]["embedding"][0] = Value::Null,
        _ => {}
    }
    let tokens = texts.iter().map(|text| text.len().div_ceil(4)).sum::<usize>();
    let body = json!({"object": "list", "model": "mock-embed", "data": data,
                      "usage": {"prompt_tokens": tokens, "total_tokens": tokens}});
    Reply::Json { status: 200, headers: vec![], body: body.to_string().into_bytes() }
}

fn vector(text: &str, dim: usize) -> Vec<f64> {
    let mut vector = vec![0.0; dim];
    vector[dim - 1] = 0.2;
    let found = WORDS.iter().position(|words| words.iter().any(|word| text.contains(word)));
    vector[found.unwrap_or(WORDS.len())] = 1.0;
    vector
}
