//! Whoever takes notices: the Telegram Bot API and a webhook's receiver, which differ for a sender only in the path.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::http::{Reply, Request, Server};

/// How a notice is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Post {
    Take,
    /// This status; what is said with it repeats the request's path, and the token in it.
    Refuse(u16),
    /// 429 with Telegram's `retry_after`, in seconds.
    Wait(u64),
    Hang,
    Close,
}

#[derive(Debug)]
struct State {
    post: Post,
    requests: Vec<Request>,
    taken: Vec<Value>,
}

/// The running service.
#[derive(Debug)]
pub struct PostServer {
    state: Arc<Mutex<State>>,
    server: Server,
}

impl PostServer {
    pub fn start() -> Self {
        let state = Arc::new(Mutex::new(State { post: Post::Take, requests: vec![], taken: vec![] }));
        let shared = Arc::clone(&state);
        let server = Server::start(0, move |request| answer(request, &mut shared.lock().unwrap()));
        Self { state, server }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port())
    }

    pub fn answer(&self, post: Post) {
        self.state.lock().unwrap().post = post;
    }

    /// Everything that came in.
    pub fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap().requests.clone()
    }

    /// Bodies of what was taken, oldest first.
    pub fn taken(&self) -> Vec<Value> {
        self.state.lock().unwrap().taken.clone()
    }
}

fn answer(request: Request, state: &mut State) -> Reply {
    let body = serde_json::from_slice(&request.body).unwrap();
    let said = |description: &str| json!({"ok": false, "description": description});
    let (status, said) = match state.post {
        Post::Take => {
            state.taken.push(body);
            (200, json!({"ok": true, "result": {"message_id": 1}}))
        }
        Post::Refuse(status) => (status, said(&format!("refused: {}", request.path))),
        Post::Wait(seconds) => {
            let mut said = said("Too Many Requests");
            said["parameters"] = json!({"retry_after": seconds});
            (429, said)
        }
        Post::Hang => (0, Value::Null),
        Post::Close => (1, Value::Null),
    };
    state.requests.push(request);
    match status {
        0 => Reply::Hang,
        1 => Reply::Close,
        status => Reply::Json { status, headers: vec![], body: said.to_string().into_bytes() },
    }
}
