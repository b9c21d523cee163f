//! A small HTTP/1.1 server on a free port of 127.0.0.1: one thread and one request per connection.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What came in.
#[derive(Debug, Clone)]
pub struct Request {
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What goes out.
#[derive(Debug)]
pub enum Reply {
    Json {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    },
    Html {
        status: u16,
        body: &'static str,
    },
    Events(Vec<(String, serde_json::Value)>),
    /// Headers that promise the whole body, then half of it.
    CutOff(Vec<u8>),
    /// No answer for as long as the server lives.
    Hang,
    /// The connection is closed without an answer.
    Close,
}

/// Stops when dropped; its port then refuses connections.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens on `port` (0 = any free one).
    pub fn start(port: u16, answer: impl Fn(Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let answer = Arc::new(answer);
        let acceptor = thread::spawn(move || {
            for stream in listener.incoming() {
                if seen.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (answer, stop) = (Arc::clone(&answer), Arc::clone(&seen));
                thread::spawn(move || {
                    // A client that went away is its own business.
                    let _ = serve(&stream, &*answer, &stop);
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        Self { address, stop, acceptor: Some(acceptor) }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

fn serve(stream: &TcpStream, answer: &dyn Fn(Request) -> Reply, stop: &AtomicBool) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let request = read_request(&mut reader)?;
    let mut out = stream;
    match answer(request) {
        Reply::Json { status, headers, body } => {
            head(&mut out, status, "application/json", Some(body.len()), &headers)?;
            out.write_all(&body)
        }
        Reply::Html { status, body } => {
            head(&mut out, status, "text/html", Some(body.len()), &[])?;
            out.write_all(body.as_bytes())
        }
        Reply::Events(events) => {
            head(&mut out, 200, "text/event-stream; charset=utf-8", None, &[])?;
            for (name, data) in events {
                write!(out, "event: {name}\ndata: {data}\n\n")?;
            }
            Ok(())
        }
        Reply::CutOff(body) => {
            head(&mut out, 200, "application/json", Some(body.len()), &[])?;
            out.write_all(&body[..body.len() / 2])
        }
        Reply::Hang => {
            while !stop.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(20));
            }
            Ok(())
        }
        Reply::Close => Ok(()),
    }
}

fn head(
    out: &mut impl Write,
    status: u16,
    kind: &str,
    length: Option<usize>,
    headers: &[(&'static str, String)],
) -> io::Result<()> {
    let mut text = format!("HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\nconnection: close\r\n");
    if let Some(length) = length {
        text.push_str(&format!("content-length: {length}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    out.write_all(text.as_bytes())
}

fn read_request(reader: &mut impl BufRead) -> io::Result<Request> {
    let first = read_line(reader)?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request { path, headers, body: Vec::new() };
    if request.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        loop {
            let size = usize::from_str_radix(read_line(reader)?.trim(), 16).map_err(io::Error::other)?;
            let start = request.body.len();
            request.body.resize(start + size, 0);
            reader.read_exact(&mut request.body[start..])?;
            read_line(reader)?;
            if size == 0 {
                break;
            }
        }
    } else {
        let length = request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
        request.body.resize(length, 0);
        reader.read_exact(&mut request.body)?;
    }
    Ok(request)
}

fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}
