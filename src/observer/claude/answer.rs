//! What the command prints with `--output-format json`: one `result` object, also for most failures.

use serde_json::Value;

use super::process::Output;
use crate::model::Timestamp;
use crate::observer::class::{bounded, of_notice};
use crate::observer::{Usage, Verdict};

/// What a model said through the command.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
}

/// The answer, or the class of the failure.
pub(super) fn read(output: &Output, now: Timestamp) -> Result<Said, Box<Verdict>> {
    let Some(result) = result(&output.out) else {
        let text = [&output.err, &output.out].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let text =
            text.iter().find(|text| !text.trim().is_empty()).map_or("claude said nothing", String::as_str);
        return Err(Box::new(of_notice(text, now)));
    };
    let text = result.get("result").and_then(Value::as_str).unwrap_or_default();
    let failed = result.get("is_error").and_then(Value::as_bool).unwrap_or(!output.fine);
    if failed {
        let subtype = result.get("subtype").and_then(Value::as_str).unwrap_or("error");
        return Err(Box::new(of_notice(if text.is_empty() { subtype } else { text }, now)));
    }
    let count = |key: &str| result.pointer(&format!("/usage/{key}")).and_then(Value::as_i64).unwrap_or(0);
    Ok(Said {
        text: text.to_owned(),
        usage: Usage {
            input: count("input_tokens") + count("cache_creation_input_tokens"),
            cached: count("cache_read_input_tokens"),
            output: count("output_tokens"),
        },
        model: main_model(&result),
    })
}

/// The last `result` object of the output: warnings may stand before it, and some versions print a list.
fn result(out: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(out);
    let whole = serde_json::from_str::<Value>(text.trim()).ok();
    let candidates =
        whole.into_iter().chain(text.lines().rev().filter_map(|line| serde_json::from_str(line).ok()));
    let is_result = |value: &Value| value.get("type").is_some_and(|kind| kind == "result");
    candidates
        .flat_map(|value: Value| match value {
            Value::Array(items) => items,
            other => vec![other],
        })
        .find(is_result)
}

/// The model that wrote most: the command also asks a small one for its own purposes.
fn main_model(result: &Value) -> Option<String> {
    let models = result.get("modelUsage")?.as_object()?;
    let written = |usage: &Value| usage.get("outputTokens").and_then(Value::as_i64).unwrap_or(0);
    let (name, _) = models.iter().max_by_key(|(_, usage)| written(usage))?;
    Some(bounded(name))
}
