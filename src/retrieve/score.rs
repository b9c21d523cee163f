//! The score of a row, part by part.

use serde::Serialize;

/// What the score of a ranked row is made of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Parts {
    /// Similarity of the vectors, -1 to 1; 0 where meaning was not asked for. By an embeddings endpoint it counts from what is
    /// usual for its model in this memory.
    pub cosine: f64,
    /// Similarity word piece by word piece, -1 to 1.
    pub maxsim: f64,
    /// What the two count for.
    pub meaning: f64,
    /// BM25 of the words; 0 = the row was found by its meaning.
    pub bm25: f64,
    /// What it counts for.
    pub words: f64,
    /// For words that stand together in the query and in the row.
    pub neighbours: f64,
    /// For holding the query as it was typed.
    pub exact: f64,
    /// What speaks for the row beside its text.
    pub factors: Factors,
    /// So much `meaning` would have been enough to be shown.
    pub floor: f64,
    /// Why it is shown.
    pub passed_by: PassedBy,
}

/// What speaks for a row beside its text: `kind × status × (1 + priority + recency + use + unused + files)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Factors {
    /// Above 0 for high, below for low.
    pub priority: f64,
    /// For a row that is new.
    pub recency: f64,
    /// For one that was of use.
    #[serde(rename = "use")]
    pub used: f64,
    /// Below 0 for one of low priority that was of no use for long.
    pub unused: f64,
    /// Below 0 for one whose files changed since, or are gone.
    pub files: f64,
    /// 1, or nearly nothing for what was superseded or put away.
    pub status: f64,
    /// 1 for observations, less for summaries and prompts.
    pub kind: f64,
}

/// What lets a row be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PassedBy {
    /// It holds every word that carries meaning.
    AllWords,
    /// It means what was asked for.
    Meaning,
    /// It holds enough of the words.
    SomeWords,
}

impl Parts {
    /// All of them in one number.
    pub fn score(&self) -> f64 {
        (self.meaning + self.words + self.neighbours + self.exact) * self.factors.product()
    }
}

impl Factors {
    /// All of them in one number.
    pub fn product(&self) -> f64 {
        self.kind * self.status * (1.0 + self.priority + self.recency + self.used + self.unused + self.files)
    }
}

impl Default for Factors {
    /// Nothing speaks for or against the row.
    fn default() -> Self {
        Self { priority: 0.0, recency: 0.0, used: 0.0, unused: 0.0, files: 0.0, status: 1.0, kind: 1.0 }
    }
}
