//! `POST …/embeddings`, <https://platform.openai.com/docs/api-reference/embeddings>, as compatible servers speak it.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Fault, MAX_DIMENSION};
use crate::http::HttpAnswer;
use crate::model::Timestamp;
use crate::observer::{self, Verdict};

pub(super) fn body(model: &str, texts: &[String]) -> Value {
    json!({ "model": model, "input": texts })
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Item {
    embedding: Vec<f32>,
    /// Some servers leave it out.
    #[serde(default)]
    index: Option<usize>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: Option<i64>,
    #[serde(default)]
    total_tokens: Option<i64>,
}

/// The vectors of `count` texts in their order, and the tokens that were counted.
pub(super) fn read(answer: &HttpAnswer, count: usize, host: &str) -> (Result<Vec<Vec<f32>>, Fault>, i64) {
    let now = Timestamp::now();
    if !(200..300).contains(&answer.status) {
        let verdict = observer::of_failure(answer.status, answer.wait, &answer.body, now);
        return (Err(refusal(answer.status, verdict)), 0);
    }
    let parsed: Answer = match serde_json::from_slice(&answer.body) {
        Ok(parsed) => parsed,
        Err(_) => return (Err(no_vectors(answer, host, now)), 0),
    };
    let usage = parsed.usage.as_ref().and_then(|usage| usage.prompt_tokens.or(usage.total_tokens));
    let vectors = in_order(parsed.data, count).map_err(|reason| Fault {
        verdict: Verdict::Malformed { reason: format!("{host} answered with {reason}") },
        about_texts: true,
    });
    (vectors, usage.unwrap_or(0).max(0))
}

fn refusal(status: u16, verdict: Verdict) -> Fault {
    let about_texts = match verdict {
        Verdict::Malformed { .. } => true,
        Verdict::Unrecoverable { .. } => matches!(status, 400 | 413 | 422),
        _ => false,
    };
    Fault { verdict, about_texts }
}

/// The class of a success without vectors.
fn no_vectors(answer: &HttpAnswer, host: &str, now: Timestamp) -> Fault {
    let Ok(value) = serde_json::from_slice::<Value>(&answer.body) else {
        let message = format!("{host} answered {} without JSON that can be read", answer.status);
        return Fault { verdict: Verdict::Transient { message }, about_texts: false };
    };
    match observer::of_error_object(&value, answer.wait, now) {
        Some(verdict) => refusal(answer.status, verdict),
        None => Fault {
            verdict: Verdict::Malformed { reason: format!("{host} answered without vectors of numbers") },
            about_texts: true,
        },
    }
}

/// What is wrong with the vectors, if anything is.
fn in_order(items: Vec<Item>, count: usize) -> Result<Vec<Vec<f32>>, String> {
    if items.len() != count {
        return Err(format!("{} vectors for {count} texts", items.len()));
    }
    let dim = items.first().map_or(0, |item| item.embedding.len());
    if dim == 0 || dim > MAX_DIMENSION {
        return Err(format!("vectors of {dim} numbers"));
    }
    let numbered = items.iter().any(|item| item.index.is_some());
    let mut vectors = vec![Vec::new(); count];
    for (place, item) in items.into_iter().enumerate() {
        let place = if numbered { item.index.unwrap_or(count) } else { place };
        match vectors.get_mut(place) {
            Some(free) if free.is_empty() => *free = item.embedding,
            _ => return Err(String::from("vectors that are numbered wrongly")),
        }
    }
    if vectors.iter().any(|vector| vector.len() != dim) {
        return Err(String::from("vectors of different lengths"));
    }
    if vectors.iter().any(|vector| vector.iter().any(|value| !value.is_finite())) {
        return Err(String::from("something that is no number"));
    }
    if vectors.iter().any(|vector| vector.iter().all(|value| *value == 0.0)) {
        return Err(String::from("a vector of zeros"));
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> HttpAnswer {
        HttpAnswer { status, wait: None, body: body.as_bytes().to_vec() }
    }

    fn told(status: u16, body: &str) -> (String, bool) {
        let (vectors, _) = read(&answer(status, body), 2, "http://h");
        let fault = vectors.unwrap_err();
        (format!("{} {}", fault.verdict.class(), super::super::message(&fault.verdict)), fault.about_texts)
    }

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        for (body, tokens) in [
            (
                r#"{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":7}}"#,
                7,
            ),
            (r#"{"data":[{"embedding":[1,2]},{"embedding":[3,4]}],"usage":{"total_tokens":5}}"#, 5),
            (
                r#"{"object":"list","data":[{"index":0,"embedding":[1.0,2]},{"index":1,"embedding":[3,4e0]}]}"#,
                0,
            ),
        ] {
            let (vectors, counted) = read(&answer(200, body), 2, "http://h");
            assert_eq!((vectors.unwrap(), counted), (vec![vec![1.0, 2.0], vec![3.0, 4.0]], tokens), "{body}");
        }
    }

    #[test]
    fn whatever_is_wrong_with_them_is_told() {
        for (body, reason) in [
            (r#"{"data":[{"index":0,"embedding":[1]}]}"#, "1 vectors for 2 texts"),
            (r#"{"data":[]}"#, "0 vectors for 2 texts"),
            (r#"{"data":[{"embedding":[]},{"embedding":[]}]}"#, "vectors of 0 numbers"),
            (r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#, "vectors of different lengths"),
            (
                r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}]}"#,
                "vectors that are numbered wrongly",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1]},{"embedding":[2]}]}"#,
                "vectors that are numbered wrongly",
            ),
            (
                r#"{"data":[{"index":1,"embedding":[1]},{"index":2,"embedding":[2]}]}"#,
                "vectors that are numbered wrongly",
            ),
            (r#"{"data":[{"embedding":[1e39]},{"embedding":[1]}]}"#, "something that is no number"),
            (r#"{"data":[{"embedding":[0,0]},{"embedding":[1,0]}]}"#, "a vector of zeros"),
        ] {
            assert_eq!(
                told(200, body),
                (format!("malformed http://h answered with {reason}"), true),
                "{body}"
            );
        }
        for body in [r#"{"data":[{"embedding":[null]},{"embedding":["x"]}]}"#, r#"{"data":{}}"#, "[]"] {
            assert_eq!(
                told(200, body),
                (String::from("malformed http://h answered without vectors of numbers"), true),
                "{body}"
            );
        }
        for body in [r#"{"data":[{"embedding":[NaN]}]}"#, "<html>sign in</html>", ""] {
            let (told, about_texts) = told(200, body);
            assert!(
                told.starts_with("transient http://h answered 200 without JSON") && !about_texts,
                "{told}"
            );
        }
    }

    #[test]
    fn a_refusal_may_be_about_the_texts_or_not() {
        let error = |message: &str| format!(r#"{{"error":{{"message":"{message}"}}}}"#);
        for (status, message, class, about_texts) in [
            (400, "input is too weird", "unrecoverable", true),
            (400, "maximum context length is 512 tokens", "malformed", true),
            (401, "bad key", "auth", false),
            (404, "no such path", "unrecoverable", false),
            (429, "slow down", "rate_limited", false),
            (500, "oops", "transient", false),
        ] {
            let (told, about) = told(status, &error(message));
            assert!(told.starts_with(class) && about == about_texts, "{status}: {told}");
        }
        let (inside, _) = told(200, r#"{"error":{"message":"bad key","code":401}}"#);
        assert!(inside.starts_with("auth"), "{inside}");
    }
}
