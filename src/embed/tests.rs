//! Against what an independent implementation says.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Most tokens of the golden vectors.
const VECTOR_TOKENS: usize = 512;

fn golden() -> Value {
    serde_json::from_str(include_str!("golden.json")).unwrap()
}

fn plain(text: &str, most: usize) -> Vec<(Token, f32)> {
    tokens(text, most).into_iter().map(|token| (token, 1.0)).collect()
}

#[test]
fn the_tokens_are_the_golden_ones() {
    for case in golden()["texts"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let wanted: Vec<Token> =
            case["tokens"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as Token).collect();
        assert_eq!(tokens(text, VECTOR_TOKENS), wanted, "{text}");
    }
}

#[test]
fn the_vectors_are_the_golden_ones() {
    for case in golden()["texts"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let found = vector(&plain(text, VECTOR_TOKENS)).unwrap_or([0.0; DIM]);
        for (found, wanted) in found.iter().zip(case["vector"].as_array().unwrap()) {
            assert!((f64::from(*found) - wanted.as_f64().unwrap()).abs() < 1e-5, "{text}");
        }
    }
}

#[test]
fn maxsim_is_the_golden_one() {
    for case in golden()["maxsim"].as_array().unwrap() {
        let (query, document) = (case["query"].as_str().unwrap(), case["doc"].as_str().unwrap());
        let found = Query::new(&plain(query, QUERY_TOKENS))
            .map_or(0.0, |mut query| query.maxsim(&tokens(document, DOCUMENT_TOKENS)));
        assert!((f64::from(found) - case["score"].as_f64().unwrap()).abs() < 1e-4, "{query} / {document}");
    }
}

#[test]
fn a_kept_vector_is_close_to_its_own() {
    let exact = vector(&plain("The login handler rejects expired tokens.", VECTOR_TOKENS)).unwrap();
    let kept = quantize(&exact);
    let cosine = dot(&kept, &kept) as f32 * QUANTUM * QUANTUM;
    assert!((cosine - 1.0).abs() < 0.01, "{cosine}");
}

#[test]
fn what_has_no_letters_has_no_vector() {
    for text in ["", " \n", "🚀 -> ()", "。、"] {
        assert!(
            vector(&plain(text, VECTOR_TOKENS)).is_none() && Query::new(&plain(text, QUERY_TOKENS)).is_none()
        );
    }
}

proptest! {
    #[test]
    fn any_text_gives_bounded_tokens(text in "\\PC{0,200}", most in 0usize..40) {
        let found = tokens(&text, most);
        prop_assert!(found.len() <= most);
        let all = tokens(&text, usize::MAX);
        prop_assert_eq!(&found[..], &all[..found.len()]);
        if let Some(vector) = vector(&plain(&text, VECTOR_TOKENS)) {
            let length: f32 = vector.iter().map(|value| value * value).sum();
            prop_assert!((length - 1.0).abs() < 1e-3);
        }
    }
}
