//! A client of `cmem mcp` that writes its lines by hand, and so can write wrong ones.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::wait_for;
use super::world::{World, binary};

/// No answer takes this long.
const LIMIT: Duration = Duration::from_secs(60);

/// A running server.
#[derive(Debug)]
pub struct McpServer {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: i64,
    /// What came in before it was asked for.
    waiting: Vec<Value>,
}

impl McpServer {
    /// Started in the project, and greeted.
    pub fn start(world: &World) -> Self {
        Self::start_in(world, &world.project(), &[])
    }

    /// Started in `dir` with further variables, and greeted.
    pub fn start_in(world: &World, dir: &Path, variables: &[(&str, &str)]) -> Self {
        let mut server = Self::spawn(world, dir, variables);
        let greeting = server.greet("2025-11-25", json!({}));
        assert_eq!(greeting["result"]["serverInfo"]["name"], "cmem", "{greeting}");
        server
    }

    /// Started in the project with further arguments and variables, and greeted.
    pub fn start_with(world: &World, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut server = Self::spawn_with(world, &world.project(), args, variables);
        let _ = server.greet("2025-11-25", json!({}));
        server
    }

    /// Started, and not spoken to yet.
    pub fn spawn(world: &World, dir: &Path, variables: &[(&str, &str)]) -> Self {
        Self::spawn_with(world, dir, &[], variables)
    }

    fn spawn_with(world: &World, dir: &Path, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = world
            .command(binary(), dir)
            .arg("mcp")
            .args(args)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, next_id: 1, waiting: Vec::new() }
    }

    /// Says which version is spoken and what the client can do; the answer.
    pub fn greet(&mut self, version: &str, capabilities: Value) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": client});
        let answer = self.ask("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    /// Writes one line as it is.
    pub fn write(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        self.write(message.to_string().as_bytes());
    }

    /// Sends a request; its id.
    pub fn request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a request and waits for its answer.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(&json!(id))
    }

    /// The answer to the request of this id, whatever else comes before it.
    #[track_caller]
    pub fn answer(&mut self, id: &Value) -> Value {
        self.receive(|message| message.get("method").is_none() && message["id"] == *id)
    }

    /// The first message that is wanted.
    #[track_caller]
    pub fn receive(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&wanted) {
            return self.waiting.remove(at);
        }
        loop {
            let line = self.lines.recv_timeout(LIMIT).unwrap_or_else(|error| panic!("no answer: {error}"));
            let message: Value =
                serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message of the protocol: {line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if wanted(&message) {
                return message;
            }
            self.waiting.push(message);
        }
    }

    /// Ids of the answers that nobody asked for so far.
    pub fn unclaimed(&self) -> Vec<&Value> {
        self.waiting.iter().map(|message| &message["id"]).collect()
    }

    /// Calls a tool: its text, and whether that is an error.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        said(&answer)
    }

    /// The text of a call that must succeed.
    #[track_caller]
    pub fn ok(&mut self, tool: &str, arguments: Value) -> String {
        let (text, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{text}");
        text
    }

    /// The text of a call that must fail.
    #[track_caller]
    pub fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let (text, is_error) = self.call(tool, arguments);
        assert!(is_error, "{text}");
        assert!(text.starts_with("cmem: "), "{text}");
        text
    }

    pub fn process(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Ends the input.
    pub fn hang_up(&mut self) {
        self.input = None;
    }

    /// Waits until it has left; it says nothing on standard error.
    #[track_caller]
    pub fn left(mut self) -> ExitStatus {
        let mut status = None;
        wait_for("the server leaves", Duration::from_secs(10), || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let mut errors = String::new();
        let _ = std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut errors);
        assert_eq!(errors, "");
        status.unwrap()
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a tool answered: its text, and whether that is an error.
#[track_caller]
pub fn said(answer: &Value) -> (String, bool) {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"));
    (text.to_owned(), result["isError"].as_bool().unwrap_or(false))
}
