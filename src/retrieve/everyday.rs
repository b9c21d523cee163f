//! Prompts about the work itself ("run the tests again"): anything in memory is a little like them, and none of it is
//! meant. They are known by what they mean, so that a few phrases in one language serve all of them.

use crate::embed::{self, Token, Vector};

/// Less than so many word pieces ("yes", "继续", "go on") name nothing.
const FEWEST_PIECES: usize = 3;
/// What is so like one of the phrases has no subject of its own: half of such prompts in `tests/eval/everyday.jsonl`, and
/// one in fifty of the questions there that have an answer.
const WITHOUT_SUBJECT: f64 = 0.4;

/// With their word pieces: to find those takes many times as long as all else here.
const PHRASES: &[(&str, &[Token])] = &[
    ("run the tests once more", &[40514, 45415, 45362, 34052, 32018]),
    ("commit and push the changes", &[14963, 9542, 37952, 45415, 13997]),
    ("explain this function to me", &[21583, 45479, 23294, 45720, 31010]),
    ("rename this variable", &[39337, 45479, 47570]),
    ("fix the error", &[22539, 45415, 20854]),
    ("undo that", &[46876, 45412]),
    ("add a comment to the code", &[8556, 8021, 14939, 45720, 45415, 14651]),
    ("continue with the next step", &[15945, 49241, 45415, 32996, 43604]),
    ("what is left to be done", &[49005, 27589, 29346, 45720, 11669, 18961]),
    ("show the diff of the file", &[42093, 45415, 18268, 33878, 45415, 22345]),
    ("clean up the code", &[14474, 47118, 45415, 14651]),
    ("write a test for it", &[49399, 8021, 45338, 22799, 27653]),
    ("it still does not work", &[27653, 43651, 18853, 33335, 49324]),
    ("do the same in the other file", &[18766, 45415, 40874, 26305, 45415, 34515, 22345]),
    ("try it in another way", &[46376, 27653, 26305, 9728, 48806]),
    ("make it better", &[30505, 27653, 12068]),
    ("yes, go ahead", &[49684, 24202, 8904]),
    ("thanks, that looks good", &[45410, 45412, 30088, 24244]),
    ("what do you mean", &[49005, 18766, 49713, 31018]),
    ("wait, not like this", &[48638, 33335, 29677, 45479]),
    ("look at this file", &[30083, 10615, 45479, 22345]),
];

/// Whether a prompt names so little that it reminds of nothing.
pub(super) fn is_short(text: &str) -> bool {
    embed::tokens(text, FEWEST_PIECES).len() < FEWEST_PIECES
}

/// How like such a prompt a text is, from 0 to 1.
pub(super) fn likeness(text: &str) -> f64 {
    let Some(text) = vector(&embed::tokens(text, embed::QUERY_TOKENS)) else { return 0.0 };
    let nearest = PHRASES
        .iter()
        .filter_map(|(_, tokens)| vector(tokens))
        .map(|phrase| text.iter().zip(&phrase).map(|(a, b)| a * b).sum::<f32>())
        .fold(0.0, f32::max);
    f64::from(nearest)
}

/// Whether a prompt is about something that a memory could be about as well.
pub(super) fn has_subject(text: &str) -> bool {
    !is_short(text) && likeness(text) < WITHOUT_SUBJECT
}

fn vector(tokens: &[Token]) -> Option<Vector> {
    embed::vector(&tokens.iter().map(|token| (*token, 1.0)).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_are_those_of_the_phrases() {
        for (phrase, pieces) in PHRASES {
            assert_eq!(embed::tokens(phrase, embed::QUERY_TOKENS), *pieces, "{phrase}");
        }
    }

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
