//! One line about what waits for the user.

/// How many memories wait for review.
pub fn waiting_for_review(count: u64) -> String {
    match count {
        1 => String::from("1 memory waits for your decision"),
        _ => format!("{count} memories wait for your decision"),
    }
}
