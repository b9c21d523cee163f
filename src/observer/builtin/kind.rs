//! Which type and which concepts a turn deserves, by rule.

mod lexicon;

use self::lexicon::{AIMS, Aim, HABITS, SECURITY, TRAPS, URGENT, WEIGHING, WHY};
use super::edits::Edit;
use super::runs::Runs;

/// Whether `word` begins at the beginning of a word of `lower`; words of scripts without blanks may begin anywhere.
pub(super) fn has_word(lower: &str, word: &str) -> bool {
    position(lower, word).is_some()
}

fn position(lower: &str, word: &str) -> Option<usize> {
    let spaced = word.chars().next().is_some_and(|c| u32::from(c) < 0x0370);
    lower.match_indices(word).map(|(at, _)| at).find(|at| {
        !spaced
            || !lower[..*at]
                .chars()
                .next_back()
                .is_some_and(|before| before.is_alphanumeric() || before == '_')
    })
}

fn has_any(lower: &str, words: &[&str]) -> bool {
    words.iter().any(|word| has_word(lower, word))
}

/// The aim whose word comes first.
fn aim(lower: &str) -> Option<Aim> {
    let first = |words: &[&str]| words.iter().filter_map(|word| position(lower, word)).min();
    AIMS.iter()
        .filter_map(|(aim, words)| Some((first(words)?, *aim)))
        .min_by_key(|(at, _)| *at)
        .map(|(_, aim)| aim)
}

/// The aim of a commit, given as `hash: subject`: its type when it follows <https://www.conventionalcommits.org>,
/// else its first word.
fn committed(commit: &str) -> Option<Aim> {
    let (_, subject) = commit.split_once(": ")?;
    let Some((prefix, _)) = subject.split_once(": ").filter(|(prefix, _)| !prefix.contains(' ')) else {
        return aim(&subject.split(' ').next()?.to_lowercase());
    };
    match prefix.split(['(', '!']).next()? {
        "fix" | "hotfix" => Some(Aim::Fix),
        "feat" => Some(Aim::Add),
        "refactor" => Some(Aim::Refactor),
        "docs" | "chore" | "style" | "test" | "ci" | "build" | "perf" => Some(Aim::Change),
        _ => None,
    }
}

/// Whether a text states a choice or a rule for later.
pub(super) fn decides(text: &str) -> bool {
    aim(&text.to_lowercase()) == Some(Aim::Decide)
}

/// The type of a turn, in the words of mode `code`.
pub(super) fn kind(prompt: &str, conclusion: &str, edits: &[Edit], runs: &Runs) -> &'static str {
    let (prompt, conclusion) = (prompt.to_lowercase(), conclusion.to_lowercase());
    if has_any(&prompt, SECURITY) || has_any(&conclusion, SECURITY) {
        let urgent = edits.is_empty() && (has_any(&prompt, URGENT) || has_any(&conclusion, URGENT));
        return if urgent { "security_alert" } else { "security_note" };
    }
    let by_commit = runs.commits.iter().find_map(|commit| committed(commit));
    let wanted = by_commit.or_else(|| aim(&prompt)).or_else(|| aim(&conclusion));
    if edits.is_empty() {
        return match wanted {
            Some(Aim::Decide) => "decision",
            _ if !runs.commits.is_empty() || runs.acted => "change",
            _ => "discovery",
        };
    }
    let code = edits.iter().any(Edit::is_code);
    let product = edits.iter().any(|edit| edit.is_code() && !edit.is_test());
    match wanted {
        Some(Aim::Decide) if !code => "decision",
        Some(Aim::Fix) => "bugfix",
        _ if runs.recovered && product && aim(&prompt).is_none() => "bugfix",
        _ if !product => "change",
        Some(Aim::Refactor) => "refactor",
        Some(Aim::Add) => "feature",
        Some(Aim::Change | Aim::Decide) => "change",
        None if edits.iter().any(|edit| edit.is_code() && (edit.created || !edit.added.is_empty())) => {
            "feature"
        }
        None if edits.iter().all(|edit| !edit.renamed.is_empty()) => "refactor",
        None => "change",
    }
}

