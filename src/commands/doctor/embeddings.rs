//! Check of the embeddings endpoint: how it is set up, what it has embedded, and why the rest waits. Asks nobody.

use super::Check;
use crate::config::{Paths, Settings};
use crate::embeddings::{Embedder, EmbeddingPause, SetupError};
use crate::index::{self, Coverage};
use crate::store::{Store, StoreError};

const NAME: &str = "embeddings";
const TIME: &str = "%Y-%m-%d %H:%M";

pub(super) fn check(settings: &Settings, paths: &Paths) -> Check {
    let embedder = Embedder::from_settings(settings);
    // A memory that cannot be read is told by its own check.
    let state = match (&embedder, Store::open_read_only(paths)) {
        (Ok(Some(embedder)), Ok(store)) => state(&store, embedder).unwrap_or_default(),
        _ => (Coverage::default(), None),
    };
    judge(embedder, state)
}

fn state(store: &Store, embedder: &Embedder) -> Result<(Coverage, Option<EmbeddingPause>), StoreError> {
    let space = index::space_of(store, embedder.model())?;
    Ok((index::coverage(store, space.as_ref())?, embedder.pause(store)?))
}

fn judge(
    embedder: Result<Option<Embedder>, SetupError>,
    (coverage, pause): (Coverage, Option<EmbeddingPause>),
) -> Check {
    let embedder = match embedder {
        Err(error) => return Check::warn(NAME, error.to_string(), error.remedy()),
        Ok(None) => return Check::ok(NAME, "by the embedded model; no endpoint is set up"),
        Ok(Some(embedder)) => embedder,
    };
    let refused = match coverage.refused {
        0 => String::new(),
        refused => format!(", {refused} of them refused"),
    };
    let told = format!(
        "{} at {}: {} of {} observations{refused}",
        embedder.model(),
        embedder.host(),
        coverage.done,
        coverage.all
    );
    match pause {
        Some(pause) => Check::warn(
            NAME,
            format!("{told}; {} {}: {}", pause.since.local(TIME), pause.class, pause.message),
            format!("{}; goes on by itself after {}", pause.remedy, pause.until.local(TIME)),
        ),
        None if coverage.waiting() > 0 => {
            Check::ok(NAME, format!("{told}; the drainer embeds the rest, or `cmem reindex` at once"))
        }
        None => Check::ok(NAME, told),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;
    use crate::config::Sources;

    #[test]
    fn an_address_without_a_model_is_told() {
        let (mut settings, _) = Settings::resolve_lenient(&Sources::default());
        let judged = |settings: &Settings| judge(Embedder::from_settings(settings), Default::default());
        assert_eq!(judged(&settings).state, State::Ok);
        settings.embed_base_url = String::from("http://127.0.0.1:1/v1");
        let check = judged(&settings);
        assert!(check.state == State::Warn && check.remedy.contains("CMEM_EMBED_MODEL"), "{check:?}");
        settings.embed_model = String::from("m");
        assert_eq!(judged(&settings).message, "m at http://127.0.0.1:1: 0 of 0 observations");
        settings.embed_api_key = String::from("two words");
        let check = judged(&settings);
        assert!(check.state == State::Warn && !check.message.contains("two"), "{check:?}");
    }
}
