//! What is kept of an observation's meaning: its word pieces, and one vector.

use std::collections::HashSet;

use super::Space;
use crate::embed::{self, DIM, DOCUMENT_TOKENS, Token};
use crate::model::Draft;
use crate::store::{StoreError, Transaction};

/// What a word piece of each field counts for in the vector. A title says what it is about; the rest is as the
/// evaluation left it (`scripts/bench/retrieval`).
const TITLE: f32 = 1.5;
const OTHER: f32 = 1.0;
/// Most word pieces that are read of a field; an observation seldom has more than 300 in all.
const MOST_OF_A_FIELD: usize = 4_096;

/// The meaning of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    /// Each word piece once, in the order of the text; of more than [`DOCUMENT_TOKENS`] the weightiest.
    pub tokens: Vec<Token>,
    /// `None` for a text without words.
    pub vector: Option<[i8; DIM]>,
}

impl Meaning {
    /// That of an observation.
    pub fn of(draft: &Draft) -> Self {
        let fields = [
            (draft.title.as_str(), TITLE),
            (&draft.keywords.join("\n"), OTHER),
            (&draft.subtitle, OTHER),
            (&draft.facts.join("\n"), OTHER),
            (&draft.narrative, OTHER),
        ];
        Self::of_fields(&fields)
    }

    /// That of a text of one kind.
    pub fn of_text(text: &str) -> Self {
        Self::of_fields(&[(text, OTHER)])
    }

    fn of_fields(fields: &[(&str, f32)]) -> Self {
        let weighted: Vec<(Token, f32)> = fields
            .iter()
            .flat_map(|(text, weight)| {
                embed::tokens(text, MOST_OF_A_FIELD).into_iter().map(|token| (token, *weight))
            })
            .collect();
        let vector = embed::vector(&weighted).map(|vector| embed::quantize(&vector));
        let mut seen = HashSet::new();
        let mut tokens: Vec<Token> =
            weighted.iter().map(|(token, _)| *token).filter(|token| seen.insert(*token)).collect();
        if tokens.len() > DOCUMENT_TOKENS {
            let mut weights: Vec<f32> = tokens.iter().map(|token| embed::weight(*token)).collect();
            weights.sort_by(|a, b| b.total_cmp(a));
            let least = weights[DOCUMENT_TOKENS - 1];
            tokens.retain(|token| embed::weight(*token) >= least);
            tokens.truncate(DOCUMENT_TOKENS);
        }
        Self { tokens, vector }
    }
}

/// Keeps the meaning of an observation that has none yet.
pub(super) fn record(tx: &Transaction<'_>, observation: i64, meaning: &Meaning) -> Result<(), StoreError> {
    insert(tx, observation, meaning)?;
    count(tx, &meaning.tokens, 1)
}

/// Keeps it without counting its word pieces.
pub(super) fn insert(tx: &Transaction<'_>, observation: i64, meaning: &Meaning) -> Result<(), StoreError> {
    let vector = meaning.vector.as_ref().map(|vector| bytes(vector));
    let space = Space::embedded();
    let (name, dim) = space.key();
    tx.conn()
        .prepare_cached(
            "INSERT INTO vectors (observation, model, vector, tokens)
             VALUES (?1, (SELECT id FROM models WHERE name = ?2 AND dimension = ?3), ?4, ?5)",
        )?
        .execute((observation, name, dim, vector, pack(&meaning.tokens)))?;
    Ok(())
}

/// Takes away what is kept of an observation, if anything is, whichever model it is of.
pub(super) fn forget(tx: &Transaction<'_>, observation: i64) -> Result<(), StoreError> {
    forget_where(tx, observation, "")
}

/// Takes away what an embedded model, this one or an earlier one, has made of it.
pub(super) fn forget_embedded(tx: &Transaction<'_>, observation: i64) -> Result<(), StoreError> {
    forget_where(tx, observation, "AND tokens IS NOT NULL")
}

