//! cmem's side: the built program takes every hook call of a session, and drains when it would.
//!
//! The recorded time is not waited for, but written into the journal. This process holds the drainer's lock in place of a lingering drainer and
//! lets one run where that would have claimed a batch: `CMEM_LINGER_SECS` after the oldest waiting event, when as
//! many events wait as a batch takes, and at the end of a turn. (Where a batch is full by its bytes earlier than
//! that, a user has one request less.)

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use cmem::config::{Paths, Settings, Sources};
use cmem::model::{EventKind, Timestamp, estimate_tokens};
use cmem::spool::{Arrival, FileLock};
use serde_json::{Value, json};

use crate::Cost;
use crate::common::World;
use crate::common::mock::http::{Reply, Request, Server};
use crate::recording::{Call, Session};

/// Most events of one request.
const BATCH: usize = 25;
/// What became of a session.
#[derive(Debug)]
pub struct Seen {
    pub triaged: usize,
    pub observations: usize,
    pub cost: Cost,
}

/// One request, as text.
#[derive(Debug, Clone)]
struct Asked {
    system: String,
    user: String,
    reply: String,
}

/// `every`: the model writes an observation for every so many tool calls that it was shown.
pub fn by_cmem(session: &Session, every: usize) -> Seen {
    let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
    let heard = Arc::clone(&asked);
    let model = Server::start(0, move |request| answer(&request, &heard, every));
    let mut world = World::new();
    world.set("CMEM_PROVIDER", "anthropic");
    world.set("CMEM_ANTHROPIC_BASE_URL", &format!("http://127.0.0.1:{}", model.port()));
    world.set("CMEM_ANTHROPIC_API_KEY", "bench");
    let kept = replay(&world, session);
    world.assert_all_done();

    let asked = asked.lock().unwrap().clone();
    each_was_seen_once(&session.name, &kept, &asked);
    let sum = |part: fn(&Asked) -> usize| asked.iter().map(part).sum::<usize>();
    let input = sum(|one| estimate_tokens(&one.system) + estimate_tokens(&one.user));
    let output = sum(|one| estimate_tokens(&one.reply));
    let stats = world.cmem(&["stats", "--json"]).json();
    let row = &stats["models"][0];
    let told = (&row["calls"], &row["input"], &row["output"]);
    assert_eq!(told, (&json!(asked.len()), &json!(input), &json!(output)), "{}: cmem stats", session.name);
    Seen {
        triaged: session.tools().count() - kept.len(),
        observations: usize::try_from(stats["observations"].as_u64().unwrap()).unwrap(),
        // What is the same in every request is shorter than the 4,096 tokens from which Claude Haiku 4.5 caches.
        cost: Cost { requests: asked.len(), input, billed: input, output },
    }
}

/// Plays the hook calls, with a drainer where one would claim a batch; the tool calls that were not left out.
fn replay<'a>(world: &World, session: &'a Session) -> Vec<&'a Call> {
    let mut drainer = Drainer::idle(world);
    let start = Timestamp::now().plus_ms(-i64::try_from(session.calls.last().unwrap().at_ms).unwrap());
    let linger = Settings::resolve(&Sources::default()).unwrap().linger.as_millis();
    let (mut waiting, mut kept): (Vec<u64>, _) = (Vec::new(), Vec::new());
    for call in &session.calls {
        if waiting.first().is_some_and(|first| u128::from(call.at_ms - first) >= linger) {
            drainer.run();
            waiting.clear();
        }
        let before = arrivals(world).len();
        let _ = world.hook(&call.payload).answer();
        let mut said = arrivals(world);
        for arrival in &mut said[before..] {
            let Arrival::Event { event, .. } = arrival else { continue };
            event.at = start.plus_ms(i64::try_from(call.at_ms).unwrap());
            match event.kind {
                EventKind::Tool { .. } => kept.push(call),
                EventKind::Prompt { .. } | EventKind::Stop { .. } | EventKind::SubagentStop { .. } => {}
                // Recorded without a request.
                _ => continue,
            }
            waiting.push(call.at_ms);
        }
        let lines = said.iter().map(|arrival| serde_json::to_string(arrival).unwrap() + "\n");
        fs::write(journal(world), lines.collect::<String>()).unwrap();
        if call.event() == "Stop" || waiting.len() == BATCH {
            drainer.run();
            waiting.clear();
        }
    }
    drainer.run();
    kept
}

