//! Prompts about the work itself ("run the tests again"): anything in memory is a little like them, and none of it is
//! meant. They are known by what they mean, so that a few phrases in one language serve all of them.

use crate::embed::{self, Token, Vector};

/// Less than so many word pieces ("yes", "继续", "go on") name nothing.
const FEWEST_PIECES: usize = 3;
/// What is so like one of the phrases has no subject of its own: half of such prompts in `tests/eval/everyday.jsonl`, and
/// one in fifty of the questions there that have an answer.
const WITHOUT_SUBJECT: f64 = 0.4;

const PHRASES: &[&str] = &[
    "run the tests once more",
    "commit and push the changes",
    "explain this function to me",
    "rename this variable",
    "fix the error",
    "undo that",
    "add a comment to the code",
    "continue with the next step",
    "what is left to be done",
    "show the diff of the file",
    "clean up the code",
    "write a test for it",
    "it still does not work",
    "do the same in the other file",
    "try it in another way",
    "make it better",
    "yes, go ahead",
    "thanks, that looks good",
    "what do you mean",
    "wait, not like this",
    "look at this file",
];

/// How like such a prompt a text is, from 0 to 1; `None` for one that names nothing.
pub(super) fn likeness(text: &str) -> Option<f64> {
    let tokens = embed::tokens(text, embed::QUERY_TOKENS);
    if tokens.len() < FEWEST_PIECES {
        return None;
    }
    let text = vector(&tokens)?;
    let nearest = PHRASES
        .iter()
        .filter_map(|phrase| vector(&embed::tokens(phrase, embed::QUERY_TOKENS)))
        .map(|phrase| text.iter().zip(&phrase).map(|(a, b)| a * b).sum::<f32>())
        .fold(0.0, f32::max);
    Some(f64::from(nearest))
}

/// Whether a prompt is about something that a memory could be about as well.
pub(super) fn has_subject(text: &str) -> bool {
    likeness(text).is_some_and(|likeness| likeness < WITHOUT_SUBJECT)
}

fn vector(tokens: &[Token]) -> Option<Vector> {
    embed::vector(&tokens.iter().map(|token| (*token, 1.0)).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assent_and_instructions_have_no_subject() {
        for prompt in [
            "yes",
            "continue",
            "ok",
            "好的",
            "继续",
            "はい",
            "네",
            "👍",
            "再跑一遍测试",
            "run the tests again",
        ] {
            assert!(!has_subject(prompt), "{prompt}");
        }
        for prompt in ["why do deploys fail on mondays?", "登录怎么做的", "ログインの有効期限はどこで決まる"]
        {
            assert!(has_subject(prompt), "{prompt}");
        }
    }
}