fn forget_where(tx: &Transaction<'_>, observation: i64, condition: &str) -> Result<(), StoreError> {
    let sql = format!("DELETE FROM vectors WHERE observation = ?1 {condition} RETURNING tokens");
    let kept: Vec<Option<Vec<u8>>> = tx
        .conn()
        .prepare_cached(&sql)?
        .query_map([observation], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    if !kept.is_empty() {
        tx.conn().prepare_cached("UPDATE vector_epoch SET epoch = epoch + 1")?.execute([])?;
    }
    kept.iter().flatten().try_for_each(|tokens| count(tx, &unpack(tokens), -1))
}

/// Keeps count of how many observations hold each word piece.
pub(super) fn count(tx: &Transaction<'_>, tokens: &[Token], by: i64) -> Result<(), StoreError> {
    count_all(tx, tokens.iter().map(|token| (i64::from(*token), by)).chain([(ALL, by)]))
}

/// The same for pieces that come with their own numbers.
pub(super) fn count_all(
    tx: &Transaction<'_>,
    counts: impl Iterator<Item = (i64, i64)>,
) -> Result<(), StoreError> {
    let mut statement = tx.conn().prepare_cached(
        "INSERT INTO pieces (piece, observations) VALUES (?1, ?2)
         ON CONFLICT (piece) DO UPDATE SET observations = observations + excluded.observations",
    )?;
    for count in counts {
        statement.execute(count)?;
    }
    Ok(())
}

/// Takes away the counts of word pieces that no observation holds any more.
pub(super) fn purge(tx: &Transaction<'_>) -> Result<(), StoreError> {
    tx.conn().execute("DELETE FROM pieces WHERE observations <= 0", [])?;
    Ok(())
}

/// The row of `pieces` that counts the observations.
pub(super) const ALL: i64 = -1;

fn bytes(vector: &[i8]) -> Vec<u8> {
    vector.iter().map(|value| value.cast_unsigned()).collect()
}

/// Three bytes a token, low byte first.
fn pack(tokens: &[Token]) -> Vec<u8> {
    tokens.iter().flat_map(|token| token.to_le_bytes().into_iter().take(3)).collect()
}

/// The tokens in a blob of `vectors`.
pub(super) fn unpack(blob: &[u8]) -> Vec<Token> {
    blob.chunks_exact(3).map(|bytes| Token::from_le_bytes([bytes[0], bytes[1], bytes[2], 0])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_survive_their_blob() {
        let tokens = vec![0, 1, 255, 256, 79_999, (1 << 20) - 1];
        assert_eq!(unpack(&pack(&tokens)), tokens);
    }

    #[test]
    fn of_a_long_text_the_weightiest_pieces_are_kept_in_its_order() {
        let text: String = (0..2_000).map(|n| format!("{n} the ")).collect();
        let meaning = Meaning::of_text(&text);
        assert_eq!(meaning.tokens.len(), DOCUMENT_TOKENS);
        let mut all = embed::tokens(&text, MOST_OF_A_FIELD);
        let place = |token: &Token| all.iter().position(|other| other == token).unwrap();
        assert!(meaning.tokens.is_sorted_by_key(place));
        let least = meaning.tokens.iter().map(|token| embed::weight(*token)).fold(f32::INFINITY, f32::min);
        all.retain(|token| !meaning.tokens.contains(token));
        assert!(!all.is_empty() && all.iter().all(|token| embed::weight(*token) <= least));
    }

    #[test]
    fn a_title_decides_more_than_the_rest() {
        let draft = |title: &str, narrative: &str| Draft {
            title: title.to_owned(),
            narrative: narrative.to_owned(),
            ..Draft::default()
        };
        let about = |draft: &Draft| {
            let wanted = Meaning::of_text("database").vector.unwrap();
            embed::dot(&wanted, &Meaning::of(draft).vector.unwrap())
        };
        assert!(about(&draft("database", "kitchen")) > about(&draft("kitchen", "database")));
        assert_eq!(Meaning::of(&draft("🚀", "")).vector, None);
    }
}
