//! Messages over standard input and output. What is no message is answered where there is an id to answer to, and left
//! out otherwise; it ends nothing.

use std::io::{self, Write};
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::sync::mpsc::Receiver;

use super::input::{self, LONGEST, Line};
use crate::config::Paths;
use crate::log;

/// The two streams of this process.
#[derive(Debug)]
pub(super) struct Wire {
    lines: Receiver<Line>,
    paths: Paths,
    /// Told when the input has ended.
    ended: Arc<Notify>,
    /// Whether the client has asked for something: the SDK takes anything else that comes first for a broken client.
    is_open: bool,
}

/// What a line turned out to be.
enum Parsed {
    Message(Box<ClientJsonRpcMessage>),
    /// To be answered so.
    Wrong(Option<RequestId>),
    /// Nobody can be answered.
    Noise,
    Nothing,
}

impl Wire {
    pub(super) fn open(paths: &Paths, ended: Arc<Notify>) -> io::Result<Self> {
        Ok(Self { lines: input::lines()?, paths: paths.clone(), ended, is_open: false })
    }

    /// Answers without waiting: whoever receives may be interrupted at any moment.
    fn refuse(&mut self, id: Option<RequestId>, why: String) {
        let refusal = ServerJsonRpcMessage::error(ErrorData::invalid_request(why, None), id);
        tokio::spawn(self.send(refusal));
    }
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // A client that does not read holds up a thread, and not the server.
        let written = tokio::task::spawn_blocking(move || -> io::Result<()> {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut out = io::stdout().lock();
            out.write_all(&line)?;
            out.flush()
        });
        async move { written.await.map_err(io::Error::other)? }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let Some(line) = self.lines.recv().await else {
                self.ended.notify_one();
                return None;
            };
            let Line::Whole(line) = line else {
                log::error_once(&self.paths, "mcp: a message was too long, and was left out");
                self.refuse(None, format!("a message may have {LONGEST} bytes at most"));
                continue;
            };
            match parse(&line) {
                Parsed::Message(message) => {
                    self.is_open |= matches!(*message, JsonRpcMessage::Request(_));
                    if self.is_open {
                        return Some(*message);
                    }
                }
                Parsed::Wrong(id) => self.refuse(id, String::from("this is no message of the protocol")),
                Parsed::Noise => {
                    log::error_once(&self.paths, "mcp: what came in was no JSON, and was left out");
                }
                Parsed::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn parse(line: &[u8]) -> Parsed {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Parsed::Nothing;
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return Parsed::Message(Box::new(message));
    }
    match serde_json::from_slice::<Value>(line) {
        Err(_) => Parsed::Noise,
        Ok(value) if value.get("id").is_none() && value.get("method").is_some() => Parsed::Nothing,
        Ok(mut value) => {
            let id = value.get_mut("id").map(Value::take);
            Parsed::Wrong(id.and_then(|id| serde_json::from_value(id).ok()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> String {
        match parse(line.as_bytes()) {
            Parsed::Message(message) => match *message {
                JsonRpcMessage::Request(request) => format!("request {}", request.id),
                JsonRpcMessage::Notification(_) => String::from("notification"),
                JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => String::from("response"),
            },
            Parsed::Wrong(Some(id)) => format!("wrong {id}"),
            Parsed::Wrong(None) => String::from("wrong"),
            Parsed::Noise => String::from("noise"),
            Parsed::Nothing => String::from("nothing"),
        }
    }

    #[test]
    fn a_line_is_a_message_or_it_is_known_whom_to_answer() {
        for (line, what) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1"),
            ("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/list\"}\r", "request a"),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "notification"),
            (r#"{"jsonrpc":"2.0","id":3,"result":{}}"#, "response"),
            (r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#, "wrong 4"),
            (r#"{"id":{},"method":"ping"}"#, "wrong"),
            (r#"{"jsonrpc":"1.0","method":"notifications/x"}"#, "nothing"),
            ("[1,2]", "wrong"),
            ("7", "wrong"),
            ("", "nothing"),
            (" \r", "nothing"),
            ("GET / HTTP/1.1", "noise"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"pi"#, "noise"),
            ("\u{1}\u{2}", "noise"),
        ] {
            assert_eq!(parsed(line), what, "{line}");
        }
        assert!(matches!(parse(b"\xff\xfe{}"), Parsed::Noise));
    }
}
