//! Vectors of one dimension that lie one after the other.

/// Observations with their vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entries {
    dim: usize,
    ids: Vec<i64>,
    vectors: Vec<i8>,
}

impl Entries {
    pub(super) fn new(dim: usize) -> Self {
        Self { dim, ids: Vec::new(), vectors: Vec::new() }
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Adds one; the vector has the dimension of the others.
    pub(super) fn push(&mut self, id: i64, vector: &[i8]) {
        debug_assert_eq!(vector.len(), self.dim);
        self.ids.push(id);
        self.vectors.extend_from_slice(vector);
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.ids.append(&mut other.ids);
        self.vectors.append(&mut other.vectors);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, &[i8])> + Clone {
        self.ids.iter().copied().zip(self.vectors.chunks_exact(self.dim))
    }

    /// Each `count` of them: their ids, and their vectors.
    pub(super) fn chunks(&self, count: usize) -> impl Iterator<Item = (&[i64], &[i8])> {
        self.ids.chunks(count).zip(self.vectors.chunks(count * self.dim))
    }

    /// Those that hold.
    pub(super) fn filtered(self, holds: impl Fn(i64) -> bool) -> Self {
        if self.ids.iter().all(|id| holds(*id)) {
            return self;
        }
        let mut kept = Self::new(self.dim);
        self.iter().filter(|(id, _)| holds(*id)).for_each(|(id, vector)| kept.push(id, vector));
        kept
    }
}
