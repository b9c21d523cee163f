//! The prose of a report, by the observer that is at work, under the same limits as everything it is asked.

use super::inquiry::Inquiry;
use super::run::DrainError;
use crate::config::{Paths, Settings};
use crate::observer::{Narration, Prose};
use crate::spool::LastError;

/// What became of a question for prose.
#[derive(Debug)]
pub enum Narrated {
    /// It was written.
    Prose {
        /// The text, redacted, and what it refers to.
        prose: Prose,
        /// Who wrote it.
        model: String,
    },
    /// The observer at work has no words of its own.
    Speechless,
    /// The observer cannot do it for now.
    Failed(LastError),
}

/// Asks the observer that is at work. The user asked for it, as for `cmem drain`.
pub struct Narrator<'a>(Inquiry<'a>);

impl<'a> Narrator<'a> {
    /// Sets the observer up. Sends nothing.
    ///
    /// # Errors
    /// [`DrainError`] when a database or the mode cannot be used.
    pub fn new(paths: &'a Paths, settings: &'a Settings) -> Result<Self, DrainError> {
        Inquiry::new(paths, settings).map(Self)
    }

    /// Makes one request.
    ///
    /// # Errors
    /// [`DrainError`] when a database fails.
    pub fn narrate(&self, asked: &Narration) -> Result<Narrated, DrainError> {
        let post = match self.0.at_work()? {
            Ok(post) => post,
            Err(obstacle) => return Ok(Narrated::Failed(obstacle)),
        };
        let answer = post.observer.narrate(asked);
        self.0.count("report", &post, &answer)?;
        let model = answer.model;
        Ok(match self.0.settle(&post, answer.verdict)? {
            Err(failure) => Narrated::Failed(failure),
            Ok(reply) => match reply.and_then(|reply| reply.prose) {
                Some(prose) => {
                    let text = self.0.cleaner().redact(&prose.text);
                    Narrated::Prose { prose: Prose { text, ..prose }, model }
                }
                None => Narrated::Speechless,
            },
        })
    }
}
