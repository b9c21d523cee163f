//! Vectors that an embeddings endpoint makes: which are missing, keeping them, and what a search needs of them. The
//! embedded model's are always kept beside them.

use std::collections::HashMap;

use rusqlite::OptionalExtension;

use super::vectors::{self, vector_of};
use super::{Probe, Space};
use crate::embed;
use crate::model::{Draft, Timestamp};
use crate::store::{Store, StoreError, Transaction};

/// Longest text of an observation that is sent, in characters.
const TEXT: usize = 6_000;
/// So many kept vectors tell what is usual; fewer than the least tell nothing.
const SAMPLE: i64 = 128;
const LEAST_SAMPLE: usize = 16;

/// An observation that a model has not embedded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    /// Its id.
    pub observation: i64,
    /// What there is to embed.
    pub text: String,
}

/// How much of the memory a model has embedded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Observations.
    pub all: i64,
    /// Those with a row, the refused ones among them.
    pub done: i64,
    /// Those whose text the endpoint refused.
    pub refused: i64,
}

impl Coverage {
    /// Those that wait.
    pub fn waiting(self) -> i64 {
        (self.all - self.done).max(0)
    }
}

/// The space in which a model's endpoint answered last; `None` if it never did.
///
/// # Errors
/// [`StoreError`].
pub fn space_of(store: &Store, model: &str) -> Result<Option<Space>, StoreError> {
    let unknown = Space::of_endpoint(model, 0);
    let dim: Option<u32> = store
        .conn()
        .prepare_cached(
            "SELECT dimension FROM models WHERE name = ?1 ORDER BY answered_at DESC, id DESC LIMIT 1",
        )?
        .query_row([unknown.key().0], |row| row.get(0))
        .optional()?;
    Ok(dim.map(|dim| Space::of_endpoint(model, dim)))
}

/// How much is embedded in a space; nothing in none.
///
/// # Errors
/// [`StoreError`].
pub fn coverage(store: &Store, space: Option<&Space>) -> Result<Coverage, StoreError> {
    let all = store.conn().query_row("SELECT count(*) FROM observations", [], |row| row.get(0))?;
    let Some(space) = space else { return Ok(Coverage { all, ..Coverage::default() }) };
    // Each is answered by an index alone: the rows are large.
    let count = |condition: &str| -> Result<i64, StoreError> {
        let sql = format!(
            "SELECT count(*) FROM vectors
             WHERE model = (SELECT id FROM models WHERE name = ?1 AND dimension = ?2) {condition}"
        );
        Ok(store.conn().prepare_cached(&sql)?.query_row(space.key(), |row| row.get(0))?)
    };
    let (done, refused) = (count("")?, count("AND vector IS NULL")?);
    Ok(Coverage { all, done, refused })
}

