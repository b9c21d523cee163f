//! Whose vectors can be compared with each other: those of one model, of one dimension.

use std::fmt::Write as _;

use rusqlite::types::Value;
use sha2::{Digest, Sha256};

use crate::embed::{self, DIM, QUANTUM};
use crate::store::{Store, StoreError};

/// What stands before the name of a model that an embeddings endpoint serves, so that none is taken for the embedded one.
const OF_ENDPOINT: &str = "endpoint/";
/// One step of a kept vector of an unknown model: no component of a unit vector exceeds 1.
const UNKNOWN_QUANTUM: f32 = 1.0 / 127.0;
/// Longest part of a model's name in the name of a file.
const FILE_NAME: usize = 40;

/// The vectors of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    name: String,
    dim: u32,
}

/// [`DIM`] as the database has it.
const DIM_OF_EMBEDDED: u32 = 256;
const _: () = assert!(DIM_OF_EMBEDDED as usize == DIM);

impl Space {
    /// That of the embedded model.
    pub fn embedded() -> Self {
        Self { name: embed::MODEL.to_owned(), dim: DIM_OF_EMBEDDED }
    }

    /// That of a model behind an endpoint.
    pub fn of_endpoint(model: &str, dim: u32) -> Self {
        Self { name: format!("{OF_ENDPOINT}{model}"), dim }
    }

    /// Every one that vectors are kept of and that can be asked.
    pub(super) fn all(store: &Store) -> Result<Vec<Self>, StoreError> {
        let mut statement = store.conn().prepare_cached("SELECT name, dimension FROM models ORDER BY id")?;
        let rows = statement.query_map([], |row| Ok(Self { name: row.get(0)?, dim: row.get(1)? }))?;
        let mut spaces: Vec<Self> = rows.collect::<Result<_, _>>()?;
        spaces.retain(|space| *space == Self::embedded() || space.name.starts_with(OF_ENDPOINT));
        Ok(spaces)
    }

    /// Numbers in each of its vectors.
    pub fn dim(&self) -> usize {
        self.dim as usize
    }

    /// A vector of its model, ready to be compared; `None` for one of another dimension, or that says nothing.
    pub fn probe(self, vector: &[f32]) -> Option<Probe> {
        let right = vector.len() == self.dim();
        let vector = right.then(|| embed::unit_bytes(vector, self.quantum())).flatten()?;
        Some(Probe { space: self, vector })
    }

    /// Name and dimension, as `models` has them.
    pub(super) fn key(&self) -> (&str, u32) {
        (&self.name, self.dim)
    }

    /// The same, for [`Store::of_ids`].
    pub(super) fn values(&self) -> [Value; 2] {
        [Value::from(self.name.clone()), Value::from(self.dim)]
    }

    /// One step of its kept vectors.
    pub(super) fn quantum(&self) -> f32 {
        if self.name == embed::MODEL { QUANTUM } else { UNKNOWN_QUANTUM }
    }

    /// The cosine that a product of two of its vectors stands for.
    pub(super) fn cosine(&self, product: i32) -> f64 {
        f64::from(product) * f64::from(self.quantum()).powi(2)
    }

    /// What its files are named for. A name that somebody else gave becomes one that any file system takes; two that
    /// become the same are told apart by a digest.
    pub(super) fn stem(&self) -> String {
        if *self == Self::embedded() {
            return self.name.clone();
        }
        let model = self.name.strip_prefix(OF_ENDPOINT).unwrap_or(&self.name);
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let mut stem: String = model.chars().map(plain).take(FILE_NAME).collect();
        let _ = write!(stem, "-{}-", self.dim);
        Sha256::digest(&self.name).iter().take(8).fold(stem, |mut stem, byte| {
            let _ = write!(stem, "{byte:02x}");
            stem
        })
    }
}

/// A question's vector, in its space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    pub(super) space: Space,
    pub(super) vector: Vec<i8>,
}

impl Probe {
    /// Its cosine with a vector that is kept of the same space.
    pub fn cosine(&self, kept: &[i8]) -> f64 {
        self.space.cosine(embed::dot(&self.vector, kept))
    }

    /// Where it lies.
    pub fn space(&self) -> &Space {
        &self.space
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_safely_and_apart() {
        assert_eq!(Space::embedded().stem(), "cmse-base-1");
        let stems: Vec<String> = [("../../etc/passwd", 8), ("../../etc/Passwd", 8), ("../../etc/passwd", 9)]
            .into_iter()
            .map(|(model, dim)| Space::of_endpoint(model, dim).stem())
            .chain([Space::of_endpoint(embed::MODEL, DIM_OF_EMBEDDED).stem()])
            .collect();
        for (place, stem) in stems.iter().enumerate() {
            assert!(stem.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "{stem}");
            assert!(!stems[..place].contains(stem) && *stem != Space::embedded().stem(), "{stem}");
        }
        assert!(Space::of_endpoint(&"long".repeat(100), 8).stem().len() < 80);
    }

    #[test]
    fn a_probe_has_the_dimension_of_its_space() {
        let space = Space::of_endpoint("m", 3);
        assert_eq!(space.clone().probe(&[1.0, 0.0]), None);
        assert_eq!(space.clone().probe(&[0.0; 3]), None);
        let probe = space.probe(&[3.0, 0.0, 4.0]).unwrap();
        assert!((probe.cosine(&[127, 0, 0]) - 0.6).abs() < 0.01);
    }
}
