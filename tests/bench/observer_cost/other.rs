//! The other side: claude-mem, **simulated** from what is published about it (version 13.15.3): no part of it runs.
//!
//! One conversation per session and the whole of it in every request: an opening prompt, which is a request of its
//! own; one request for each PostToolUse, with the arguments and the answer of the tool as indented JSON; one request
//! with the last message for each Stop. It does not listen to PostToolUseFailure and SubagentStop.
//!
//! The lengths below are those of its published prompt builder with its mode `code`, all variable parts empty. Where
//! the form is not known, or differs between its providers, this takes what costs it least: no tool definitions in the
//! requests, nothing said twice, no retries, one opening prompt however many prompts the user writes, an empty answer
//! to that, and an observation of every second event, as on cmem's side.

use cmem::model::estimate_tokens;
use serde_json::Value;

use crate::notes;
use crate::recording::{Call, Session};
use crate::{Cost, EVERY};

/// Bytes of the opening prompt: identity, role, what to record and to skip, the format of the answer.
const OPENING: usize = 6_203;
/// Bytes of the same when a conversation begins later in a session.
const CONTINUATION: usize = 6_389;
/// Bytes around a tool call: tags, time, and how to answer.
const AROUND_EVENT: usize = 914;
/// Bytes around the last message of a turn: the change of task, and the format of a summary.
const AROUND_SUMMARY: usize = 2_220;
/// Longest JSON text of the arguments, or of an answer, in characters; of a longer one the first 60 % and the last
/// 30 % are sent with a note between.
const MAX_JSON: usize = 16_000;
/// Bytes of that note.
const NOTE: usize = 76;
/// Tools that it leaves out unless told otherwise. It has no rules about what a call found.
const SKIPPED: [&str; 5] = ["ListMcpResourcesTool", "SlashCommand", "Skill", "TodoWrite", "AskUserQuestion"];

/// What a session costs it. `restarts`: its process ends before every prompt of the user, as it does after three idle
/// minutes, and the next conversation knows nothing of the one before.
pub fn cost(session: &Session, restarts: bool) -> Cost {
    let mut talk = Conversation::default();
    let mut events = 0;
    for call in &session.calls {
        match call.event() {
            "UserPromptSubmit" if talk.cost.requests == 0 => talk.ask(OPENING, call.text("prompt"), ""),
            "UserPromptSubmit" if restarts => {
                talk.history = 0;
                talk.ask(CONTINUATION, call.text("prompt"), "");
            }
            _ if is_seen(call) => {
                let reply = if events % EVERY == 0 { notes::observation(events) } else { String::new() };
                events += 1;
                talk.ask(AROUND_EVENT, &event(call), &reply);
            }
            "Stop" => talk.ask(AROUND_SUMMARY, call.text("last_assistant_message"), notes::SUMMARY),
            _ => {}
        }
    }
    talk.cost
}

/// Observations that it is assumed to write.
pub fn observations(session: &Session) -> usize {
    session.calls.iter().filter(|call| is_seen(call)).count().div_ceil(EVERY)
}

fn is_seen(call: &Call) -> bool {
    call.event() == "PostToolUse" && !SKIPPED.contains(&call.text("tool_name"))
}

fn event(call: &Call) -> String {
    let (input, output) = (&call.payload["tool_input"], &call.payload["tool_response"]);
    [call.text("tool_name"), call.text("cwd"), &json(input), &json(output)].concat()
}

fn json(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap();
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= MAX_JSON {
        return text;
    }
    let (head, tail) = (MAX_JSON * 6 / 10, MAX_JSON * 3 / 10);
    let kept = letters[..head].iter().chain(&letters[letters.len() - tail..]);
    kept.collect::<String>() + &".".repeat(NOTE)
}

#[derive(Default)]
struct Conversation {
    /// Tokens that were said.
    history: usize,
    cost: Cost,
}

impl Conversation {
    /// Says one thing more: so many bytes of its own and a text.
    fn ask(&mut self, fixed: usize, text: &str, reply: &str) {
        let said = fixed.div_ceil(4) + estimate_tokens(text);
        let answered = estimate_tokens(reply);
        self.cost.requests += 1;
        self.cost.input += self.history + said;
        // As if all of the history had always been read from a cache, and writing to it cost nothing.
        self.cost.billed += self.history / 10 + said;
        self.cost.output += answered;
        self.history += said + answered;
    }
}