/// The `most` newest observations below an id that a space lacks, newest first.
///
/// # Errors
/// [`StoreError`].
pub fn unembedded_in(
    store: &Store,
    space: Option<&Space>,
    below: i64,
    most: usize,
) -> Result<Vec<Unembedded>, StoreError> {
    let (name, dim) = space.map_or(("", 0), Space::key);
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let ids: Vec<i64> = store
        .conn()
        .prepare_cached(
            "SELECT o.id FROM observations o INDEXED BY observations_scope
             WHERE o.id < ?1 AND NOT EXISTS (
               SELECT 1 FROM vectors v WHERE v.observation = o.id
                 AND v.model = (SELECT id FROM models WHERE name = ?2 AND dimension = ?3))
             ORDER BY o.id DESC LIMIT ?4",
        )?
        .query_map((below, name, dim, most), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    ids.into_iter()
        .map(|observation| Ok(Unembedded { observation, text: text_of(&store.texts_of(observation)?) }))
        .collect()
}

/// What is embedded of an observation: the same parts as of the embedded model's vector.
fn text_of(draft: &Draft) -> String {
    let (keywords, facts) = (draft.keywords.join(", "), draft.facts.join("\n"));
    let parts = [&draft.title, &draft.subtitle, &keywords, &facts, &draft.narrative];
    let parts: Vec<&str> = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    parts.join("\n").chars().take(TEXT).collect()
}

/// Keeps what an endpoint made of some observations, each with the text that it was made of; `None` for one that it
/// refuses. What was forgotten, or says something else by now, is left out.
///
/// # Errors
/// [`StoreError`].
pub fn keep(
    store: &Store,
    space: &Space,
    made: &[(Unembedded, Option<Vec<f32>>)],
    at: Timestamp,
) -> Result<(), StoreError> {
    let tx = store.begin()?;
    let (name, dim) = space.key();
    tx.conn()
        .prepare_cached(
            "INSERT INTO models (name, dimension, answered_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (name, dimension) DO UPDATE SET answered_at = max(answered_at, excluded.answered_at)",
        )?
        .execute((name, dim, at.0))?;
    for (row, vector) in made {
        if still_says(&tx, row)? {
            let vector = vector.as_deref().and_then(|vector| embed::unit_bytes(vector, space.quantum()));
            let vector: Option<&[u8]> = vector.as_deref().map(bytemuck::cast_slice);
            tx.conn()
                .prepare_cached(
                    "INSERT OR IGNORE INTO vectors (observation, model, vector)
                     VALUES (?1, (SELECT id FROM models WHERE name = ?2 AND dimension = ?3), ?4)",
                )?
                .execute((row.observation, name, dim, vector))?;
        }
    }
    tx.commit()
}

fn still_says(tx: &Transaction<'_>, row: &Unembedded) -> Result<bool, StoreError> {
    match tx.texts_of(row.observation) {
        Ok(draft) => Ok(text_of(&draft) == row.text),
        Err(StoreError::Sql(rusqlite::Error::QueryReturnedNoRows)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Forgets what the endpoint of a space refused: it is missing again.
///
/// # Errors
/// [`StoreError`].
pub fn forget_refusals(store: &Store, space: &Space) -> Result<(), StoreError> {
    store.conn().execute(
        "DELETE FROM vectors
         WHERE vector IS NULL AND model = (SELECT id FROM models WHERE name = ?1 AND dimension = ?2)",
        space.key(),
    )?;
    Ok(())
}

/// Takes away what is kept of models that are neither the embedded one nor that of `space`; tells how many vectors that
/// were.
///
/// # Errors
/// [`StoreError`].
pub fn forget_others(store: &Store, space: Option<&Space>) -> Result<usize, StoreError> {
    let mut others = Space::all(store)?;
    others.retain(|other| *other != Space::embedded() && Some(other) != space);
    let tx = store.begin()?;
    let mut gone = 0;
    for other in &others {
        gone += tx.conn().execute(
            "DELETE FROM vectors WHERE model = (SELECT id FROM models WHERE name = ?1 AND dimension = ?2)",
            other.key(),
        )?;
        tx.conn().execute("DELETE FROM models WHERE name = ?1 AND dimension = ?2", other.key())?;
    }
    tx.conn().execute("UPDATE vector_epoch SET epoch = epoch + 1", [])?;
    tx.commit()?;
    others.iter().for_each(|other| vectors::remove_caches(store, other));
    Ok(gone)
}

/// How near a question is to each of some observations, from 0 for what is usual in this memory to 1 for the same text.
/// Those that the space lacks are not in the answer.
///
/// # Errors
/// [`StoreError`].
pub fn nearness(store: &Store, probe: &Probe, observations: &[i64]) -> Result<HashMap<i64, f64>, StoreError> {
    let usual = usual(store, probe)?;
    let sql = "SELECT observation, vector FROM vectors
               WHERE observation IN (?ids) AND vector IS NOT NULL
                 AND model = (SELECT id FROM models WHERE name = ? AND dimension = ?)";
    let found = store.of_ids(observations, sql, &probe.space.values(), |row| {
        let kept = vector_of(row.get_ref(1)?.as_blob()?, probe.space.dim());
        Ok((row.get(0)?, kept.map(|kept| probe.cosine(kept))))
    })?;
    let nearness = |(id, cosine): (i64, Option<f64>)| Some((id, (cosine? - usual) / (1.0 - usual)));
    Ok(found.into_iter().filter_map(nearness).collect())
}

/// The usual cosine of a question with what is in memory: models differ in that by far more than answers do. 0 while too
/// little is kept to tell.
fn usual(store: &Store, probe: &Probe) -> Result<f64, StoreError> {
    let (name, dim) = probe.space.key();
    let mut bounds = store.conn().prepare_cached(
        "WITH m AS (SELECT id FROM models WHERE name = ?1 AND dimension = ?2)
         SELECT coalesce((SELECT min(id) FROM vectors WHERE model = (SELECT id FROM m)), 0),
                coalesce((SELECT max(id) FROM vectors WHERE model = (SELECT id FROM m)), 0)",
    )?;
    let (first, last): (i64, i64) = bounds.query_row((name, dim), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut next = store.conn().prepare_cached(
        "SELECT id, vector FROM vectors
         WHERE id >= ?3 AND model = (SELECT id FROM models WHERE name = ?1 AND dimension = ?2)
         ORDER BY id LIMIT 1",
    )?;
    let mut cosines = Vec::new();
    let mut from = first;
    while from <= last && first > 0 {
        let row = next.query_row((name, dim, from), |row| {
            let blob = row.get_ref(1)?.as_blob_or_null()?;
            let kept = blob.and_then(|blob| vector_of(blob, probe.space.dim()));
            Ok((row.get::<_, i64>(0)?, kept.map(|kept| probe.cosine(kept))))
        });
        let Some((id, cosine)) = row.optional()? else { break };
        cosines.extend(cosine);
        from = id.max(from) + ((last - first) / SAMPLE).max(1);
    }
    if cosines.len() < LEAST_SAMPLE {
        return Ok(0.0);
    }
    Ok((cosines.iter().sum::<f64>() / cosines.len() as f64).clamp(0.0, 0.95))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Paths;
    use crate::index::{
        forget_observation, nearest_to, rebuild, record_observation, refresh, revise_observation,
    };
    use crate::model::Identity;
    use crate::store::{NewObservation, Standing, Trace};

    const AT: Timestamp = Timestamp(7);

    struct Fixture {
        store: Store,
        folder: tempfile::TempDir,
    }

    impl Fixture {
        fn new(count: usize) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(&Paths::resolve(Some(folder.path())).unwrap()).unwrap();
            let tx = store.begin().unwrap();
            let identity = Identity {
                key: String::from("/x/.git"),
                name: String::from("x"),
                root: String::from("/x"),
                worktree: None,
                branch: None,
                head: None,
                main_head: None,
                remote: None,
            };
            for n in 1..=count {
                let new = NewObservation {
                    place: tx.place(&identity, &Trace::default()).unwrap(),
                    session: "s",
                    prompt_number: None,
                    draft: &draft(&format!("note {n}")),
                    agent: None,
                    model: "test",
                    tokens_spent: 0,
                    created_at: Timestamp(1),
                    standing: Standing::OBSERVED,
                };
                record_observation(&tx, &new).unwrap();
            }
            tx.commit().unwrap();
            Self { store, folder }
        }

        fn missing(&self, space: &Space) -> Vec<Unembedded> {
            unembedded_in(&self.store, Some(space), i64::MAX, 10_000).unwrap()
        }

        fn ids(&self, space: &Space) -> Vec<i64> {
            self.missing(space).iter().map(|row| row.observation).collect()
        }

        /// Embeds each in the direction of its id, on a circle.
        fn embed(&self, space: &Space) {
            let made: Vec<_> = self
                .missing(space)
                .into_iter()
                .map(|row| (row.clone(), Some(circle(row.observation, space))))
                .collect();
            keep(&self.store, space, &made, AT).unwrap();
        }

        fn near(&self, space: &Space, direction: i64) -> Vec<i64> {
            let probe = space.clone().probe(&circle(direction, space)).unwrap();
            nearest_to(&self.store, &probe, None, 3).unwrap().iter().map(|near| near.observation).collect()
        }
    }

    fn draft(title: &str) -> Draft {
        Draft { r#type: String::from("decision"), title: title.to_owned(), ..Draft::default() }
    }

    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn circle(place: i64, space: &Space) -> Vec<f32> {
        let angle = place as f32 * 0.02;
        let mut vector = vec![0.0; space.dim()];
        (vector[0], vector[1]) = (angle.cos(), angle.sin());
        vector
    }

    #[test]
    fn what_is_missing_is_told_newest_first_and_once() {
        let f = Fixture::new(3);
        let (first, other) = (Space::of_endpoint("m", 2), Space::of_endpoint("m", 5));
        assert_eq!(space_of(&f.store, "m").unwrap(), None);
        assert_eq!(f.ids(&first), [3, 2, 1]);
        assert_eq!(
            unembedded_in(&f.store, None, 3, 1).unwrap(),
            [Unembedded { observation: 2, text: String::from("note 2") }]
        );
        let row = f.missing(&first).remove(1);
        keep(&f.store, &first, &[(row, None)], AT).unwrap();
        assert_eq!(f.ids(&first), [3, 1]);
        f.embed(&first);
        assert_eq!(coverage(&f.store, Some(&first)).unwrap(), Coverage { all: 3, done: 3, refused: 1 });
        // Another dimension is another model; the last that answered counts.
        assert_eq!(f.ids(&other), [3, 2, 1]);
        let row = f.missing(&other).remove(0);
        keep(&f.store, &other, &[(row, Some(circle(1, &other)))], Timestamp(8)).unwrap();
        assert_eq!(space_of(&f.store, "m").unwrap(), Some(other.clone()));
        assert_eq!(f.near(&other, 1), [3]);
        // Of those that are not in use nothing stays, and what was refused may be tried again.
        assert_eq!(forget_others(&f.store, Some(&first)).unwrap(), 1);
        assert!(f.ids(&first).is_empty());
        forget_refusals(&f.store, &first).unwrap();
        assert_eq!((space_of(&f.store, "m").unwrap(), f.ids(&first)), (Some(first), vec![2]));
    }

    #[test]
    fn an_edit_and_forgetting_take_the_vectors_of_every_model() {
        let f = Fixture::new(3);
        let spaces = [Space::of_endpoint("m", 2), Space::of_endpoint("n", 3)];
        spaces.iter().for_each(|space| f.embed(space));
        let late = (Unembedded { observation: 2, text: String::from("note 2") }, Some(vec![1.0, 0.0]));
        let gone = (Unembedded { observation: 1, text: String::from("note 1") }, Some(vec![1.0, 0.0]));
        let tx = f.store.begin().unwrap();
        revise_observation(&tx, 2, &draft("another thing"), Timestamp(2)).unwrap();
        forget_observation(&tx, 1).unwrap();
        tx.commit().unwrap();
        let kept = "SELECT count(*) FROM vectors WHERE observation <= 2 AND tokens IS NULL";
        let count = || f.store.conn().query_row(kept, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count(), 0);
        assert_eq!(f.ids(&spaces[0]), [2]);
        // What an endpoint answers to the text from before is of no use.
        keep(&f.store, &spaces[0], &[late, gone], AT).unwrap();
        assert_eq!((count(), f.ids(&spaces[0])), (0, vec![2]));
        assert_eq!(f.missing(&spaces[0])[0].text, "another thing");
    }

    #[test]
    fn a_cache_of_an_endpoint_changes_no_answer() {
        let f = Fixture::new(810);
        // No multiple of what a processor takes at once; large enough for inverted lists in a test.
        let spaces = [Space::of_endpoint("m", 33), Space::of_endpoint("n", 7)];
        let ask = || spaces.clone().map(|space| [5, 150, 290].map(|direction| f.near(&space, direction)));
        f.embed(&spaces[0]);
        let first = ask();
        assert!(first[0].iter().all(|near| near.len() == 3) && first[1][0].is_empty(), "{first:?}");
        let mut made: Vec<_> = f
            .missing(&spaces[1])
            .into_iter()
            .map(|row| (row.clone(), Some(circle(row.observation, &spaces[1]))))
            .collect();
        made.truncate(100);
        keep(&f.store, &spaces[1], &made, AT).unwrap();
        rebuild(&f.store).unwrap();
        let rows = ask();
        f.store.conn().execute("UPDATE vector_epoch SET epoch = epoch + 1", []).unwrap();
        assert_eq!(ask(), rows, "the rows alone");
        f.store.conn().execute("UPDATE vector_epoch SET epoch = epoch - 1", []).unwrap();
        assert!(!refresh(&f.store).unwrap());
        let caches = || -> Vec<_> {
            let entries = std::fs::read_dir(f.folder.path()).unwrap().map(|entry| entry.unwrap().path());
            entries.filter(|path| path.extension().is_some_and(|end| end == "bin")).collect()
        };
        assert_eq!(caches().len(), 5, "{:?}", caches());
        let kept: Vec<_> = caches().into_iter().map(|path| (std::fs::read(&path).unwrap(), path)).collect();
        // Each in the place of each other: of another model, or of another dimension.
        for (content, from) in &kept {
            for (of_to, to) in kept.iter().filter(|(_, to)| to != from) {
                std::fs::write(to, content).unwrap();
                assert_eq!(ask(), rows, "{} as {}", from.display(), to.display());
                std::fs::write(to, of_to).unwrap();
            }
        }
        assert_eq!(forget_others(&f.store, Some(&spaces[0])).unwrap(), 100);
        assert_eq!(caches().len(), 4, "{:?}", caches());
        assert_eq!(ask()[0], rows[0]);
        assert!(ask()[1].iter().all(Vec::is_empty));
    }

    #[test]
    fn nearness_counts_from_what_is_usual() {
        let f = Fixture::new(40);
        // Every pair has a cosine above 0.69, as with models that use a part of their space alone.
        let space = Space::of_endpoint("narrow", 2);
        f.embed(&space);
        let probe = space.clone().probe(&circle(1, &space)).unwrap();
        let near = nearness(&f.store, &probe, &[1, 20, 40, 99]).unwrap();
        assert_eq!(near.len(), 3);
        assert!(near[&1] > 0.95 && near[&20] > near[&40] && near[&40] < 0.0, "{near:?}");
        let few = Fixture::new(3);
        few.embed(&space);
        let near = nearness(&few.store, &probe, &[1, 3]).unwrap();
        assert!(near[&3] > 0.9, "{near:?}");
    }
}