/// Concepts, in the words of mode `code`; at most four.
pub(super) fn concepts(kind: &str, text: &str, edits: &[Edit], runs: &Runs) -> Vec<&'static str> {
    let lower = text.to_lowercase();
    let mut found = Vec::new();
    let mut add = |concept, applies: bool| {
        if applies && found.len() < 4 {
            found.push(concept);
        }
    };
    add("problem-solution", kind == "bugfix" || runs.recovered);
    add("what-changed", !edits.is_empty() || !runs.commits.is_empty());
    add("how-it-works", kind == "discovery");
    add("trade-off", has_any(&lower, WEIGHING));
    add("gotcha", has_any(&lower, TRAPS));
    add("why-it-exists", has_any(&lower, WHY));
    add("pattern", has_any(&lower, HABITS));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str) -> Edit {
        Edit { path: path.to_owned(), ..Edit::default() }
    }

    #[test]
    fn the_first_word_tells_the_aim() {
        for (prompt, expected) in [
            ("Fix the new login page", "bugfix"),
            ("Add error handling to the upload", "feature"),
            ("Refactor the parser to fix the naming", "refactor"),
            ("Bump serde to 1.0.200", "change"),
            ("修复登录时的崩溃", "bugfix"),
            ("新增导出功能", "feature"),
            ("重構 parser 模組", "refactor"),
            ("ログインのバグを直して", "bugfix"),
            ("다운로드 기능을 추가해줘", "feature"),
            ("Behebe den Absturz beim Start", "bugfix"),
            ("Corrige le calcul de la TVA", "bugfix"),
            ("Añade paginación a la lista", "feature"),
            ("There is an SQL injection in the search, close it", "security_note"),
        ] {
            assert_eq!(kind(prompt, "", &[edit("src/a.rs")], &Runs::default()), expected, "{prompt}");
        }
    }

    #[test]
    fn evidence_counts_as_well() {
        let recovered = Runs { recovered: true, ..Runs::default() };
        assert_eq!(kind("go on", "", &[edit("src/a.rs")], &recovered), "bugfix");
        assert_eq!(kind("Add a section on limits", "", &[edit("README.md")], &Runs::default()), "change");
        assert_eq!(kind("Add a test for login", "", &[edit("tests/login.rs")], &Runs::default()), "change");
        assert_eq!(kind("Where is login defined?", "In src/a.rs", &[], &Runs::default()), "discovery");
        assert_eq!(kind("We'll use Postgres", "Noted", &[], &Runs::default()), "decision");
        assert_eq!(
            kind("is anything exposed?", "The key was leaked in the log", &[], &Runs::default()),
            "security_alert"
        );
        let commits = vec![String::from("1a2b3c4: docs(api): fix a typo")];
        let documented = Runs { commits, ..Runs::default() };
        assert_eq!(kind("Fix it", "", &[edit("src/a.rs")], &documented), "change");
        let acted = Runs { acted: true, ..Runs::default() };
        assert_eq!(kind("deploy it", "Deployed", &[], &acted), "change");
    }

    #[test]
    fn words_begin_at_word_boundaries() {
        assert!(
            has_word("we add it", "add") && !has_word("padding", "add") && has_word("请新增一个", "新增")
        );
    }

    #[test]
    fn concepts_follow_type_and_words() {
        let found =
            concepts("bugfix", "It failed because of X; careful with Y", &[edit("a.rs")], &Runs::default());
        assert_eq!(found, ["problem-solution", "what-changed", "gotcha", "why-it-exists"]);
        assert_eq!(concepts("discovery", "plain", &[], &Runs::default()), ["how-it-works"]);
    }
}
