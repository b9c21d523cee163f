use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::config::{Paths, Provider, Sources};
use crate::model::{Event, EventKind, Outcome};
use crate::observer::{MARKER, Similar, new};

/// Answers every connection with the same bytes and keeps what it was sent.
struct Server {
    url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// `None` = never answers.
    fn raw(answer: Option<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = Vec::new();
                let mut buffer = [0; 65_536];
                loop {
                    let n = stream.read(&mut buffer).unwrap_or(0);
                    request.extend_from_slice(&buffer[..n]);
                    if n == 0 || complete(&request) {
                        break;
                    }
                }
                sink.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
                match &answer {
                    Some(bytes) => {
                        let _ = stream.write_all(bytes);
                    }
                    None => thread::sleep(Duration::from_secs(20)),
                }
            }
        });
        Self { url, seen }
    }

    fn answering(status: &str, headers: &str, body: &str) -> Self {
        let text = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}",
            body.len()
        );
        Self::raw(Some(text.into_bytes()))
    }

    fn saying(text: &str, stop: &str) -> Self {
        Self::answering("200 OK", "content-type: application/json\r\n", &message(text, stop).to_string())
    }

    fn request(&self) -> String {
        self.seen.lock().unwrap().first().cloned().unwrap()
    }
}

fn complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse::<usize>().ok());
    length.is_none_or(|length| body.len() >= length)
}

