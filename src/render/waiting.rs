//! One line about what waits for the user.

/// How many memories wait for review, and where they are decided about.
pub fn waiting_for_review(count: u64) -> String {
    match count {
        1 => String::from("1 memory waits for your decision: `cmem review`"),
        _ => format!("{count} memories wait for your decision: `cmem review`"),
    }
}
