//! placeholder
use super::{Answer, Batch, Mode, Observer, Usage, Verdict};

pub(super) struct Builtin {
    #[allow(dead_code)]
    mode: Mode,
}

impl Builtin {
    pub(super) fn new(mode: Mode) -> Self {
        Self { mode }
    }
}

impl Observer for Builtin {
    fn observe(&self, _batch: &Batch) -> Answer {
        Answer { verdict: Verdict::Nothing, usage: Usage::default(), model: String::from("builtin") }
    }
    fn wants_whole_turns(&self) -> bool {
        true
    }
}