fn message(text: &str, stop: &str) -> Value {
    json!({"type": "message", "model": "mock-model", "stop_reason": stop, "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 7}})
}

fn settings(provider: Provider, url: &str) -> Settings {
    let mut settings = Settings::resolve(&Sources::default()).unwrap();
    settings.provider = provider;
    settings.anthropic_base_url = url.to_owned();
    settings.openai_base_url = url.to_owned();
    settings.anthropic_api_key = String::from("key-123456");
    settings.timeout = Duration::from_secs(5);
    settings
}

fn observer(settings: &Settings) -> Result<Box<dyn Observer>, ObserverError> {
    let folder = tempfile::tempdir().unwrap();
    new(settings, &Paths::resolve(Some(folder.path())).unwrap(), Mode::english())
}

fn batch() -> Batch {
    let event = |kind| Event {
        session: String::from("s"),
        platform: Default::default(),
        at: Timestamp(1),
        cwd: String::from("/p"),
        agent: None,
        kind,
    };
    let tool = EventKind::Tool {
        tool: String::from("Write"),
        input: json!({"file_path": "/p/src/a.rs", "content": "@@mark ü@@"}),
        outcome: Outcome::Response(json!({"type": "create"})),
    };
    Batch {
        project: String::from("p"),
        root: String::from("/p"),
        events: vec![
            event(tool),
            event(EventKind::Stop { message: Some(String::from("done")), transcript: None }),
        ],
        request: None,
        titles: Vec::new(),
        similar: vec![Similar { id: 7, r#type: String::from("change"), title: String::from("old") }],
        strict: false,
    }
}

fn ask(server: &Server) -> Answer {
    observer(&settings(Provider::Anthropic, &server.url)).unwrap().observe(&batch())
}

#[test]
fn a_good_answer_is_stored_with_evidence_and_usage() {
    let server = Server::saying(
        "<observation><title>t</title><files_modified><file>made/up.rs</file></files_modified><supersedes>7 8</supersedes></observation><summary><learned>l</learned></summary>",
        "end_turn",
    );
    let answer = ask(&server);
    let Verdict::Stored(reply) = answer.verdict else { panic!("{:?}", answer.verdict) };
    assert_eq!(reply.drafts[0].files_modified, ["src/a.rs"]);
    assert_eq!(reply.drafts[0].supersedes, [7]);
    assert_eq!(reply.summary.unwrap().learned, "l");
    assert_eq!(answer.usage, Usage { input: 15, cached: 100, output: 7 });
    assert_eq!(answer.model, "mock-model");
    let request = server.request();
    for part in [
        "POST /v1/messages ",
        "x-api-key: key-123456",
        "anthropic-version: 2023-06-01",
        "\"cache_control\":{\"type\":\"ephemeral\"}",
        "claude-haiku-4-5-20251001",
        "@@mark ü@@",
        MARKER,
    ] {
        assert!(request.contains(part), "{part} not in {request}");
    }
}

#[test]
fn chat_completions() {
    let body = json!({"model": "local", "choices": [{"finish_reason": "stop", "message": {"role": "assistant",
        "content": "<think><observation><title>no</title></observation></think><observation><title>t</title></observation>"}}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 30}}});
    let server = Server::answering("200 OK", "", &body.to_string());
    let mut settings = settings(Provider::OpenAi, &server.url);
    settings.model = String::from("m1");
    let answer = observer(&settings).unwrap().observe(&batch());
    let Verdict::Stored(reply) = answer.verdict else { panic!("{:?}", answer.verdict) };
    assert_eq!((reply.drafts.len(), reply.drafts[0].title.as_str()), (1, "t"));
    assert_eq!(answer.usage, Usage { input: 20, cached: 30, output: 4 });
    let request = server.request();
    assert!(request.starts_with("POST /v1/chat/completions ") && request.contains("\"model\":\"m1\""));
    assert!(request.contains("\"max_tokens\"") && !request.to_lowercase().contains("authorization"));
}

#[test]
fn every_failure_has_its_class() {
    let is = |answer: Answer, class: &str| {
        let shown = format!("{:?}", answer.verdict);
        assert!(shown.starts_with(class), "{class}: {shown}");
    };
    let html = "<html><body>502 Bad Gateway</body></html>";
    is(
        ask(&Server::answering("401 Unauthorized", "", r#"{"error":{"message":"bad key key-123456"}}"#)),
        "Auth { message: \"HTTP 401: bad key [redacted:api_key]\" }",
    );
    is(ask(&Server::answering("403 Forbidden", "", "{}")), "Auth");
    is(ask(&Server::answering("403 Forbidden", "", html)), "Transient");
    is(
        ask(&Server::answering("429 Too Many", "retry-after: 2\r\n", "{}")),
        "RateLimited { retry_after: Some(2s) }",
    );
    is(ask(&Server::answering("429 Too Many", "", "{}")), "RateLimited { retry_after: None }");
    is(ask(&Server::answering("429 Too Many", "", r#"{"error":{"code":"insufficient_quota"}}"#)), "Quota");
    is(ask(&Server::answering("500 Oops", "", "{}")), "Transient");
    is(
        ask(&Server::answering("502 Bad Gateway", "", html)),
        "Transient { message: \"HTTP 502: 502 Bad Gateway\" }",
    );
    is(ask(&Server::answering("529 Overloaded", "", "{}")), "Transient");
    is(ask(&Server::answering("307 Moved", "location: http://example.org/\r\n", "")), "Transient");
    is(ask(&Server::answering("200 OK", "content-type: text/html\r\n", html)), "Transient");
    is(ask(&Server::answering("200 OK", "", "")), "Transient");
    is(
        ask(&Server::raw(Some(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"content\":".to_vec()))),
        "Transient",
    );
    is(ask(&Server::raw(Some(b"SSH-2.0-OpenSSH\r\n".to_vec()))), "Transient");
    is(ask(&Server::raw(Some(Vec::new()))), "Transient");
    is(ask(&Server::answering("200 OK", "", r#"{"error":{"type":"overloaded_error"}}"#)), "Transient");
    is(ask(&Server::answering("200 OK", "", "{}")), "Malformed");
    is(ask(&Server::saying("", "end_turn")), "Malformed");
    is(ask(&Server::saying("All is well.", "end_turn")), "Malformed");
    is(ask(&Server::saying("<nothing/>", "end_turn")), "Nothing");
    is(ask(&Server::saying("You have reached your usage limit for this period.", "end_turn")), "Quota");
    is(ask(&Server::saying("<observation><title>half", "max_tokens")), "Malformed");
    let huge = format!("\"{}\"", "x".repeat(2_000_000));
    is(
        ask(&Server::answering("200 OK", "", &huge)),
        "Malformed { reason: \"the answer is larger than 1024 KiB\" }",
    );
}

#[test]
fn a_reply_stopped_at_its_limit_gives_what_is_complete() {
    let text = "<observation><title>whole</title></observation><observation><title>lost</title><narrative>ha";
    let answer = ask(&Server::saying(text, "max_tokens"));
    let Verdict::Stored(reply) = answer.verdict else { panic!("{:?}", answer.verdict) };
    assert_eq!(reply.drafts.len(), 1);
}

#[test]
fn one_deadline_for_everything() {
    let server = Server::raw(None);
    let mut settings = settings(Provider::Anthropic, &server.url);
    settings.timeout = Duration::from_millis(300);
    let begun = Instant::now();
    let answer = observer(&settings).unwrap().observe(&batch());
    assert!(matches!(answer.verdict, Verdict::Transient { .. }), "{:?}", answer.verdict);
    assert!(begun.elapsed() < Duration::from_secs(3));
}

#[test]
fn nobody_listening() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings = settings(Provider::Anthropic, &format!("http://127.0.0.1:{port}"));
    let answer = observer(&settings).unwrap().observe(&batch());
    let Verdict::Transient { message } = answer.verdict else { panic!("{:?}", answer.verdict) };
    assert!(message.contains(&format!("http://127.0.0.1:{port}")), "{message}");
}

#[test]
fn base_urls() {
    for (base, url) in [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("http://h:1/", "http://h:1/v1/messages"),
        ("http://h/v1", "http://h/v1/messages"),
        ("http://h/v1/", "http://h/v1/messages"),
        ("http://h/v1/messages", "http://h/v1/messages"),
        ("http://h/proxy/anthropic", "http://h/proxy/anthropic/v1/messages"),
    ] {
        assert_eq!(anthropic::url(base).unwrap().to_string(), url, "{base}");
    }
    for (base, url) in [
        ("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1/chat/completions"),
        ("https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://h/v1beta/openai", "https://h/v1beta/openai/chat/completions"),
        ("https://h/x/chat/completions", "https://h/x/chat/completions"),
    ] {
        assert_eq!(openai::url(base).unwrap().to_string(), url, "{base}");
    }
    for base in ["", "api.openai.com", "ftp://h", "http://", "http://a b"] {
        let message = openai::url(base).unwrap_err().to_string();
        assert!(message.contains("CMEM_OPENAI_BASE_URL"), "{message}");
    }
}

#[test]
fn what_is_not_set_is_named() {
    let error = |settings: &Settings| observer(settings).err().unwrap().to_string();
    let mut anthropic = settings(Provider::Anthropic, "https://example.org");
    anthropic.anthropic_api_key = String::from(" ");
    assert!(error(&anthropic).contains("CMEM_ANTHROPIC_API_KEY"));
    anthropic.anthropic_api_key = String::from("a\nb");
    assert!(error(&anthropic).contains("CMEM_ANTHROPIC_API_KEY"));
    let mut openai = settings(Provider::OpenAi, "https://example.org/v1");
    openai.model = String::from("m");
    assert!(error(&openai).contains("CMEM_OPENAI_API_KEY"));
    openai.openai_base_url = String::from("http://127.0.0.1:1/v1");
    assert!(observer(&openai).is_ok());
    openai.model = String::new();
    assert!(error(&openai).contains("CMEM_MODEL"));
    openai.mode = String::from("../x");
    assert!(error(&openai).contains("CMEM_MODE"));
}

#[test]
fn gemini_is_asked_and_read_in_its_own_shapes() {
    use super::gemini::{GenerateContent, url};

    for (base, model) in
        [("https://host.example", "gemini-x"), ("https://host.example/v1beta/", "models/gemini-x")]
    {
        let expected = "https://host.example/v1beta/models/gemini-x:generateContent";
        assert_eq!(url(base, model).unwrap().to_string(), expected);
    }
    assert!(url("host.example", "x").is_err() && url("https://host.example", "../x").is_err());
    let answer = json!({
        "candidates": [{"content": {"parts": [{"text": "let me see", "thought": true}, {"text": "<nothing/>"}]},
                        "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 5,
                          "thoughtsTokenCount": 7},
        "modelVersion": "gemini-x-001",
    });
    let spoken = GenerateContent.read(&answer);
    assert_eq!((spoken.text.as_str(), spoken.cut, spoken.refused), ("<nothing/>", false, None));
    assert_eq!(spoken.usage, Usage { input: 60, cached: 40, output: 12 });
    assert_eq!(spoken.model.as_deref(), Some("gemini-x-001"));
    let blocked = GenerateContent.read(&json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}));
    assert_eq!(blocked.refused.as_deref(), Some("prohibited_content"));
    let stopped = GenerateContent.read(&json!({"candidates": [{"finishReason": "SAFETY"}]}));
    assert_eq!(stopped.refused.as_deref(), Some("safety"));
    assert!(GenerateContent.read(&json!({"candidates": [{"finishReason": "MAX_TOKENS"}]})).cut);
}

#[test]
fn what_a_filter_keeps_back_is_tried_in_smaller_batches() {
    let body = r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#;
    let server = Server::answering("200 OK", "content-type: application/json\r\n", body);
    let mut settings = Settings::resolve(&Sources::default()).unwrap();
    settings.provider = Provider::Gemini;
    settings.gemini_base_url = server.url.clone();
    settings.gemini_api_key = String::from("test-key-1234");
    let observer = observer(&settings).unwrap();
    assert_eq!(observer.provider(), Provider::Gemini);
    let Verdict::Malformed { reason } = observer.observe(&batch()).verdict else { panic!() };
    assert!(reason.contains("safety"), "{reason}");
    let seen = server.seen.lock().unwrap()[0].clone();
    assert!(seen.starts_with("POST /v1beta/models/gemini-flash-latest:generateContent"), "{seen}");
    assert!(seen.to_ascii_lowercase().contains("x-goog-api-key: test-key-1234"), "{seen}");
}

#[test]
fn an_answer_without_a_word_says_why() {
    let reason = |provider: Provider, body: &str| {
        let server = Server::answering("200 OK", "content-type: application/json\r\n", body);
        let mut settings = settings(provider, &server.url);
        settings.gemini_base_url = server.url.clone();
        (settings.gemini_api_key, settings.openai_api_key) =
            (String::from("key-123"), String::from("key-123"));
        settings.model = String::from("m1");
        match observer(&settings).unwrap().observe(&batch()).verdict {
            Verdict::Malformed { reason } => reason,
            other => panic!("{body}: {other:?}"),
        }
    };
    for (provider, body, words) in [
        (
            Provider::Gemini,
            r#"{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS"}],"usageMetadata":{"thoughtsTokenCount":8000}}"#,
            "thinking",
        ),
        (
            Provider::OpenAi,
            r#"{"choices":[{"finish_reason":"length","message":{"content":null,"reasoning_content":"let me see"}}]}"#,
            "thinking",
        ),
        (
            Provider::OpenAi,
            r#"{"choices":[{"finish_reason":"length","message":{"content":"<think>perhaps <observation><title>t</title></observation>"}}]}"#,
            "thinking",
        ),
        (
            Provider::OpenAi,
            r#"{"choices":[{"finish_reason":"content_filter","message":{"content":null}}]}"#,
            "filter",
        ),
        (
            Provider::OpenAi,
            r#"{"choices":[{"finish_reason":"stop","message":{"content":null,"refusal":"I'm sorry, I can't help with that."}}]}"#,
            "filter",
        ),
        (Provider::Anthropic, r#"{"content":[],"stop_reason":"refusal"}"#, "filter"),
        (Provider::Gemini, r#"{"candidates":[{"finishReason":"OTHER"}]}"#, "empty"),
    ] {
        let reason = reason(provider, body);
        assert!(reason.contains(words), "{body}: {reason}");
    }
}