fn journal(world: &World) -> PathBuf {
    world.data().join("spool.jsonl")
}

/// What hooks have said since the last drainer.
fn arrivals(world: &World) -> Vec<Arrival> {
    let said = fs::read_to_string(journal(world)).unwrap_or_default();
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The drainer's place, taken so that no hook starts one by itself.
struct Drainer<'a> {
    world: &'a World,
    lock: Option<FileLock>,
}

impl<'a> Drainer<'a> {
    fn idle(world: &'a World) -> Self {
        let paths = Paths::resolve(Some(&world.data())).unwrap();
        paths.create().unwrap();
        let mut drainer = Self { world, lock: None };
        drainer.hold();
        drainer
    }

    fn run(&mut self) {
        self.lock.take().unwrap().release().unwrap();
        self.world.drain();
        self.hold();
    }

    fn hold(&mut self) {
        let paths = Paths::resolve(Some(&self.world.data())).unwrap();
        self.lock = FileLock::try_acquire(&paths.drain_lock()).unwrap();
        assert!(self.lock.is_some(), "another drainer is at work");
    }
}

/// Every tool call that was kept is an event of one request, in the order in which they happened.
fn each_was_seen_once(session: &str, kept: &[&Call], asked: &[Asked]) {
    // Quoted content cannot hold this tag.
    let shown: Vec<&str> = asked
        .iter()
        .flat_map(|one| one.user.split("<event ").skip(1))
        .filter(|event| event.starts_with("tool=\""))
        .collect();
    assert_eq!(shown.len(), kept.len(), "{session}: events in requests");
    for (event, call) in shown.iter().zip(kept) {
        let input = &call.payload["tool_input"];
        let path = ["file_path", "notebook_path"].iter().find_map(|name| input[*name].as_str());
        let sign = match (path, input["command"].as_str()) {
            (Some(path), _) => path.rsplit('/').next().unwrap_or_default(),
            (None, Some(command)) => command.lines().next().unwrap_or_default(),
            (None, None) => "",
        };
        assert!(event.contains(&format!("tool=\"{}\"", call.text("tool_name"))), "{session}: {event}");
        assert!(event.contains(sign), "{session}: {sign} is not in {event}");
    }
}

/// The model's answer: an observation for every so many tool calls of the session, and a summary when the turn is
/// over. The usage is the bench's own count.
fn answer(request: &Request, asked: &Mutex<Vec<Asked>>, every: usize) -> Reply {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let system = body["system"][0]["text"].as_str().unwrap().to_owned();
    let user = body["messages"][0]["content"].as_str().unwrap().to_owned();
    let mut asked = asked.lock().unwrap();
    let tools = |user: &str| user.matches("<event tool=").count();
    let before: usize = asked.iter().map(|one| tools(&one.user)).sum();
    let numbers = before.div_ceil(every)..(before + tools(&user)).div_ceil(every);
    let mut reply: String = numbers.map(crate::notes::observation).collect();
    if user.contains("kind=\"end_of_turn\"") {
        reply.push_str(crate::notes::SUMMARY);
    }
    if reply.is_empty() {
        reply.push_str("<nothing/>");
    }
    let usage = json!({
        "input_tokens": estimate_tokens(&system) + estimate_tokens(&user),
        "output_tokens": estimate_tokens(&reply),
    });
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
        "stop_reason": "end_turn", "content": [{"type": "text", "text": reply}], "usage": usage,
    });
    asked.push(Asked { system, user, reply });
    Reply::Json { status: 200, headers: Vec::new(), body: message.to_string().into_bytes() }
}
